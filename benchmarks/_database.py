"""An installation for a benchmark on the database that serves crowds.

With a PostgreSQL DATABASE_URL, importing this makes a test database beside the one it names and removes it at the
end, and its keys in Redis where REDIS_URL names one; otherwise it is the SQLite installation of `_installation`.
"""

import atexit
import os
import shutil
import tempfile

import django

if os.environ.get("DATABASE_URL", "").startswith("postgres"):
    HOME = tempfile.mkdtemp(prefix="semblance-benchmark-")
    atexit.register(shutil.rmtree, HOME, ignore_errors=True)
    os.environ.update(SEMBLANCE_HOME=HOME, DJANGO_SETTINGS_MODULE="semblance.settings")
    os.environ.setdefault("SECRET_KEY", "benchmarks-only")
    os.environ.setdefault("ALLOWED_HOSTS", "localhost")
    os.environ["REDIS_PREFIX"] = f"benchmark-{os.getpid()}"
    django.setup()
    from django.conf import settings
    from django.db import connection
    from redis import Redis

    name = connection.settings_dict["NAME"]
    connection.creation.create_test_db(verbosity=0, autoclobber=True)
    atexit.register(connection.creation.destroy_test_db, name, verbosity=0)

    def keys_remove() -> None:
        redis = Redis.from_url(settings.REDIS_URL)
        for key in redis.scan_iter(match=f"{settings.REDIS_PREFIX}:*", count=1_000):
            redis.delete(key)

    if settings.REDIS_URL:
        atexit.register(keys_remove)
else:
    from _installation import HOME
