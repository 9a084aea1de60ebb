"""The colours of states, statuses and verdicts."""

from django.apps import apps

from annotation.models import Judgement
from curation.templatetags.curation import _TONES, tone


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
