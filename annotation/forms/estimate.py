"""What a campaign will cost, before anything is stored."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.bws.studies.costs import SECONDS_PER_JUDGEMENT, campaign_costs
from annotation.campaigns.cost import CampaignWork, campaign_estimate
from annotation.models import CAMPAIGN_SETTINGS, REPEATS_AT_MOST_EVERY, Campaign
from curation.foundation.errors import form_errors_said
from curation.foundation.numbers import NumberField
from curation.models import Dataset

# What only the estimate asks for. The campaign keeps it (`Campaign.estimate`).
ASSUMED = ("seconds", "pay", "people")
MOST_PAY = 1_000_000_000


class EstimateForm(forms.Form):
    """The settings that cost time, how fast people judge and what an hour of theirs costs."""

    seconds = forms.FloatField(
        label=gettext_lazy("Seconds per judgement"),
        initial=SECONDS_PER_JUDGEMENT,
        min_value=1,
        max_value=600,
        help_text=gettext_lazy(
            "About 25 for four pairs of everyday sentences, and in proportion for more or fewer pairs."
        ),
    )
    pay = forms.FloatField(
        label=gettext_lazy("Pay per hour"),
        required=False,
        min_value=0,
        max_value=MOST_PAY,
        help_text=gettext_lazy("In any currency. Empty: no cost is shown."),
    )
    people = NumberField(
        label=gettext_lazy("People who annotate"),
        required=False,
        min_value=1,
        max_value=100_000,
        help_text=gettext_lazy(
            "The number of people who share the work. Empty: all members that the dataset has now, and the places of a "
            "crowd whose link is open."
        ),
    )
    source = forms.CharField(required=False)
    split = forms.CharField(required=False)
    number = NumberField(label=gettext_lazy("Number of pairs"), required=False, min_value=1)
    tuple_size = NumberField(min_value=2, max_value=8)
    factor = forms.FloatField(min_value=0.01, max_value=1000)
    judgements_per_tuple = NumberField(min_value=1, max_value=1000)
    gold_every = NumberField(min_value=2)
    gold_minimum = NumberField(min_value=0, required=False)
    gold_threshold = forms.FloatField(min_value=0, max_value=1, required=False)
    repeat_every = NumberField(min_value=0, required=False)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in self.fields.keys() & set(CAMPAIGN_SETTINGS):  # named as in the form beside it
            of_campaign: Any = Campaign._meta.get_field(name)
            self.fields[name].label = capfirst(of_campaign.verbose_name)

    @property
    def wrong(self) -> str:
        """What is wrong with the values that are there, in one line."""
        return form_errors_said(self, but=["required"])

    def clean_repeat_every(self) -> int:
        every: int = self.cleaned_data["repeat_every"] or 0
        if 0 < every < REPEATS_AT_MOST_EVERY:
            raise forms.ValidationError(_("Repeated questions cannot be asked that often."))
        return every


def estimate_asked(
    dataset: Dataset, asked: Mapping[str, Any], *, campaign: Campaign | None = None
) -> CampaignWork | None:
    """The estimate for a form's values, of a new campaign or this draft; None where some are missing."""
    form = EstimateForm({"seconds": SECONDS_PER_JUDGEMENT, **asked})
    if form.is_valid():
        return campaign_estimate(dataset, form.cleaned_data, campaign=campaign)
    return (
        CampaignWork(0, 0, campaign_costs(0), pay=None, gate=None, refusal=form.wrong) if form.wrong else None
    )


def estimate_assumed(asked: Mapping[str, Any]) -> dict[str, Any]:
    """What only the estimate asks for, as the campaign keeps it; nothing that cannot be read."""
    form = EstimateForm(asked)
    form.full_clean()
    read = {name: form.cleaned_data.get(name) for name in ASSUMED}
    return {name: value for name, value in read.items() if value is not None}
