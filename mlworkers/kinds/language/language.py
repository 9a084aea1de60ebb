"""A linguistic analysis as its page and its file show it: a table for each family of groups, and what it shows."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib.humanize.templatetags.humanize import intcomma
from django.utils.text import get_text_list
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from mlworkers.science.linguistics.measures import DIVERSITY, MEASURES, SUMMARY, Group

_Stored = Mapping[str, Any]
GROUP_LABELS: Mapping[str, Any] = {
    Group.HUMAN: gettext_lazy("human"),
    Group.GENERATED: gettext_lazy("generated"),
    Group.HIGHEST: gettext_lazy("highest p_D"),
    Group.LOWEST: gettext_lazy("lowest p_D"),
}
CSV_COLUMNS = (
    "target", "group", "measure", "value", "low", "high", "difference_from_human", "difference_low", "difference_high",
    "at_own_size", "budget_tokens", "pairs", "sentences", "tokens",
)  # fmt: skip


@dataclass(frozen=True)
class Figure:
    """A measure of a group: value with its 95 % interval, and the difference from the human pairs with its own.
    at_own_size: of measures that depend on the size of the group. None where there is none.
    """

    value: float | None = None
    low: float | None = None
    high: float | None = None
    difference: float | None = None
    difference_low: float | None = None
    difference_high: float | None = None
    at_own_size: float | None = None

    @property
    def differs(self) -> bool:
        """Whether the interval of the difference from the human pairs excludes 0."""
        low, high = self.difference_low, self.difference_high
        return low is not None and high is not None and (low > 0 or high < 0)


@dataclass(frozen=True)
class GroupColumn:
    group: str
    label: str
    pairs: int
    sentences: int
    tokens: int
    figures: Mapping[str, Figure]


_MeasureRow = tuple[str, list[tuple[GroupColumn, Figure]]]


@dataclass(frozen=True)
class FamilyTable:
    """Groups that are compared. target: the target similarity of its generated pairs; None for all of them."""

    target: float | None
    budget: int
    groups: Sequence[GroupColumn]

    @property
    def summary(self) -> list[_MeasureRow]:
        """The rows of the paper's Table 1."""
        return self._rows(SUMMARY)

    @property
    def details(self) -> list[_MeasureRow]:
        """The further rows of its Table 4."""
        return self._rows([name for name in MEASURES if name not in SUMMARY])

    @property
    def own_sizes(self) -> list[_MeasureRow]:
        return self._rows(DIVERSITY)

    def _rows(self, names: Sequence[str]) -> list[_MeasureRow]:
        return [(name, [(group, group.figures[name]) for group in self.groups]) for name in names]


def families_stored(result: _Stored) -> list[FamilyTable]:
    """The tables of an analysis's result, that of all generated pairs first."""
    return [
        FamilyTable(family["target"], family["budget"], [_column(group) for group in family["groups"]])
        for family in result.get("families", [])
    ]


def _column(stored: _Stored) -> GroupColumn:
    figures = {name: _figure(stored, name) for name in MEASURES}
    label = str(GROUP_LABELS.get(stored["group"], stored["group"]))
    return GroupColumn(
        stored["group"], label, stored["pairs"], stored["sentences"], stored["tokens"], figures
    )


def _figure(stored: _Stored, name: str) -> Figure:
    difference = {
        ("difference" if key == "value" else f"difference_{key}"): value
        for key, value in stored["differences"].get(name, {}).items()
    }
    return Figure(**stored["figures"][name], **difference, at_own_size=stored["at_own_size"].get(name))


def what_the_language_shows(families: Sequence[FamilyTable]) -> str:
    """In which of the summary's measures each group differs from the human pairs, and by which side."""
    if not families:
        return ""
    clauses = [_clause(column) for column in families[0].groups if column.group != Group.HUMAN]
    if not any(column.group == Group.HUMAN for column in families[0].groups) or not clauses:
        return _("There are not both human and generated pairs, so nothing can be compared.")
    return " ".join(clauses)


def _clause(column: GroupColumn) -> str:
    differing = [name for name in SUMMARY if column.figures[name].differs]
    words = {"group": column.label, "pairs": intcomma(column.pairs)}
    if not differing:
        return _("The pairs “%(group)s” (%(pairs)s) differ from human pairs in no measure.") % words
    sides = [
        _("%(measure)s (%(side)s)")
        % {
            "measure": name,
            "side": _("higher") if (column.figures[name].difference or 0) > 0 else _("lower"),
        }
        for name in differing
    ]
    sentence = _("The pairs “%(group)s” (%(pairs)s) differ from human pairs in %(measures)s.")
    return sentence % {**words, "measures": get_text_list(sides, _("and"))}


def language_csv_rows(families: Sequence[FamilyTable]) -> Iterator[list[object]]:
    """A row per family, group and measure, under CSV_COLUMNS; a target of "" means all generated pairs."""
    for family in families:
        for group in family.groups:
            for name, one in group.figures.items():
                target = "" if family.target is None else family.target
                yield [
                    target, group.group, name, one.value, one.low, one.high, one.difference, one.difference_low,
                    one.difference_high, one.at_own_size, family.budget, group.pairs, group.sentences, group.tokens,
                ]  # fmt: skip
