"""A comparison of weightings as its page and its file show it: the rows of the table, and evaluations side by side."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from statistics import fmean, stdev
from typing import Any, NamedTuple

from django.utils.translation import gettext as _

from curation.results import tables
from curation.results.estimates import Estimate
from mlworkers.models import Evaluation, Run
from mlworkers.science.encoders.plan import SEEDS_TO_JUDGE, Weighting
from mlworkers.science.encoders.seen import ALL, UNSEEN

ORDER = (
    "base",
    "plain",
    "filter",
    "filter-consistency",
    "random",
    "realism",
    "consistency",
    "product",
    "ratio",
    "rank",
    "verdicts",
    "precision",
    *(str(each) for each in Weighting if each.controlled),
    "constant",
)
CONTROLS = {str(each): str(each.control) for each in Weighting if each.control is not None}
METRIC = "spearman"
DIFFERENCE = ("difference", "difference_low", "difference_high", "difference_sd", "p", "p_holm")
STORED = ("sd", "low", "high", *DIFFERENCE)
SIGNIFICANT = 0.05


@dataclass(frozen=True)
class Beside:
    """The same figure on other pairs of the test. part: “all pairs” or “unseen pairs”, which hold no sentence that was
    trained on.
    """

    part: str
    pairs: int
    mean: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Cell:
    """One row on one test: the mean of the correlations over seeds and their standard deviation, the interval of the
    mean over pairs, and the difference from another row with its interval over pairs and seeds, the standard deviation
    of the seeds' differences, and its p-value, by itself and adjusted. turned_by: without so many test pairs it would
    not be there. None where there is none.

    judged: whether there are enough seeds to judge a difference. beside: the mean on other pairs of the test, where it
    is known what was trained on.
    """

    mean: float | None = None
    sd: float | None = None
    low: float | None = None
    high: float | None = None
    difference: float | None = None
    difference_low: float | None = None
    difference_high: float | None = None
    difference_sd: float | None = None
    p: float | None = None
    p_holm: float | None = None
    turned_by: int | None = None
    by_seed: tuple[float, ...] = ()
    judged: bool = False
    beside: Beside | None = None

    @property
    def differs(self) -> bool:
        """Whether the difference is real as far as this comparison can tell, all of its differences considered."""
        return self.judged and self.p_holm is not None and self.p_holm < SIGNIFICANT

    @property
    def has_difference(self) -> bool:
        return None not in (self.difference, self.difference_low, self.difference_high)


def cell_stored(figures: Mapping[str, Any], *, judged: bool) -> Cell:
    """A cell as a result has it. Seeds without a figure, and what a cell has no place for, are left out."""
    known = {each.name: figures[each.name] for each in fields(Cell) if each.name in figures}
    by_seed = tuple(value for value in figures["by_seed"] if value is not None)
    return Cell(**known | {"by_seed": by_seed, "judged": judged})


def mean_of(cell: Cell) -> Estimate:
    return Estimate(cell.mean, cell.low, cell.high, sd=cell.sd)


def difference_of(cell: Cell) -> tables.Cell:
    """The difference with its p; nothing where it is undefined."""
    if not cell.has_difference:
        return tables.Cell()
    estimate = Estimate(cell.difference, cell.difference_low, cell.difference_high, sd=cell.difference_sd)
    notes = [p_value(cell.p_holm)]
    if cell.differs and cell.turned_by:
        notes.append(_("gone without %(n)d test pairs") % {"n": cell.turned_by})
    return tables.Cell(estimate, strong=cell.differs, notes=list(filter(None, notes)))


def p_value(value: float | None) -> str:
    """With its relation: "p = 0.012", "p < 0.001"; nothing where there is none."""
    if value is None:
        return ""
    return "p < 0.001" if value < 0.001 else f"p = {value:.3f}"


@dataclass(frozen=True)
class Row:
    """effective_pairs, mean_weight: of the first seed's weights; None for the base and in older results."""

    label: str
    cells: Sequence[Cell]
    effective_pairs: float | None = None
    mean_weight: float | None = None


class Contrast(NamedTuple):
    """A weighting, the shuffle of its weights, and its differences from that and from plain."""

    label: str
    control: str
    over_shuffle: Cell
    over_plain: Cell


