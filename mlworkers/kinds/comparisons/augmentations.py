"""A comparison of paraphrases: a table with a row for each share, variant and size, a chart, and what they show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib.humanize.templatetags.humanize import intcomma
from django.urls import reverse
from django.utils.text import capfirst, get_text_list
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from curation.charts import CATEGORIES
from curation.files.heavy import alt
from curation.results import tables
from curation.results.reports import Chart, Link, Links, Points, Report, Section
from mlworkers.kinds.comparisons.comparison import DIFFERENCE, Cell, cell_stored, difference_of, mean_of
from mlworkers.kinds.comparisons.unequal import differ_much, missing_note, unequal_note
from mlworkers.kinds.dot_chart import Dot, dots_in_rows
from mlworkers.kinds.reader import Reader
from mlworkers.models import Run
from mlworkers.science.encoders.contrastive.variants import ORIGINAL
from mlworkers.science.encoders.plan import SEEDS_TO_JUDGE

KIND = "compare_augmentations"
BASE, MEAN_OF_SUITES = "base", "mean of suites"
_NAMED = 3  # rows that the sentence above the table names; it counts the others
_OF_FILE = (
    "row", "variant", "size", "share", "examples", "copies", "copies_missing", "test", "metric", "pairs", "mean", "sd",
    "low", "high", *(name.replace("difference", "difference_from_original", 1) for name in DIFFERENCE), "seeds",
)  # fmt: skip


@dataclass(frozen=True)
class Column:
    """A test: a suite by its name, the comparison's own test (""), or the mean of suites."""

    suite: str
    metric: str
    pairs: int

    @property
    def label(self) -> str:
        names = {"": _("the test"), MEAN_OF_SUITES: _("the mean of suites")}
        return str(names.get(self.suite, self.suite))

    @property
    def has_differences(self) -> bool:
        return self.suite != MEAN_OF_SUITES


@dataclass(frozen=True)
class Row:
    """The base model, the original examples of a share, or a variant of some size. Numbers are None for the base."""

    label: str
    variant: str
    size: int
    share: float
    cells: Sequence[Cell]
    examples: int | None
    copies: int | None
    missing: int | None

    @property
    def is_original(self) -> bool:
        return self.variant == ORIGINAL


@dataclass(frozen=True)
class Augmentations:
    """left_out: examples that not every variant can copy. seeds: of every row but the base. judged: whether there are
    enough of them to judge a difference.

    tests: the number of differences that p-values are adjusted for.
    """

    columns: Sequence[Column]
    rows: Sequence[Row]
    seeds: Sequence[int]
    judged: bool
    tests: int
    left_out: int

    @property
    def place(self) -> int:
        """The column that the chart shows: the mean of suites where there is one, else the own test."""
        names = [one.suite for one in self.columns]
        return names.index(MEAN_OF_SUITES) if MEAN_OF_SUITES in names else 0

    @property
    def trained(self) -> list[Row]:
        return [row for row in self.rows if row.variant != BASE]

    def is_comparable(self, row: Row) -> bool:
        """Whether it has about as many examples as the original row of its share."""
        originals = (one.examples for one in self.trained if one.is_original and one.share == row.share)
        return not any(differ_much(row.examples, original) for original in originals)


def augmentations_of(run: Run) -> Augmentations | None:
    """None where the run is not such a comparison, or has no result."""
    if run.kind != KIND or not run.result.get("rows"):
        return None
    result = run.result
    judged = bool(result["judged"])
    rows = []
    for stored in result["rows"]:
        row = Row(
            label=stored["label"],
            variant=stored["variant"],
            size=stored["size"],
            share=stored["share"],
            cells=[cell_stored(one, judged=judged) for one in stored["figures"]],
            examples=stored.get("examples"),
            copies=stored.get("copies"),
            missing=stored.get("copies_missing"),
        )
        rows.append(row)
    tests = sum(cell.p_holm is not None for row in rows for cell in row.cells)
    return Augmentations(
        columns=[Column(**one) for one in result["columns"]],
        rows=rows,
        seeds=result["seeds"],
        judged=judged,
        tests=tests,
        left_out=result.get("examples_that_not_all_can_copy", 0),
    )


