"""A worked example of the guidelines, as a curator writes it."""

from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.campaigns.examples import WorkedExample
from annotation.models import Campaign
from curation.pairs.text import SENTENCE_MAX_CHARACTERS


class WorkedExampleForm(forms.Form):
    """Two sentences for each pair, which pair is best and which worst, and why."""

    why = forms.CharField(
        label=gettext_lazy("Reason"),
        max_length=1_000,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text=gettext_lazy("Why these two pairs stand out. Annotators read it below the pairs."),
    )

    def __init__(self, campaign: Campaign, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.campaign = campaign
        self.places = range(campaign.tuple_size)
        for place in self.places:
            for side, label in (("a", _("Sentence A")), ("b", _("Sentence B"))):
                self.fields[f"{side}-{place}"] = forms.CharField(
                    label=label,
                    max_length=SENTENCE_MAX_CHARACTERS,
                    widget=forms.Textarea(
                        attrs={"rows": 2, "dir": "auto", "lang": campaign.dataset.language}
                    ),
                )
        for name, label in (("best", campaign.best_label), ("worst", campaign.worst_label)):
            self.fields[name] = forms.TypedChoiceField(
                choices=[(place, place + 1) for place in self.places],
                coerce=int,
                error_messages={"required": _("Choose the pair for “%(label)s”.") % {"label": label}},
            )

    def cards(self) -> list[dict[str, Any]]:
        """The fields of each pair, and whether it is chosen."""
        return [
            {
                "place": place,
                "a": self[f"a-{place}"],
                "b": self[f"b-{place}"],
                "best": self["best"].value() == str(place),
                "worst": self["worst"].value() == str(place),
            }
            for place in self.places
        ]

    def example(self) -> WorkedExample:
        said = self.cleaned_data
        pairs = tuple((said[f"a-{place}"], said[f"b-{place}"]) for place in self.places)
        return WorkedExample(pairs, said["best"], said["worst"], said["why"])
