"""What pages say of work that a worker has."""

from datetime import timedelta
from typing import Any

from django import template
from django.conf import settings
from django.utils import timezone

from curation.foundation.heartbeats import database_now, is_stuck

register = template.Library()


@register.filter
def stuck(job: Any) -> bool:
    """Whether it has reported nothing new for so long that somebody should end it."""
    # The database's clock decides, and is asked only where this machine's clock says that it may be so.
    late = timezone.now() + timedelta(seconds=settings.STUCK_SECONDS / 2)
    return is_stuck(job, late) and is_stuck(job, database_now())
