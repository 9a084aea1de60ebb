"""Long work in parts, so that several workers share a run and none is done twice."""

import time
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from curation.files.progress import Report
from curation.foundation.heartbeats import beating, database_now, silence
from mlworkers.runs.kept import kept_fetch, shard_give, shard_here
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
from mlworkers.runs.storage import kept_folder

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
        whole, before, stage_message = sum(sizes), 0, message

        def report(done: int, total: int, message: str) -> None:
            self._report(before + done, whole, stage_message)

        for number, (path, size) in enumerate(zip(paths, sizes, strict=True)):
            if not path.exists():
                do(number, path, report)
            before += size
            self._report(before, whole, message)
        return paths

    def _paths(self, stage: str, count: int) -> list[Path]:
        folder = self._folder / stage
        folder.mkdir(parents=True, exist_ok=True)
        return [folder / f"{number:05d}" for number in range(count)]


class ShardProgress(NamedTuple):
    """The shard that this worker does, and how far it is."""

    claim: ShardClaim
    size: int
    done: int = 0


class SharedShards(Shards):
    """The shards of a run that several workers do at the same time, each of them one after another.

    A row says who does what; what is done, the files say. The run's holder and those that assist claim shards alike.
    """

    def __init__(self, run_id: int, report: Report, *, worker: str) -> None:
        super().__init__(kept_folder(run_id) / "shards", report)
        self._run_id = run_id
        self._worker = worker
        self._standing: ShardProgress | None = None
        self._written: ShardProgress | None = None
        self._written_at = time.monotonic()
        self._lost = False  # another worker does the shard, or the run has ended

    def _claimed(self, stage: str, sizes: Sequence[int], *, assisting: bool) -> ShardClaim | None:
        claim = shard_claim(
            run_id=self._run_id, stage=stage, worker=self._worker, at=database_now(), assisting=assisting
        )
        if claim is not None:
            self._written_at = time.monotonic()
            self._standing = self._written = ShardProgress(claim, sizes[claim.number])
        return claim

    def _work(self, claim: ShardClaim, path: Path, do: Do, report: Report) -> None:
        """Do the shard, unless its file is there. Where that fails, it is free for others."""
        try:
            if path.exists():
                shard_give(path)
            else:
                do(claim.number, path, report)
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
                self._lost = True
        else:
            self._written, self._written_at = standing, moment

    def _holds(self, claim: ShardClaim) -> bool:
        return self._standing is not None and self._standing.claim == claim

    def _advance(self, done: int) -> int:
        """Note how far the shard is; returns that, within its size."""
        standing = self._standing
        if standing is None:
            return 0
        self._standing = standing._replace(done=max(0, min(done, standing.size)))
        return self._standing.done


class HeldShards(SharedShards):
    """The shards as the run's holder does them: it opens them, invites others, and waits until all are done."""

    def __init__(self, run_id: int, report: Report, *, worker: str, invite: Callable[[], object]) -> None:
        super().__init__(run_id, report, worker=worker)
        self._invite = invite
        self._others = 0  # done by others, and by us before this shard

    def all(self, stage: str, sizes: Sequence[int], do: Do, *, message: str) -> list[Path]:
        """As `Shards.all`, together with other workers, which are invited if there is more than one shard.

        A shard whose file exists is not done again. If a worker dies, its shard can be claimed again once its heartbeat
        is late. The run's progress counts what all workers have done.
        """
        paths, whole, stage_message = self._paths(stage, len(sizes)), sum(sizes), message

        def report(done: int, total: int, message: str) -> None:
            far = self._others + self._advance(done)
            self._report(far, whole, message)  # for the log
            self._report(far, whole, stage_message)

        def beat(at: datetime) -> None:
            self._beat(at)
            written = self._written
            if written is not None and self._holds(written.claim):
                self._others = shards_done(self._run_id, stage) - written.done

        self._reconcile(stage, sizes, paths)
        if len(sizes) > 1:
            self._invite()
        with beating("shard heartbeat", beat):
            while not all(path.exists() for path in paths):
                self._others = shards_done(self._run_id, stage)
                self._report(self._others, whole, message)
                claim = self._claimed(stage, sizes, assisting=False)
                if claim is not None:
                    self._work(claim, paths[claim.number], do, report)
                else:  # others do what is left; without a heartbeat they are claimed at the next look
                    time.sleep(min(SECONDS_BETWEEN_LOOKS, silence()))
                    self._reconcile(stage, sizes, paths)
        self._report(whole, whole, message)
        return paths

    def _reconcile(self, stage: str, sizes: Sequence[int], paths: Sequence[Path]) -> None:
        """Make the rows agree with the files."""
        shards_open(run_id=self._run_id, stage=stage, sizes=sizes)
        # Rows first: a shard is said to be done when its file is there.
        done = shards_said_done(self._run_id, stage)
        for number in done:
            shard_here(paths[number])
        there = {number for number, path in enumerate(paths) if path.exists()}
        shards_found(run_id=self._run_id, stage=stage, numbers=there - done)
        shards_lost(run_id=self._run_id, stage=stage, numbers=done - there)


class AssistingShards(SharedShards):
    """The shards as another worker does them: what is free and no more. It never comes to what follows them.

    Where the run's holder is gone, it takes the run over, and leaves here after its shard to go on as the holder.
    """

    def __init__(self, run_id: int, report: Report, *, worker: str, heir: Heir) -> None:
        super().__init__(run_id, report, worker=worker)
        self._heir = heir

    def all(self, stage: str, sizes: Sequence[int], do: Do, *, message: str) -> list[Path]:
        """Raises ShardsLeft when nothing is free or the run is ours now, RunStopped where it has ended."""
        paths, whole = self._paths(stage, len(sizes)), sum(sizes)

        def beat(at: datetime) -> None:
            self._beat(at)
            self._heir.beat(at, shards_done(self._run_id, stage), whole, message)

        def report(done: int, total: int, message: str) -> None:
            self._report(self._advance(done), total, message)
            if self._lost:
                raise RunStopped(f"Run {self._run_id} has ended, or another worker does its shard.")

        with beating("shard heartbeat", beat):
            while self._heir.claim is None and (claim := self._claimed(stage, sizes, assisting=True)):
                self._work(claim, paths[claim.number], do, report)
        waiting = stages_open(self._run_id)
        if self._heir.claim is not None or stage in waiting or not waiting:
            raise ShardsLeft
        if not all(shard_here(path) for path in paths):  # the holder does again what cannot be fetched
            raise ShardsLeft
        kept_fetch(self._run_id)  # what the holder made of them
        return paths  # this stage is done, and a later one waits
