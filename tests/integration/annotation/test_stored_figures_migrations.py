"""Figures that were stored under earlier names: those of published score sets, and those of studies."""

from importlib import import_module
from types import SimpleNamespace

import pytest
from django.apps import apps
from django.db import connection

from annotation.models import CampaignStudy
from annotation.results.study import study_latest
from tests.factories import CampaignFactory, ScoreSetFactory

pytestmark = pytest.mark.django_db
EDITOR = SimpleNamespace(connection=connection)


def test_a_published_score_set_says_under_the_new_name_how_many_of_its_pairs_are_distinguishable() -> None:
    migration = import_module("annotation.migrations.0007_distinguishable_pairs")
    published = ScoreSetFactory(campaign_ref=1, parameters={"told_apart": 0.4, "method": "counting"})

    migration.forwards(apps, EDITOR)

    published.refresh_from_db()
    assert published.parameters == {"distinguishable": 0.4, "method": "counting"}


def test_other_score_sets_and_the_way_back_change_nothing() -> None:
    migration = import_module("annotation.migrations.0007_distinguishable_pairs")
    imported = ScoreSetFactory(campaign_ref=None, parameters={"told_apart": 0.4})
    published = ScoreSetFactory(campaign_ref=1, parameters={"told_apart": 0.4})

    migration.forwards(apps, EDITOR)
    migration.backwards(apps, EDITOR)

    imported.refresh_from_db()
    published.refresh_from_db()
    assert imported.parameters == published.parameters == {"told_apart": 0.4}


def test_a_study_with_earlier_names_is_computed_again(at) -> None:
    migration = import_module("annotation.migrations.0009_studies_computed_again")
    campaign = CampaignFactory()
    CampaignStudy.objects.create(campaign=campaign, mark="m", figures={"hardest": []}, computed_at=at)

    migration.forget(apps, EDITOR)

    latest = study_latest(campaign, "m")
    assert (latest.figures, latest.stale) == ({}, True)
