"""Long work in parts, so that several workers share a run and none is done twice."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from curation.files.progress import Report
from curation.heartbeats import beating, database_now, silence
from mlworkers.runs.lifecycle import (
    RunStopped,
    ShardClaim,
    shard_beat,
    shard_claim,
    shard_finish,
    shard_leave,
    shards_found,
    shards_lost,
    shards_open,
)
from mlworkers.runs.reporting import Heir
from mlworkers.runs.selectors import shards_done, shards_said_done, stages_open

Do = Callable[[int, Path, Report], None]
SECONDS_BETWEEN_LOOKS = 0.5


class ShardsLeft(Exception):  # noqa: N818 - not an error: others go on
    """This worker assisted with a run and finds no more to do in it. Its holder goes on."""


class Shards:
    """The shards of one run. A shard's result is a file or folder that follows from the run's plan and the shard's
    number alone, so that it is the same for every writer, and however often it is written.

    Here one worker does them all, and no row is kept of them.
    """

    def __init__(self, folder: Path, report: Report) -> None:
        self._folder = folder
        self._report = report

    def all(self, stage: str, sizes: Sequence[int], do: Do, *, message: str) -> list[Path]:
        """The results of every shard of a stage, in their order; those that nobody has done yet are done.

        sizes: of each shard, in the unit that the run counts. do(number, path, report): write the shard's result to
        `path`, whole or not at all (`replacing`, `folder_replacing`); report counts within the shard.
        """
        paths = self._paths(stage, len(sizes))
        total, before = sum(sizes), 0
        for number, (path, size) in enumerate(zip(paths, sizes, strict=True)):
            if not path.exists():
                do(number, path, self._after(before, total, message))
            before += size
            self._report(before, total, message)
        return paths

    def _paths(self, stage: str, count: int) -> list[Path]:
        folder = self._folder / stage
        folder.mkdir(parents=True, exist_ok=True)
        return [folder / f"{number:05d}" for number in range(count)]

    def _after(self, before: int, whole: int, stage: str) -> Report:
        def report(done: int, total: int, message: str) -> None:
            self._report(before + done, whole, stage)

        return report


class ShardProgress(NamedTuple):
    """The shard that this worker does, and how far it is."""

    claim: ShardClaim
    size: int
    done: int = 0


class SharedShards(Shards):
    """The shards of a run that several workers do at the same time, each of them one after another.

    A row says who does what; what is done, the files say. The run's holder and those that assist claim shards alike.
    """

    def __init__(self, folder: Path, report: Report, *, run_id: int, worker: str) -> None:
        super().__init__(folder, report)
        self._run_id = run_id
        self._worker = worker
        self._standing: ShardProgress | None = None
        self._written: ShardProgress | None = None
        self._written_at = time.monotonic()

    def _claimed(self, stage: str, sizes: Sequence[int], *, assisting: bool) -> ShardClaim | None:
        claim = shard_claim(
            run_id=self._run_id, stage=stage, worker=self._worker, at=database_now(), assisting=assisting
        )
        if claim is not None:
            self._written_at = time.monotonic()
            self._standing = self._written = ShardProgress(claim, sizes[claim.number])
        return claim

    @contextmanager
    def _holding(self, claim: ShardClaim) -> Iterator[None]:
        """The shard is done when the block ends, and free for others where it fails."""
        try:
            yield
        except BaseException:
            self._standing = None
            shard_leave(claim=claim)
            raise
        self._standing = None
        shard_finish(claim=claim, at=database_now())

    def _beat(self, at: datetime) -> None:
        standing, moment = self._standing, time.monotonic()
        if standing is None or (standing == self._written and moment - self._written_at < silence()):
            return
        try:
            shard_beat(claim=standing.claim, at=at, done=standing.done)
        except RunStopped:
            if self._holds(standing.claim):  # it may be done by now, and the next one begun
                self._lose()
        else:
            self._written, self._written_at = standing, moment

    def _holds(self, claim: ShardClaim) -> bool:
        return self._standing is not None and self._standing.claim == claim

    def _lose(self) -> None:
        """Another worker does the shard, or the run has ended."""

    def _advance(self, done: int) -> int:
        """Note how far the shard is; returns that, within its size."""
        standing = self._standing
        if standing is None:
            return 0
        self._standing = standing._replace(done=max(0, min(done, standing.size)))
        return self._standing.done


class HeldShards(SharedShards):
    """The shards as the run's holder does them: it opens them, invites others, and waits until all are done."""

    def __init__(
        self, folder: Path, report: Report, *, run_id: int, worker: str, invite: Callable[[], object]
    ) -> None:
        super().__init__(folder, report, run_id=run_id, worker=worker)
        self._invite = invite
        self._others = 0  # done by others, and by us before this shard

    def all(self, stage: str, sizes: Sequence[int], do: Do, *, message: str) -> list[Path]:
        paths, total = self._paths(stage, len(sizes)), sum(sizes)
        self._reconcile(stage, sizes, paths)
        if len(sizes) > 1:
            self._invite()
        with beating("shard heartbeat", lambda at: self._beat_and_look(stage, at)):
            while not all(path.exists() for path in paths):
                self._others = shards_done(self._run_id, stage)
                self._report(self._others, total, message)
                claim = self._claimed(stage, sizes, assisting=False)
                if claim is None:
                    self._wait(stage, sizes, paths)
                    continue
                with self._holding(claim):
                    self._do(claim, paths[claim.number], do, total, message)
        self._report(total, total, message)
        return paths

    def _reconcile(self, stage: str, sizes: Sequence[int], paths: Sequence[Path]) -> None:
        """Make the rows agree with the files."""
        shards_open(run_id=self._run_id, stage=stage, sizes=sizes)
        # Rows first: a shard is said to be done when its file is there.
        done = shards_said_done(self._run_id, stage)
        there = {number for number, path in enumerate(paths) if path.exists()}
        shards_found(run_id=self._run_id, stage=stage, numbers=there - done)
        shards_lost(run_id=self._run_id, stage=stage, numbers=done - there)

    def _wait(self, stage: str, sizes: Sequence[int], paths: Sequence[Path]) -> None:
        """Others do what is left; those that fall silent are claimed when we look again."""
        time.sleep(min(SECONDS_BETWEEN_LOOKS, silence()))
        self._reconcile(stage, sizes, paths)

    def _do(self, claim: ShardClaim, path: Path, do: Do, whole: int, stage: str) -> None:
        def report(done: int, total: int, message: str) -> None:
            far = self._others + self._advance(done)
            self._report(far, whole, message)  # for the log
            self._report(far, whole, stage)

        if not path.exists():
            do(claim.number, path, report)

    def _beat_and_look(self, stage: str, at: datetime) -> None:
        self._beat(at)
        written = self._written
        if written is not None and self._holds(written.claim):
            self._others = shards_done(self._run_id, stage) - written.done


