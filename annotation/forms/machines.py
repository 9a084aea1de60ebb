"""How many tuples machines judge, and how much worse than an annotator a machine may be."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy

from annotation.bws.annotators.machine import COST_BENEFIT
from annotation.campaigns.machine_block import MOST_TUPLES, PROPOSED
from curation.foundation.numbers import NumberField

COST_BENEFITS = {
    0.1: gettext_lazy(".10: crowds"),
    0.15: gettext_lazy(".15: trained"),
    0.2: gettext_lazy(".20: experts"),
}


class BlockForm(forms.Form):
    number = NumberField(
        label=gettext_lazy("Number of tuples"),
        min_value=1,
        max_value=MOST_TUPLES,
        help_text=gettext_lazy(
            "Sampled at random from the design. The alternative annotator test needs people who annotated 30 "
            "of them."
        ),
    )

    def __init__(self, *args: Any, there: int, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.initial.setdefault("number", min(PROPOSED, there))


class CostBenefitForm(forms.Form):
    penalty = forms.TypedChoiceField(
        label=gettext_lazy("Cost-benefit penalty"),
        coerce=float,
        choices=[(str(value), label) for value, label in COST_BENEFITS.items()],
        help_text=gettext_lazy(
            "How much less often than the annotator the model may win, because it costs less than people do."
        ),
    )

    def chosen(self) -> float:
        return float(self.cleaned_data["penalty"]) if self.is_valid() else COST_BENEFIT


def penalty_asked(text: str) -> str:
    """The penalty that an address names, or the usual one where it names none that there is."""
    return text if text in {str(value) for value in COST_BENEFITS} else str(COST_BENEFIT)
