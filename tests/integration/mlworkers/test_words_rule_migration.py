"""Results that were stored when marks were not part of words."""

from importlib import import_module
from types import SimpleNamespace

import pytest
from django.apps import apps
from django.db import connection
from django.urls import reverse

from mlworkers.models import Run
from tests.factories import RunFactory

pytestmark = pytest.mark.django_db
migration = import_module("mlworkers.migrations.0016_rule_of_words_of_earlier_results")
SUCCEEDED = Run.State.SUCCEEDED


def test_an_earlier_result_keeps_its_figures_and_says_how_its_words_were_found() -> None:
    of_words = RunFactory(kind="harvest_pairs", state=SUCCEEDED, result={"pairs": 7})
    newer = RunFactory(kind="harvest_pairs", state=SUCCEEDED, result={"words_rule": "newer"})
    other = RunFactory(kind="train_encoder", state=SUCCEEDED, result={"pairs": 7})

    migration.rule_name(apps, SimpleNamespace(connection=connection))

    for run in (of_words, newer, other):
        run.refresh_from_db()
    assert of_words.result.pop("words_rule").startswith("letters and digits")
    assert of_words.result == other.result == {"pairs": 7}
    assert newer.result == {"words_rule": "newer"}


def test_a_run_shows_by_which_rule_its_words_were_found(client, dataset, owner) -> None:
    run = RunFactory(
        kind="harvest_pairs", dataset=dataset, state=SUCCEEDED, result={"words_rule": "the old rule"}
    )
    client.force_login(owner)

    page = client.get(reverse("mlworkers:run_detail", args=[run.pk]))

    assert "the old rule" in page.content.decode()
