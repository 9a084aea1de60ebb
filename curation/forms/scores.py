"""Which two score sets stand beside each other: the address of the page."""

from collections.abc import Sequence
from typing import cast

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from curation.datasets.selectors import ScoreSetRow


class ComparedSetsForm(forms.Form):
    """Where the address names no set, or one that is not there, the first two sets are chosen."""

    first = forms.TypedChoiceField(label=_("First score set"), required=False, coerce=int, empty_value=None)
    second = forms.TypedChoiceField(label=_("Second score set"), required=False, coerce=int, empty_value=None)

    def __init__(self, data: QueryDict, *, rows: Sequence[ScoreSetRow]) -> None:
        """rows: at least two, those that are shown where the address names none first."""
        self.rows = {row.score_set.pk: row for row in rows}
        ways = [(row.score_set.pk, row.score_set.name) for row in rows]
        chosen = self._chosen(data)
        super().__init__(dict(zip(("first", "second"), chosen, strict=True)))
        for name in ("first", "second"):
            cast("forms.ChoiceField", self.fields[name]).choices = ways
        self.first_row, self.second_row = (self.rows[pk] for pk in chosen)

    def _chosen(self, data: QueryDict) -> tuple[int, int]:
        asked = [int(text) if (text := data.get(name, "")).isdecimal() else 0 for name in ("first", "second")]
        first = asked[0] if asked[0] in self.rows else next(pk for pk in self.rows if pk != asked[1])
        others = (pk for pk in self.rows if pk != first)
        return first, asked[1] if asked[1] in self.rows else next(others)