@dataclass(frozen=True)
class Comparison:
    """The table: a row per weighting, a column per test. pairs: of the first test.

    over_shuffle: the difference of each weighting from its own shuffle, by its label.
    judged: whether there are enough seeds to judge differences.
    with_training_noise: whether intervals of differences cover seeds; those of earlier versions resampled pairs alone.
    tests: the number of differences that p-values are adjusted for.
    """

    suites: Sequence[str]
    rows: Sequence[Row]
    pairs: int
    training_pairs: int
    seeds: Sequence[int]
    over_shuffle: Mapping[str, Cell]
    judged: bool
    with_training_noise: bool
    tests: int

    @property
    def contrasts(self) -> list[Contrast]:
        """What each weighting adds to the shuffle of its weights, and to no weights."""
        return [
            Contrast(label, CONTROLS[label], over, self.cell(label) or Cell())
            for label, over in self.over_shuffle.items()
            if over.has_difference
        ]

    def cell(self, label: str) -> Cell | None:
        """Of the first test; None where there is no such row."""
        return dict(self.cells()).get(label)

    def cells(self) -> list[tuple[str, Cell]]:
        """Of the first test."""
        return [(row.label, row.cells[0]) for row in self.rows]


def comparison_of(result: Mapping[str, Any], evaluations: Iterable[Evaluation]) -> Comparison:
    """From a comparison run's result, and the figure of each encoder that it measured.

    The first test is the one whose differences the run looked at; others show what was measured and no difference.
    """
    measured: dict[tuple[str, str], list[float]] = {}
    for one in evaluations:
        in_table = one.source or one.part  # of sources and suites, which has its own page part
        if one.metric == METRIC and one.label and one.value is not None and not in_table:
            measured.setdefault((one.suite, one.label), []).append(one.value)
    encoders: Mapping[str, Mapping[str, Any]] = result.get("encoders", {})
    from_plain, from_shuffle = result.get("from_plain"), result.get("from_shuffle", {})
    with_noise = (
        from_plain is not None
    )  # earlier versions kept differences over pairs alone among the encoders' figures
    from_plain = from_plain or {}
    seeds = result.get("seeds", [])
    judged = with_noise and len(seeds) >= SEEDS_TO_JUDGE  # no other place decides this
    first, *others = dict.fromkeys(suite for suite, _label in measured) or [""]
    rows = []
    for label in ordered_labels({*encoders, *(label for _suite, label in measured)}):
        figures = {**encoders.get(label, {}), **from_plain.get(label, {})}
        found = _stored(figures, tuple(measured.get((first, label), [])), judged=judged)
        if of_all := result.get("all_pairs", {}).get(label):
            found = replace(found, beside=beside_of(of_all, part=ALL, mean=METRIC, pairs=of_all["pairs"]))
        observed = [_observed(measured.get((suite, label), [])) for suite in others]
        weights = [result.get(name, {}).get(label) for name in ("effective_pairs", "mean_weight")]
        rows.append(Row(label, [found, *observed], *weights))
    return Comparison(
        suites=[first, *others],
        rows=rows,
        pairs=result.get("pairs", 0),
        training_pairs=result.get("training_pairs", 0),
        seeds=seeds,
        over_shuffle={
            label: _stored(from_shuffle[label], (), judged=judged)
            for label in ordered_labels(set(from_shuffle))
        },
        judged=judged,
        with_training_noise=with_noise,
        tests=tests_of(result.get("table") or [{"from_plain": from_plain, "from_shuffle": from_shuffle}]),
    )


def beside_of(figures: Mapping[str, Any], *, part: str, mean: str, pairs: int) -> Beside:
    """mean: the name of the mean among the figures."""
    return Beside(part, pairs, figures.get(mean), figures.get("low"), figures.get("high"))


def tests_of(cells: Iterable[Mapping[str, Any]]) -> int:
    """How many differences p-values are adjusted for: those of every cell of a table."""
    kept = ("from_plain", "from_shuffle")
    return sum(one["p_holm"] is not None for cell in cells for part in kept for one in cell[part].values())


