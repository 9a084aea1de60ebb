"""The control of a setting that lists rows (`mlworkers.plans.rows`): a control for each cell, and rows to add."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from curation.models import Dataset, Pair, ScoreSet
from mlworkers.forms.choices import models_offered
from mlworkers.plans.kinds import MODEL_KINDS
from mlworkers.plans.rows import Column, RowError, RowSyntax
from mlworkers.plans.settings import Setting
from mlworkers.science.encoders.contrastive.variants import ALL
from mlworkers.science.encoders.pre_fine_tuning.tasks import GLUE, SUBSET
from mlworkers.science.encoders.scorers_plan import Way
from mlworkers.science.encoders.suites.catalogue import SUITES
from mlworkers.science.paraphrasing.tags import TagBounds

SETS_OFFERED = 500
Rows = Sequence[Sequence[str]]


class Offer(NamedTuple):
    """What a cell may be. of: the datasets that have it, by their short names; "" where every dataset has."""

    value: str
    words: str
    of: str = ""


class CellSelect(forms.Select):
    """A select of offers; a value that is not offered is one of the choices too."""

    def __init__(self, offers: Iterable[Offer]) -> None:
        self.offers = {offer.value: offer for offer in offers}
        super().__init__(choices=[("", "–"), *((each.value, each.words) for each in self.offers.values())])

    def optgroups(self, name: str, value: list[str], attrs: dict[str, Any] | None = None) -> Any:
        kept, self.choices = self.choices, list(self.choices)
        self.choices += [(one, one) for one in value if one and one not in self.offers]
        try:
            return super().optgroups(name, value, attrs)
        finally:
            self.choices = kept

    def create_option(self, name: str, value: Any, *args: Any, **kwargs: Any) -> dict[str, Any]:
        option = super().create_option(name, value, *args, **kwargs)
        if (offer := self.offers.get(str(value))) and offer.of:
            option["attrs"]["data-of"] = offer.of
        return option


class RowsInput(forms.Widget):
    """Rows of controls. Their values are lists of cells, blank rows among them; a text counts as well, as programs and
    links give it.
    """

    template_name = "mlworkers/_rows.html"
    use_fieldset = True

    class Media:
        js = (forms.Script("js/rows.js", defer=True),)

    def __init__(self, syntax: RowSyntax, offers: Mapping[str, Sequence[Offer]]) -> None:
        """offers: of each column by its name; one without offers is typed."""
        super().__init__()
        self.syntax = syntax
        self.controls = {
            column.name: CellSelect(offers[column.name])
            if offers.get(column.name) and column.offered not in OPEN
            else forms.TextInput({"autocomplete": "off", "spellcheck": "false"})
            for column in syntax.columns
        }
        self.offers = offers

    def value_from_datadict(self, data: Any, files: Any, name: str) -> str | Rows:
        if name in data:
            return str(data[name])
        first = self.syntax.columns[0].name
        numbers = [found[1] for key in data if (found := re.fullmatch(rf"{name}-(\d{{1,4}})-{first}", key))]
        return [
            tuple(
                str(data.get(f"{name}-{number}-{column.name}", "")).strip() for column in self.syntax.columns
            )
            for number in sorted(numbers, key=int)
        ]

    def value_omitted_from_data(self, data: Any, files: Any, name: str) -> bool:
        return False  # every row was removed: an empty text

    def id_for_label(self, id_: str) -> str:
        return ""  # a label is that of the group

    def get_context(self, name: str, value: Any, attrs: dict[str, Any] | None) -> dict[str, Any]:
        """With a blank row at the end, for a page without scripts."""
        rows = list(self.syntax.split(value or "") if isinstance(value, str | None) else value)
        if not rows or any(rows[-1]):
            rows.append(("",) * len(self.syntax.columns))
        context = super().get_context(name, value, attrs)
        context["widget"] |= {
            "rows": [self._row(name, number, cells) for number, cells in enumerate(rows)],
            "lists": [
                (f"{name}-{column.name}-offers", self.offers[column.name])
                for column in self.syntax.columns
                if column.offered in OPEN
            ],
        }
        return context

    def _row(self, name: str, number: int, cells: Sequence[str]) -> list[tuple[str, str]]:
        """The label and the control of each cell."""
        row: list[tuple[str, str]] = []
        for column, cell in zip(self.syntax.columns, cells, strict=True):
            attrs: dict[str, Any] = {"data-column": column.name}
            if column.offered in OPEN:
                attrs["list"] = f"{name}-{column.name}-offers"
            control = self.controls[column.name].render(f"{name}-{number}-{column.name}", cell, attrs)
            row.append((column.label, control))
        return row


class RowsField(forms.CharField):
    """The text of a setting that lists rows."""

    def __init__(self, setting: Setting, syntax: RowSyntax, offers: Mapping[str, Sequence[Offer]]) -> None:
        super().__init__(
            widget=RowsInput(syntax, offers),
            label=str(setting.label),
            help_text=str(setting.help).removesuffix(syntax.sentence).rstrip(),
            initial=setting.default,
            required=setting.required,
        )
        self.setting, self.syntax = setting, syntax

    def bound_data(self, data: Any, initial: Any) -> Any:
        """Without blank rows, so that a sentence about a row counts as the page does."""
        return data if isinstance(data, str) else [cells for cells in data if any(cells)]

    def clean(self, value: Any) -> Any:
        if not isinstance(value, str | None):
            rows = [cells for cells in value if any(cells)]
            try:
                self.syntax.check(rows, self.setting.name)
            except RowError as error:
                raise ValidationError(error.labelled({self.setting.name: self.setting.label})) from error
            value = self.syntax.join(rows)
        return super().clean(value)


OPEN = ("dataset or folder", "models", "paraphrases")  # columns whose cells are typed, with offers


def offers_of(
    syntax: RowSyntax, dataset: Dataset | None, datasets: Iterable[Dataset]
) -> dict[str, Sequence[Offer]]:
    """What each column offers. datasets: those that the person may name beside the run's own."""
    everywhere = {one.slug: one for one in [*([dataset] if dataset else []), *datasets]}
    return {column.name: list(_offers(column, dataset, everywhere)) for column in syntax.columns}


