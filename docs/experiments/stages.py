"""Runs of a site of an experiment's own, carried out in parts of some minutes: the next call goes on.

A script sets the site up (its folder, `django.setup()`) before it imports this.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

from django.conf import settings

from mlworkers.models import Run
from mlworkers.plans.kinds import QUEUES, kind_named, plan_from
from mlworkers.runs.services import run_start
from semblance.serving.processes import Group
from semblance.serving.programs import workers

Result = TypeVar("Result")
LOOK_EVERY = 1.0  # seconds
NOT_OVER = 3  # exit status: the minutes are over, and there is more to do


class NotOver(Exception):  # noqa: N818 - no error: the next call goes on
    """The minutes are over."""


def run_of(kind: str, plan: Mapping[str, Any]) -> Run:
    """The run of this plan that has succeeded or goes on; else a new one."""
    values = asdict(plan_from(kind_named(kind), plan))
    states = [Run.State.SUCCEEDED, Run.State.RUNNING, Run.State.QUEUED]
    usable = Run.objects.filter(kind=kind, state__in=states).order_by("pk")
    same = (run for run in usable if run.plan == values)
    return next(same, None) or run_start(kind=kind, plan=values, by=None)


@dataclass(frozen=True)
class Stages:
    """Carries out runs one after the other, until a moment of the clock. ended: whether a worker ended by itself."""

    until: float
    ended: Callable[[], object]

    def awaited(self, run: Run) -> Run:
        """The run when it has succeeded. Raises NotOver where time is over before."""
        while not run.ended and time.monotonic() < self.until:
            if self.ended():
                raise SystemExit("A worker has ended by itself.")
            time.sleep(LOOK_EVERY)
            run.refresh_from_db()
        if not run.ended:
            raise NotOver
        if run.state != Run.State.SUCCEEDED:
            raise SystemExit(f"Run {run.pk} ({run.kind}) ended as {run.state}: {run.message}")
        return run

    def done(self, kind: str, **plan: Any) -> Run:
        """The run of that plan when it has succeeded; says how long it took. Raises NotOver as `awaited` does."""
        run = self.awaited(run_of(kind, plan))
        if run.started_at and run.finished_at:
            seconds = (run.finished_at - run.started_at).total_seconds()
            print(f"{kind}: run {run.pk}, {seconds:.0f} s: {run.message}", flush=True)
        return run


def carried_out(minutes: float, work: Callable[[Stages], Result]) -> Result | None:
    """What the work returns, with workers beside it; None, and a sentence, where the minutes are over before."""
    group = Group(workers(",".join(QUEUES)), folder=settings.BASE_DIR, write=lambda line: None)
    try:
        with group.running():
            return work(Stages(time.monotonic() + 60 * minutes, group.ended))
    except NotOver:
        print("The minutes are over. Call again to go on.")
        return None
