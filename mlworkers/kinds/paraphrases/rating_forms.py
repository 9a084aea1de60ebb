"""How many candidates to rate, and a rating."""

from collections.abc import Iterator
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from curation.foundation.numbers import NumberField
from mlworkers.kinds.paraphrases.ratings import EXPLAINED, LABELS, STEPS

MOST_DRAWN = 200
_STEPS = [(str(step), str(step)) for step in STEPS]


class DrawForm(forms.Form):
    most = NumberField(label=_("Candidates of each setting"), min_value=1, max_value=MOST_DRAWN, initial=10)


class RatingForm(forms.Form):
    candidate = NumberField(widget=forms.HiddenInput)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for scale in LABELS:
            self.fields[scale] = forms.TypedChoiceField(
                label=LABELS[scale],
                help_text=EXPLAINED[scale],
                choices=_STEPS,
                coerce=int,
                widget=forms.RadioSelect,
            )

    @property
    def scales(self) -> Iterator[forms.BoundField]:
        return (self[scale] for scale in LABELS)

    @property
    def values(self) -> dict[str, int]:
        return {scale: self.cleaned_data[scale] for scale in LABELS}
