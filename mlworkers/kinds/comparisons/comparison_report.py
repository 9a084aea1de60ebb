"""The page of a comparison of weightings: its tables with a chart, and what they mean."""

from django.contrib.humanize.templatetags.humanize import intcomma
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from curation.results import tables
from curation.results.estimates import Estimate
from curation.results.reports import Fact, Facts, Link, Links, Part, Report, Section, Text
from mlworkers.kinds.comparisons.baselines import baseline_note
from mlworkers.kinds.comparisons.comparison import (
    CSV_COLUMNS,
    Cell,
    Comparison,
    comparison_of,
    csv_rows,
    difference_of,
    mean_of,
)
from mlworkers.kinds.comparisons.comparison_chart import comparison_chart
from mlworkers.kinds.comparisons.comparison_words import (
    ceiling_note,
    unscored_note,
    validation_note,
    what_it_shows,
)
from mlworkers.kinds.comparisons.suite_table import Table, suite_table_of
from mlworkers.kinds.reader import Reader
from mlworkers.models import Run

BASE = "base"


def comparison_report(run: Run, _reader: Reader) -> Report:
    comparison = comparison_of(run.result, run.evaluations.order_by("pk"))
    measured = bool(run.result.get("encoders"))
    parts: list[Part] = []
    if measured:
        chart = comparison_chart(comparison, judges=run.judges)
        suites = suite_table_of(run.result, judged=comparison.judged)
        seeds = ", ".join(map(str, comparison.seeds))
        facts = [
            Fact(_("Baseline model"), run.plan.get("model") or "–"),
            Fact(_("Training pairs"), intcomma(comparison.training_pairs)),
            Fact(_("Test pairs"), intcomma(comparison.pairs)),
            Fact(_("Seeds"), seeds or "–"),
            Fact(_("Run"), str(run.pk), reverse("mlworkers:run_detail", args=[run.pk])),
        ]
        trained_on = ""
        if known := run.result.get("training_data"):
            trained_on = _(
                "Sentences that the baseline model, and what shaped the training pairs, were trained on: %(known)s. "
                "Encoders of this comparison are trained on no sentence of a test."
            ) % {"known": known}
        notes = [
            baseline_note(run), ceiling_note(run.result), trained_on, validation_note(run),
            unscored_note(run.result, plan=run.plan),
        ]  # fmt: skip
        parts = [
            *([chart] if chart else []),
            _table(comparison),
            Text(_bold_note(comparison), "soft"),
            *([_contrasts(comparison)] if comparison.contrasts else []),
            *([_suites(run, suites, is_judged=comparison.judged)] if suites else []),
            Section(
                _("What was compared, and how to read the figures"),
                [
                    Facts(facts),
                    *(Text(each, "soft") for each in [*notes, _reading_note(comparison)] if each),
                    *_weights(comparison),
                    *_beside(comparison),
                ],
                folded=True,
            ),
        ]
    return Report(
        title=_("Comparison %(number)s") % {"number": run.pk},
        back=Link(_("Compare"), reverse("mlworkers:comparison_list")),
        finding=what_it_shows(comparison) if measured else "",
        warnings=run.result.get("warnings", []),
        judges=run.judges,
        data=tables.Table(list(map(tables.Column, CSV_COLUMNS)), csv_rows(comparison)),
        parts=parts,
    )


def first_trained(run: Run) -> str:
    """The first row after the baseline model, for which nothing was trained."""
    return next((label for label in run.result.get("furthest", {}) if label != BASE), BASE)


def _contrasts(comparison: Comparison) -> Section:
    columns = [
        tables.Column(label=_("Difference"), form="text"),
        tables.Column(label=_("Spearman"), form="signed"),
        tables.Column(label=_("What it can show"), form="text"),
    ]
    rows: list[tables.Row] = []
    for one in comparison.contrasts:
        shown = _(
            "Whether these weights say something about their pairs: %(control)s gives the same weights to other pairs."
        ) % {"control": one.control}
        pays = _(
            "Whether this weighting pays, for whatever reason. Uneven weights and a smaller loss can be reasons, too."
        )
        if one.label == "realism":
            shown = _(
                "Whether p_D says something about its sentence. Shuffle gives the same weights to other pairs."
            )
            pays = _(
                "Whether weighting by p_D pays, for whatever reason. Uneven weights and a smaller loss can be "
                "reasons, too."
            )
        rows.append([f"{one.label} − {one.control}", difference_of(one.over_shuffle), shown])
        if one.over_plain.has_difference:
            rows.append([f"{one.label} − {_('plain')}", difference_of(one.over_plain), pays])
    return Section(_("What the weights add"), [tables.Table(columns, rows)])


