"""An installation for a benchmark on the database that serves crowds.

With a PostgreSQL DATABASE_URL, importing this makes a test database beside the one it names and removes it at the
end; otherwise it is the SQLite installation of `_installation`.
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
    django.setup()
    from django.db import connection

    name = connection.settings_dict["NAME"]
    connection.creation.create_test_db(verbosity=0, autoclobber=True)
    atexit.register(connection.creation.destroy_test_db, name, verbosity=0)
else:
    from _installation import HOME
