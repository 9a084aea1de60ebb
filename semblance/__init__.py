"""The project: settings, addresses, Celery and the pages and commands that span the apps."""

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "semblance.settings")
