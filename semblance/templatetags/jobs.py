"""What pages say of work that a worker has."""

from typing import Any

from django import template

from curation.foundation.heartbeats import RUNNING, database_now, is_stuck

register = template.Library()


@register.filter
def stuck(job: Any) -> bool:
    """Whether it has reported nothing new for so long that somebody should end it."""
    return job.state == RUNNING and is_stuck(job, database_now())
