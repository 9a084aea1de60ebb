"""How many judgements an adaptive phase may ask for, and how many pairs join a campaign."""

from django import forms
from django.utils.translation import gettext_lazy

from curation.foundation.numbers import NumberField


class SpendForm(forms.Form):
    judgements = NumberField(
        label=gettext_lazy("Extra judgements"),
        min_value=1,
        max_value=1_000_000,
        help_text=gettext_lazy(
            "Each judgement is of a different tuple. You can add more later, or withdraw the remaining ones."
        ),
    )


class GrowForm(forms.Form):
    number = NumberField(
        label=gettext_lazy("Number of pairs"),
        min_value=1,
        required=False,
        help_text=gettext_lazy(
            "Empty: all that fit. A number is sampled at random with the campaign's seed."
        ),
    )
