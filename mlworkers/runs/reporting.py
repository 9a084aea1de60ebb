"""How a running attempt says that it lives and how far it is, and finds out that it should stop."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from time import monotonic
from typing import NamedTuple

from curation.files.progress import Interrupted
from curation.foundation.heartbeats import beating, silence
from mlworkers.runs.lifecycle import Claim, RunStopped, run_advance, run_beat, run_claim
from mlworkers.runs.storage import RunLog

SENTENCES_MAX = 200  # of one attempt in the log; who counts within sentences must not fill it

leaving = threading.Event()  # set when this worker process was asked to end
drained = threading.Event()  # set while this worker process takes no more work


class WorkerLeaves(Interrupted):
    """This worker was asked to end, or is drained. The run is let go, and another worker takes it up."""


def takes_nothing_more() -> bool:
    """Whether this worker process claims nothing, and lets go of the runs that it has."""
    return leaving.is_set() or drained.is_set()


def once_each(write: Callable[[str], object]) -> Callable[[str], None]:
    """Writes each sentence once, and at once: the next report may come before a heartbeat looks."""
    said: set[str] = set()

    def say(sentence: str) -> None:
        if sentence and sentence not in said and len(said) < SENTENCES_MAX:
            said.add(sentence)
            write(sentence)

    return say


class AssistantReport:
    """The report of a worker that assists with another's run: how far the run is, its holder says."""

    def __init__(self, log: RunLog, worker: str) -> None:
        self._say = once_each(lambda sentence: log.write(f"{worker}: {sentence}"))

    def __call__(self, done: int, total: int, message: str) -> None:
        if takes_nothing_more():
            raise WorkerLeaves
        self._say(message)

    def waits(self, sentence: str) -> None:
        self(0, 0, sentence)


class ProgressNote(NamedTuple):
    """The progress of the work; for the rate, since when (by this process's own clock, which never jumps) and from
    what number on it has been counting.
    """

    since: float
    done_before: int = 0
    done: int = 0
    total: int = 0
    message: str = ""


class Reporter:
    """The `report(done, total, message)` of one attempt (see `progress.Report`).

    A call only notes the progress, and raises RunStopped where the run was cancelled or taken over
    by another worker, or WorkerLeaves where this worker takes nothing more. A thread with a connection of its
    own writes the note about once a second: it is seen even while the work is inside a transaction, and the
    work never waits for it.
    """

    def __init__(self, claim: Claim, log: RunLog) -> None:
        self.claim = claim
        self.standing = self._written = ProgressNote(since=monotonic())
        self._written_at = monotonic()
        self._stage: int | None = None  # the total that is being counted to
        self._say = once_each(log.write)
        self._stopped = threading.Event()

    def __call__(self, done: int, total: int, message: str) -> None:
        if takes_nothing_more():
            raise WorkerLeaves
        if self._stopped.is_set():
            raise RunStopped(f"Run {self.claim.run_id} was stopped.")
        # A count above its total is a flaw of display alone; it must not cost the work.
        total = max(total, done) if total else 0
        since, start = self.standing.since, self.standing.done_before
        if total != self._stage or done < self.standing.done:
            since, start, self._stage = monotonic(), done, total
        self.standing = ProgressNote(since, start, done, total, message)
        self._say(message)

    def waits(self, sentence: str) -> None:
        """Say what the work waits for, as far as it is."""
        self(self.standing.done, self.standing.total, sentence)

    @contextmanager
    def heartbeat(self) -> Iterator[None]:
        """Keep the run alive, and its row true, until the block ends."""
        with beating("run heartbeat", self.beat):
            yield

    def beat(self, at: datetime) -> None:
        """Write the note, if it says something new or nothing was written for a while. Raises RunStopped."""
        standing, moment = self.standing, monotonic()
        if standing == self._written and moment - self._written_at < silence():
            return
        since, progress = standing[0], standing._asdict()
        del progress["since"]
        if standing != self._written:
            progress["progressed_at"] = at
        try:
            run_beat(claim=self.claim, at=at, claimed_at=at - timedelta(seconds=moment - since), **progress)
        except RunStopped:
            self._stopped.set()
            raise
        self._written, self._written_at = standing, moment


class Heir:
    """A worker that assists with a run, and takes it over as soon as its holder sends no heartbeat for too long.

    It claims the run from its heartbeat, so that nobody waits for the end of its shard. Until that end it keeps the run
    alive and says how far it is; then it goes on as the holder (`tasks.help_along`).
    """

    def __init__(self, run_id: int, worker: str, log: RunLog) -> None:
        self._run_id = run_id
        self._worker = worker
        self._log = log
        self._report: Reporter | None = None
        self._done = 0

    @property
    def claim(self) -> Claim | None:
        """The right to hold the run, once this worker has it."""
        return self._report.claim if self._report else None

    def beat(self, at: datetime, done: int, total: int, message: str) -> None:
        """Claim the run where its holder left it or sends no heartbeat. Keep it once it is claimed.

        done, total, message: how far all its workers are together, where the holder no longer says so.
        """
        if self._report is None and (claim := run_claim(run_id=self._run_id, worker=self._worker, at=at)):
            self._report = Reporter(claim, self._log)
        if self._report is not None:
            try:
                self._report(done, total, message)
                self._report.beat(at)
            except WorkerLeaves:
                return  # the shard learns of it too; then the run is handed back
            except RunStopped:
                self._report = None
        elif done != self._done:
            quiet_since = at - 2 * timedelta(seconds=silence())
            run_advance(run_id=self._run_id, quiet_since=quiet_since, done=done, total=total)
            self._done = done
