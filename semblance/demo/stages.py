"""How a stage of the demonstration shows its progress and waits for the runs that it starts."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from curation.errors import UserError
from curation.files.progress import Report
from curation.models import User
from mlworkers.models import Run
from mlworkers.runs.services import run_start

Stage = Callable[[str], AbstractContextManager[Report]]
Wait = Callable[[Run, Report], Run]


@dataclass(frozen=True)
class Stages:
    """open: a progress bar with a title, which gives its report. wait: until a run has ended."""

    open: Stage
    wait: Wait

    def run(self, title: str, *, kind: str, by: User, **plan: Any) -> Run:
        """A stage that is one run. Raises UserError where it does not succeed."""
        with self.open(title) as report:
            return self.finished(kind=kind, by=by, report=report, **plan)

    def finished(self, *, kind: str, by: User, report: Report, **plan: Any) -> Run:
        run = self.wait(run_start(kind=kind, plan=plan, by=by), report)
        if run.state != Run.State.SUCCEEDED:
            raise UserError(f"Run {run.pk} ({run.kind}) ended as {run.state}: {run.message}")
        return run
