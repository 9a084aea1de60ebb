"""The colours of states, statuses and verdicts."""

import pytest
from django.apps import apps

from annotation.models import Judgement
from curation.templatetags.curation import _TONES, in_short, tone


def test_every_value_with_a_colour_is_one_that_a_model_has() -> None:
    values = {
        value
        for model in apps.get_models()
        for field in model._meta.fields
        for value, _label in field.flatchoices
    }

    assert set(_TONES) <= values


def test_an_extra_judgement_is_marked_as_doubtful() -> None:
    assert tone(Judgement.Status.EXTRA) == "doubtful"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.564849326240597, "0.5648"),
        (0.5, "0.5"),
        (-12.30001, "-12.3"),
        (0.00001234, "1.2e-05"),
        (3.0, 3.0),
        ("a", "a"),
    ],
)
def test_a_number_of_a_chart_is_short_in_its_table(value: object, shown: object) -> None:
    assert in_short(value) == shown
