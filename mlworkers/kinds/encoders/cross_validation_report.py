"""The page of a cross-validation, and the table of its file."""

from collections.abc import Iterator, Sequence
from typing import Any

from django.contrib.humanize.templatetags.humanize import intcomma
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from curation.results.estimates import Estimate
from curation.results.reports import Link, Links, Part, Points, Report, Section, Text
from curation.results.tables import Cell, Column, Mark, Row, Table
from mlworkers.kinds.encoders.cross_validation import (
    CrossValidation,
    ProtocolTable,
    cross_validation_stored,
    source_columns,
    what_the_folds_show,
    what_to_cite,
)
from mlworkers.kinds.encoders.cross_validation_chart import protocols_chart, sources_chart
from mlworkers.kinds.reader import Reader
from mlworkers.models import Run
from mlworkers.science.encoders.cross_validation_plan import Method
from mlworkers.science.encoders.seen import ALL

_OF_FILE = (
    "protocol", "method", "part", "cite", "figure", "fold_or_source", "pairs", "spearman", "low", "high",
    "sd_over_seeds", "seeds", "leakage", "pearson", "pearson_low", "pearson_high", "pearson_sd_over_seeds",
)  # fmt: skip


def cross_validation_report(run: Run, _reader: Reader) -> Report:
    found = cross_validation_stored(run.result)
    chart = protocols_chart(found, judges=run.judges) if found else None
    parts: list[Part] = []
    if found:
        parts = [
            *([chart] if chart else []),
            _means(run, found),
            _sources(found, judges=run.judges),
        ]
        if found.trainings:
            dev = _("Spearman on the inner split, by epochs")
            columns = [
                Column(label=_("Protocol"), form="text"),
                Column(label=_("Fold"), form="text"),
                *([Column(label=_("Seed"))] if found.several_seeds else []),
                Column(label=_("Epochs")),
                Column(label=dev, form="text"),
                Column(label=_("Training pairs")),
            ]
            rows: list[Row] = []
            for one in found.trainings:
                tried = " · ".join(
                    f"{each['epochs']}: {Column().text(each['spearman'])}" for each in one["dev"]
                )
                seed = [str(one.get("seed", ""))] if found.several_seeds else []
                rows.append([one["label"], one["fold"], *seed, one["epochs"], tried, one["training_pairs"]])
            parts.append(Section(_("Epochs that each fold chose"), [Table(columns, rows)]))
        parts.append(_how_to_read(run, found))
    return Report(
        title=_("Cross-validation %(number)s") % {"number": run.pk},
        heading=_("How well encoders do"),
        finding=what_the_folds_show(found) if found and not chart else "",
        warnings=run.result.get("warnings", []),
        judges=run.judges,
        data=Table(list(map(Column, _OF_FILE)), list(_rows_of_file(found)) if found else []),
        parts=parts,
    )


def best_method(run: Run) -> str:
    """Whose largest errors are shown unless another method is asked for."""
    found = cross_validation_stored(run.result)
    return found.cited.best[0].method if found and found.cited.best else ""


def _means(run: Run, found: CrossValidation) -> Section:
    columns = [Column(label=_("Method"), form="text")]
    leakage: list[Cell | str] = [_("Share a sentence with training")]
    for each in found.columns:
        words = {"folds": len(each.table.folds), "pairs": intcomma(each.pairs)}
        note = _("%(folds)s folds, %(pairs)s pairs") % words
        columns.append(
            Column(label=each.label, note=note, mark=Mark(_("cite"), "good") if each.cited else None)
        )
        table = each.table
        ends = _("%(low)s to %(high)s") % {"low": f"{table.lowest:.0%}", "high": f"{table.highest:.0%}"}
        leakage.append(Cell(f"{table.leakage:.0%}", notes=[ends]) if each.all_pairs else "0%")
    rows: list[Row] = [
        [label, *(column.rows[number][1] for column in found.columns)]
        for number, label in enumerate(found.methods)
    ]
    told = [what_to_cite(found)]
    if found.seen_before:
        seen = ngettext(
            "%(shown)s of the %(pairs)s pairs holds a sentence that the model was trained on before this run.",
            "%(shown)s of the %(pairs)s pairs hold a sentence that the model was trained on before this run.",
            found.seen_before,
        )
        told.append(seen % {"shown": intcomma(found.seen_before), "pairs": intcomma(found.pairs)})
    parts: list[Part] = [Table(columns, [*rows, leakage]), Text(" ".join(told))]
    if known := run.result.get("training_data"):
        before = _("Sentences that the model was trained on before this run: %(known)s.") % {"known": known}
        parts.append(Text(before, "soft"))
    if found.ceiling.value is not None:
        ceiling = _(
            "Human ceiling: %(value)s (%(source)s). A model that knew every true score would correlate with these "
            "scores at about this value."
        )
        parts.append(
            Text(ceiling % {"value": Column().text(found.ceiling.value), "source": found.ceiling_source})
        )
    else:
        none = _("No human ceiling: the score set says no reliability. Scores from a campaign do.")
        parts.append(Text(none, "soft"))
    pearson: list[Row] = [
        [label, *(column.pearson[number] for column in found.columns)]
        for number, label in enumerate(found.methods)
    ]
    if any(one.value is not None for column in found.columns for one in column.pearson):
        why = _(
            "Papers on the similarity of argument facets (AFS) report Pearson's correlation beside Spearman's, each "
            "as the mean over 10 random folds."
        )
        heading = _("Pearson with the scores, mean over folds")
        parts.append(Section(heading, [Text(why, "soft"), Table(columns, pearson)], folded=True))
    by_fold = [_by_fold(found, table) for table in found.protocols]
    parts.append(Section(_("Fold by fold, and over all folds at once"), by_fold, folded=True))
    return Section(_("Spearman with the scores, mean over folds"), parts)


