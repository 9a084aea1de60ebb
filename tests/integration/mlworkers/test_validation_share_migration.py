"""Plans, cards and results that were stored under the earlier name of the validation share."""

from importlib import import_module
from types import SimpleNamespace

import pytest
from django.apps import apps
from django.db import connection

from mlworkers.plans.kinds import kind_named, plan_from
from tests.factories import ArtifactFactory, RunFactory

pytestmark = pytest.mark.django_db
migration = import_module("mlworkers.migrations.0004_validation_share")
EDITOR = SimpleNamespace(connection=connection)
OLD_PLAN = {"dataset": "d", "model": "m", "scores": "s", "held_back": 0.1, "seed": 3}


def test_a_stored_plan_and_its_result_get_the_new_names() -> None:
    run = RunFactory(
        kind="train_encoder", plan=OLD_PLAN, result={"held_back": 4, "tied_to_held_back": 1, "steps": 2}
    )
    artifact = ArtifactFactory(run=run, kind="encoder", card={"label": "plain", "plan": OLD_PLAN})

    migration.rename(apps, EDITOR)

    run.refresh_from_db()
    artifact.refresh_from_db()
    assert run.result == {"validation_pairs": 4, "tied_to_validation": 1, "steps": 2}
    assert run.plan == artifact.card["plan"]
    assert plan_from(kind_named(run.kind), run.plan).validation_share == 0.1


def test_other_runs_and_the_way_back_change_nothing() -> None:
    other = RunFactory(kind="score_realism", plan={"held_back": 1})
    run = RunFactory(kind="compare_weightings", plan=OLD_PLAN)

    migration.rename(apps, EDITOR)
    migration.rename_back(apps, EDITOR)

    run.refresh_from_db()
    other.refresh_from_db()
    assert (run.plan, other.plan) == (OLD_PLAN, {"held_back": 1})
