"""What a plan accepts, and the one sentence it answers with where it does not."""

from dataclasses import asdict, dataclass, field
from enum import StrEnum

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlworkers.plans.kinds import KINDS, QUEUES, kind_named, plan_from
from mlworkers.plans.settings import plan_read, settings_of


class Weighting(StrEnum):
    PLAIN = "plain"
    REALISM = "realism"


@dataclass(frozen=True)
class Training:
    model: str = field(metadata={"help": "Where the weights come from."})
    epochs: int = field(default=3, metadata={"unit": "epochs", "low": 1, "high": 10, "source": "table 8"})
    rate: float = field(default=2e-5, metadata={"low": 0.0})
    weighting: Weighting = Weighting.REALISM
    shuffle: bool = True
    steps: int | None = None

    def __post_init__(self) -> None:
        if self.steps and self.epochs > 1:
            raise ValueError("Give epochs or steps, not both.")


def training(**values: object) -> Training:
    return plan_read(Training, "train", values)


def test_a_plan_keeps_its_defaults_where_nothing_is_said() -> None:
    plan = training(model="tiny")

    assert plan == Training(model="tiny")


def test_texts_are_read_as_the_setting_s_type() -> None:
    plan = training(model="tiny", epochs="1", rate="1e-3", weighting="plain", shuffle="no", steps="10")

    assert plan == Training("tiny", 1, 1e-3, Weighting.PLAIN, shuffle=False, steps=10)


@given(epochs=st.integers(1, 10), rate=st.floats(0, 1), shuffle=st.booleans())
def test_a_plan_goes_through_json_and_text_unchanged(epochs: int, rate: float, shuffle: bool) -> None:
    plan = training(model="tiny", epochs=epochs, rate=rate, shuffle=shuffle)

    from_text = training(**{name: str(value) for name, value in asdict(plan).items() if value is not None})

    assert training(**asdict(plan)) == plan
    assert from_text == plan


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"model": "tiny", "epoch": 3}, "“epoch” is not a setting of train; did you mean “epochs”?"),
        (
            {"model": "tiny", "zzz": 3},
            (
                "“zzz” is not a setting of train; its settings are "
                "model, epochs, rate, weighting, shuffle and steps."
            ),
        ),
        ({}, "“model” is missing; train needs it. Where the weights come from."),
        ({"model": ""}, "“model” is missing; train needs it. Where the weights come from."),
        ({"model": 3}, "“model” is “3”; give a text."),
        ({"model": "tiny", "epochs": 0}, "“epochs” is 0; it must be at least 1."),
        ({"model": "tiny", "epochs": "11"}, "“epochs” is 11; it must be at most 10."),
        ({"model": "tiny", "epochs": "3.5"}, "“epochs” is “3.5”; give a whole number."),
        ({"model": "tiny", "epochs": 2.0}, "“epochs” is “2.0”; give a whole number."),
        ({"model": "tiny", "epochs": "1_0"}, "“epochs” is “1_0”; give a whole number."),
        ({"model": "tiny", "epochs": "1" * 19}, "“epochs” has too many digits; give a smaller number."),
        ({"model": "tiny", "epochs": 10**30}, "“epochs” has too many digits; give a smaller number."),
        ({"model": "tiny", "epochs": "x" * 99}, f"“epochs” is “{'x' * 79}…”; give a whole number."),
        ({"model": "tiny", "rate": "1_0.5"}, "“rate” is “1_0.5”; give a number."),
        ({"model": "ti\0ny"}, "“model” is “ti\0ny”; give a text."),
        ({"model": "tiny", "epochs": True}, "“epochs” is “True”; give a whole number."),
        ({"model": "tiny", "epochs": None}, "“epochs” is “None”; give a whole number."),
        ({"model": "tiny", "rate": "nan"}, "“rate” is “nan”; give a number."),
        ({"model": "tiny", "rate": float("inf")}, "“rate” is “inf”; give a number."),
        ({"model": "tiny", "rate": [1]}, "“rate” is “[1]”; give a number."),
        ({"model": "tiny", "shuffle": "maybe"}, "“shuffle” is “maybe”; give yes or no."),
        ({"model": "tiny", "weighting": "gold"}, "“weighting” is “gold”; choose one of plain and realism."),
        ({"model": "tiny", "steps": 3}, "Give epochs or steps, not both."),
    ],
)
def test_a_wrong_value_gets_one_sentence_that_names_it(values: dict[str, object], sentence: str) -> None:
    with pytest.raises(ValueError) as refused:  # noqa: PT011 - the sentence is compared below
        training(**values)

    assert str(refused.value) == sentence


def test_an_unknown_kind_is_answered_with_those_there_are() -> None:
    with pytest.raises(ValueError, match=r"“train_everything”; the kinds are .*import_pairs"):
        kind_named("train_everything")


@pytest.mark.parametrize("kind", KINDS.values(), ids=list(KINDS))
def test_every_kind_explains_every_setting_of_its_plan(kind) -> None:
    unexplained = [setting.name for setting in kind.settings if not (setting.label and setting.help)]

    assert unexplained == []


def test_every_kind_waits_in_a_queue_that_serve_knows() -> None:
    assert {kind.queue for kind in KINDS.values()} <= set(QUEUES)


@pytest.mark.parametrize("kind", KINDS.values(), ids=list(KINDS))
def test_every_default_of_every_kind_is_allowed_by_its_own_limits(kind) -> None:
    named = [one.name for one in kind.settings if one.required or one.preselected]
    required = dict.fromkeys(named, "1")
    if kind.name == "select_paraphrases":
        required["bleu"] = "2"  # its two score sets must differ
    defaults = {one.name: one.default for one in settings_of(kind.plan) if one.name not in named}

    plan = plan_from(kind, {**defaults, **required})

    assert plan_from(kind, asdict(plan)) == plan
