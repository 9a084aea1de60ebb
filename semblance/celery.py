"""The Celery application. Settings come from Django under the prefix CELERY_."""

import os

from celery import Celery
from kombu.transport import TRANSPORT_ALIASES

# A worker serves no pages; Celery's checks would load them all, with what they draw charts with.
os.environ.setdefault("CELERY_SKIP_CHECKS", "true")
TRANSPORT_ALIASES["filesystem"] = "semblance.broker:Transport"

app = Celery("semblance")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
