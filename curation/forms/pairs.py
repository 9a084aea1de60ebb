"""The filters of the pairs table: they are the address of the page."""

from collections.abc import Sequence
from typing import Any, NamedTuple, cast
from urllib.parse import urlencode

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from curation.datasets.columns import ALWAYS, SCORES, SHOWN_FIRST, WHOLE, Column, columns_offered
from curation.datasets.pairs_table import PairChoices
from curation.datasets.selectors import PairFilter
from curation.models import Pair, ScoreSet

ANY = ("", _("any"))
SORTED_BY = [
    ("", _("as imported")),
    ("-pk", _("newest first")),
    ("external_id", _("id")),
    ("-external_id", _("id, backwards")),
    ("source", _("source")),
    ("-source", _("source, backwards")),
    ("score", _("score, lowest first")),
    ("-score", _("score, highest first")),
]


class Heading(NamedTuple):
    """A column. A click on the address sorts up, the next one down; an empty one cannot be sorted by."""

    label: str
    address: str = ""
    sorted: str = ""  # as aria-sort says it, or nothing
    number: bool = False


class PairFilterForm(forms.Form):
    """Every field may be left out. A value that makes no sense is named beside its field and leaves nothing out."""

    search = forms.CharField(
        label=_("Words"), required=False, max_length=200, widget=forms.TextInput({"type": "search"})
    )
    source = forms.ChoiceField(label=_("Source"), required=False)
    split = forms.ChoiceField(label=_("Split"), required=False)
    origin = forms.ChoiceField(label=_("Origin"), required=False, choices=[ANY, *Pair.Origin.choices])
    status = forms.ChoiceField(label=_("Status"), required=False, choices=[ANY, *Pair.Status.choices])
    score_set = forms.TypedChoiceField(label=_("Score set"), required=False, coerce=int, empty_value=None)
    low = forms.FloatField(label=_("Score from"), required=False)
    high = forms.FloatField(label=_("to"), required=False)
    order = forms.ChoiceField(label=_("Sorted by"), required=False, choices=SORTED_BY)
    columns = forms.CharField(required=False, max_length=1_000, widget=forms.HiddenInput)

    def __init__(self, data: QueryDict, *, choices: PairChoices, score_sets: Sequence[ScoreSet]) -> None:
        """score_sets: the first is shown where the address names none."""
        super().__init__(data)
        self.given = data
        offered: dict[str, list[tuple[Any, Any]]] = {
            "source": [ANY, *((name, name) for name in choices.sources)],
            "split": [ANY, *((name, name) for name in choices.splits)],
            "score_set": [(each.pk, str(each)) for each in score_sets],
        }
        for name, those in offered.items():
            cast("forms.ChoiceField", self.fields[name]).choices = those
        self.shown_first = score_sets[0].pk if score_sets else None
        for name in ("score_set", "low", "high") if not score_sets else ():
            del self.fields[name]
        self.full_clean()

    @property
    def set_shown(self) -> int | None:
        return self.cleaned_data.get("score_set") or self.shown_first

    @property
    def pair_filter(self) -> PairFilter:
        chosen = {name: value for name, value in self.cleaned_data.items() if value not in ("", None)}
        for name in ("order", "columns"):
            chosen.pop(name, None)
        return PairFilter(**{**chosen, "score_set": self.set_shown})

    @property
    def sorted_by(self) -> str:
        return self.cleaned_data.get("order") or "pk"

    @property
    def is_narrowed(self) -> bool:
        """Whether the table leaves anything out."""
        return any(
            self.given.get(name) for name in self.fields if name not in {"score_set", "order", "columns"}
        )

    def address(self, **changes: str) -> str:
        """The query string of this table, with `changes`, ending in & where it is not empty."""
        kept = {name: self.given.get(name, "") for name in self.fields if name in self.cleaned_data}
        query = urlencode({name: value for name, value in (kept | changes).items() if value})
        return f"{query}&" if query else ""

    @property
    def kept(self) -> list[tuple[str, str]]:
        """What the address says beside the columns, for the form that changes these."""
        given = ((name, self.given.get(name, "")) for name in self.fields if name != "columns")
        return [(name, str(value)) for name, value in given if value]

    def headings(self, columns: Sequence[Column], shown: ScoreSet | None) -> list[Heading]:
        """The headings of the id, of `columns`, and of the scores of `shown`, the chosen score set."""
        score = [self._heading("score", str(shown), number=True)] if shown else []
        others = [
            self._heading("source", _("Source"))
            if column.name == "source"
            else Heading(column.label, number=column.number)
            for column in columns
        ]
        return [self._heading("external_id", _("Pair")), *others, *score]

    def _heading(self, name: str, label: Any, *, number: bool = False) -> Heading:
        sorted_as = {name: "ascending", f"-{name}": "descending"}.get(self.sorted_by, "")
        address = self.address(order=f"-{name}" if sorted_as == "ascending" else name)
        return Heading(label, address, sorted_as, number)


class ColumnsForm(forms.Form):
    """Which columns the table has. They are in the address as one value, with commas between."""

    columns = forms.MultipleChoiceField(
        label=_("Columns"), required=False, widget=forms.CheckboxSelectMultiple
    )

    def __init__(
        self, named: Sequence[str], *, score_sets: Sequence[ScoreSet], shown: ScoreSet | None
    ) -> None:
        """named: what the address says. shown: the set that has its own column, which is always there."""
        self.offered = columns_offered(score_sets, shown=shown)
        asked = [name for value in named for name in value.split(",") if name not in ("", ALWAYS)]
        known = {column.name for column in self.offered} | ({f"{SCORES}{shown.pk}"} if shown else set())
        self.unknown = sorted(set(asked) - known)
        self.names = asked if named else list(SHOWN_FIRST)
        super().__init__(initial={"columns": self.names})
        choices = [(column.name, column.label) for column in self.offered]
        cast("forms.MultipleChoiceField", self.fields["columns"]).choices = choices

    @property
    def chosen(self) -> list[Column]:
        return [column for column in self.offered if column.name in self.names and column.name != WHOLE]

    @property
    def whole(self) -> bool:
        """Whether long sentences are shown in full."""
        return WHOLE in self.names

    @property
    def address(self) -> str:
        """What the address says of the columns: nothing of those that a table has anyway."""
        names = [column.name for column in self.offered if column.name in self.names]
        return "" if names == list(SHOWN_FIRST) else ",".join(names) or ALWAYS
