"""What pages, commands and workers read about runs. Every function asks a constant number of queries."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import Count, F, Min, OuterRef, Q, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce

from curation.foundation.heartbeats import (
    alive,
    database_now,
    free,
    heard_within,
    is_stuck,
    stale_after,
)
from curation.models import Dataset
from mlworkers.models import Artifact, BeatHeartbeat, Run, RunShard, WorkerHeartbeat
from mlworkers.plans.kinds import KINDS, LONG
from mlworkers.runs.presence import STARTING, worker_command

RUNS_ON_A_PAGE = 50
WORKER_LIVES_FOR = timedelta(seconds=30)  # several heartbeats may be late, behind a long import
BEAT_LIVES_FOR = timedelta(seconds=120)  # what it sends is due every minute
LONG_AT_ONCE = 2  # of the four things that a worker of the default queue does at a time
STEADY_AFTER = 5.0  # seconds
INVITED_FOR = timedelta(seconds=10)  # an idle worker needs a second or two; then the message was lost


def run_is_free(at: datetime) -> Q:
    """Queued, or running with a worker that left it or sends no heartbeat."""
    return free(at, waiting=[Run.State.QUEUED])


def runs_in_line() -> QuerySet[Run]:
    """The order in which the runs of a queue are claimed: those that somebody put first, then the oldest."""
    return Run.objects.order_by("-priority", "pk")


def runs_before(run: Run) -> QuerySet[Run]:
    """The queued runs that go before a queued one."""
    waiting = Run.objects.filter(queue=run.queue, state=Run.State.QUEUED).exclude(pk=run.pk)
    return waiting.filter(Q(priority__gt=run.priority) | Q(priority=run.priority, pk__lt=run.pk))


def runs_to_invite(at: datetime, queues: Collection[str]) -> QuerySet[Run]:
    """Runs of those queues that are free and were not offered to a worker just now, in line."""
    lately = heard_within("invited_at", at, min(INVITED_FOR, stale_after()))
    return runs_in_line().filter(run_is_free(at), ~lately, queue__in=queues)


def kinds_left_to_others(worker: str, at: datetime) -> list[str]:
    """The kinds that a worker does not claim now: long ones, where it carries out LONG_AT_ONCE of them.

    The rest of its threads is for what people wait for.
    """
    held = Run.objects.filter(alive(at), state=Run.State.RUNNING, worker=worker, kind__in=LONG)
    return LONG if held.count() >= LONG_AT_ONCE else []


def live_workers(at: datetime) -> list[WorkerHeartbeat]:
    seen = started_workers().filter(heard_within("seen_at", at, WORKER_LIVES_FOR))
    return list(seen.order_by("name"))


def started_workers() -> QuerySet[WorkerHeartbeat]:
    """The workers that have sent a heartbeat at least once, dead or alive."""
    return WorkerHeartbeat.objects.exclude(name__startswith=STARTING)


def beat_heard(at: datetime) -> BeatHeartbeat | None:
    """Beat's last heartbeat, where it lives; None where it does not, or was never heard of."""
    return BeatHeartbeat.objects.filter(heard_within("seen_at", at, BEAT_LIVES_FOR)).first()


def workers_serving(queue: str, at: datetime) -> list[WorkerHeartbeat]:
    """The live workers that take work of the queue; one that is drained takes none."""
    return [worker for worker in live_workers(at) if queue in worker.queues and worker.drain_at is None]


def queue_is_served(queue: str, at: datetime) -> bool:
    return bool(workers_serving(queue, at))


def queue_is_starting(queue: str, at: datetime) -> bool:
    """Whether a worker of the queue was started just now and has not sent its first heartbeat."""
    announced = WorkerHeartbeat.objects.filter(name=STARTING + queue)
    return announced.filter(heard_within("seen_at", at, WORKER_LIVES_FOR)).exists()


