"""The page of duplicates: what is searched, which groups are shown, and which of their pairs are set aside."""

from typing import Any, cast
from urllib.parse import urlencode

from django import forms
from django.db.models import QuerySet
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from curation.datasets.edits import Edit, Repeated
from curation.exchange.duplicate_searches import LOOSEST, STRICTEST
from curation.foundation.errors import UserError
from curation.foundation.numbers import number_from
from curation.models import Dataset, DuplicateSearch, Pair
from curation.pairs.duplicate_groups import Likeness

THRESHOLD = 0.8
SELECTED = "selected"
PARTS = [
    ("", _("all groups")),
    (Likeness.EXACT.value, _("exact")),
    (Likeness.MIRRORED.value, _("mirrored")),
    (Likeness.NEAR.value, _("near")),
    ("leaks", _("in several splits")),
    ("elsewhere", _("also in another dataset")),
]


class DuplicatesForm(forms.Form):
    """What is searched. `against`: the other datasets; `threshold`: 0.5 to 1, 0.8 where none is given."""

    against = forms.ModelMultipleChoiceField(
        Dataset.objects.none(),
        label=_("Compare with other datasets"),
        required=False,
        to_field_name="slug",
        widget=forms.CheckboxSelectMultiple,
    )
    threshold = forms.FloatField(
        label=_("Threshold"),
        required=False,
        min_value=LOOSEST,
        max_value=STRICTEST,
        widget=forms.NumberInput({"step": "0.05"}),
        help_text=_(
            "Two sentences are near duplicates if their words have at least this Jaccard index: the share of all their "
            "words that both have. 1 means the same words."
        ),
    )

    def __init__(self, data: QueryDict, *, others: QuerySet[Dataset]) -> None:
        """others: the datasets that the person may read, without the one of the page."""
        given = data.copy()
        if not given.get("threshold"):
            given["threshold"] = f"{THRESHOLD:g}"
        super().__init__(given)
        cast("forms.ModelMultipleChoiceField[Dataset]", self.fields["against"]).queryset = others

    @property
    def datasets(self) -> list[Dataset]:
        return list(self.cleaned_data.get("against") or [])

    @property
    def question(self) -> dict[str, Any]:
        """The columns of a DuplicateSearch that say what is searched."""
        numbers = sorted(one.pk for one in self.datasets)
        return {"against": ",".join(map(str, numbers)), "threshold": self.cleaned_data["threshold"]}


def search_address(search: DuplicateSearch) -> str:
    """The query string of a search's page, without the part shown."""
    slugs = (
        Dataset.objects.filter(pk__in=search.numbers_against).order_by("pk").values_list("slug", flat=True)
    )
    return urlencode([*(("against", slug) for slug in slugs), ("threshold", f"{search.threshold:g}")])


class DuplicatesEditForm(forms.Form):
    """Which pairs of a search are set aside: `edit` is what a valid form asks for."""

    search = forms.CharField(widget=forms.HiddenInput)
    which = forms.ChoiceField(
        label=_("Exclude"),
        choices=[
            ("later", _("all but the first of each group")),
            ("elsewhere", _("all that another dataset has too")),
            (SELECTED, _("the selected pairs")),
        ],
    )
    likeness = forms.ChoiceField(label=_("of"), choices=[("", _("all groups")), *PARTS[1:4]], required=False)

    def __init__(self, data: QueryDict | None = None, *, search: DuplicateSearch) -> None:
        super().__init__(data, initial={"search": search.pk})
        self.found_by = search
        self.edit: Edit | None = None
        if not search.against:
            which = cast("forms.ChoiceField", self.fields["which"])
            which.choices = [choice for choice in cast("Any", which.choices) if choice[0] != "elsewhere"]

    @property
    def numbers(self) -> list[str]:
        """The numbers of the pairs that were selected, as they came."""
        return self.data.getlist("pair") if isinstance(self.data, QueryDict) else []

    def clean(self) -> dict[str, Any]:
        asked = self.cleaned_data
        if self.errors:
            return asked
        numbers = [number for text in self.numbers if (number := number_from(text)) is not None]
        chosen = tuple(sorted(set(numbers))) if asked["which"] == SELECTED else None
        repeated = None if chosen is not None else Repeated(self.found_by, asked["which"], asked["likeness"])
        try:
            self.edit = Edit("status", Pair.Status.RETIRED.value, pairs=chosen, repeated=repeated)
        except UserError as error:
            self.add_error(None, str(error))
        return asked