def what_they_show(found: Augmentations) -> str:
    """What the table says of the paraphrases, and what it cannot say, from its figures alone."""
    if not found.judged:
        sentence = ngettext(
            "One seed cannot show how much another seed would change the figures, so no difference is "
            "tested. That takes %(least)s seeds.",
            "%(seeds)s seeds cannot show well enough how much another seed would change the figures, so no "
            "difference is tested. That takes %(least)s seeds.",
            len(found.seeds),
        )
        return sentence % {"seeds": len(found.seeds), "least": SEEDS_TO_JUDGE}
    column = found.columns[0].label
    augmented = [row for row in found.trained if not row.is_original]
    apart = [row for row in augmented if row.cells[0].differs]
    clauses = []
    for comparable in (True, False):
        for higher in (True, False):
            names = [
                row.label
                for row in apart
                if found.is_comparable(row) == comparable and ((row.cells[0].difference or 0) > 0) == higher
            ]
            if names:
                clauses.append(_differing(names, column, higher=higher, comparable=comparable))
    if len(apart) < len(augmented):
        rest = len(augmented) - len(apart)
        clauses.append(
            ngettext(
                "%(rest)s row is not distinguishable from the original examples.",
                "%(rest)s rows are not distinguishable from the original examples.",
                rest,
            )
            % {"rest": rest}
        )
    return " ".join(clauses)


def _differing(names: Sequence[str], test: str, *, higher: bool, comparable: bool) -> str:
    """Of rows whose figures are judged to differ. comparable: whether their numbers of examples are about equal."""
    few = list(names)
    if len(names) > _NAMED + 1:
        few = [*names[:_NAMED], _("%(others)s others") % {"others": len(names) - _NAMED}]
    words = {"rows": capfirst(get_text_list(few, _("and"))), "test": test}
    if comparable:
        sentence = ngettext(
            "%(rows)s is %(how)s than the original examples on %(test)s.",
            "%(rows)s are %(how)s than the original examples on %(test)s.",
            len(names),
        )
        return sentence % (words | {"how": _("better") if higher else _("worse")})
    sentence = ngettext(
        "%(rows)s scores %(how)s than the original examples on %(test)s, but has a number of examples that differs by "
        "more than a tenth, so the paraphrases need not be the reason.",
        "%(rows)s score %(how)s than the original examples on %(test)s, but have numbers of examples that differ by "
        "more than a tenth, so the paraphrases need not be the reason.",
        len(names),
    )
    return sentence % (words | {"how": _("higher") if higher else _("lower")})


def unequal_examples(found: Augmentations) -> str:
    """A sentence where rows of one share have unequal numbers of examples; "" where they are equal."""
    groups: dict[str, dict[str, int]] = {}
    for row in found.trained:
        if row.examples is not None:
            groups.setdefault(str(row.share), {})[row.label] = row.examples
    return unequal_note(groups)


def augmentations_report(run: Run, reader: Reader) -> Report:
    found = augmentations_of(run)
    worded = _("Measure how the variants are worded")
    links = reader.form("profile_corpora", run.dataset, worded, comparison=run.pk)
    chart = augmentations_chart(found) if found else None
    lines: list[tables.Row] = []  # of the file, one for each row and test
    for row in found.rows if found else ():
        about: list[Any] = [
            row.label,
            row.variant,
            row.size,
            row.share,
            row.examples,
            row.copies,
            row.missing,
        ]
        for column, cell in zip(found.columns if found else (), row.cells, strict=True):
            figures = [cell.mean, cell.sd, cell.low, cell.high, *(getattr(cell, name) for name in DIFFERENCE)]
            lines.append([*about, column.label, column.metric, column.pairs, *figures, len(cell.by_seed)])
    return Report(
        title=_("Comparison of paraphrases %(number)s") % {"number": run.pk},
        heading=_("What paraphrases add"),
        lead=_(
            "Encoders trained by contrast with paraphrased copies of each variant, and with the original examples "
            "alone."
        ),
        back=Link(_("Compare"), reverse("mlworkers:comparison_list")),
        finding=what_they_show(found) if found else "",
        warnings=[*filter(None, [unequal_examples(found) if found else ""]), *run.result.get("warnings", [])],
        judges=run.judges,
        data=tables.Table(list(map(tables.Column, _OF_FILE)), lines),
        parts=[
            *([chart] if chart else []),
            Section(_("Every row and test"), [_table(run, found)]),
            _how_to_read(run, found),
            *([Links(links)] if links else []),
        ]
        if found
        else [],
    )