def worker_for(queue: str, *, ended: bool = False, at: datetime | None = None) -> dict[str, Any]:
    """Whether a worker serves the queue, and the command of one, by the names that _unserved.html reads.

    ended: nobody waits for it any more. at: the time of the database, which is asked for it otherwise.
    """
    now = None if ended else at or database_now()
    served = now is None or queue_is_served(queue, now)
    return {
        "served": served,
        "starting": now is not None and not served and queue_is_starting(queue, now),
        "queue": queue,
        "command": worker_command(queue),
    }


def run_page(
    runs: QuerySet[Run], *, kind: str = "", state: str = "", dataset: str = "", page: int = 1
) -> Page[Run]:
    """Those that are wanted, newest first, with dataset, starter and `size`, the bytes of their files. An empty text
    leaves nothing out.
    """
    asked = {"kind": kind, "state": state, "dataset__slug": dataset}
    runs = runs.filter(**{name: value for name, value in asked.items() if value})
    files = Artifact.objects.filter(run=OuterRef("pk"), removed_at=None).order_by().values("run")
    sized: QuerySet[Any] = runs.annotate(size=Coalesce(Subquery(files.values(size=Sum("size"))), 0))
    return Paginator(sized.select_related("dataset", "started_by"), RUNS_ON_A_PAGE).get_page(page)


def run_rows(runs: Iterable[Run], at: datetime) -> list[dict[str, Any]]:
    """Runs for a list: each with its kind (None: an unknown one), its progress, the seconds that it has taken, and
    whether it is stuck.
    """
    return [
        {
            "run": run,
            "kind": KINDS.get(run.kind),
            "progress": progress_of(run),
            "seconds": seconds_taken(run, at),
            "stuck": is_stuck(run, at),
        }
        for run in runs
    ]


def runs_recent(runs: QuerySet[Run], since: datetime) -> QuerySet[Run]:
    """Runs that have not ended, or ended since then, newest first."""
    ended_lately = Q(finished_at__gte=since) | Q(finished_at=None)
    return runs.filter(ended_lately).select_related("dataset").order_by("-pk")


def datasets_with_runs(runs: QuerySet[Run], *, asked: Dataset | None = None) -> QuerySet[Dataset]:
    """What the log book can be filtered by, with the dataset that is asked for even if it has no runs."""
    used = Q(pk__in=runs.order_by().exclude(dataset=None).values("dataset"))
    return Dataset.objects.filter(used | Q(pk=asked.pk) if asked else used)


@dataclass(frozen=True)
class Progress:
    """How far a run is.

    share: in 0..1.
    rate: units a second, in the present stage.
    seconds_left: at this rate.
    Each of the three is None where nothing is known to compute it from.
    """

    done: int
    total: int
    share: float | None
    rate: float | None
    seconds_left: float | None


def progress_of(run: Run) -> Progress:
    """The rate is that of the present stage: earlier ones, and what lay between, would distort it. What is left is said
    once the stage has lasted for some seconds: the first rates are far off.
    """
    rate, is_known = None, False
    if run.claimed_at and run.heartbeat_at and run.heartbeat_at > run.claimed_at:
        seconds = (run.heartbeat_at - run.claimed_at).total_seconds()
        rate = max(0, run.done - run.done_before) / seconds
        is_known = seconds >= STEADY_AFTER
    left = (run.total - run.done) / rate if rate and is_known and run.total and not run.ended else None
    return Progress(run.done, run.total, run.done / run.total if run.total else None, rate, left)


def seconds_taken(run: Run, at: datetime) -> float | None:
    """From the first claim to the end, or until now."""
    return ((run.finished_at or at) - run.started_at).total_seconds() if run.started_at else None


def runs_to_name(dataset: Dataset, kinds: Collection[str]) -> QuerySet[Run]:
    """The dataset's runs that succeeded, of those kinds (none given: of any), newest first."""
    runs = Run.objects.filter(dataset=dataset, state=Run.State.SUCCEEDED)
    return runs.filter(kind__in=kinds) if kinds else runs


