"""What a rater sends: a pair, and where on the scale it lies, or that it is skipped."""

from datetime import datetime
from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.forms.judging import AnswerForm
from annotation.models import Participation, SliderPair
from curation.foundation.numbers import NumberField

HIGHEST = 100


class RatedField(forms.ModelChoiceField):  # type: ignore[type-arg]
    def __init__(self) -> None:
        super().__init__(
            SliderPair.objects.none(),
            error_messages={
                "required": gettext_lazy(
                    "The page did not say which sentences this is about; load it again."
                ),
                "invalid_choice": gettext_lazy("These sentences were not given to you; load the page again."),
            },
        )


class RatingForm(AnswerForm):
    pair = RatedField()
    value = NumberField(required=False)
    skip = forms.BooleanField(required=False)
    field_order = ("pair", "value", "skip")  # of several errors the first is said

    def __init__(self, person: Participation, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        pairs: Any = self.fields["pair"]
        pairs.queryset = person.campaign.slider_arm.pairs.select_related("arm")

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        value = cleaned.get("value")
        if cleaned.get("skip"):
            cleaned["value"] = None
        elif "value" in self.errors:
            return cleaned
        elif value is None:
            self.add_error("value", _("Choose a place on the scale first."))
        elif not 0 <= value <= HIGHEST:
            self.add_error("value", _("Choose a number from 0 to 100."))
        return cleaned

    def rating(self, at: datetime) -> dict[str, Any]:
        """The arguments of `rating_submit`."""
        return {
            "item": self.cleaned_data["pair"],
            "value": self.cleaned_data["value"],
            "client_id": self.cleaned_data["client_id"],
            **self.times(at),
        }