def _by_fold(found: CrossValidation, table: ProtocolTable) -> Section:
    columns = [
        Column(label=_("Fold"), form="text"),
        Column(label=_("Pairs")),
        Column(label=_("Share a sentence with training"), form="percent"),
        *(Column(label=label) for label in found.methods),
    ]
    rows: list[Row] = [
        [
            fold["fold"],
            fold["pairs"],
            fold["leakage"],
            *(row.by_fold[fold["fold"]] for row in table.methods),
        ]
        for fold in table.folds
    ]
    rows.append([_("all pairs"), found.pairs, table.leakage, *(row.pooled for row in table.methods)])
    if table.some_seen:
        unseen = [row.unseen.pooled for row in table.methods if row.unseen is not None]
        rows.append([_("unseen pairs"), table.unseen_pairs, 0.0, *unseen])
    return Section(table.label, [Table(columns, rows)])


def _sources(found: CrossValidation, *, judges: str) -> Section:
    columns = [
        Column(label=_("Source"), form="text"),
        Column(label=_("Pairs")),
        Column(label=_("Scores: standard deviation")),
        *(Column(label=label) for label, _row in source_columns(found.protocols)),
    ]
    rows: list[Row] = [
        [one.label, one.pairs, one.deviation, *(figure for _label, figure in one.labelled)]
        for one in found.sources
    ]
    told = _(
        "Scores are on the scale 0 to 1. Where they vary little, correlations are lower for every method: compare "
        "methods within a source, not sources with each other."
    )
    if found.some_seen:
        told += " " + _("These figures are over all pairs. The CSV file has those over unseen pairs too.")
    chart = sources_chart(found, judges=judges)
    parts: list[Part] = [*([chart] if chart else []), Table(columns, rows, style="many"), Text(told, "soft")]
    return Section(_("Source by source"), parts)


def _how_to_read(run: Run, found: CrossValidation) -> Section:
    points = [
        _(
            "Methods without training are scored on the same folds, so that their means can be compared. Their figures "
            "differ between protocols only because the folds do; leakage does not help them."
        ),
        _(
            "Random folds over all pairs are what the STR paper reports. A test pair there may share a sentence with "
            "training, which helps what was trained. Give these figures beside those to cite where you compare with "
            "the paper."
        ),
    ]
    if found.some_seen:
        points.append(
            _(
                "Unseen pairs hold no sentence that the model was trained on: in the training folds, or before this "
                "run as far as that is known. They are other pairs than all pairs, so that figures differ for methods "
                "that learn nothing too: what leakage adds is the difference of a trained model beyond that of Dice."
            )
        )
    if found.several_seeds:
        seeds = _(
            "Figures of what was trained are means over %(seeds)s seeds, with their standard deviation (±); lighter "
            "figures are 95 %% intervals over pairs and seeds, as those of differences in a comparison. Methods "
            "without training have bootstrap intervals over pairs."
        )
        points.append(seeds % {"seeds": len(found.seeds)})
    else:
        points.append(
            _(
                "Lighter figures are 95 % bootstrap intervals over pairs, with the models as they are. They do not "
                "say how another seed of training would have done."
            )
        )
    parts: list[Part] = [Points(points)]
    if file := run.artifacts.filter(kind="folds", removed_at=None).first():
        address = reverse("mlworkers:artifact_download", args=[run.pk, file.pk])
        download = Link(_("Download the folds and every method's score of every pair"), address)
        safe = Link(_("safe for a spreadsheet"), f"{address}?spreadsheet=1", download=True)
        parts.append(Links([download, safe]))
    return Section(_("How to read this"), parts)


def _rows_of_file(found: CrossValidation) -> Iterator[Row]:
    """A row for each figure."""
    for column in found.columns:
        table, leaking = column.table, column.part == ALL
        leakages = {fold["fold"]: fold["leakage"] if leaking else 0.0 for fold in table.folds}
        leakage = table.leakage if leaking else 0.0
        for row in table.methods:
            of_part = row.on(column.part)
            seeds = len(found.seeds) if row.method == Method.FINE_TUNED and found.seeds else ""
            about = [table.protocol, row.method, column.part, "yes" if column.cited else "no"]
            figures: Sequence[tuple[str, str, Estimate, Any]] = [
                ("mean over folds", "", of_part.mean, leakage),
                ("all folds at once", "", of_part.pooled, leakage),
                *(("fold", name, one, leakages[name]) for name, one in of_part.by_fold.items()),
                *(("source", name, one, "") for name, one in of_part.by_source.items()),
            ]
            for figure, name, one, leaks in figures:
                pearson = of_part.mean_pearson if one is of_part.mean else Estimate()
                yield [*about, figure, name, one.n, *one, one.sd, seeds, leaks, *pearson, pearson.sd]
