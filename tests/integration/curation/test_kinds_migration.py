"""Score sets of an older installation get the kinds of today, and the reverse migration gives the old ones back."""

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

BEFORE, AFTER = "0006_claims_of_imports", "0007_kinds_of_scores"


def migrated(name: str):
    """The apps of the project as they are after this migration."""
    executor = MigrationExecutor(connection)
    executor.migrate([("curation", name)])
    return executor.loader.project_state([("curation", name)]).apps


def kinds(apps) -> dict[str, str]:
    return dict(apps.get_model("curation", "ScoreSet").objects.values_list("name", "kind"))


@pytest.mark.exhaustive
def test_kinds_are_renamed_and_names_stay(empty_database) -> None:
    before = migrated(BEFORE)
    dataset = before.get_model("curation", "Dataset").objects.create(slug="old", name="Old")
    made = before.get_model("curation", "ScoreSet").objects.create
    for kind in ("gold", "people", "model", "target", "realism"):
        made(dataset=dataset, name=kind, kind=kind, low=0, high=1)

    after = kinds(migrated(AFTER))
    back = kinds(migrated(BEFORE))

    others = {"model": "model", "target": "target", "realism": "realism"}
    assert after == {"gold": "reference", "people": "human"} | others
    assert back == {"gold": "gold", "people": "people"} | others
