"""How splits are drawn."""

from typing import Any

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from curation.datasets.splits import Drawing
from curation.foundation.errors import UserError
from curation.foundation.numbers import NumberField
from curation.pairs.leaks import Leaks

PARTS = (("train", 80), ("dev", 10), ("test", 10))


def leaks_sent(sent: QueryDict) -> Leaks:
    """What a person said about leaks with the box of a preview."""
    return Leaks.ALLOW if sent.get("leaks") == Leaks.ALLOW else Leaks.REFUSE


class DrawingForm(forms.Form):
    """A percentage for each of three splits; one of 0 leaves the split out. `drawing` is what a valid form asks for."""

    replace = forms.ChoiceField(
        label=_("Pairs that have a split"),
        choices=[("", _("keep it")), ("yes", _("get another one"))],
        required=False,
    )
    by_source = forms.BooleanField(
        label=_("Divide each source by itself"),
        help_text=_("So that each split has about the same share of every source."),
        required=False,
        initial=True,
    )
    seed = NumberField(
        label=_("Seed"), min_value=0, initial=1234, help_text=_("The same seed gives the same splits.")
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        parts = {
            name: forms.FloatField(
                label=_("%(name)s, %%") % {"name": name}, min_value=0, max_value=100, initial=percent
            )
            for name, percent in PARTS
        }
        self.fields = {**parts, **self.fields}
        self.drawing: Drawing | None = None

    @property
    def parts(self) -> list[forms.BoundField]:
        return [self[name] for name, _percent in PARTS]

    def clean(self) -> dict[str, Any]:
        asked = self.cleaned_data
        if self.errors:
            return asked
        percents = {name: asked[name] for name, _percent in PARTS}
        if abs(sum(percents.values()) - 100) > 1e-6:
            total = sum(percents.values())
            raise forms.ValidationError(
                _("The percentages add up to %(total)g. They must add up to 100.") % {"total": total}
            )
        shares = {name: percent / 100 for name, percent in percents.items() if percent}
        try:
            self.drawing = Drawing(
                shares, seed=asked["seed"], by_source=asked["by_source"], replace=asked["replace"] == "yes"
            )
        except UserError as error:
            raise forms.ValidationError(str(error)) from error
        return asked
