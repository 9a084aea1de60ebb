"""Which score set similarities from contexts are compared with: the address of the page."""

from collections.abc import Sequence
from typing import cast

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from curation.datasets.selectors import ScoreSetRow
from curation.foundation.numbers import number_from


class ComparedWithForm(forms.Form):
    """Where the address names no set of these, the first is chosen. rows: at least one."""

    scores = forms.TypedChoiceField(label=_("Compare with"), required=False, coerce=int, empty_value=None)

    def __init__(self, data: QueryDict, *, rows: Sequence[ScoreSetRow]) -> None:
        by_number = {row.score_set.pk: row for row in rows}
        asked = number_from(data.get("scores", ""))
        chosen = asked if asked in by_number else next(iter(by_number))
        super().__init__({"scores": chosen})
        cast("forms.ChoiceField", self.fields["scores"]).choices = [
            (number, str(row.score_set)) for number, row in by_number.items()
        ]
        self.row = by_number[chosen]
