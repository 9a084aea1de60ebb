"""Comparisons that were stored when controls added one shuffle."""

from importlib import import_module
from types import SimpleNamespace

import pytest
from django.apps import apps
from django.db import connection

from mlworkers.plans.kinds import kind_named, plan_from
from tests.factories import RunFactory

pytestmark = pytest.mark.django_db
migration = import_module("mlworkers.migrations.0010_shuffles_of_stored_comparisons")
OLD_PLAN = {"dataset": "d", "model": "m", "scores": "s", "realism": "p", "test_score_set": "t"}


@pytest.mark.parametrize(
    ("given", "had"),
    [
        ({"controls": True}, "plain realism filter random shuffle constant"),
        ({"weightings": "plain, shuffle,realism", "controls": True}, "plain shuffle realism constant"),
        ({"weightings": "plain,filter", "controls": False}, "plain filter"),
    ],
)
def test_a_stored_comparison_keeps_the_weightings_that_it_had(given, had: str) -> None:
    run = RunFactory(kind="compare_weightings", plan={**OLD_PLAN, **given})

    migration.weightings_name(apps, SimpleNamespace(connection=connection))

    run.refresh_from_db()
    assert plan_from(kind_named(run.kind), run.plan).chosen == tuple(had.split())
