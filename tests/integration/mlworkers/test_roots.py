"""Runs that people start take models from the site's own folders; commands take them from anywhere."""

from pathlib import Path

import pytest

from curation.foundation.errors import UserError
from mlworkers.models import Run
from mlworkers.runs.lifecycle import run_claim
from mlworkers.runs.services import run_again, run_start
from mlworkers.tasks import work
from tests.factories import RunFactory, ScoreSetFactory

pytestmark = pytest.mark.django_db
REFUSED = "is outside the folders that this site takes models from"


@pytest.fixture
def plan(dataset) -> dict[str, str]:
    return {"dataset": dataset.slug, "score_set": ScoreSetFactory(dataset=dataset, kind="human").name}


@pytest.mark.parametrize("where", ["/etc", "~", "../../etc", "{home}/../elsewhere", "{home}/link"])
def test_a_person_cannot_name_a_folder_outside_the_roots(plan, staff, home: Path, where) -> None:
    (home / "link").symlink_to("/etc")

    with pytest.raises(UserError, match=REFUSED):
        run_start(kind="evaluate_encoder", plan={**plan, "model": where.format(home=home)}, by=staff)

    assert not Run.objects.exists()


def test_a_person_names_a_folder_inside_the_roots_and_a_command_any(
    plan, staff, home: Path, tmp_path
) -> None:
    inside = run_start(kind="evaluate_encoder", plan={**plan, "model": str(home / "encoder")}, by=staff)
    by_command = run_start(kind="evaluate_encoder", plan={**plan, "model": str(tmp_path)}, by=None)

    assert (inside.state, by_command.state) == ("queued", "queued")
    with pytest.raises(UserError, match=REFUSED):
        run_again(run=by_command, by=staff)


def test_the_worker_asks_again(plan, staff, dataset, home: Path, tmp_path) -> None:
    named = run_start(kind="evaluate_encoder", plan={**plan, "model": str(tmp_path)}, by=None).plan
    run = RunFactory(kind="evaluate_encoder", dataset=dataset, plan=named, queue="gpu", started_by=staff)

    claim = run_claim(run_id=run.pk, worker="here", at=run.created_at)
    work(claim)

    run.refresh_from_db()
    assert run.state == "failed"
    assert REFUSED in run.message
