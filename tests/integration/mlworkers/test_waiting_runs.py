"""How many runs of one person may wait."""

import pytest

from curation.foundation.errors import UserError
from mlworkers.models import Run
from mlworkers.runs.services import run_start
from tests.factories import RunFactory

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def few(settings) -> None:
    settings.RUNS_WAITING_MOST = 2


def start(dataset, by, **more) -> Run:
    return run_start(kind="export_dataset", plan={"dataset": dataset.slug}, by=by, **more)


def test_a_run_beyond_those_that_may_wait_is_refused_in_a_sentence(dataset, owner) -> None:
    for _run in range(2):
        start(dataset, owner)

    with pytest.raises(
        UserError, match="2 of your runs wait for a worker, the most that one person can have"
    ):
        start(dataset, owner)
    assert Run.objects.count() == 2


@pytest.mark.parametrize("state", ["running", "succeeded", "failed", "cancelled"])
def test_runs_that_do_not_wait_do_not_count(dataset, owner, state: str) -> None:
    for _run in range(2):
        RunFactory(dataset=dataset, started_by=owner, state=state)

    assert start(dataset, owner).state == "queued"


def test_other_people_and_commands_are_not_kept_waiting(dataset, owner, curator) -> None:
    for _run in range(2):
        start(dataset, owner)

    assert start(dataset, curator)
    assert start(dataset, None)
