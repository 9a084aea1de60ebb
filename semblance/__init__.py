"""The project: settings, addresses, Celery and the pages and commands that span the apps."""

from semblance.celery import app as celery_app

__all__ = ["celery_app"]