def _name(label: str) -> str:
    return _("baseline model") if label == BASE else label


def _table(comparison: Comparison) -> tables.Table:
    """One line a cell: what else is known of an encoder is in tables of its own."""
    columns = [tables.Column(label=_("Encoder"), form="text")]
    for suite in comparison.suites:
        over = suite or _("test")
        columns.append(tables.Column(label=_("Spearman, mean ± sd"), over=over))
        columns.append(tables.Column(label=_("Difference from plain"), over=over, form="signed"))
    rows: list[tables.Row] = []
    for row in comparison.rows:
        line = [tables.Cell(_name(row.label))]
        for cell in row.cells:
            line.append(tables.Cell(mean_of(cell), strong=cell.differs))
            line.append(tables.Cell() if row.label == "plain" else difference_of(cell))
        rows.append(line)
    return tables.Table(columns, rows, style="one-line" if len(comparison.suites) < 3 else "many")


def _weights(comparison: Comparison) -> list[Part]:
    """How even the weights of each encoder are; nothing where no encoder was weighted."""
    weighted = [row for row in comparison.rows if row.label != BASE and row.effective_pairs is not None]
    columns = [
        tables.Column(label=_("Encoder"), form="text"),
        tables.Column(label=_("Effective pairs")),
        tables.Column(label=_("Mean weight")),
    ]
    rows = [[row.label, round(row.effective_pairs or 0), row.mean_weight] for row in weighted]
    return [tables.Table(columns, rows)] if rows else []


def _beside(comparison: Comparison) -> list[Part]:
    """The means on other pairs of the tests; nothing where each test has one part."""
    measured = {place: cell for row in comparison.rows for place, cell in enumerate(row.cells) if cell.beside}
    columns = [tables.Column(label=_("Encoder"), form="text")]
    for place, cell in measured.items():
        heading = _on_pairs(cell)
        columns.append(tables.Column(label=heading, over=comparison.suites[place] or _("test")))
    rows = [
        [_name(row.label), *(_on_other_pairs(row.cells[place]) for place in measured)]
        for row in comparison.rows
    ]
    return [tables.Table(columns, rows)] if measured else []


def _on_pairs(cell: Cell) -> str:
    """Which other pairs of the test a mean is on."""
    one = cell.beside
    if one is None:
        return ""
    which = _("all %(n)s pairs") if one.part == "all pairs" else _("%(n)s unseen pairs")
    return which % {"n": intcomma(one.pairs)}


def _on_other_pairs(cell: Cell) -> Estimate | None:
    one = cell.beside
    return Estimate(one.mean, one.low, one.high) if one else None


def _bold_note(comparison: Comparison) -> str:
    sentences = [_("Nothing is bold, because no difference is tested.")]
    if comparison.judged:
        sentences = [_("Bold: the difference is distinguishable from 0, with a p below 0.05.")]
    if comparison.tests:
        adjusted = _("p is adjusted for the %(tests)s differences on this page (Holm).")
        sentences.append(adjusted % {"tests": comparison.tests})
    return " ".join(sentences)


def _reading_note(comparison: Comparison) -> str:
    if comparison.with_training_noise:
        intervals = ngettext(
            "Lighter figures are 95 % intervals, all over other test pairs: with one seed, they do not cover another "
            "training.",
            "Lighter figures are 95 % intervals: of a mean over other test pairs, of a difference over other test "
            "pairs and other seeds. ± is the standard deviation over seeds, of the figures or of the differences seed "
            "by seed.",
            len(comparison.seeds),
        )
    else:
        intervals = _(
            "Lighter figures are 95 % intervals over other test pairs; ± is the standard deviation over seeds."
        )
    effective = _(
        "Effective pairs are as many equally weighted pairs as the weights are worth, (Σw)²/Σw² (Kish). They and the "
        "mean weight are those of the first seed."
    )
    gap = _(
        "A difference compares encoders on the same pairs, so it is not the gap between two intervals of the chart."
    )
    return " ".join([intervals, effective, gap])