def ordered_labels(labels: set[str]) -> list[str]:
    """The rows as in RISE's table, others after them."""
    return [label for label in ORDER if label in labels] + sorted(labels.difference(ORDER))


def _stored(figures: Mapping[str, Any], by_seed: tuple[float, ...], *, judged: bool) -> Cell:
    stored = {name: figures.get(name) for name in STORED}
    turned_by = figures.get("turned_by")
    return Cell(mean=figures.get(METRIC), by_seed=by_seed, judged=judged, turned_by=turned_by, **stored)


def _observed(values: Sequence[float]) -> Cell:
    if not values:
        return Cell()
    return Cell(mean=fmean(values), sd=stdev(values) if len(values) > 1 else None, by_seed=tuple(values))


@dataclass(frozen=True)
class SideBySide:
    """Evaluations of single models: a row per run, a column per test, each with its figure and interval, and the figure
    on the test's other pairs where it is known what the model was trained on.
    """

    suites: Sequence[str]
    rows: Sequence[tuple[Run, str, Sequence[tuple[Evaluation | None, Beside | None]]]]


def side_by_side(runs: Iterable[Run]) -> SideBySide:
    """runs: with their evaluations at hand. Of a test that a run has not taken, there is None."""
    evaluated = []
    for run in runs:
        named = [(_test_name(one), one) for one in run.evaluations.all()]
        by_suite = {name: one for name, one in named if name and not one.part}
        beside = {
            name: Beside(one.part, one.n, one.value, one.low, one.high)
            for name, one in named
            if name and one.part
        }
        evaluated.append((run, by_suite, beside))
    suites = list(dict.fromkeys(suite for _run, by_suite, _beside in evaluated for suite in by_suite))
    rows = [
        (
            run,
            next(iter(by_suite.values())).model,
            [(by_suite.get(suite), beside.get(suite)) for suite in suites],
        )
        for run, by_suite, beside in evaluated
        if by_suite
    ]
    return SideBySide(suites, rows)


def _test_name(one: Evaluation) -> str:
    """What a column of evaluations side by side is called; nothing for a figure that has no column there."""
    if one.part not in ("", ALL, UNSEEN):
        return ""
    if one.metric == METRIC:
        return one.suite
    return f"{one.suite}, {one.metric}" if one.metric in ("accuracy", "f1") else ""


_IN_CSV = {"difference": "difference_from_plain"}
_OVER_SHUFFLE = {
    "difference": "difference_from_shuffle",
    "difference_low": "shuffle_low",
    "difference_high": "shuffle_high",
    "difference_sd": "shuffle_sd",
    "p": "shuffle_p",
    "p_holm": "shuffle_p_holm",
}
BESIDE_COLUMNS = ("beside", "beside_pairs", "beside_mean", "beside_low", "beside_high")
CSV_COLUMNS = (
    "encoder",
    "test",
    "mean",
    *(_IN_CSV.get(name, name) for name in STORED),
    *_OVER_SHUFFLE.values(),
    "seeds",
    "effective_pairs",
    "mean_weight",
    "pairs",
    *BESIDE_COLUMNS,
)


def beside_cells(cell: Cell) -> list[str | float | None]:
    """Under BESIDE_COLUMNS."""
    one = cell.beside
    return [""] * len(BESIDE_COLUMNS) if one is None else [one.part, one.pairs, one.mean, one.low, one.high]


def csv_rows(comparison: Comparison) -> list[tables.Row]:
    """A row per encoder and test, under CSV_COLUMNS. Differences from a shuffle are on the first test."""
    return [
        [
            row.label,
            suite,
            *(getattr(cell, name) for name in ("mean", *STORED)),
            *(getattr(over, name) for name in _OVER_SHUFFLE),
            len(cell.by_seed),
            row.effective_pairs,
            row.mean_weight,
            comparison.pairs if place == 0 else "",
            *beside_cells(cell),
        ]
        for row in comparison.rows
        for place, (suite, cell) in enumerate(zip(comparison.suites, row.cells, strict=True))
        for over in [comparison.over_shuffle.get(row.label, Cell()) if place == 0 else Cell()]
    ]
