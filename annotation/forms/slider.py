"""A slider arm, as a curator starts it and says who rates."""

from typing import Any

from django import forms
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _

from annotation.campaigns.slider import MOST_PAIRS, MOST_RATINGS, can_rate
from annotation.models import Campaign
from curation.foundation.numbers import NumberField

MOST_DRAWN = 1_000


class SliderForm(forms.Form):
    question = forms.CharField(
        label=_("Question"),
        max_length=300,
        help_text=_("It stands above one pair at a time, so it does not ask for the most and the least."),
    )
    low_label = forms.CharField(label=_("Words at 0"), max_length=40)
    high_label = forms.CharField(label=_("Words at 100"), max_length=40)
    number = NumberField(
        label=_("Pairs to sample"),
        min_value=1,
        max_value=MOST_PAIRS,
        required=False,
        help_text=_("With the campaign's seed. Empty: all pairs of the campaign."),
    )
    ratings_per_pair = NumberField(
        label=_("Ratings per pair"),
        min_value=2,
        max_value=MOST_RATINGS,
        initial=4,
        help_text=_(
            "By so many different people. Two are the least for a reliability; four make halves of two."
        ),
    )

    def __init__(self, campaign: Campaign, sent: Any = None) -> None:
        """The words of the campaign are where the arm's begin."""
        initial = {
            "question": campaign.question,
            "low_label": campaign.worst_label,
            "high_label": campaign.best_label,
        }
        super().__init__(sent, initial=initial)


class RatersForm(forms.Form):
    chosen = forms.MultipleChoiceField(
        label=_("People"),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=_("Members of the dataset who have annotated nothing in this campaign."),
    )
    drawn = NumberField(
        label=_("People to sample at random"),
        min_value=0,
        max_value=MOST_DRAWN,
        required=False,
        help_text=_("From the others of the list. The comparison is fair only if chance decides who rates."),
    )

    def __init__(self, campaign: Campaign, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        members = can_rate(campaign)
        choices = [
            (str(each.user_id), f"{each.user} ({capfirst(each.get_role_display())})") for each in members
        ]
        self.fields["chosen"].choices = choices  # type: ignore[attr-defined]
        self.nobody = not choices

    def clean_chosen(self) -> list[int]:
        return [int(pk) for pk in self.cleaned_data["chosen"]]

    def clean_drawn(self) -> int:
        return self.cleaned_data["drawn"] or 0
