"""The form that a plan makes."""

from dataclasses import dataclass, field
from typing import Any

import pytest
from django.http import QueryDict

from curation.models import ScoreSet
from mlworkers.forms.choices import SeveralInput
from mlworkers.forms.plans import MOST_FIRST, PlanForm
from mlworkers.plans.kinds import KINDS, Kind
from tests.factories import PairFactory, ScoreSetFactory


@dataclass(frozen=True)
class Training:
    epochs: int = field(
        default=3,
        metadata={
            "help": "Passes over the data.",
            "unit": "epochs",
            "source": "RISE, table 9",
            "low": 1,
            "high": 10,
        },
    )
    rate: float = field(default=2e-5, metadata={"help": "Step size."})
    shuffle: bool = field(default=True, metadata={"help": "Draw the order anew."})


TRAIN = Kind(
    name="train", label="Train", description="", plan=Training, unit="steps", needs="read", pipeline=""
)


def filled_in(**values: object) -> PlanForm:
    return PlanForm(values, kind=TRAIN, dataset=None)


def test_a_number_shows_its_default_its_unit_and_where_it_comes_from() -> None:
    form = PlanForm(kind=TRAIN, dataset=None)

    assert form.fields["epochs"].help_text == "Passes over the data. Default: 3 epochs."
    assert form.fields["epochs"].citation == "RISE, table 9"
    assert form.fields["epochs"].initial == 3


def test_a_setting_whose_help_says_what_empty_means_shows_no_default(dataset) -> None:
    form = PlanForm(kind=KINDS["cross_validate_encoder"], dataset=dataset)

    assert form.fields["methods"].help_text.endswith("all that a model is needed for if you choose one.")
    assert "Default" not in form.fields["snapshot"].help_text


def test_the_help_of_boxes_that_are_ticked_speaks_of_no_commas(dataset) -> None:
    forms = [PlanForm(kind=kind, dataset=dataset) for kind in KINDS.values() if kind.listed]

    helps = [
        field.help_text
        for form in forms
        for field in form.fields.values()
        if isinstance(field.widget, SeveralInput)
    ]

    assert len(helps) > 5
    assert [text for text in helps if "comma" in text] == []


@pytest.mark.parametrize("name", [name for name, kind in KINDS.items() if kind.listed])
def test_a_form_shows_at_most_twelve_fields_first_and_the_others_in_groups(name, dataset) -> None:
    form = PlanForm(kind=KINDS[name], dataset=dataset)

    grouped = [field.name for _label, fields in form.more_in_groups for field in fields]

    assert len(form.first) <= MOST_FIRST == 12
    assert sorted(grouped) == sorted(field.name for field in form.more)
    assert {"dataset", "model"} & set(form.fields) <= {field.name for field in form.first} | {"dataset"}


def test_a_setting_that_is_left_empty_keeps_its_default() -> None:
    form = filled_in(epochs="", rate="", shuffle="on")

    assert form.is_valid()
    assert form.plan() == {"shuffle": True}


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"epochs": "0"}, "“Epochs” is 0; it must be at least 1."),
        ({"epochs": "11"}, "“Epochs” is 11; it must be at most 10."),
    ],
)
def test_a_number_out_of_range_is_said_in_the_plan_s_own_sentence(
    values: dict[str, str], sentence: str
) -> None:
    form = filled_in(**values)

    assert form.errors == {"epochs": [sentence]}


def test_all_that_is_wrong_is_said_at_once_beside_the_settings() -> None:
    form = filled_in(epochs="0", rate="fast")

    assert set(form.errors) == {"epochs", "rate"}
    assert [field.name for field in form.wrong] == ["epochs", "rate"]


def test_what_does_not_go_together_is_said_beside_the_first_setting_that_is_named(
    furnished_comparison,
) -> None:
    form = furnished_comparison(weightings=["plain", "realism"], controls="on")

    assert form.errors["realism"][0].startswith("The weighting “realism” needs p_D;")


