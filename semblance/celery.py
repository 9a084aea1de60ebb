"""The Celery application. Settings come from Django under the prefix CELERY_."""

import os

from celery import Celery
from kombu.transport import TRANSPORT_ALIASES

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "semblance.settings")
# A worker serves no pages; Celery's checks would load them all, with what they draw charts with.
os.environ.setdefault("CELERY_SKIP_CHECKS", "true")
# Cores that share a multiplication wait for each other in a loop. Beside other work, a long loop takes the time that
# the slower core needs: training beside one busy process took three times as long (docs/experiments/LOG.md).
os.environ.setdefault("GOMP_SPINCOUNT", "20000")
TRANSPORT_ALIASES["filesystem"] = "semblance.broker:Transport"

app = Celery("semblance")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
