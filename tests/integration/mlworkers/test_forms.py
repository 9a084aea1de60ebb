"""The form that a plan makes."""

from dataclasses import dataclass, field

import pytest

from mlworkers.forms.plans import PlanForm
from mlworkers.plans.kinds import KINDS, Kind


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


TRAIN = Kind(name="train", label="Train", description="", plan=Training, unit="steps", needs="read")


def filled_in(**values: object) -> PlanForm:
    return PlanForm(values, kind=TRAIN, dataset=None)


def test_a_number_shows_its_default_its_unit_and_where_it_comes_from() -> None:
    form = PlanForm(kind=TRAIN, dataset=None)

    assert form.fields["epochs"].help_text == "Passes over the data. Default: 3 epochs (RISE, table 9)."
    assert form.fields["epochs"].initial == 3


def test_a_setting_whose_help_says_what_empty_means_shows_no_default(dataset) -> None:
    form = PlanForm(kind=KINDS["cross_validate_encoder"], dataset=dataset)

    assert form.fields["methods"].help_text.endswith("all that a model is needed for if you choose one.")
    assert "Default" not in form.fields["snapshot"].help_text


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

    assert form.errors["__all__"] == [sentence]
