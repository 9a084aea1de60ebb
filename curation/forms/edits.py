"""Edits of many pairs: what they get, and which pairs."""

from typing import Any

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from curation.datasets.edits import LONGEST, Edit
from curation.datasets.selectors import PairFilter
from curation.foundation.errors import UserError
from curation.foundation.numbers import number_from
from curation.models import Pair

SELECTED, FOUND = "selected", "found"
CHANGES = [
    ("split", _("Set the split")),
    ("source", _("Set the source")),
    *((status.value, _("Set the status: %(status)s") % {"status": status.label}) for status in Pair.Status),
]


class EditForm(forms.Form):
    """`edit` is what a valid form asks for. The pairs are those with a tick, or all that the filters find."""

    change = forms.ChoiceField(label=_("Change"), choices=CHANGES)
    value = forms.CharField(
        label=_("To"),
        required=False,
        max_length=max(LONGEST.values()),
        help_text=_("The name of the split or source; leave it empty for none."),
    )
    which = forms.ChoiceField(
        label=_("Pairs"),
        choices=[(SELECTED, _("the selected pairs")), (FOUND, _("all pairs found"))],
    )

    def __init__(self, data: QueryDict | None = None, *, filter: PairFilter) -> None:
        super().__init__(data)
        self.filter = filter
        self.edit: Edit | None = None

    @property
    def numbers(self) -> list[str]:
        """The numbers of the pairs that were selected, as they came."""
        return self.data.getlist("pair") if isinstance(self.data, QueryDict) else []

    def clean(self) -> dict[str, Any]:
        asked = self.cleaned_data
        if self.errors:
            return asked
        change = asked["change"]
        field, value = (change, asked["value"]) if change in LONGEST else ("status", change)
        numbers = [number for text in self.numbers if (number := number_from(text)) is not None]
        try:
            pairs = tuple(sorted(set(numbers))) if asked["which"] == SELECTED else None
            self.edit = Edit(field, value, self.filter, pairs)
        except UserError as error:
            self.add_error(None, str(error))
        return asked
