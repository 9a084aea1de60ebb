"""What a campaign will cost, before anything is stored."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django import forms
from django.forms.models import model_to_dict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.bws.design import tuple_count
from annotation.models import REPEATS_AT_MOST_EVERY, Campaign
from annotation.selectors import pairs_fitting
from curation.models import Dataset
from curation.numbers import NumberField

SECONDS_EACH = 20


@dataclass(frozen=True)
class Estimate:
    """judgements: those that count. gold, repeats: answers on top. hours: of all people together."""

    pairs: int
    tuples: int
    judgements: int
    gold: int
    repeats: int
    hours: float
    cost: float | None


class EstimateForm(forms.Form):
    """The settings that cost time, how fast people judge and what an hour of theirs costs; kept nowhere."""

    seconds = forms.FloatField(
        label=gettext_lazy("Seconds per judgement"),
        initial=SECONDS_EACH,
        min_value=1,
        max_value=600,
        help_text=gettext_lazy("About 20 for four pairs of everyday sentences."),
    )
    pay = forms.FloatField(
        label=gettext_lazy("Pay per hour"),
        required=False,
        min_value=0,
        help_text=gettext_lazy("In any currency. Empty: no cost is shown."),
    )
    source = forms.CharField(required=False)
    split = forms.CharField(required=False)
    number = NumberField(required=False, min_value=1)
    factor = forms.FloatField(min_value=0.01, max_value=1000)
    judgements_per_tuple = NumberField(min_value=1, max_value=1000)
    gold_every = NumberField(min_value=2)
    repeat_every = NumberField(min_value=0, required=False)

    def clean_repeat_every(self) -> int:
        every: int = self.cleaned_data["repeat_every"] or 0
        if 0 < every < REPEATS_AT_MOST_EVERY:
            raise forms.ValidationError(_("Repeats cannot be asked that often."))
        return every


def campaign_estimate(dataset: Dataset, asked: Mapping[str, Any]) -> Estimate | None:
    """From settings to work; None where they cannot be read yet. One query."""
    form = EstimateForm({"seconds": SECONDS_EACH, **asked})
    if not form.is_valid():
        return None
    settings = form.cleaned_data
    fitting = pairs_fitting(dataset, source=settings["source"], split=settings["split"]).count()
    pairs = min(fitting, settings["number"] or fitting)
    tuples = tuple_count(pairs, settings["factor"])
    judgements = tuples * settings["judgements_per_tuple"]
    # One in every so many tuples that a person gets is gold, and one a repeat.
    gold_share = 1 / settings["gold_every"]
    repeat_share = 1 / settings["repeat_every"] if settings["repeat_every"] else 0.0
    handed = judgements / (1 - gold_share - repeat_share)
    gold, repeats = round(gold_share * handed), round(repeat_share * handed)
    hours = (judgements + gold + repeats) * settings["seconds"] / 3600
    pay = settings["pay"]
    cost = None if pay is None else hours * pay
    return Estimate(pairs, tuples, judgements, gold, repeats, hours, cost)


def settings_of(campaign: Campaign) -> dict[str, Any]:
    """What the estimate of a stored campaign is made from."""
    settings = model_to_dict(campaign, ["factor", "judgements_per_tuple", "gold_every", "repeat_every"])
    return {**settings, **campaign.pair_filter}