def _suites(run: Run, table: Table, *, is_judged: bool) -> Section:
    columns = [tables.Column(label=_("Encoder"), form="text")]
    for column in table.columns:
        pairs = _("%(n)s pairs") % {"n": intcomma(column.pairs)}
        columns.append(
            tables.Column(label=column.metric_name, over=column.suite or _("own test"), note=pairs)
        )
    means: list[tables.Row] = []  # one line a cell; what is below each figure is in the rows that are folded
    rows: list[tables.Row] = []
    divided = []
    outside = tables.Mark("†", title=_("out of domain"))
    for source in table.sources:
        heading = _("Trained on %(dataset)s") % {"dataset": source.source}
        divided.append((heading if source.trained else _("Not trained here"), len(source.rows)))
        for label, cells in source.rows:
            line, short = [tables.Cell(_name(label))], [tables.Cell(_name(label))]
            for one in cells:
                mark = None if one.in_domain or one.cell.mean is None else outside
                estimate = Estimate(one.cell.mean, one.cell.low, one.cell.high)
                beside = [_on_pairs(one.cell), _on_other_pairs(one.cell)] if one.cell.beside else []
                notes = [note for note in (*beside, *_difference_noted(one.cell)) if note]
                line.append(tables.Cell(estimate, strong=one.cell.differs, mark=mark, notes=notes))
                short.append(tables.Cell(one.cell.mean, strong=one.cell.differs, mark=mark))
            rows.append(line)
            means.append(short)
    figures = _(
        "Each figure is the mean over seeds with its 95 % interval over other test pairs. Below it is the "
        "difference from plain training on the same dataset, with its 95 % interval over other test pairs and "
        "other seeds. Thresholds of accuracy and F1 are tuned on dev pairs and are then fixed: their intervals do "
        "not cover other dev pairs. With few dev pairs and weightings that err on different pairs, simulated "
        "intervals of equal weightings excluded 0 in up to 9 % of comparisons instead of 5 %."
    )
    about = _signs(table, is_judged=is_judged)
    address = reverse("mlworkers:comparison_suites_csv", args=[run.pk])
    links = [
        Link(_("Download this table as CSV"), address, download=True),
        Link(_("safe for a spreadsheet"), f"{address}?spreadsheet=1", download=True),
    ]
    parts: list[Part] = [
        tables.Table(columns, means, divided, style="many"),
        Section(
            _("Intervals and differences from plain"),
            [tables.Table(columns, rows, divided, style="many"), Text(figures, "soft")],
            folded=True,
        ),
        *([Text(" ".join(about), "soft")] if about else []),
        Links(links),
    ]
    return Section(_("Sources and suites"), parts, name="suites")


def _signs(table: Table, *, is_judged: bool) -> list[str]:
    """What the signs in the table mean."""
    about: list[str] = []
    if table.has_undefined:
        about.append(
            _(
                "–: not defined, because an encoder gives all test pairs the same cosine, or was not evaluated on the "
                "test."
            )
        )
    if table.has_out_of_domain:
        about.append(_("† Out of domain: the test has other sentences than those of the source dataset."))
    if is_judged:
        bold = _(
            "Bold: distinguishable from plain, with p adjusted for all %(tests)s differences of this comparison (Holm)."
        )
        about.append(bold % {"tests": table.tests})
    return about


def _difference_noted(cell: Cell) -> list[str]:
    if not cell.has_difference:
        return []
    difference, low, high = map(
        tables.Column(form="signed").text, (cell.difference, cell.difference_low, cell.difference_high)
    )
    return [_("%(difference)s (%(low)s to %(high)s)") % {"difference": difference, "low": low, "high": high}]
