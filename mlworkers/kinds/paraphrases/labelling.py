"""How similar the sentences of a dataset's pairs are in meaning and in wording, as two score sets of kind model."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from django.contrib.humanize.templatetags.humanize import intcomma
from django.utils.translation import gettext as _

from curation.files.progress import Report
from curation.foundation.errors import UserError
from curation.models import Dataset, ScoreSet
from curation.statistics.correlation import Scores
from mlworkers.kinds.encoders.scoring_pairs import (
    blocks_in_shards,
    facts_of_scoring,
    pairs_of_split,
    scores_in_shards,
    way_of_scoring,
)
from mlworkers.kinds.paraphrases.written_pairs import marked_as_written
from mlworkers.pipelines.models import folder_of_model
from mlworkers.pipelines.publishing import scores_to_publish
from mlworkers.pipelines.snapshots import snapshot_taken, table_of
from mlworkers.runs.jobs import Job, Outcome
from mlworkers.science.encoders.rows import Column
from mlworkers.science.paraphrasing.disclosure import benchmark_behind
from mlworkers.science.paraphrasing.lexical import bleu_scores, bleu_signature
from mlworkers.science.paraphrasing.plan import LabellingPlan
from mlworkers.science.paraphrasing.profile import profile_of
from mlworkers.science.paraphrasing.tags import TOP, Label
from mlworkers.science.paraphrasing.text import compared_text
from mlworkers.science.pretrained.sources import SCORERS

_DIGITS = (
    6  # of a label after the point: the noise of a last bit must not move a pair across the edge of a bin
)


class _Labelled(NamedTuple):
    """numbers: of the n labelled pairs (n,). similarity, bleu: their labels in 0..100, (n,) each. without_text: pairs
    that have no label, because a sentence has no letter and no digit.
    """

    numbers: Column
    similarity: Scores
    bleu: Scores
    without_text: int


def label_paraphrases(plan: LabellingPlan, job: Job) -> Outcome:
    """Give each pair a similarity and a BLEU, both from 0 to 100, and publish them as two score sets.

    Sentences are compared without case and marks; pairs without a letter or digit on one side get no label. Both labels
    are computed in shards, which a later attempt finds again. Raises UserError where no pair can be compared.
    """
    dataset = job.dataset_of(plan.dataset)
    # The model first: a name that leads nowhere leaves no snapshot behind.
    folder = folder_of_model(plan.model, kind="encoder", also=SCORERS, report=job.report)
    snapshot = snapshot_taken(job, dataset, plan.snapshot)
    table = table_of(snapshot)
    among = marked_as_written(table, dataset, plan.written_by)
    numbers, first, second = pairs_of_split(table, plan.split, among=among)

    compared = [
        (compared_text(a), compared_text(b)) for a, b in zip(first.tolist(), second.tolist(), strict=True)
    ]
    whole = [place for place, texts in enumerate(compared) if all(texts)]
    if not whole:
        sentence = _(
            "No pair has letters or digits in both sentences, so nothing can be compared; add pairs."
        )
        raise UserError(sentence)
    left, right = ([compared[place][side] for place in whole] for side in (0, 1))
    similarity = TOP * np.clip(scores_in_shards(job, folder, plan.device, left, right), 0, 1)

    def score(block: slice, report: Report) -> Scores:
        return bleu_scores(left[block], right[block], report=report)

    bleu = blocks_in_shards(job, "bleu", len(whole), score, message=_("Computing BLEU"))
    labelled = _Labelled(
        numbers[whole], np.round(similarity, _DIGITS), np.round(bleu, _DIGITS), len(numbers) - len(whole)
    )

    about = {
        **facts_of_scoring(plan, folder, snapshot, first.tolist(), second.tolist()),
        "bleu_signature": bleu_signature(),
        "pairs_without_text": labelled.without_text,
        "tags": plan.tag_bounds.as_dict(),
        "labels_from": benchmark_behind(folder),
        "written_by": plan.written_by,
    }
    profile = profile_of(labelled.similarity, labelled.bleu, plan.tag_bounds)
    words = {
        "pairs": intcomma(profile.pairs),
        "inside": intcomma(profile.inside),
        "cells": plan.tag_bounds.cells,
    }
    message = _("%(pairs)s pairs labelled; %(inside)s of them lie in one of the %(cells)s cells") % words
    result = {
        "pairs": profile.pairs,
        "pairs_in_cells": profile.inside,
        "mean_similarity": float(labelled.similarity.mean()),
        "mean_bleu": float(labelled.bleu.mean()),
        **about,
    }
    return Outcome(message, result, publish=_to_publish(job, dataset, folder, labelled, about))


def _to_publish(
    job: Job, dataset: Dataset, folder: Path, labelled: _Labelled, about: dict[str, Any]
) -> Callable[[], dict[str, Any]]:
    """What publishes both score sets, the similarity first."""
    way = _("%(way)s, without symbols, × 100; below 0 counts as 0") % {"way": way_of_scoring(folder)}
    bleu = _("sentence BLEU against the first sentence, without symbols")
    labels = ((Label.SIMILARITY, way, labelled.similarity), (Label.BLEU, bleu, labelled.bleu))
    numbers = labelled.numbers.tolist()
    both = [
        label_to_publish(
            job, dataset, label, method=method, about=about, scores=zip(numbers, values.tolist(), strict=True)
        )
        for label, method, values in labels
    ]
    return lambda: {"score_sets": [publish()["score_set"] for publish in both]}


def label_to_publish(
    job: Job,
    dataset: Dataset,
    label: Label,
    *,
    method: str,
    about: Mapping[str, Any],
    scores: Iterable[tuple[int, float]],
) -> Callable[[], dict[str, Any]]:
    """What publishes one label as a score set. scores: numbers of pairs, each with its label in 0..100."""
    names = {Label.SIMILARITY: _("run %(run)s: similarity"), Label.BLEU: _("run %(run)s: BLEU")}
    return scores_to_publish(
        job,
        dataset,
        name=names[label] % {"run": job.run_id},
        kind=ScoreSet.Kind.MODEL,
        low=0.0,
        high=float(TOP),
        method=method,
        parameters={"label": label.value, **about},
        scores=((pair, value, None, None) for pair, value in scores),
    )