class AssistingShards(SharedShards):
    """The shards as another worker does them: what is free and no more. It never comes to what follows them.

    Where the run's holder is gone, it takes the run over, and leaves here after its shard to go on as the holder.
    """

    def __init__(self, folder: Path, report: Report, *, run_id: int, worker: str, heir: Heir) -> None:
        super().__init__(folder, report, run_id=run_id, worker=worker)
        self._heir = heir
        self._lost = False

    def all(self, stage: str, sizes: Sequence[int], do: Do, *, message: str) -> list[Path]:
        """Raises ShardsLeft when nothing is free or the run is this worker's now, and RunStopped where the run was
        cancelled or has ended.
        """
        paths, total = self._paths(stage, len(sizes)), sum(sizes)
        with beating("shard heartbeat", lambda at: self._beat_and_inherit(at, stage, total, message)):
            while (
                self._heir.claim is None
                and (claim := self._claimed(stage, sizes, assisting=True)) is not None
            ):
                with self._holding(claim):
                    self._do(claim, paths[claim.number], do)
        if self._heir.claim is not None:
            raise ShardsLeft
        if stage in (waiting := stages_open(self._run_id)) or not waiting:
            raise ShardsLeft
        return paths  # this stage is done, and a later one waits

    def _beat_and_inherit(self, at: datetime, stage: str, total: int, message: str) -> None:
        self._beat(at)
        self._heir.beat(at, shards_done(self._run_id, stage), total, message)

    def _do(self, claim: ShardClaim, path: Path, do: Do) -> None:
        def report(done: int, total: int, message: str) -> None:
            self._report(self._advance(done), total, message)
            if self._lost:
                raise RunStopped(
                    f"Run {self._run_id} has ended, or shard {claim.number} is done by another worker."
                )

        if not path.exists():
            do(claim.number, path, report)

    def _lose(self) -> None:
        self._lost = True
