"""Comparisons that were stored before controls were added to their weightings."""

from importlib import import_module
from types import SimpleNamespace

import pytest
from django.apps import apps
from django.db import connection

from mlworkers.plans.kinds import kind_named, plan_from
from tests.factories import RunFactory

pytestmark = pytest.mark.django_db
migration = import_module("mlworkers.migrations.0007_comparisons_without_controls")
EDITOR = SimpleNamespace(connection=connection)
OLD_PLAN = {
    "dataset": "d",
    "model": "m",
    "scores": "s",
    "realism": "p",
    "test_score_set": "t",
    "weightings": "plain,realism",
}


def test_a_comparison_under_way_goes_on_with_the_weightings_it_started_with() -> None:
    run = RunFactory(kind="compare_weightings", plan=OLD_PLAN)

    migration.controls_add(apps, EDITOR)

    run.refresh_from_db()
    assert plan_from(kind_named(run.kind), run.plan).chosen == ("plain", "realism")


def test_other_runs_and_the_way_back_change_nothing() -> None:
    run, other = (
        RunFactory(kind="compare_weightings", plan=OLD_PLAN),
        RunFactory(kind="train_encoder", plan={"epochs": 2}),
    )

    migration.controls_add(apps, EDITOR)
    migration.controls_remove(apps, EDITOR)

    run.refresh_from_db()
    other.refresh_from_db()
    assert (run.plan, other.plan) == (OLD_PLAN, {"epochs": 2})
