"""What workers read about the shards of runs: which are free, what is done, and who might help."""

from collections.abc import Collection
from datetime import datetime

from django.db.models import F, Q, QuerySet, Sum

from mlworkers.models import Run, RunShard
from mlworkers.selectors import alive, live_workers

ATTEMPTS_ASSISTED = 3  # what came to nothing so often is left to the run's holder, whose own end is noticed


def running(run_id: int) -> QuerySet[Run]:
    """The run, if it is running: a condition for its shards.

    Not a join: an UPDATE that joins asks its conditions in a subquery, and PostgreSQL would not ask them again of a row
    that it had to wait for.
    """
    return Run.objects.filter(pk=run_id, state=Run.State.RUNNING)


def shards_free(run_id: int, at: datetime, *, assisting: bool = False) -> QuerySet[RunShard]:
    """Shards of a running run that wait, or whose worker fell silent; for its holder, or for one that assists."""
    free = RunShard.objects.filter(_shard_is_free(at), run__in=running(run_id))
    return free.filter(attempt__lt=ATTEMPTS_ASSISTED) if assisting else free


def _shard_is_free(at: datetime) -> Q:
    return Q(state=RunShard.State.WAITING) | (Q(state=RunShard.State.RUNNING) & ~alive(at))


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
    free = RunShard.objects.filter(_shard_is_free(at), attempt__lt=ATTEMPTS_ASSISTED).values("run")
    return _runs_at_work(at).filter(pk__in=free, queue__in=queues).order_by("pk")


def _runs_at_work(at: datetime) -> QuerySet[Run]:
    return Run.objects.filter(alive(at), state=Run.State.RUNNING)


def assistants_wanted(run: Run, at: datetime) -> int:
    """How many workers to invite to a run's shards: as many as are idle, and no more than shards are free."""
    workers = sum(run.queue in worker.queues for worker in live_workers(at))
    holders = _runs_at_work(at).filter(queue=run.queue).count()
    at_work = RunShard.objects.filter(alive(at), run__queue=run.queue)
    assistants = at_work.filter(state=RunShard.State.RUNNING).exclude(worker=F("run__worker")).count()
    return max(0, min(workers - holders - assistants, shards_free(run.pk, at, assisting=True).count()))
