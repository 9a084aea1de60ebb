"""What a command that starts a run says while the run waits for a worker and is carried out."""

import time
from collections.abc import Callable

from django.utils.translation import gettext as _

from curation.foundation.errors import UserError
from mlworkers.models import Run
from mlworkers.runs.selectors import worker_for

SECONDS_BETWEEN_LOOKS = 0.5
SECONDS_BETWEEN_LINES = 10.0


def say_what_it_waits_for(run: Run, say: Callable[[str], object]) -> None:
    run.refresh_from_db()
    if run.message:
        say(run.message)
    worker = worker_for(run.queue)
    if worker["starting"]:
        say(_("The worker of the queue “%(queue)s” is starting.") % worker)
    elif not worker["served"]:
        sentence = _(
            "No worker serves the queue “%(queue)s”, so the run waits. Start a worker with: %(command)s"
        )
        say(sentence % worker)


def run_awaited(run: Run, say: Callable[[str], object]) -> None:
    """Return when the run has succeeded, and say now and then how far it is. Raises UserError for one that has not."""
    said, at = "", -SECONDS_BETWEEN_LINES
    while not run.ended:
        time.sleep(SECONDS_BETWEEN_LOOKS)
        run.refresh_from_db()
        late = time.monotonic() - at >= SECONDS_BETWEEN_LINES
        if not run.ended and (run.message != said or (late and run.total)):
            say(f"{run.message} {run.done}/{run.total}" if run.total else run.message)
            said, at = run.message, time.monotonic()
    if run.state != Run.State.SUCCEEDED:
        raise UserError("%(message)s", message=run.message)


def outcome_of(run: Run) -> str:
    """Its state and what it says of itself."""
    head = _("Run %(number)s %(state)s.") % {"number": run.pk, "state": run.get_state_display()}
    return f"{head} {run.message}".strip()
