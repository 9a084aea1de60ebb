"""How a running attempt says that it lives and how far it is, and finds out that it should stop."""

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import NamedTuple

from django.db import DatabaseError, InterfaceError, connection
from django.utils import timezone

from mlworkers.lifecycle import Claim, RunStopped, run_beat
from mlworkers.selectors import stale_after
from mlworkers.storage import RunLog

SECONDS_BETWEEN_WRITES = 1.0
SENTENCES_MAX = 200  # of one attempt in the log; who counts within sentences must not fill it
BEATS_BEFORE_STALE = 6  # some may be late, behind another writer of the database

logger = logging.getLogger(__name__)
leaving = threading.Event()  # set when this worker process was asked to end


def silence() -> timedelta:
    """How long a run or a shard may be silent, though nothing changes."""
    return stale_after() / BEATS_BEFORE_STALE


class WorkerLeaves(Exception):  # noqa: N818 - not an error: the run goes on elsewhere
    """This worker was asked to end. The run is let go, and another worker takes it up."""


class Sayings:
    """Writes what a worker says into the run's log, each sentence once and at once: the next report may come before a
    heartbeat looks.
    """

    def __init__(self, write: Callable[[str], object]) -> None:
        self._write = write
        self._said: set[str] = set()

    def __call__(self, sentence: str) -> None:
        if sentence and sentence not in self._said and len(self._said) < SENTENCES_MAX:
            self._said.add(sentence)
            self._write(sentence)


class Assisting:
    """The report of a worker that assists with another's run: how far the run is, its holder says."""

    def __init__(self, log: RunLog, worker: str) -> None:
        self._say = Sayings(lambda sentence: log.write(f"{worker}: {sentence}"))

    def __call__(self, done: int, total: int, message: str) -> None:
        if leaving.is_set():
            raise WorkerLeaves
        self._say(message)


@contextmanager
def beating(beat: Callable[[datetime], object]) -> Iterator[None]:
    """Call `beat(at)` about once a second, until the block ends or it raises RunStopped.

    It is called in a thread with a connection of its own, in the process that works: where that is killed or paused,
    the heartbeat stops with it.
    """
    ended = threading.Event()
    thread = threading.Thread(target=_beat_until, args=[ended, beat], name="run heartbeat", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _beat_until(ended: threading.Event, beat: Callable[[datetime], object]) -> None:
    pause = min(SECONDS_BETWEEN_WRITES, silence().total_seconds())
    try:
        while not ended.wait(pause):
            try:
                beat(timezone.now())
            except (DatabaseError, InterfaceError) as error:
                # The next beat tries again with a new connection; if all fail, another worker takes over.
                logger.warning("A heartbeat was not written: %s", error)
                connection.close()
    except RunStopped:
        return
    finally:
        connection.close()


class Standing(NamedTuple):
    """Where the work stands, and since when and from what number on it has been counting, for the rate."""

    claimed_at: datetime
    done_before: int = 0
    done: int = 0
    total: int = 0
    message: str = ""


class Reporter:
    """The `report(done, total, message)` of one attempt (see `progress.Report`).

    A call only notes where the work stands, and raises RunStopped where the run was cancelled or taken up
    by another worker, or WorkerLeaves where this worker was asked to end. A thread with a connection of its
    own writes the note about once a second: it is seen even while the work is inside a transaction, and the
    work never waits for it.
    """

    def __init__(self, claim: Claim, log: RunLog) -> None:
        self.claim = claim
        self.standing = self._written = Standing(claimed_at=timezone.now())
        self._written_at = timezone.now()
        self._stage: int | None = None  # the total that is being counted to
        self._say = Sayings(log.write)
        self._stopped = threading.Event()

    def __call__(self, done: int, total: int, message: str) -> None:
        if leaving.is_set():
            raise WorkerLeaves
        if self._stopped.is_set():
            raise RunStopped(f"Run {self.claim.run_id} was stopped.")
        # A count above its total is a flaw of display alone; it must not cost the work.
        total = max(total, done) if total else 0
        since, start = self.standing.claimed_at, self.standing.done_before
        if total != self._stage or done < self.standing.done:
            since, start, self._stage = timezone.now(), done, total
        self.standing = Standing(since, start, done, total, message)
        self._say(message)

    @contextmanager
    def heartbeat(self) -> Iterator[None]:
        """Keep the run alive, and its row true, until the block ends."""
        with beating(self._beat_if_due):
            yield

    def _beat_if_due(self, at: datetime) -> None:
        standing = self.standing
        if standing == self._written and at - self._written_at < silence():
            return
        try:
            run_beat(claim=self.claim, at=at, **standing._asdict())
        except RunStopped:
            self._stopped.set()
            raise
        self._written, self._written_at = standing, at
