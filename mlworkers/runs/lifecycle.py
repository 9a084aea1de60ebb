"""The moves of a run and of its shards, as `models.py` draws them.

Each is one conditional UPDATE on (id, state, attempt): of two workers that want a run or a shard one gets it, and a
worker that was paused while another took it up can no longer write.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import F, Max, Q, QuerySet, Value
from django.db.models.functions import Coalesce, Now
from django.utils.translation import gettext as _

from curation.foundation.heartbeats import LOST_MAX, ClaimLost, claim_first, held
from curation.foundation.log_lines import log_line, log_line_at_commit
from curation.people.webhooks.events import Event, event_happened
from mlworkers.models import Artifact, Evaluation, Run, RunShard
from mlworkers.runs.selectors import run_is_free, running, runs_in_line, shards_free


class RunStopped(ClaimLost):
    """The run is no longer this worker's: cancelled, or taken over by another. Stop, and write nothing more."""


@dataclass(frozen=True)
class Claim:
    """The right to write a run, until somebody else claims it."""

    run_id: int
    attempt: int


@dataclass(frozen=True)
class ShardClaim:
    """The right to write a shard, until somebody else claims it."""

    run_id: int
    shard_id: int
    number: int
    attempt: int


def run_invited(*, run: Run, at: datetime) -> bool:
    """Note that a worker is invited to claim the run; False where somebody else has just done so."""
    unchanged = Run.objects.filter(pk=run.pk, state=run.state, attempt=run.attempt, invited_at=run.invited_at)
    return bool(unchanged.update(invited_at=at))


def run_uninvited(*, run_id: int) -> None:
    """The invitation reached nobody who could accept it: the next sweep sends another at once."""
    Run.objects.filter(pk=run_id).update(invited_at=None)


def run_claim(*, run_id: int, worker: str, at: datetime) -> Claim | None:
    """Take a run that is queued or stale; None where there is nothing to take."""
    return _claim(Run.objects.filter(pk=run_id), worker=worker, at=at)


def run_claim_next(*, run_id: int, worker: str, at: datetime, without: Collection[str] = ()) -> Claim | None:
    """Take the run that a worker is invited to, or one of its queue that goes before it; None where there is nothing to
    take.

    What goes before others, the rows say, so that no message has to be sent again when somebody puts a run first. A run
    that another one goes before has spent its invitation: it goes before those that nobody put first, and takes the
    invitation of the other. without: kinds that are left to other workers.
    """
    invited = Run.objects.filter(pk=run_id).first()
    if invited is None:
        return None
    waits = Run.objects.filter(run_is_free(at), pk=run_id).exists()
    ahead = Q(pk=run_id) | Q(priority__gt=invited.priority if waits else 0)
    line = runs_in_line().filter(ahead, queue=invited.queue).exclude(kind__in=without)
    claim = _claim(line, worker=worker, at=at)
    if claim is not None and claim.run_id != run_id:
        passed = Run.objects.filter(pk=run_id, state=Run.State.QUEUED, priority=0)
        passed.update(priority=Run.PASSED_OVER)
    return claim


def _claim(runs: QuerySet[Run], *, worker: str, at: datetime) -> Claim | None:
    gave_up = _(
        "%(number)s workers stopped responding during this run, usually because of too little memory. "
        "Make the run smaller or give the worker more memory, then start it again."
    ) % {"number": LOST_MAX}
    run = claim_first(
        runs.filter(run_is_free(at)),
        at=at,
        given_up={"state": Run.State.FAILED, "finished_at": at, "message": gave_up},
        worker=worker,
        claimed_at=at,
        progressed_at=at,
        started_at=Coalesce("started_at", Value(at)),
        message="",
    )
    given_up = runs.filter(state=Run.State.FAILED, lost=LOST_MAX, finished_at=at, message=gave_up)
    for number in given_up.values_list("pk", flat=True):
        _tell(number)
    if run is None:
        return None
    log_line(
        "run_claimed",
        run=run.pk,
        kind=run.kind,
        attempt=run.attempt,
        worker=worker,
        waited=round((at - run.created_at).total_seconds(), 1) if run.attempt == 1 else None,
    )
    return Claim(run.pk, run.attempt)


