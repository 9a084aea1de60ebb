"""A norming session, as a curator starts it."""

from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.campaigns.norming import MOST_PEOPLE, MOST_TUPLES
from curation.foundation.numbers import NumberField, number_from


class NormingForm(forms.Form):
    people = NumberField(
        label=gettext_lazy("People who take part"),
        initial=3,
        min_value=2,
        max_value=MOST_PEOPLE,
        help_text=gettext_lazy(
            "The discussion begins when this number of people has answered all questions, or when you begin "
            "it."
        ),
    )
    drawn = NumberField(
        label=gettext_lazy("Tuples to sample"),
        initial=5,
        min_value=1,
        max_value=MOST_TUPLES,
        required=False,
        help_text=gettext_lazy("Of pairs that stand in different tuples, so that nobody sees a tuple early."),
    )
    chosen = forms.CharField(
        label=gettext_lazy("Or these tuples of the campaign"),
        max_length=200,
        required=False,
        help_text=gettext_lazy(
            "Numbers with commas, such as 3, 17: the tab Analysis names those of lowest agreement. People who have not "
            "annotated them yet may get them later, and are then no longer unprejudiced."
        ),
    )

    def clean_chosen(self) -> list[int]:
        parts = [part.strip() for part in self.cleaned_data["chosen"].split(",") if part.strip()]
        numbers = [number_from(part) for part in parts]
        for part, number in zip(parts, numbers, strict=True):
            if number is None:
                raise forms.ValidationError(_("“%(part)s” is not a number of a tuple.") % {"part": part})
        return [number for number in numbers if number is not None]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if not cleaned.get("chosen") and cleaned.get("drawn") is None and "drawn" not in self.errors:
            self.add_error("drawn", _("Say how many tuples to sample, or choose some."))
        return cleaned
