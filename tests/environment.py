"""Loaded before Django reads its settings: tests never touch an installation's own folder or database."""

import os
import tempfile
from uuid import uuid4

os.environ["SEMBLANCE_HOME"] = tempfile.mkdtemp(prefix="semblance-tests-")
os.environ["ENV_FILE"] = os.devnull
os.environ.pop("STORAGE_URL", None)
os.environ["REDIS_PREFIX"] = f"semblance-tests-{uuid4().hex}"  # processes of one test run share a Redis
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"  # playwright keeps an event loop in the main thread
if os.environ.get("DATABASE_URL") or os.environ.get("REDIS_URL"):
    os.environ.setdefault("SECRET_KEY", "tests-only")
    os.environ.setdefault("ALLOWED_HOSTS", "localhost,127.0.0.1,testserver")
    os.environ.setdefault("HTTPS", "false")
