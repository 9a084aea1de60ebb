"""A comparison of weightings as its page shows it: the rows of the table, and the sentence above it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Any

from django.utils.text import capfirst, get_text_list
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from mlworkers.models import Evaluation, Run

ORDER = ("base", "plain", "filter", "random", "realism", "shuffle", "constant")
METRIC = "spearman"
SPREAD = ("sd", "low", "high", "difference", "difference_low", "difference_high")
FEW_SEEDS = 5  # below, a standard deviation over seeds is known to a factor of two or three at best


@dataclass(frozen=True)
class Cell:
    """One row on one test: the mean of the correlations over seeds and their standard deviation, the interval of the
    mean, and the difference from plain training with its own. None where there is none.
    """

    mean: float | None = None
    sd: float | None = None
    low: float | None = None
    high: float | None = None
    difference: float | None = None
    difference_low: float | None = None
    difference_high: float | None = None
    by_seed: tuple[float, ...] = ()

    @property
    def differs(self) -> bool:
        """Whether the interval of the difference excludes 0."""
        low, high = self.difference_low, self.difference_high
        return low is not None and high is not None and (low > 0 or high < 0)

    @property
    def has_difference(self) -> bool:
        return None not in (self.difference, self.difference_low, self.difference_high)


@dataclass(frozen=True)
class Row:
    label: str
    cells: Sequence[Cell]


@dataclass(frozen=True)
class Comparison:
    """The table: a row per weighting, a column per test. pairs: of the first test."""

    suites: Sequence[str]
    rows: Sequence[Row]
    pairs: int
    training_pairs: int
    seeds: Sequence[int]

    def cells(self) -> list[tuple[str, Cell]]:
        """Of the first test."""
        return [(row.label, row.cells[0]) for row in self.rows]


def comparison_of(result: Mapping[str, Any], evaluations: Iterable[Evaluation]) -> Comparison:
    """From a comparison run's result, and the figure of each encoder that it measured.

    The first test is the one whose differences the run resampled; others show what was measured and no difference.
    """
    measured: dict[tuple[str, str], list[float]] = {}
    for one in evaluations:
        if one.metric == METRIC and one.label and one.value is not None:
            measured.setdefault((one.suite, one.label), []).append(one.value)
    encoders: Mapping[str, Mapping[str, Any]] = result.get("encoders", {})
    first, *others = dict.fromkeys(suite for suite, _label in measured) or [""]
    labels = {*encoders, *(label for _suite, label in measured)}
    order = [label for label in ORDER if label in labels] + sorted(labels.difference(ORDER))
    rows = []
    for label in order:
        figures = encoders.get(label, {})
        resampled = Cell(
            mean=figures.get(METRIC),
            by_seed=tuple(measured.get((first, label), [])),
            **{name: figures.get(name) for name in SPREAD},
        )
        observed = [_observed(measured.get((suite, label), [])) for suite in others]
        rows.append(Row(label, [resampled, *observed]))
    pairs, training_pairs = result.get("pairs", 0), result.get("training_pairs", 0)
    return Comparison([first, *others], rows, pairs, training_pairs, result.get("seeds", []))


def _observed(values: Sequence[float]) -> Cell:
    if not values:
        return Cell()
    return Cell(mean=fmean(values), sd=stdev(values) if len(values) > 1 else None, by_seed=tuple(values))


def what_it_shows(comparison: Comparison) -> str:
    """What the table says of the weightings, and what it cannot say, from its figures alone."""
    cells = [
        (_("the baseline model") if label == "base" else label, cell)
        for label, cell in comparison.cells()
        if cell.has_difference and label != "plain"
    ]
    clauses = [_apart(label, cell) for label, cell in cells if cell.differs]
    if together := [label for label, cell in cells if not cell.differs]:
        sentence = ngettext(
            "%(labels)s is not distinguishable from plain: the interval of the difference includes 0",
            "%(labels)s are not distinguishable from plain: the intervals of their differences include 0",
            len(together),
        )
        clauses.append(sentence % {"labels": get_text_list(together, _("and"))})
    if not clauses:
        clauses = [_("there is no interval for a difference from plain training, so the table ranks nothing")]
    return f"{capfirst('; '.join(clauses))}. {_limits(comparison)}"


def _apart(label: str, cell: Cell) -> str:
    difference = cell.difference or 0.0
    low, high = cell.difference_low or 0.0, cell.difference_high or 0.0
    if difference < 0:
        low, high = -high, -low
    words = {"label": label, "by": f"{abs(difference):.3f}", "low": f"{low:.3f}", "high": f"{high:.3f}"}
    if difference < 0:
        return _("%(label)s is %(by)s (%(low)s to %(high)s) below plain") % words
    return _("%(label)s is %(by)s (%(low)s to %(high)s) above plain") % words


def _limits(comparison: Comparison) -> str:
    seeds = len(comparison.seeds)
    words = {"seeds": seeds, "pairs": f"{comparison.pairs:,}"}
    if seeds == 1:
        sentence = _(
            "One test of %(pairs)s pairs and one seed: they cannot show how much another seed would change this."
        )
    elif seeds < FEW_SEEDS:
        sentence = _(
            "One test of %(pairs)s pairs and %(seeds)s seeds: intervals are over pairs, so few seeds show only "
            "roughly how much another seed would change, and other tests may give another order."
        )
    else:
        sentence = _("One test of %(pairs)s pairs and %(seeds)s seeds: other tests may give another order.")
    return sentence % words


def unscored_note(result: Mapping[str, Any]) -> str:
    """How many training pairs had no p_D, and what became of them; nothing where all had one."""
    human, left_out = result.get("unscored_as_human", 0), result.get("unscored_left_out", 0)
    as_human = ngettext(
        "%(number)s training pair had no p_D because a person wrote or edited its sentence; it counts as human "
        "(p_D = 1).",
        "%(number)s training pairs had no p_D because a person wrote or edited their sentences; they count as "
        "human (p_D = 1).",
        human,
    )
    without = ngettext(
        "%(number)s pair without p_D was left out of every weighting alike.",
        "%(number)s pairs without p_D were left out of every weighting alike.",
        left_out,
    )
    counted = [(human, as_human), (left_out, without)]
    return " ".join(sentence % {"number": f"{number:,}"} for number, sentence in counted if number)


@dataclass(frozen=True)
class SideBySide:
    """Evaluations of single models: a row per run, a column per test, each with its figure and interval."""

    suites: Sequence[str]
    rows: Sequence[tuple[Run, str, Sequence[Evaluation | None]]]


def side_by_side(runs: Iterable[Run]) -> SideBySide:
    """runs: with their evaluations at hand. Of a test that a run has not taken, there is None."""
    evaluated = [
        (run, {one.suite: one for one in run.evaluations.all() if one.metric == METRIC}) for run in runs
    ]
    suites = list(dict.fromkeys(suite for _run, by_suite in evaluated for suite in by_suite))
    rows = [
        (run, next(iter(by_suite.values())).model, [by_suite.get(suite) for suite in suites])
        for run, by_suite in evaluated
        if by_suite
    ]
    return SideBySide(suites, rows)


_IN_CSV = {"difference": "difference_from_plain"}
CSV_COLUMNS = ("encoder", "test", "mean", *(_IN_CSV.get(name, name) for name in SPREAD), "seeds")


def csv_rows(comparison: Comparison) -> list[list[object]]:
    """A row per encoder and test, under CSV_COLUMNS."""
    return [
        [row.label, suite, *(getattr(cell, name) for name in ("mean", *SPREAD)), len(cell.by_seed)]
        for row in comparison.rows
        for suite, cell in zip(comparison.suites, row.cells, strict=True)
    ]