def _table(run: Run, found: Augmentations) -> tables.Table:
    columns = [tables.Column(label=_("Trained on"), form="text"), tables.Column(label=_("Examples"))]
    for column in found.columns:
        pairs = _("%(pairs)s pairs") % {"pairs": intcomma(column.pairs)}
        columns.append(tables.Column(label=capfirst(column.label), note=f"{column.metric}, {pairs}"))
        if column.has_differences:
            columns.append(tables.Column(label=_("Difference from the original"), form="signed"))
    rows: list[tables.Row] = []
    for row in found.rows:
        name = tables.Cell(_("baseline model"), notes=[run.plan.get("model", "")])
        line: list[Any] = [
            name if row.variant == BASE else row.label,
            tables.Cell(row.examples, notes=missing_note(row.missing)),
        ]
        for column, cell in zip(found.columns, row.cells, strict=True):
            line += [mean_of(cell), difference_of(cell)] if column.has_differences else [mean_of(cell)]
        rows.append(line)
    return tables.Table(columns, rows, style="many")


def _how_to_read(run: Run, found: Augmentations) -> Section:
    seeds = ngettext(
        "Lighter figures are 95 %% intervals over other test pairs: with one seed, they do not cover another training.",
        "Lighter figures are 95 %% intervals: of a mean over other test pairs, of a difference over other test pairs "
        "and other seeds. ± is the standard deviation over %(seeds)s seeds, of the figures or of the differences seed "
        "by seed.",
        len(found.seeds),
    ) % {"seeds": len(found.seeds)}
    adjusted = _("p is adjusted for the %(tests)s differences on this page (Holm). Bold: p below 0.05.")
    sizes = _(
        "The rows of paraphrases hold no original example: ×1 is one copy of each, and as large as the original row."
    )
    if run.plan.get("keep_originals"):
        sizes = _(
            "×2 is the original examples with one copy of each, ×5 with four; the copies take the best paraphrases "
            "first."
        )
    left = ngettext(
        "All rows begin with the same %(examples)s examples; %(shown)s other is left out, because a variant has too "
        "few paraphrases of it.",
        "All rows begin with the same %(examples)s examples; %(shown)s others are left out, because a variant has too "
        "few paraphrases of them.",
        found.left_out,
    )
    words = {"examples": intcomma(run.result.get("examples", "")), "shown": intcomma(found.left_out)}
    loss = _(
        "Loss of the first row: %(loss)s. Pooler: %(pooler)s. Examples that share a sentence, or the source of one, "
        "are never in one batch."
    ) % {name: run.result.get(f"{name}_in_words", "") for name in ("loss", "pooler")}
    points = [
        f"{seeds} {adjusted % {'tests': found.tests}}" if found.tests else seeds,
        _(
            "A difference is from the original examples of the same share, on the same pairs and seeds. It is not the "
            "gap between two intervals of the chart."
        ),
        f"{sizes} {left % words}" if run.plan.get("complete") else sizes,
        loss,
    ]
    return Section(_("How to read this"), [Points(points)])


