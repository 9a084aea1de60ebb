"""Celery's beat, which writes down that it lives: pages and `/healthz` read that and never ask Celery."""

import logging
import socket
from time import monotonic
from typing import Any

from celery.beat import Scheduler
from django.db import DatabaseError, InterfaceError, close_old_connections, connection

from curation.foundation.heartbeats import database_now

SECONDS_BETWEEN_BEATS = 15.0

logger = logging.getLogger(__name__)


class BeatThatSaysSo(Scheduler):
    """Celery's scheduler in memory, as CELERY_BEAT_SCHEDULER names it."""

    _said_at = float("-inf")
    _started_at: Any = None

    def tick(self, *args: Any, **kwargs: Any) -> float:
        """Send what is due. Returns the seconds until it is called again."""
        seconds: float = super().tick(*args, **kwargs)
        if monotonic() - self._said_at >= SECONDS_BETWEEN_BEATS:
            # A database that is away does not keep beat from sending.
            from mlworkers.models import BeatHeartbeat  # noqa: PLC0415 - Celery loads this before the applications

            self._said_at = monotonic()
            close_old_connections()
            try:
                at = database_now()
                self._started_at = self._started_at or at
                BeatHeartbeat.objects.update_or_create(
                    number=BeatHeartbeat.ONLY,
                    defaults={"host": socket.gethostname(), "started_at": self._started_at, "seen_at": at},
                )
            except (DatabaseError, InterfaceError) as error:
                logger.warning("The heartbeat of beat was not written: %s", error)
                connection.close()
        return min(seconds, SECONDS_BETWEEN_BEATS)