@pytest.mark.parametrize(
    ("given", "sentences"),
    [
        (
            {"best": "9", "least_tokens": "50", "most_tokens": "20", "tags": "SIM95"},
            {
                "best": "“Best paraphrases” is 9, but",
                "least_tokens": "“Shortest sentence” is above",
                "tags": "“Tags” has “SIM95”",
            },
        ),
        # A number that is out of its range hides no other, and what is said of it is said once.
        (
            {"best": "0", "least_tokens": "50", "most_tokens": "20"},
            {"best": "“Best paraphrases” is 0", "least_tokens": "“Shortest sentence” is above"},
        ),
        # The wrong number is one of the two that do not go together: only the first is said.
        ({"least_tokens": "0", "most_tokens": "20"}, {"least_tokens": "“Shortest sentence” is 0"}),
    ],
)
def test_all_that_does_not_go_together_is_said_at_once(
    dataset, given: dict[str, str], sentences: dict[str, str]
) -> None:
    kind = KINDS["write_paraphrases"]
    sent = QueryDict(mutable=True)
    for bound in PlanForm(kind=kind, dataset=dataset):
        if bound.initial not in (None, False):
            sent[bound.name] = str(bound.initial)
    for name, value in {"model": "run:1", "labeller": "run:2", **given}.items():
        sent[name] = value

    form = PlanForm(sent, kind=kind, dataset=dataset)

    assert {name: len(found) for name, found in form.errors.items()} == dict.fromkeys(sentences, 1)
    assert all(form.errors[name][0].startswith(sentence) for name, sentence in sentences.items()), form.errors


@pytest.fixture
def furnished_comparison(dataset):
    """The form of a comparison, filled in with its defaults but for what is given."""
    ScoreSetFactory(dataset=dataset, name="people", kind=ScoreSet.Kind.HUMAN)
    ScoreSetFactory(dataset=dataset, name="asked", kind=ScoreSet.Kind.TARGET)

    def filled(**given: Any) -> PlanForm:
        kind = KINDS["compare_weightings"]
        blank = PlanForm(kind=kind, dataset=dataset)
        sent = QueryDict(mutable=True)
        for bound in blank:
            if bound.initial not in (None, False):
                sent[bound.name] = str(bound.initial)
        given = {"scores": "people", "test_score_set": "people", **given}
        for name, value in given.items():
            sent.setlist(name, value if isinstance(value, list) else [value])
        return PlanForm(sent, kind=kind, dataset=dataset)

    return filled


def test_weightings_are_ticked_and_become_the_text_of_the_plan(furnished_comparison) -> None:
    form = furnished_comparison(weightings=["plain", "random"])

    assert form.is_valid(), form.errors
    assert form.plan()["weightings"] == "plain,random"
    boxes = [(str(box.data["value"]), box.data["selected"]) for box in form["weightings"]]
    assert boxes[:5] == [
        ("plain", True),
        ("realism", False),
        ("filter", False),
        ("random", True),
        ("consistency", False),
    ]


def test_no_ticked_weighting_is_refused_beside_the_boxes(furnished_comparison) -> None:
    assert not furnished_comparison(weightings=[]).is_valid()


def test_a_name_that_is_not_offered_has_a_box_of_its_own(dataset) -> None:
    form = PlanForm(kind=KINDS["compare_weightings"], dataset=dataset, initial={"suites": "stsb,gone"})

    ticked = [box.data["value"] for box in form["suites"] if box.data["selected"]]
    assert ticked == ["stsb", "gone"]


def test_the_splits_of_the_dataset_are_offered_and_the_default_even_where_no_pair_has_it(dataset) -> None:
    for split in ("train", "judge", ""):
        PairFactory(dataset=dataset, split=split)
    PairFactory(dataset=dataset, split="retired", status="retired")
    form = PlanForm(kind=KINDS["evaluate_encoder"], dataset=dataset)

    assert list(form.fields["split"].choices) == [
        ("test", "test · no pairs"),
        ("judge", "judge"),
        ("train", "train"),
        ("", "every split"),
    ]


def test_several_splits_are_ticked_where_a_plan_takes_several(dataset) -> None:
    PairFactory(dataset=dataset, split="dev")
    form = PlanForm(kind=KINDS["score_contexts"], dataset=dataset)

    assert [box.data["value"] for box in form["split"]] == ["dev"]


def test_another_model_is_typed_beside_the_select(dataset) -> None:
    kind = KINDS["score_pairs"]
    sent = {"dataset": dataset.slug, "model": "another", "model_other": " some/encoder ", "device": "cpu"}
    form = PlanForm(sent, kind=kind, dataset=dataset)

    assert form.is_valid(), form.errors
    assert form.plan()["model"] == "some/encoder"
    shown = str(PlanForm(kind=kind, dataset=dataset, initial={"model": "some/encoder"})["model"])
    assert '<option value="another" selected>' in shown
    assert 'value="some/encoder"' in shown


def test_a_source_in_the_guide_is_a_link_behind_the_sign(dataset) -> None:
    form = PlanForm(kind=KINDS["train_encoder"], dataset=dataset)

    shown = form["unjudged_weight"].as_field_group()

    assert "<summary" in shown
    assert '<a href="/guide/train-and-compare/">' in shown
    assert "docs/guide" not in shown
