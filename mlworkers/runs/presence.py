"""A live worker writes a WorkerHeartbeat every few seconds, reads in it whether it is drained, and looks for work that
waits; pages write and read that and never ask Celery.
"""

import logging
import os
import re
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from itertools import takewhile
from pathlib import Path
from typing import Any, Protocol

from django.conf import settings
from django.db import DatabaseError, InterfaceError, connection, transaction

from curation.foundation.heartbeats import Pulse, database_now, heard_within
from curation.version import VERSION
from mlworkers.models import WorkerHeartbeat

SECONDS_BETWEEN_BEATS = 7.0  # an idle worker then costs the database less than .2 transactions a second
FORGOTTEN_AFTER = timedelta(days=1)
STARTING = "starting/"  # begins the name of a worker that was started and has not sent its first heartbeat

logger = logging.getLogger(__name__)


class Follower(Protocol):
    """What does as the worker's row says."""

    @property
    def is_closed(self) -> bool:
        """Whether the worker takes no more work."""

    def follow(self, *, drain: bool) -> None: ...


class Sweep(Protocol):
    """Work that waits."""

    @property
    def again_in(self) -> float | None:
        """The seconds after which to look again, where that is before the next heartbeat."""

    def invite(self) -> None: ...


def _no_sweep(_at: datetime) -> Sweep | None:
    return None


class Presence:
    """Says that this worker lives, from its own thread: in a solo pool the main thread is busy with
    the run.

    `end` forgets the worker at once. One that is killed is taken for dead a little later (see
    `selectors.live_workers`). intake: is told at each heartbeat whether the worker is drained. work: what it carries
    out now. tasks: how many it has carried out, and for how long, by name. sweep: reads which work waits, in the
    heartbeat's transaction, so that an idle worker costs one transaction each time.
    """

    def __init__(
        self,
        worker: str,
        queues: Sequence[str],
        *,
        intake: Follower,
        work: Callable[[], list[Any]],
        tasks: Callable[[], dict[str, Any]] = dict,
        sweep: Callable[[datetime], Sweep | None] = _no_sweep,
    ) -> None:
        self.name = f"{worker}/{os.getpid()}"  # two workers may have been given one name
        self._intake, self._work, self._tasks, self._sweep = intake, work, tasks, sweep
        self._queues = sorted(queues)
        self._about = {
            "queues": self._queues,
            "device": device_name(),
            "devices": len(accelerators()),
            "version": VERSION,
        }
        self._started_at: datetime | None = None
        self._pulse = Pulse("worker heartbeat", self._beat, every=SECONDS_BETWEEN_BEATS)

    def start(self) -> None:
        try:
            self._beat()
            announced = [STARTING + queue for queue in self._queues]
            WorkerHeartbeat.objects.filter(name__in=announced).delete()
        except (DatabaseError, InterfaceError) as error:
            logger.warning("The worker's first heartbeat was not written: %s", error)
            connection.close()
        self._pulse.start()

    def end(self) -> None:
        self._pulse.end()
        WorkerHeartbeat.objects.filter(name=self.name).delete()

    def _beat(self) -> float:
        """Returns the seconds after which the next heartbeat is due."""
        with transaction.atomic():
            at = database_now()
            is_drained = self._write(at)
            waiting = self._sweep(at)
        self._intake.follow(drain=is_drained)
        if waiting is None:
            return SECONDS_BETWEEN_BEATS
        waiting.invite()
        return min(SECONDS_BETWEEN_BEATS, waiting.again_in or SECONDS_BETWEEN_BEATS)

    def _write(self, at: datetime) -> bool:
        """Write the worker's row. Returns whether somebody drained the worker."""
        arrives: dict[str, Any] = {}
        if self._started_at is None:  # a process that had this name may have been drained
            arrives = {"drain_at": None}
        started = self._started_at or at
        # Closed first: of a worker that is closed, what it carries out can only become less.
        seen = {
            "is_closed": self._intake.is_closed,
            "work": self._work(),
            "tasks": self._tasks(),
            "started_at": started,
            "seen_at": at,
        }
        row, _new = WorkerHeartbeat.objects.update_or_create(
            name=self.name, defaults={**self._about, **seen, **arrives}
        )
        self._started_at = started
        return row.drain_at is not None


def worker_arguments(queues: str) -> list[str]:
    """What `python -m celery` is called with for a worker of these queues, in the project's folder.

    queues: the name of one, or several with commas between. A GPU does one thing at a time, and so does the worker that
    keeps one encoder loaded. Of the default queue's threads one may import for long and others still serve what people
    wait for.
    """
    pool = ["--pool", "threads", "--concurrency", "4"] if queues == "default" else ["--pool", "solo"]
    return ["-A", "semblance", "worker", "--queues", queues, *pool]


def worker_command(queue: str) -> str:
    """What somebody types to start a worker of the queue."""
    return f"semblance worker --queues {queue}"


def workers_announce(queues: Iterable[str]) -> None:
    """Write that a worker of each of these queues is starting. Its first heartbeat removes this again."""
    for queue in queues:
        WorkerHeartbeat.objects.update_or_create(name=STARTING + queue, defaults={"seen_at": database_now()})


def workers_forget(*, at: datetime) -> None:
    """Remove the rows of workers that were killed long ago."""
    WorkerHeartbeat.objects.exclude(heard_within("seen_at", at, FORGOTTEN_AFTER)).delete()


def device_name() -> str:
    """The first accelerator, or “cpu”."""
    return next(iter(accelerators()), "cpu")


def accelerators() -> list[str]:
    """Those that this process may use, as their driver names them."""
    return accelerators_in(Path("/proc/driver/nvidia/gpus"), settings.CUDA_VISIBLE_DEVICES)


def accelerators_in(folder: Path, chosen: str | None) -> list[str]:
    """What the driver's folder lists. Loads no machine-learning library.

    chosen: as CUDA_VISIBLE_DEVICES says it, "0,2"; None where it is not set, for all.
    """
    found = []
    for description in sorted(folder.glob("*/information")):
        model = re.search(r"^Model:\s*(.+)$", description.read_text(encoding="utf-8"), re.MULTILINE)
        if model:
            found.append(model[1])
    if chosen is None:
        return found
    named = list(takewhile(lambda name: name not in {"", "-1"}, (name.strip() for name in chosen.split(","))))
    if all(name.isdecimal() for name in named):
        return [found[int(name)] for name in named if int(name) < len(found)]
    return found[: len(named)]  # by their serial numbers; mostly they are all of one model
