"""A live worker writes a WorkerHeartbeat every few seconds; pages read that and never ask Celery."""

import logging
import os
import re
import shlex
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path

from django.db import DatabaseError, InterfaceError, connection

from curation.heartbeats import Pulse, database_now, heard_within
from mlworkers.models import WorkerHeartbeat

SECONDS_BETWEEN_BEATS = 5
FORGOTTEN_AFTER = timedelta(days=1)

logger = logging.getLogger(__name__)


class Presence:
    """Says that this worker lives, from a thread of its own: in a solo pool the main thread is busy with
    the run.

    `end` forgets the worker at once. One that is killed is taken for dead a little later (see
    `selectors.live_workers`).
    """

    def __init__(self, worker: str, queues: Sequence[str]) -> None:
        self.name = f"{worker}/{os.getpid()}"  # two workers may have been given one name
        self.queues = sorted(queues)
        self.device = device_name()
        self._pulse = Pulse("worker heartbeat", self._beat, every=SECONDS_BETWEEN_BEATS)

    def start(self) -> None:
        try:
            self._beat()
        except (DatabaseError, InterfaceError) as error:
            logger.warning("The worker's first heartbeat was not written: %s", error)
            connection.close()
        self._pulse.start()

    def end(self) -> None:
        self._pulse.end()
        WorkerHeartbeat.objects.filter(name=self.name).delete()

    def _beat(self) -> None:
        seen = {"queues": self.queues, "device": self.device, "seen_at": database_now()}
        WorkerHeartbeat.objects.update_or_create(name=self.name, defaults=seen)


def worker_arguments(queue: str) -> list[str]:
    """What `python -m celery` is called with for a worker of that queue, in the project's folder.

    A GPU does one thing at a time, and so does the worker that keeps one encoder loaded. Of the default queue's threads
    one may import for long and others still serve what people wait for.
    """
    pool = ["--pool", "threads", "--concurrency", "4"] if queue == "default" else ["--pool", "solo"]
    return ["-A", "semblance", "worker", "--queues", queue, *pool]


def worker_command(queue: str) -> str:
    return shlex.join(["python", "-m", "celery", *worker_arguments(queue)])


def workers_forget(*, at: datetime) -> None:
    """Remove the rows of workers that were killed long ago."""
    WorkerHeartbeat.objects.exclude(heard_within("seen_at", at, FORGOTTEN_AFTER)).delete()


def device_name() -> str:
    """The accelerator, as its driver names it, or “cpu”. Loads no machine-learning library."""
    for description in sorted(Path("/proc/driver/nvidia/gpus").glob("*/information")):
        model = re.search(r"^Model:\s*(.+)$", description.read_text(encoding="utf-8"), re.MULTILINE)
        if model:
            return model[1]
    return "cpu"
