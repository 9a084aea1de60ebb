"""A comparison of pre-fine-tunings: of each task a heatmap, a table with a row for each variant, and what they show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib.humanize.templatetags.humanize import intcomma
from django.urls import reverse
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from curation.charts import ACCENT, INK, SURFACE, WRONG
from curation.files.heavy import alt
from curation.results import tables
from curation.results.reports import Chart, Link, Links, Part, Points, Report, Section, Text
from mlworkers.kinds.comparisons.comparison import DIFFERENCE, Cell, cell_stored, difference_of, mean_of
from mlworkers.kinds.comparisons.unequal import differ_much, missing_note, unequal_note
from mlworkers.kinds.reader import Reader
from mlworkers.models import Run
from mlworkers.science.encoders.contrastive.variants import ORIGINAL
from mlworkers.science.encoders.plan import SEEDS_TO_JUDGE
from mlworkers.science.encoders.pre_fine_tuning.plan import DIRECT

KIND = "compare_pre_fine_tuning"
_SIDE = 96  # pixels of a cell of the heatmap
_DEEPEST, _PALEST = 0.45, 0.06  # opacity of the largest difference, and of none: words on it stay readable
_OF_FILE = (
    "task", "metric", "row", "similarity", "bleu", "chosen_on_dev", "dev", "mean", "sd", "low", "high",
    *(name.replace("difference", "difference_from_no_paraphrases", 1) for name in DIFFERENCE), "median_seed", "median",
    "test_rows", "seeds",
)  # fmt: skip


@dataclass(frozen=True)
class TaskRow:
    """A row on one task. dev: the mean score on dev rows, over seeds. cells: of each metric. medians: of each metric
    the figure of the seed with the median dev score. tags: of similarity and of BLEU, None where the row has no such
    pair.
    """

    name: str
    dev: float | None
    median_seed: int
    cells: Sequence[Cell]
    medians: Sequence[float | None]
    tags: tuple[str, str] | None
    examples: int | None = None
    missing: int | None = None

    @property
    def label(self) -> str:
        names = {DIRECT: _("no pre-fine-tuning"), ORIGINAL: _("inference, no paraphrases")}
        return str(names.get(self.name, self.name))

    @property
    def is_variant(self) -> bool:
        return self.name not in (DIRECT, ORIGINAL)


@dataclass(frozen=True)
class TaskTable:
    """A task. judged: whether there are enough seeds to judge a difference. chosen: the variant of the highest dev
    score, "" where none has one.
    """

    label: str
    metrics: Sequence[str]
    rows: Sequence[TaskRow]
    chosen: str
    judged: bool
    facts: Mapping[str, Any]

    @property
    def seeds(self) -> int:
        return max(len(row.cells[0].by_seed) for row in self.rows)

    @property
    def chosen_row(self) -> TaskRow | None:
        return next((row for row in self.rows if row.name == self.chosen), None)

    @property
    def is_comparable(self) -> bool:
        """Whether the chosen variant was pre-fine-tuned on about as many examples as the row without paraphrases."""
        chosen = self.chosen_row
        originals = [row.examples for row in self.rows if row.name == ORIGINAL]
        return chosen is None or not any(differ_much(chosen.examples, one) for one in originals)

    @property
    def variants(self) -> list[TaskRow]:
        return [row for row in self.rows if row.is_variant]


@dataclass(frozen=True)
class PreFineTunings:
    """tests: the number of differences that p-values are adjusted for."""

    tasks: Sequence[TaskTable]
    tests: int
    pre_seeds: int


def pre_fine_tunings_of(run: Run) -> PreFineTunings | None:
    """None where the run is not such a comparison, or has no result."""
    if run.kind != KIND or not run.result.get("tasks"):
        return None
    result = run.result
    about = {row["row"]: row for row in result["rows"]}
    tasks = []
    for task in result["tasks"]:
        judged = all(len(row["figures"][0]["by_seed"]) >= SEEDS_TO_JUDGE for row in task["rows"])
        rows = []
        for stored in task["rows"]:
            of_row = about[stored["row"]]
            row = TaskRow(
                name=stored["row"],
                dev=stored["dev"],
                median_seed=stored["median_seed"],
                cells=[cell_stored(one, judged=judged) for one in stored["figures"]],
                medians=[one["median"] for one in stored["figures"]],
                tags=(of_row["similarity"], of_row["bleu"]) if "similarity" in of_row else None,
                examples=of_row.get("examples"),
                missing=of_row.get("copies_missing"),
            )
            rows.append(row)
        tasks.append(TaskTable(task["label"], task["metrics"], rows, task["chosen"], judged, task))
    cells_of_all = (cell for table in tasks for row in table.rows for cell in row.cells)
    tests = sum(cell.p_holm is not None for cell in cells_of_all)
    return PreFineTunings(tasks, tests, len(result["pre_seeds"]))


def what_they_show(found: PreFineTunings) -> str:
    """What the rows chosen on dev show on the test, task by task, and no more than their intervals allow."""
    return " ".join(task_finding(task) for task in found.tasks)


def task_finding(task: TaskTable) -> str:
    """What the test says of the variant that the dev rows chose."""
    row = task.chosen_row
    if row is None:
        return _("%(task)s: no variant has a dev score, so none is chosen.") % {"task": task.label}
    cell = row.cells[0]
    words: dict[str, Any] = {
        "task": task.label,
        "row": row.name,
        "metric": task.metrics[0],
        "seeds": task.seeds,
        "least": SEEDS_TO_JUDGE,
    }
    chosen = _("%(task)s: the dev rows choose %(row)s.") % words
    if not cell.has_difference:
        return f"{chosen} " + _("Its difference on the test is undefined.")
    difference, low, high = (
        f"{value:+.3f}".replace("-", "−")
        for value in (cell.difference or 0.0, cell.difference_low or 0.0, cell.difference_high or 0.0)
    )
    words |= {"difference": difference, "low": low, "high": high}
    if not task.judged:
        sentence = ngettext(
            "On the test its %(metric)s is %(difference)s from that without paraphrases. One seed cannot "
            "test a difference; that takes %(least)s.",
            "On the test its %(metric)s is %(difference)s from that without paraphrases (%(low)s to %(high)s). "
            "%(seeds)s seeds cannot test a difference; that takes %(least)s.",
            task.seeds,
        )
    elif cell.differs and (cell.difference or 0) > 0:
        sentence = _(
            "On the test its %(metric)s is higher than without paraphrases: %(difference)s (%(low)s to %(high)s)."
        )
    elif cell.differs:
        sentence = _(
            "On the test its %(metric)s is lower than without paraphrases: %(difference)s (%(low)s to %(high)s)."
        )
    else:
        sentence = _(
            "On the test its %(metric)s is not distinguishable from that without paraphrases: %(difference)s (%(low)s "
            "to %(high)s)."
        )
    told = f"{chosen} {sentence % words}"
    if task.judged and cell.differs and not task.is_comparable:
        told += " " + _(
            "Its number of inference examples differs by more than a tenth, so the paraphrases need not be the reason."
        )
    return told


def unequal_examples(found: PreFineTunings) -> str:
    """A sentence where rows were pre-fine-tuned on unequal numbers of examples; "" where the numbers are equal."""
    rows = found.tasks[0].rows if found.tasks else ()
    return unequal_note({"": {row.label: row.examples for row in rows if row.examples is not None}})


def pre_fine_tuning_report(run: Run, reader: Reader) -> Report:
    found = pre_fine_tunings_of(run)
    again = reader.form(
        run.kind, run.dataset, _("Compare other variants or tasks"), look="button", again=run.pk
    )
    as_data = _("Compare paraphrases as training data")
    guide = Link(
        _("How tags are chosen and figures are measured"), reverse("guide_page", args=["pre-fine-tune"])
    )
    links = [*again, *reader.form("compare_augmentations", run.dataset, as_data, look="button"), guide]
    parts: list[Part] = []
    if found:
        parts += [_section(task, place, judges=run.judges) for place, task in enumerate(found.tasks)]
        parts.append(_how_to_read(run, found))
        if again and not run.artifacts.filter(kind="classifier").exists():
            kept = _(
                "No model of this comparison was kept. To use one, compare again with “Keep the models”."
            )
            parts.append(Text(kept))
        parts.append(Links(links))
    lines: list[tables.Row] = [
        [
            task.label, metric, row.name, *(row.tags or (None, None)), "yes" if row.name == task.chosen else "no",
            row.dev, cell.mean, cell.sd, cell.low, cell.high, *(getattr(cell, name) for name in DIFFERENCE),
            row.median_seed, row.medians[number], task.facts["test_rows"], len(cell.by_seed),
        ]
        for task in (found.tasks if found else ())
        for number, metric in enumerate(task.metrics)
        for row in task.rows
        for cell in [row.cells[number]]
    ]  # fmt: skip
    return Report(
        title=_("Comparison of pre-fine-tuning %(number)s") % {"number": run.pk},
        heading=_("What pre-fine-tuning adds"),
        lead=_(
            "Models trained on inference with paraphrased copies of each variant and without, and then fine-tuned on "
            "each task."
        ),
        back=Link(_("Compare"), reverse("mlworkers:comparison_list")),
        warnings=[*filter(None, [unequal_examples(found) if found else ""]), *run.result.get("warnings", [])],
        judges=run.judges,
        data=tables.Table(list(map(tables.Column, _OF_FILE)), lines),
        parts=parts,
    )


def _section(task: TaskTable, place: int, *, judges: str) -> Section:
    columns = [
        tables.Column(label=_("Pre-fine-tuned on"), form="text"),
        tables.Column(label=_("Dev score")),
    ]
    for metric in task.metrics:
        columns += [
            tables.Column(label=capfirst(metric)),
            tables.Column(label=_("Difference from no paraphrases"), form="signed"),
            tables.Column(label=_("Median seed")),
        ]
    chosen = tables.Mark(_("chosen on dev"))
    rows: list[tables.Row] = []
    for row in task.rows:
        mark = chosen if row.name == task.chosen else None
        line: list[Any] = [tables.Cell(row.label, mark=mark, notes=missing_note(row.missing)), row.dev]
        for cell, median in zip(row.cells, row.medians, strict=True):
            line += [mean_of(cell), difference_of(cell), median]
        rows.append(line)
    # The rows of the task: trained, chosen by, tested and left out.
    facts = task.facts
    numbers = {
        "train": "training_rows", "epochs": "epochs", "dev": "dev_rows", "test": "test_rows", "left": "left_out",
        "shown": "seen_left_out",
    }  # fmt: skip
    words = {name: intcomma(facts.get(fact) or 0) for name, fact in numbers.items()}
    told = _(
        "%(train)s training rows, each learned %(epochs)s times; %(dev)s dev rows; %(test)s test rows. %(left)s "
        "training rows share a sentence with others and were left out."
    )
    if facts.get("skipped"):
        told = _(
            "This task is what the models were pre-fine-tuned on, so fine-tuning is skipped. %(dev)s dev rows, "
            "%(test)s test rows."
        )
    sentences = [told % words]
    if seen := facts.get("seen_left_out"):
        left_out = ngettext(
            "%(shown)s test row was left out, because the baseline model was trained on a sentence of it.",
            "%(shown)s test rows were left out, because the baseline model was trained on a sentence of them.",
            seen,
        )
        sentences.append(left_out % words)
    return Section(
        task.label,
        [
            Text(task_finding(task), "finding"),
            *task_charts(task, place, judges=judges),
            Text(" ".join(sentences), "soft"),
            tables.Table(columns, rows),
        ],
    )


def _how_to_read(run: Run, found: PreFineTunings) -> Section:
    intervals = _(
        "Lighter figures are 95 % intervals: of a mean over other test rows, of a difference over other test rows and "
        "other seeds. ± is the standard deviation over seeds, of the figures or of the differences seed by seed."
    )
    adjusted = ngettext(
        "p is that of the one difference on this page. Bold, or a frame in a heatmap: p below 0.05.",
        "p is adjusted for the %(tests)s differences on this page (Holm). Bold, or a frame in a heatmap: p below 0.05.",
        found.tests,
    ) % {"tests": found.tests}
    points = [
        _(
            "The variant of a task is chosen by the mean score on its dev rows, and the test had no part in the "
            "choice. The paper (ConPGS, table 4) lists the best of nine pairs of tags on the test server itself, "
            "which favours its paraphrases."
        ),
        f"{intervals} {adjusted}" if found.tests else intervals,
    ]
    if found.pre_seeds == 1:
        points.append(
            _(
                "Each row was pre-fine-tuned once, as in the paper: the intervals do not cover another pre-fine-tuning."
            )
        )
    points.append(
        _(
            "The median seed is the one whose dev score is the median of the seeds; the paper gives its figure. The "
            "dev score is the mean of the task's metrics."
        )
    )
    if run.plan.get("complete"):
        same = _(
            "All rows are pre-fine-tuned on the same %(examples)s inference pairs; %(left)s others are left out, "
            "because a variant has too few paraphrases of them."
        )
        left = run.result.get("examples_that_not_all_can_copy", 0)
        points.append(same % {"examples": intcomma(run.result.get("examples", "")), "left": intcomma(left)})
    return Section(_("How to read this"), [Points(points)])


def task_charts(task: TaskTable, place: int, *, judges: str = "") -> list[Chart]:
    """Of each metric a heatmap of the differences from pre-fine-tuning without paraphrases (ConPGS, figures 5 and 6).

    None where no row has a pair of tags. place: of the task, for the names of its files.
    """
    charts = []
    for number, metric in enumerate(task.metrics):
        cells = [
            (*row.tags, row.cells[number])
            for row in task.variants
            if row.tags and row.cells[number].has_difference
        ]
        if not cells:
            continue
        unit = ngettext("test rows, %(seeds)s seed", "test rows, %(seeds)s seeds", task.seeds)
        chart = Chart(
            drawing=_drawn(cells).to_dict(),
            name=f"task-{place + 1}-{metric}",
            finding=_heatmap_finding(task, metric, cells),
            n=task.facts["test_rows"],
            unit=unit % {"seeds": task.seeds},
            columns=[_("similarity"), _("BLEU"), _("difference"), _("from"), _("to"), _("p (Holm)")],
            rows=[
                [
                    similarity, bleu,
                    *(f"{value or 0:+.4f}" for value in (one.difference, one.difference_low, one.difference_high)),
                    "" if one.p_holm is None else f"{one.p_holm:.4f}",
                ]
                for similarity, bleu, one in cells
            ],
            judges=judges,
        )  # fmt: skip
        charts.append(chart)
    return charts


def _heatmap_finding(task: TaskTable, metric: str, cells: Sequence[tuple[str, str, Cell]]) -> str:
    better, worse = (
        sum(one.differs and ((one.difference or 0) > 0) == wanted for _sim, _bleu, one in cells)
        for wanted in (True, False)
    )
    words = {
        "task": task.label, "metric": metric, "better": better, "worse": worse, "cells": len(cells),
        "least": SEEDS_TO_JUDGE,
    }  # fmt: skip
    if not task.judged:
        sentence = _(
            "%(task)s, %(metric)s: differences from pre-fine-tuning without paraphrases. Fewer than %(least)s seeds "
            "cannot test them."
        )
    elif not better and not worse:
        sentence = _(
            "%(task)s, %(metric)s: none of the %(cells)s pairs of tags is distinguishable from pre-fine-tuning without "
            "paraphrases."
        )
    else:
        sentence = _(
            "%(task)s, %(metric)s, against pre-fine-tuning without paraphrases: of %(cells)s pairs of tags, better: "
            "%(better)s; worse: %(worse)s; the others are not distinguishable."
        )
    return sentence % words


def _drawn(cells: Sequence[tuple[str, str, Cell]]) -> alt.TopLevelMixin:
    """Blue is better and red worse, the deeper the larger; a frame is around differences that are judged to be real."""
    most = max(abs(one.difference or 0) for _sim, _bleu, one in cells) or 1.0
    values = [
        {
            "similarity": similarity,
            "bleu": bleu,
            "difference": f"{one.difference or 0:+.3f}".replace("-", "−"),
            "interval": f"{one.difference_low or 0:+.3f} … {one.difference_high or 0:+.3f}".replace("-", "−"),
            "opacity": max(_PALEST, _DEEPEST * abs(one.difference or 0) / most),
            "better": (one.difference or 0) > 0,
            "differs": one.differs,
        }
        for similarity, bleu, one in cells
    ]
    rows = sorted({similarity for similarity, _bleu, _cell in cells}, key=_bound)
    columns = sorted({bleu for _similarity, bleu, _cell in cells}, key=_bound)
    axis = alt.Axis(domain=False, ticks=False, labelAngle=0, labelLimit=0, labelPadding=8)
    x = alt.X("bleu:N", sort=columns, title=None, axis=axis)
    y = alt.Y("similarity:N", sort=rows[::-1], title=None, axis=axis)
    base = alt.Chart(alt.InlineData(values=values)).encode(x=x, y=y)
    colour = alt.condition("datum.better", alt.value(ACCENT), alt.value(WRONG))
    drawn: alt.TopLevelMixin = alt.layer(
        base.mark_rect(stroke=SURFACE).encode(
            color=colour, opacity=alt.Opacity("opacity:Q", scale=None, legend=None)
        ),
        base.transform_filter("datum.differs").mark_rect(
            filled=False, stroke=INK, strokeWidth=2.5, aria=False
        ),
        base.mark_text(dy=-8, fontWeight="bold", color=INK).encode(text="difference:N"),
        base.mark_text(dy=9, fontSize=10.5, color=INK).encode(text="interval:N"),
    )
    return drawn.properties(width=_SIDE * 1.25 * len(columns), height=_SIDE * 0.7 * len(rows))


def _bound(tag: str) -> int:
    """Where a tag's bin begins, for their order."""
    return int(tag.removeprefix("SIM").removeprefix("BLEU").partition("_")[0])
