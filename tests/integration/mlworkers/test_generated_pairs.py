"""The choice of generated pairs in the plans of runs: shown with numbers, stored, and in agreement with a snapshot."""

from dataclasses import asdict

import pytest

from curation.datasets.selectors import PairFilter
from curation.exchange.exporting import snapshot_create
from mlworkers.forms.plans import PlanForm
from mlworkers.plans.fields import SettingError
from mlworkers.plans.kinds import KINDS, plan_from
from mlworkers.runs.references import references_check
from mlworkers.runs.storage import home_path
from tests.factories import GeneratedPairFactory, PairFactory, RunFactory, ScoreSetFactory
from tests.runs import run_execute

pytestmark = pytest.mark.django_db
CHOOSING = ["export_dataset", "train_encoder", "compare_weightings", "evaluate_encoder", "analyse_language"]


@pytest.fixture
def dataset(dataset):
    PairFactory(dataset=dataset)
    GeneratedPairFactory(dataset=dataset)
    return dataset


@pytest.mark.parametrize("kind", CHOOSING)
def test_each_form_shows_the_number_of_pairs_beside_each_choice(dataset, kind) -> None:
    form = PlanForm(kind=KINDS[kind], dataset=dataset)

    labels = [label for _value, label in form.fields["generated_pairs"].choices]
    assert labels == ["all but rejected: 2 pairs", "kept only: 1 pair", "human only: 1 pair"]
    assert "generated_pairs" in [field.name for field in form.first]


@pytest.mark.parametrize("kind", CHOOSING)
def test_a_plan_from_before_the_choice_means_all_but_rejected(kind) -> None:
    settings = {setting.name: setting for setting in KINDS[kind].settings}

    assert settings["generated_pairs"].default == "all but rejected"
    assert not settings["generated_pairs"].required


def test_an_unknown_choice_is_refused_with_those_there_are(dataset) -> None:
    with pytest.raises(SettingError, match="choose one of all but rejected, kept only and human only"):
        plan_from(KINDS["export_dataset"], {"dataset": dataset.slug, "generated_pairs": "some"})


def test_a_run_does_not_read_a_snapshot_that_was_made_with_another_choice(dataset) -> None:
    snapshot_create(dataset=dataset, filter=PairFilter(status="active", generated_pairs="human only"))
    ScoreSetFactory(dataset=dataset, name="gold")
    kind = KINDS["evaluate_encoder"]
    named = {
        "dataset": dataset.slug,
        "model": "packaged:all-MiniLM-L6-v2",
        "score_set": "gold",
        "snapshot": 1,
    }

    def checked(**given: str) -> None:
        references_check(kind, asdict(plan_from(kind, named | given)), dataset)

    checked(generated_pairs="human only")
    with pytest.raises(SettingError, match="Snapshot 1 was made with “human only”"):
        checked()


@pytest.mark.parametrize(
    ("given", "rows", "unreviewed"), [({}, 2, 1), ({"generated_pairs": "human only"}, 1, 0)]
)
def test_an_export_run_leaves_the_file_and_a_card_that_says_what_it_holds(
    dataset, given, rows, unreviewed
) -> None:
    run = RunFactory(dataset=dataset, plan={"dataset": dataset.slug, "format": "csv", **given})

    run_execute(run)

    card = home_path(run.artifacts.get(kind="card").path).read_text()
    assert (run.result["rows"], run.result["unreviewed"]) == (rows, unreviewed)
    assert f"* generated pairs without a decision: {unreviewed}" in card
    assert run.artifacts.get(kind="pairs").card["generated_pairs"] == run.result["generated_pairs"]
