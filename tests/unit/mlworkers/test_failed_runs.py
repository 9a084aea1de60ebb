"""What a page offers first for a run that ended without success."""

import pytest

from mlworkers.models import Run
from mlworkers.runs.attempts import DISK_FULL, DISK_READ_ONLY, UNEXPECTED, fix_of

State = Run.State


@pytest.mark.parametrize("accident", [DISK_FULL, DISK_READ_ONLY, str(UNEXPECTED) % {"reference": "0a1b2c3d"}])
def test_after_an_accident_the_same_run_is_started_again(accident: object) -> None:
    assert fix_of(Run(state=State.FAILED, message=str(accident))) == "again"


def test_what_a_plan_says_wrongly_is_mended_in_its_settings() -> None:
    assert fix_of(Run(state=State.FAILED, message="No pair has a score.")) == "settings"


def test_a_cancelled_run_is_started_again_and_any_other_run_needs_nothing() -> None:
    assert fix_of(Run(state=State.CANCELLED)) == "again"
    assert [fix_of(Run(state=state)) for state in (State.QUEUED, State.RUNNING, State.SUCCEEDED)] == [
        "",
        "",
        "",
    ]
