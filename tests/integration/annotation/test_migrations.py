"""Stored values follow when their names change."""

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from tests.factories import DatasetFactory
from tests.integration.annotation.crowd import STEADY, crowd_judge

BEFORE = [("annotation", "0005_designs_by_workers")]


def migrate(targets):
    executor = MigrationExecutor(connection)
    executor.migrate(targets)
    return executor.loader.project_state(targets).apps


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_what_was_counted_and_surplus_becomes_collected_and_extra() -> None:
    campaign = crowd_judge(DatasetFactory(), people={"anna": STEADY, "ben": STEADY}, each=2)
    newest = MigrationExecutor(connection).loader.graph.leaf_nodes()
    campaign.participations.get(user__username="ben").judgements.update(status="extra")

    try:
        apps = migrate(BEFORE)
        judgements = apps.get_model("annotation", "Judgement").objects
        before = {value: judgements.filter(standing=value).count() for value in ("counted", "surplus")}
        wanted = sorted(apps.get_model("annotation", "Tuple").objects.values_list("wanted", "counted"))
    finally:
        apps = migrate(newest)

    judgements = apps.get_model("annotation", "Judgement").objects
    after = {value: judgements.filter(status=value).count() for value in ("collected", "extra")}
    assert list(after.values()) == list(before.values())
    assert min(after.values()) > 0
    tuples = apps.get_model("annotation", "Tuple").objects
    assert sorted(tuples.values_list("required", "collected")) == wanted
