"""Which two score sets stand beside each other: the address of the page."""

from collections.abc import Sequence
from typing import cast

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from curation.datasets.selectors import ScoreSetRow
from curation.foundation.numbers import number_from
from curation.models import ScoreSet


class ScoreSetForm(forms.ModelForm):  # type: ignore[type-arg]
    """What pages say of a score set. Its name stays, because files, plans and snapshots hold it."""

    class Meta:
        model = ScoreSet
        fields = ["title", "description"]
        help_texts = {"title": _("Instead of its name, which stays in files, commands and snapshots.")}
        widgets = {"description": forms.Textarea(attrs={"rows": 4})}


class WithdrawForm(forms.Form):
    why = forms.CharField(
        label=_("Reason"),
        max_length=ScoreSet._meta.get_field("withdrawn_why").max_length,
        help_text=_("Everybody who opens the scores reads it."),
    )


class ComparedSetsForm(forms.Form):
    """Where the address names no set, or one that cannot be compared, the first two sets are chosen.

    unknown: what the address names that cannot be compared. twice: whether it names one set as both; another one is
    then the second.
    """

    first = forms.TypedChoiceField(label=_("First score set"), required=False, coerce=int, empty_value=None)
    second = forms.TypedChoiceField(label=_("Second score set"), required=False, coerce=int, empty_value=None)

    def __init__(self, data: QueryDict, *, rows: Sequence[ScoreSetRow]) -> None:
        """rows: at least two, those that are shown where the address names none first."""
        self.rows = {row.score_set.pk: row for row in rows}
        ways = [(row.score_set.pk, str(row.score_set)) for row in rows]
        named = {name: data.get(name, "") for name in ("first", "second")}
        asked = [number_from(text) for text in named.values()]
        self.unknown = [
            text for text, pk in zip(named.values(), asked, strict=True) if text and pk not in self.rows
        ]
        self.twice = asked[0] in self.rows and asked[0] == asked[1]
        first, second = asked[0], None if self.twice else asked[1]
        if first not in self.rows:
            first = next(pk for pk in self.rows if pk != second)
        if second not in self.rows:
            second = next(pk for pk in self.rows if pk != first)
        chosen = (first, second)
        super().__init__(dict(zip(("first", "second"), chosen, strict=True)))
        for name in ("first", "second"):
            cast("forms.ChoiceField", self.fields[name]).choices = ways
        self.first_row, self.second_row = (self.rows[pk] for pk in chosen)
