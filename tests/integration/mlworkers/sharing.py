"""A run in shards, whose workers are threads: what it counts on is the database, as with processes."""

import threading
from collections import Counter
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path

from django.db import connection
from django.utils import timezone

from curation.files.progress import Report
from curation.files.writing import replacing
from mlworkers import tasks
from mlworkers.models import Run
from mlworkers.runs.jobs import Job, NewArtifact, Outcome
from mlworkers.runs.lifecycle import run_claim
from tests.factories import RunFactory

PATIENCE = 60.0  # seconds; a machine may be busy
SIZE = 10  # of each shard


class Drawing:
    """A pipeline: every shard writes its number, and the end puts them together into one file.

    meanwhile(number, report) is called in the middle of each shard.
    """

    def __init__(
        self,
        count: int,
        *,
        stages: tuple[str, ...] = ("draw",),
        meanwhile: Callable[[int, Report], object] = lambda number, report: None,
    ) -> None:
        self.count = count
        self.stages = stages
        self.meanwhile = meanwhile
        self.calls: Counter[tuple[str, int]] = Counter()
        self.workers: set[str] = set()

    def __call__(self, plan: object, job: Job) -> Outcome:
        paths = [path for stage in self.stages for path in self._stage(stage, job)]
        whole = job.folder / "whole.txt"
        with replacing(whole) as file:
            file.write(b"".join(path.read_bytes() for path in paths))
        return Outcome("drawn", {"shards": len(paths)}, [NewArtifact("drawing", whole)])

    def _stage(self, stage: str, job: Job) -> list[Path]:
        def do(number: int, path: Path, report: Report) -> None:
            self.calls[stage, number] += 1
            self.workers.add(threading.current_thread().name)
            report(SIZE // 2, SIZE, "drawing")
            self.meanwhile(number, report)
            with replacing(path) as file:
                file.write(f"{stage} {number}\n".encode())

        return job.shards.all(stage, [SIZE] * self.count, do, message=f"Stage {stage}")

    @property
    def once_each(self) -> Counter[tuple[str, int]]:
        return Counter({(stage, number): 1 for stage in self.stages for number in range(self.count)})


def held(run: Run) -> None:
    """What the worker that claims the run does."""
    claim = run_claim(run_id=run.pk, worker="holder", at=timezone.now())
    assert claim is not None
    tasks.work(claim)


def assisted(run: Run) -> None:
    """What a worker does that is invited to assist."""
    tasks.help_along(run.pk, "assistant")


def in_a_thread(name: str, does: Callable[[Run], None], run: Run) -> threading.Thread:
    def until_its_end() -> None:
        try:
            does(run)
        finally:
            connection.close()

    thread = threading.Thread(target=until_its_end, name=name)
    thread.start()
    return thread


@contextmanager
def at_the_same_time(name: str, does: Callable[[Run], None], run: Run):
    """Another worker, until it ends by itself."""
    thread = in_a_thread(name, does, run)
    try:
        yield
    finally:
        thread.join(PATIENCE)
        assert not thread.is_alive()


def carried_out(run: Run | None = None) -> Run:
    """The run as one worker alone ends it."""
    run = run or RunFactory()
    held(run)
    run.refresh_from_db()
    return run
