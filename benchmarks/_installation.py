"""An installation of its own for a benchmark: importing this makes an empty SQLite database in a temporary folder."""

import atexit
import os
import shutil
import tempfile

import django
from django.core.management import call_command

HOME = tempfile.mkdtemp(prefix="semblance-benchmark-")
atexit.register(shutil.rmtree, HOME, ignore_errors=True)
os.environ["SEMBLANCE_HOME"] = HOME
os.environ["DJANGO_SETTINGS_MODULE"] = "semblance.settings"
for name in ("DATABASE_URL", "REDIS_URL"):
    os.environ.pop(name, None)
django.setup()
call_command("migrate", verbosity=0)