def run_waits(*, run_id: int, message: str) -> None:
    """Say on a queued run's page what it waits for."""
    Run.objects.filter(pk=run_id, state=Run.State.QUEUED).update(message=message)


def run_put_first(*, run_id: int) -> bool:
    """Put a run that waits before the others of its queue; False where it no longer waits."""
    waiting = Run.objects.filter(state=Run.State.QUEUED)
    run = waiting.filter(pk=run_id).first()
    if run is None:
        return False
    highest = waiting.filter(queue=run.queue).exclude(pk=run_id).aggregate(highest=Max("priority"))["highest"]
    return bool(waiting.filter(pk=run_id).update(priority=max(highest or 0, Run.PASSED_OVER) + 1))


def run_beat(*, claim: Claim, at: datetime, **progress: Any) -> None:
    """Say that the run is worked on, and how far it is. Raises RunStopped where it is no longer ours."""
    _change(claim, heartbeat_at=at, **progress)


def run_advance(*, run_id: int, quiet_since: datetime, done: int, total: int) -> None:
    """Say how far a run is whose holder has been quiet since then. The heartbeat stays as it is: it is the holder's."""
    quiet = Run.objects.filter(pk=run_id, state=Run.State.RUNNING, heartbeat_at__lt=quiet_since)
    quiet.filter(total=total, done__lt=done).update(done=done, progressed_at=Now())


def run_leave(*, claim: Claim, lost: bool = False) -> None:
    """Let go of a run that this worker will not finish: another one is invited at once and takes it over.

    lost: count it like a worker that fell silent.
    """
    _change(claim, heartbeat_at=None, invited_at=None, lost=F("lost") + int(lost))


def run_requeue(*, claim: Claim, message: str) -> bool:
    """Put a run back into the queue, until what its message names is mended. False where that was done LOST_MAX - 1
    times, or the run is no longer ours: a run that fills the disk itself must come to its end.
    """
    ours = held(Run.objects.filter(pk=claim.run_id, lost__lt=LOST_MAX - 1), attempt=claim.attempt)
    again: dict[str, Any] = {"state": Run.State.QUEUED, "heartbeat_at": None, "invited_at": None}
    return bool(ours.update(**again, lost=F("lost") + 1, message=message))


@transaction.atomic
def run_finish(
    *,
    claim: Claim,
    at: datetime,
    result: Mapping[str, Any],
    publish: Callable[[], Mapping[str, Any]] = dict,
    artifacts: Iterable[Artifact] = (),
    evaluations: Iterable[Evaluation] = (),
    **outcome: Any,
) -> None:
    """The run succeeded: its result, files, evaluations and published rows enter together, or not at all.

    publish: writes rows and returns what is added to the result. It comes before the run's own row is changed, which
    would be locked in the meantime: nobody could cancel the run, and no heartbeat be written, until the last row is in.
    Where the run is cancelled or taken over before the end, RunStopped undoes what was published.
    """
    result = {**result, **publish()}
    _change(claim, state=Run.State.SUCCEEDED, finished_at=at, heartbeat_at=at, result=result, **outcome)
    Artifact.objects.bulk_create(artifacts)
    Evaluation.objects.bulk_create(evaluations)
    _tell(claim.run_id)


@transaction.atomic
def run_fail(*, claim: Claim, at: datetime, message: str) -> None:
    _change(claim, state=Run.State.FAILED, finished_at=at, heartbeat_at=at, message=message)
    _tell(claim.run_id)


def _tell(run_id: int) -> None:
    """Tell the log and the webhooks of the run's dataset that it has ended; nothing of its plan or result leaves the
    site.
    """
    run = _end_log(run_id)
    if run.dataset_id is not None:
        data = {"run": run_id, "kind": run.kind, "state": run.state}
        event_happened(dataset=run.dataset_id, event=Event.RUN_FINISHED, key=f"run {run_id}", data=data)


