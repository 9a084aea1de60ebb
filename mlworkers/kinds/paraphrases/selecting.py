"""A balanced selection of a dataset's labelled pairs, as a file of tagged pairs, without machine-learning libraries."""

import json
from typing import Any, NamedTuple

import numpy as np
from django.contrib.humanize.templatetags.humanize import intcomma
from django.utils.translation import gettext as _
from numpy.typing import NDArray

from curation.files.tables import csv_lines
from curation.files.writing import as_text, replacing
from curation.foundation.errors import UserError
from curation.models import Dataset, ScoreSet
from curation.pairs.holding_out import HeldOut
from curation.pairs.text import near_copy_key
from mlworkers.kinds.paraphrases.written_pairs import marked_as_written
from mlworkers.pipelines.snapshots import snapshot_taken, table_of
from mlworkers.runs.jobs import Job, NewArtifact, Outcome
from mlworkers.science.encoders.rows import Column, PairTable
from mlworkers.science.paraphrasing.selection import Selection, select_balanced
from mlworkers.science.paraphrasing.selection_plan import SelectionPlan
from mlworkers.science.paraphrasing.tags import TOP, TagBounds

PAIRS, CELLS = "tagged pairs", "cells"  # kinds of artefacts
CELL_COLUMNS = ("split", "similarity", "bleu", "asked", "candidates", "chosen", "shortfall")
_DIGITS = 6  # of a label after the point, as when it was made


class _Candidates(NamedTuple):
    """n labelled pairs: numbers, texts of both sentences, and labels in 0..100, (n,) each."""

    numbers: Column
    first: Column
    second: Column
    similarity: Column
    bleu: Column


def select_paraphrases(plan: SelectionPlan, job: Job) -> Outcome:
    """Choose labelled pairs so that each cell of similarity and BLEU gives as many, per split, and write two files.

    Reads both labels of each candidate in a snapshot; no row of the dataset changes. The result counts what each cell
    was asked for and has. Raises UserError where no pair is left to train on, or none to choose a model by.
    """
    dataset = job.dataset_of(plan.dataset)
    bounds, labels_from = _labelled_by(dataset, plan)
    snapshot = snapshot_taken(job, dataset, plan.snapshot)
    table = table_of(snapshot)
    found = _candidates(table, plan, marked_as_written(table, dataset, plan.written_by))
    selection = select_balanced(
        found.similarity,
        found.bleu,
        names=[str(number) for number in found.numbers.tolist()],
        sources=[near_copy_key(text) for text in found.first.tolist()],
        per_unit=plan.per_unit,
        bounds=bounds,
        seed=plan.seed,
    )
    counts = {split: sum(one == split for one in selection.splits) for split in plan.per_unit}
    if not counts["train"] or not counts["dev"]:
        sentence = _(
            "Of %(pairs)s labelled pairs, %(train)s can be trained on and %(dev)s are dev pairs; label more pairs, or "
            "choose wider bounds of the tags."
        )
        raise UserError(
            sentence, pairs=intcomma(len(found.numbers)), train=counts["train"], dev=counts["dev"]
        )
    rows = _rows(selection, found, bounds)
    pairs_path, cells_path = job.folder / "tagged-pairs.jsonl", job.folder / "cells.csv"
    with replacing(pairs_path) as file:
        file.writelines(json.dumps(row, ensure_ascii=False).encode() + b"\n" for row in rows)
    cells = [CELL_COLUMNS, *((*cell, cell.shortfall) for cell in selection.cells)]
    with replacing(cells_path) as file, as_text(file) as text:
        text.writelines(csv_lines(cells, line_end="\n"))
    facts = {
        "labels_from": labels_from,
        "tags": bounds.as_dict(),
        "snapshot": snapshot.number,
        "written_by": plan.written_by,
    }
    short = len(selection.short)
    result = {
        "candidates": len(found.numbers),
        "chosen": counts,
        "cells_asked": len(selection.cells),
        "cells_short": short,
        "cells": [list(cell) for cell in selection.cells],
        **facts,
    }
    words = {"chosen": intcomma(sum(counts.values())), "candidates": intcomma(len(found.numbers))}
    message = _("%(chosen)s of %(candidates)s pairs chosen") % words
    if short:
        message += _("; %(short)s of %(cells)s cells of the splits have too few") % {
            "short": short,
            "cells": len(selection.cells),
        }
    made = [NewArtifact(PAIRS, pairs_path, {**counts, **facts}), NewArtifact(CELLS, cells_path)]
    return Outcome(message, result, made)


def _labelled_by(dataset: Dataset, plan: SelectionPlan) -> tuple[TagBounds, str]:
    """The bounds of the tags that the labels were made with, and the benchmark behind them. Raises UserError."""
    sets = {one.name: one for one in ScoreSet.objects.filter(dataset=dataset)}
    found = [sets.get(name) for name in (plan.similarity, plan.bleu)]
    runs, labels = [], []
    for name, one in zip((plan.similarity, plan.bleu), found, strict=True):
        if one is None or "tags" not in one.parameters:
            sentence = _(
                "“%(name)s” was not made by “Label paraphrases”; choose the two labels of such a run."
            )
            raise UserError(sentence, name=name)
        runs.append(one.run_ref)
        labels.append(one.parameters["label"])
    if labels != ["similarity", "bleu"] or len(set(runs)) > 1:
        raise UserError(_("Choose the similarity and the BLEU of the same run “Label paraphrases”."))
    parameters = sets[plan.similarity].parameters
    return TagBounds(**parameters["tags"]), str(parameters.get("labels_from", ""))


def _candidates(table: PairTable, plan: SelectionPlan, among: NDArray[np.bool_]) -> _Candidates:
    """Of the n pairs that are marked, (n,), those with both labels, of the split and without a held-out sentence."""
    labels = [np.round(TOP * table.scores(name), _DIGITS) for name in (plan.similarity, plan.bleu)]
    usable = among & ~np.isnan(labels[0]) & ~np.isnan(labels[1])
    held_out = HeldOut()
    if plan.split:
        usable &= table.column("split") == plan.split
        held_out = table.held_out(plan.split)
    first, second = table.column("sentence1"), table.column("sentence2")
    places = [
        place
        for place in np.flatnonzero(usable).tolist()
        if first[place] not in held_out and second[place] not in held_out
    ]
    if not places:
        sentence = _(
            "No pair of the split “%(split)s” has both labels; choose another split, or leave it empty."
        )
        raise UserError(sentence, split=plan.split)
    columns = (table.column("pair"), first, second, *labels)
    return _Candidates(*(column[places] for column in columns))


def _rows(selection: Selection, found: _Candidates, bounds: TagBounds) -> list[dict[str, Any]]:
    in_meaning, in_wording = bounds.bins(found.similarity, found.bleu)
    return [
        {
            "split": split,
            "source": found.first[place],
            "paraphrase": found.second[place],
            "similarity": float(found.similarity[place]),
            "bleu": float(found.bleu[place]),
            "sim_tag": bounds.similarity[in_meaning[place]].name,
            "bleu_tag": bounds.lexical[in_wording[place]].name,
            "pair": int(found.numbers[place]),
        }
        for place, split in enumerate(selection.splits)
        if split
    ]
