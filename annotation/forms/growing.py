"""How many judgements an adaptive phase may ask for, and how many pairs join a campaign."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy

from annotation.models import Campaign
from curation.models import ScoreSet
from curation.numbers import NumberField


class SpendForm(forms.Form):
    judgements = NumberField(
        label=gettext_lazy("Extra judgements"),
        min_value=1,
        max_value=1_000_000,
        help_text=gettext_lazy(
            "Each judgement is of a different tuple. You can add more later, or withdraw the remaining ones."
        ),
    )
    prior = forms.ModelChoiceField(
        ScoreSet.objects.none(),
        label=gettext_lazy("Expected scores"),
        required=False,
        empty_label=gettext_lazy("None; only judgements decide"),
        help_text=gettext_lazy("A score set that helps to choose tuples. It does not enter any score."),
    )

    def __init__(self, campaign: Campaign, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        score_sets = ScoreSet.objects.filter(dataset=campaign.dataset_id).order_by("name")
        self.fields["prior"].queryset = score_sets  # type: ignore[attr-defined]
        self.fields["prior"].initial = campaign.adaptive_prior_id


class GrowForm(forms.Form):
    number = NumberField(
        label=gettext_lazy("Number of pairs"),
        min_value=1,
        required=False,
        help_text=gettext_lazy("Empty: all that fit. A number is drawn at random with the campaign's seed."),
    )