def runs_of_snapshot(runs: QuerySet[Run], dataset: Dataset, number: int) -> QuerySet[Run]:
    """Those of the runs that read or made a dataset's snapshot, the newest first."""
    read = Q(plan__snapshot=number) | Q(result__snapshot=number)
    made = dataset.snapshots.filter(number=number, run_ref__isnull=False).values_list("run_ref", flat=True)
    return runs.filter(Q(read, dataset=dataset) | Q(pk__in=made)).order_by("-pk")


def stages_of(run: Run) -> QuerySet[Any, Any]:
    """The stages of a run that is cut into shards, in the order of their beginning: how many stand where."""
    states = RunShard.State
    return (
        RunShard.objects.filter(run=run)
        .values("stage")
        .annotate(
            first=Min("pk"),
            shards=Count("pk"),
            finished=Count("pk", filter=Q(state=states.DONE)),
            running=Count("pk", filter=Q(state=states.RUNNING)),
            waiting=Count("pk", filter=Q(state=states.WAITING)),
        )
        .order_by("first")
    )


def shards_running(run: Run) -> QuerySet[RunShard]:
    return RunShard.objects.filter(run=run, state=RunShard.State.RUNNING).order_by("stage", "number")


ATTEMPTS_ASSISTED = 3  # what came to nothing so often is left to the run's holder, whose own end is noticed


def running(run_id: int) -> QuerySet[Run]:
    """The run, if it is running: a condition for its shards.

    Not a join: an UPDATE that joins asks its conditions in a subquery, and PostgreSQL would not ask them again of a row
    that it had to wait for.
    """
    return Run.objects.filter(pk=run_id, state=Run.State.RUNNING)


def shards_free(run_id: int, at: datetime, *, assisting: bool = False) -> QuerySet[RunShard]:
    """Shards of a running run that wait, or whose worker sends no heartbeat; for its holder or one that assists."""
    shards = RunShard.objects.filter(free(at, waiting=[RunShard.State.WAITING]), run__in=running(run_id))
    return shards.filter(attempt__lt=ATTEMPTS_ASSISTED) if assisting else shards


def shards_done(run_id: int, stage: str) -> int:
    """What is done of a stage, by all workers together, in the run's unit."""
    return RunShard.objects.filter(run=run_id, stage=stage).aggregate(done=Sum("done"))["done"] or 0


def shards_said_done(run_id: int, stage: str) -> set[int]:
    """The numbers of a stage's shards that are done, as their rows say."""
    done = RunShard.objects.filter(run=run_id, stage=stage, state=RunShard.State.DONE)
    return set(done.values_list("number", flat=True))


def stages_open(run_id: int) -> set[str]:
    """The stages of a run of which shards are still to be done."""
    undone = RunShard.objects.filter(run=run_id).exclude(state=RunShard.State.DONE)
    return set(undone.values_list("stage", flat=True))


def runs_to_assist(at: datetime, queues: Collection[str]) -> QuerySet[Run]:
    """Runs of those queues whose holder is alive and that have shards which nobody does, oldest first."""
    shards = RunShard.objects.filter(
        free(at, waiting=[RunShard.State.WAITING]), attempt__lt=ATTEMPTS_ASSISTED
    )
    held = Run.objects.filter(alive(at), state=Run.State.RUNNING, queue__in=queues)
    return held.filter(pk__in=shards.values("run")).order_by("pk")


def assistants_wanted(run: Run, at: datetime) -> int:
    """How many workers to invite to a run's shards: as many as are idle, and no more than shards are free."""
    workers = len(workers_serving(run.queue, at))
    holders = Run.objects.filter(alive(at), state=Run.State.RUNNING, queue=run.queue).count()
    at_work = RunShard.objects.filter(alive(at), run__queue=run.queue)
    assistants = at_work.filter(state=RunShard.State.RUNNING).exclude(worker=F("run__worker")).count()
    return max(0, min(workers - holders - assistants, shards_free(run.pk, at, assisting=True).count()))