def _end_log(run_id: int) -> Run:
    run = Run.objects.only("kind", "state", "dataset", "attempt", "started_at", "finished_at").get(pk=run_id)
    took = run.finished_at - run.started_at if run.finished_at and run.started_at else None
    log_line_at_commit(
        "run_ended",
        run=run_id,
        kind=run.kind,
        state=run.state,
        attempt=run.attempt,
        seconds=None if took is None else round(took.total_seconds(), 1),
    )
    return run


@transaction.atomic
def run_cancel(*, run_id: int, at: datetime, message: str) -> bool:
    """Cancel a run that has not ended; the worker that holds it finds out at its next report."""
    waiting_or_running = Run.objects.filter(pk=run_id, state__in=[Run.State.QUEUED, Run.State.RUNNING])
    cancelled = waiting_or_running.update(state=Run.State.CANCELLED, finished_at=at, message=message)
    if cancelled:
        _end_log(run_id)
    return bool(cancelled)


def _change(claim: Claim, **changes: Any) -> None:
    if not held(Run.objects.filter(pk=claim.run_id), attempt=claim.attempt).update(**changes):
        raise RunStopped(f"Run {claim.run_id} is no longer held by attempt {claim.attempt}.")


def shards_open(*, run_id: int, stage: str, sizes: Sequence[int]) -> None:
    """A row for every shard of the stage; those that are there stay as they are."""
    RunShard.objects.bulk_create(
        [RunShard(run_id=run_id, stage=stage, number=number, size=size) for number, size in enumerate(sizes)],
        ignore_conflicts=True,
    )


def shards_found(*, run_id: int, stage: str, numbers: Collection[int]) -> None:
    """Of these shards the files are there: nobody need do them."""
    unfinished = RunShard.objects.filter(run=run_id, stage=stage).exclude(state=RunShard.State.DONE)
    unfinished.filter(number__in=numbers).update(state=RunShard.State.DONE, done=F("size"))


def shards_lost(*, run_id: int, stage: str, numbers: Collection[int]) -> None:
    """Of these shards, which were done, the files are gone: they wait again."""
    done = RunShard.objects.filter(run=run_id, stage=stage, state=RunShard.State.DONE)
    done.filter(number__in=numbers).update(state=RunShard.State.WAITING, done=0, heartbeat_at=None)


def shard_claim(
    *, run_id: int, stage: str, worker: str, at: datetime, assisting: bool = False
) -> ShardClaim | None:
    """Take the first shard that is free; None where there is none, or the run has ended."""
    shards = shards_free(run_id, at, assisting=assisting).filter(stage=stage).order_by("number")
    shard = claim_first(shards, at=at, worker=worker, done=0)
    return ShardClaim(run_id, shard.pk, shard.number, shard.attempt) if shard else None


def shard_beat(*, claim: ShardClaim, at: datetime, done: int) -> None:
    """Say how far the shard is. Raises RunStopped where it is no longer ours, or the run has ended."""
    if not _ours(claim).filter(run__in=running(claim.run_id)).update(heartbeat_at=at, done=done):
        raise RunStopped(f"Shard {claim.shard_id} is no longer held by attempt {claim.attempt}.")


def shard_finish(*, claim: ShardClaim, at: datetime) -> None:
    """The shard's file is there. Where another worker took the shard up in the meantime, it finds the file."""
    _ours(claim).update(state=RunShard.State.DONE, done=F("size"), heartbeat_at=at)


def shard_leave(*, claim: ShardClaim) -> None:
    """Release a shard: the next worker that looks claims it."""
    _ours(claim).update(state=RunShard.State.WAITING, done=0, heartbeat_at=None)


def _ours(claim: ShardClaim) -> QuerySet[RunShard]:
    return held(RunShard.objects.filter(pk=claim.shard_id), attempt=claim.attempt)
