"""What is published of a campaign, and under which name."""

from typing import Any

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.models import Campaign
from annotation.results.publishing import LONGEST_NAME
from annotation.results.record import annotators_named
from curation.foundation.numbers import NumberField

METHODS = [
    ("maxdiff", gettext_lazy("MaxDiff model, with standard errors")),
    ("counting", gettext_lazy("Counting, as in the literature")),
    ("bradley-terry", gettext_lazy("Bradley-Terry on the implied comparisons")),
]


class PlacesForm(forms.Form):
    """Two places of the list of scores, of which the first is claimed to be above the second. places: there are."""

    def __init__(self, places: int, data: QueryDict | None) -> None:
        super().__init__(data, auto_id="claim_%s")
        self.fields["higher"] = NumberField(label=_("Is place"), min_value=1, max_value=places, initial=1)
        self.fields["lower"] = NumberField(label=_("above place"), min_value=1, max_value=places, initial=2)

    def clean(self) -> dict[str, Any]:
        places = self.cleaned_data
        if len(places) == 2 and places["higher"] >= places["lower"]:
            self.add_error("lower", _("Give a place further down."))
        return places


class PublishForm(forms.Form):
    method = forms.ChoiceField(
        label=gettext_lazy("Method"), choices=METHODS, initial="counting", required=False
    )
    name = forms.CharField(
        label=gettext_lazy("Name of the score set"),
        max_length=LONGEST_NAME - 20,  # a stratum's name may follow
        required=False,
        help_text=gettext_lazy("Leave it empty, and it is made of the campaign and the method."),
    )
    annotator_scales = forms.BooleanField(
        label=gettext_lazy("A scale per annotator (MaxDiff only)"),
        required=False,
        help_text=gettext_lazy(
            "Some annotators distinguish the pairs more decidedly than others. What the scales change is listed with "
            "the score set."
        ),
    )
    mean_per_round = forms.BooleanField(
        label=gettext_lazy("A prior mean for the pairs of each round (MaxDiff only)"),
        required=False,
        initial=True,
        help_text=gettext_lazy(
            "So that scores of pairs that joined later are not pulled towards those of the first pairs."
        ),
    )
    strata = forms.BooleanField(
        label=gettext_lazy("Imported and generated pairs as two score sets"),
        required=False,
        help_text=gettext_lazy("Each from the judgements that compared only its own pairs."),
    )

    client_id = forms.UUIDField(
        widget=forms.HiddenInput,
        required=False,
        help_text=gettext_lazy("A UUID that you make: sent twice, published once."),
    )

    def __init__(self, *args: Any, campaign: Campaign, **kwargs: Any) -> None:
        """Of a campaign: with a scale per annotator if they are known, and a mean per round if pairs joined later."""
        super().__init__(*args, **kwargs)
        self.initial.setdefault("method", "maxdiff" if campaign.has_grown else "counting")
        if not campaign.has_grown:
            del self.fields["mean_per_round"]
        if not annotators_named(campaign):
            del self.fields["annotator_scales"]

    def propose(self, method: str, advice: str) -> None:
        """advice: why this method."""
        self.initial["method"] = method
        self.fields["method"].help_text = advice

    def clean_method(self) -> str:
        return self.cleaned_data["method"] or "counting"

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if cleaned.get("annotator_scales") and cleaned.get("method") != "maxdiff":
            self.add_error("annotator_scales", _("Only the MaxDiff model has a scale per annotator."))
        if cleaned.get("method") != "maxdiff":
            cleaned.pop("mean_per_round", None)  # ticked from the start, whatever the method
        return cleaned
