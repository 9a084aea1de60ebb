"""How long runs and tasks took, and how long runs have stood still: the figures of `/metrics`."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import accumulate
from typing import Any

from django.db.models import Count, DurationField, ExpressionWrapper, F, Min, Q, Sum
from django.db.models.functions import Coalesce

from mlworkers.models import Run, WorkerHeartbeat
from mlworkers.runs.task_times import LIMITS

RUN_SECONDS = (10.0, 60.0, 300.0, 1_800.0, 7_200.0, 28_800.0)


@dataclass(frozen=True)
class Durations:
    """How many ended in how many seconds.

    limits: in seconds. buckets: how many ended within each of the limits, and at the end how many there are. seconds:
    of all together.
    """

    limits: tuple[float, ...]
    buckets: list[int]
    seconds: float


def run_durations() -> dict[tuple[str, str], Durations]:
    """Of the runs that have ended, by kind and state, from their first claim to their end."""
    took = ExpressionWrapper(F("finished_at") - F("started_at"), output_field=DurationField())
    ended = Run.objects.filter(finished_at__isnull=False, started_at__isnull=False).annotate(took=took)
    within = {
        f"within_{limit:.0f}": Count("pk", filter=Q(took__lte=timedelta(seconds=limit)))
        for limit in RUN_SECONDS
    }
    rows: Iterable[Any] = (
        ended.order_by().values("kind", "state").annotate(n=Count("pk"), total=Sum("took"), **within)
    )
    return {
        (row["kind"], row["state"]): Durations(
            limits=RUN_SECONDS,
            buckets=[*(row[name] for name in within), row["n"]],
            seconds=row["total"].total_seconds(),
        )
        for row in rows
    }


def seconds_without_progress(at: datetime) -> dict[str, float]:
    """By kind of the runs that are carried out: since when the one that stands still longest has said nothing new."""
    running_now = Run.objects.filter(state=Run.State.RUNNING)
    since = Coalesce("progressed_at", "claimed_at", "created_at")
    rows = running_now.order_by().values("kind").annotate(since=Min(since))
    return {row["kind"]: max(0.0, (at - row["since"]).total_seconds()) for row in rows}


def task_durations(workers: Iterable[WorkerHeartbeat]) -> dict[tuple[str, str], Durations]:
    """By worker and task, since the worker started."""
    return {
        (worker.name, task): Durations(
            limits=LIMITS, buckets=list(accumulate(told["buckets"])), seconds=told["seconds"]
        )
        for worker in workers
        for task, told in worker.tasks.items()
    }