def _offers(column: Column, own: Dataset | None, datasets: Mapping[str, Dataset]) -> Iterable[Offer]:
    if column.offered in ("dataset", "other dataset", "dataset or folder"):
        others = column.offered == "other dataset"
        found = [Offer(slug, one.name) for slug, one in datasets.items() if not (others and one == own)]
        return [*found, *(_folders() if column.offered == "dataset or folder" else [])]
    if column.offered == "score set":
        return _score_sets(column.kinds, datasets)
    if column.offered == "labels":
        return [Offer(SUBSET, _("the subset of a pair")), *_score_sets(column.kinds, datasets)]
    if column.offered == "models":
        return [Offer(name, words) for name, words in models_offered(MODEL_KINDS)]
    if column.offered == "paraphrases":
        tags = [tag.name for tag in (*TagBounds().similarity, *TagBounds().lexical)]
        return [Offer(name, name) for name in (ALL, *_subsets(own), *tags)]
    offered = {"suite": SUITES, "GLUE task": GLUE, "way of scoring": filter(None, Way)}.get(
        column.offered, ()
    )
    return [Offer(name, name) for name in offered]


def _score_sets(kinds: Sequence[str], datasets: Mapping[str, Dataset]) -> list[Offer]:
    """By name, each with the datasets that have it. A name that the text of the setting cannot hold is none."""
    of = [one.pk for one in datasets.values()]
    sets = ScoreSet.objects.offered().filter(dataset__in=of, **({"kind__in": kinds} if kinds else {}))
    found: dict[str, list[ScoreSet]] = {}
    newest = list(sets.select_related("dataset").order_by("-pk")[:SETS_OFFERED])
    for one in sorted(newest, key=lambda one: kinds.index(one.kind)) if kinds else newest:
        if not set(one.name) & {"|", ";"}:
            found.setdefault(one.name, []).append(one)
    return [
        Offer(name, f"{same[0]} · {same[0].get_kind_display()}", " ".join(one.dataset.slug for one in same))
        for name, same in found.items()
    ]


def _subsets(dataset: Dataset | None) -> list[str]:
    """The names of subsets of the dataset's active pairs, alphabetically."""
    pairs = Pair.objects.filter(dataset=dataset, status=Pair.Status.ACTIVE).exclude(subset="")
    return sorted(pairs.order_by().values_list("subset", flat=True).distinct())


def _folders() -> list[Offer]:
    """The folders of SUITES_FOLDER, as far as this machine has it."""
    folder = settings.SUITES_FOLDER
    names = sorted(one.name for one in folder.iterdir() if one.is_dir()) if folder.is_dir() else []
    return [Offer(name, _("files in SUITES_FOLDER")) for name in names]
