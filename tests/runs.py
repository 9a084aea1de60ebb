"""Runs as a form plans them and as a worker ends them."""

from dataclasses import asdict

from mlworkers import tasks
from mlworkers.models import Run
from mlworkers.plans.kinds import kind_named, plan_from
from tests.factories import RunFactory


def run_plan(kind: str, dataset, values: dict[str, object]) -> Run:
    """A queued run with the plan that a form makes of these values."""
    plan = asdict(plan_from(kind_named(kind), values))
    return RunFactory(kind=kind, dataset=dataset, queue=kind_named(kind).queue, plan=plan)


def run_execute(run: Run, state: str = "") -> Run:
    """The run after a worker had it; with a state, the run must have reached it."""
    tasks.execute(run.pk)
    run.refresh_from_db()
    assert not state or run.state == state, run.message
    return run