def augmentations_chart(found: Augmentations) -> Chart | None:
    """The score against the size of the augmented corpus (ConPGS, figure 4), or a dot for each row where all have one
    size; None where nothing is defined.
    """
    rows = [row for row in found.trained if row.cells[found.place].mean is not None]
    if not rows:
        return None
    sizes = {row.size for row in rows if not row.is_original}
    column = found.columns[found.place]
    values: list[dict[str, Any]] = [
        {
            "label": row.label,
            "variant": row.variant,
            "size": row.size,
            "share": row.share,
            "value": cell.mean,
            "low": cell.low,
            "high": cell.high,
            "by_seed": cell.by_seed,
        }
        for row in rows
        for cell in [row.cells[found.place]]
    ]
    drawn: alt.TopLevelMixin
    if len(sizes) > 1:
        drawn = _curves(values)
    else:
        drawn = dots_in_rows(
            [Dot(*(one[name] for name in ("label", "value", "low", "high", "by_seed"))) for one in values],
            title=_("Spearman, mean over seeds"),
            row=32,
            ticks=alt.Axis(tickCount=5, format=".3~f"),
        )
    best = max(values, key=lambda one: one["value"])
    words = {"label": best["label"], "value": f"{best['value']:.3f}", "test": column.label}
    unit = ngettext("test pairs, %(seeds)s seed", "test pairs, %(seeds)s seeds", len(found.seeds))
    return Chart(
        drawing=drawn.to_dict(),
        name="augmentations",
        finding=_("The highest mean on %(test)s is %(value)s, with %(label)s.") % words,
        n=column.pairs,
        unit=unit % {"seeds": len(found.seeds)},
        columns=[_("row"), _("size"), _("share"), _("Spearman"), _("from"), _("to")],
        rows=[
            [
                one["label"],
                one["size"],
                one["share"],
                *("" if one[name] is None else f"{one[name]:.4f}" for name in ("value", "low", "high")),
            ]
            for one in values
        ],
    )


def _curves(values: Sequence[dict[str, Any]]) -> alt.TopLevelMixin:
    """A line for each variant and share, which begins at the original examples of the share; a smaller share is dashed.

    Lines of one size would hide each other's intervals, so that they stand a little apart.
    """
    variants = list(dict.fromkeys(one["variant"] for one in values if one["variant"] != ORIGINAL))
    shares = sorted({one["share"] for one in values}, reverse=True)
    lines = [(variant, share) for share in shares for variant in variants]
    points = []
    for number, (variant, share) in enumerate(lines):
        aside = 0.06 * (number - (len(lines) - 1) / 2)
        name = variant if share == 1 else f"{variant}, {share:g}"
        points += [
            {
                **one,
                "line": name,
                "of": variant,
                "share": f"{share:g}",
                "place": one["size"] + aside,
                "by_seed": None,
            }
            for one in values
            if one["share"] == share and one["variant"] in (ORIGINAL, variant)
        ]
    longest = max(len(one["line"]) for one in points)
    legend = alt.Legend(orient="bottom", columns=max(1, 60 // (longest + 6)), labelLimit=0, title=None)
    colours = [CATEGORIES[place % len(CATEGORIES)] for place in range(len(variants))]
    colour = alt.Color("of:N", legend=legend, scale=alt.Scale(domain=variants, range=colours))
    sizes = sorted({one["size"] for one in values})
    x = alt.X(
        "place:Q",
        title=_("Size of the corpus, over the original examples"),
        axis=alt.Axis(values=sizes, format="d", grid=False),
        scale=alt.Scale(domain=[min(sizes) - 0.3, max(sizes) + 0.3]),
    )
    from_data = alt.Scale(zero=False)
    y = alt.Y("value:Q", title=_("Spearman, mean over seeds"), scale=from_data, axis=alt.Axis(tickCount=5))
    dash = alt.StrokeDash(
        "share:N",
        title=_("share of the examples"),
        scale=alt.Scale(
            domain=[f"{share:g}" for share in shares],
            range=[[1, 0] if place == 0 else [6 - min(place, 3), 2 + place] for place in range(len(shares))],
        ),
        legend=alt.Legend(orient="bottom") if len(shares) > 1 else None,
    )
    chart = alt.Chart(alt.InlineData(values=points))
    rules = (
        alt.Chart(alt.InlineData(values=[one for one in points if one["low"] is not None]))
        .mark_rule(opacity=0.55)
        .encode(x=x, y=alt.Y("low:Q", scale=from_data), y2="high:Q", color=colour)
    )
    drawn: alt.TopLevelMixin = alt.layer(
        rules,
        chart.mark_line().encode(x=x, y=y, color=colour, strokeDash=dash, detail="line:N"),
        chart.mark_point(size=36, filled=True).encode(x=x, y=y, color=colour),
    )
    return drawn.properties(width=420, height=260)
