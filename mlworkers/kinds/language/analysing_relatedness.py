"""What makes the pairs of a dataset related, from a snapshot."""

import os
from pathlib import Path

import numpy as np
from django.contrib.humanize.templatetags.humanize import intcomma
from django.utils.translation import gettext as _

from curation.foundation.errors import UserError
from curation.pairs.segmenting import words_rule
from curation.results.estimates import as_stored
from mlworkers.pipelines.encoder_data import judges_results
from mlworkers.pipelines.snapshots import snapshot_taken, table_of
from mlworkers.runs.jobs import Job, Outcome
from mlworkers.science.encoders.rows import Rows
from mlworkers.science.linguistics.relatedness.analysis import relatedness_analysis
from mlworkers.science.linguistics.relatedness.annotating import (
    annotated,
    annotated_simply,
    pipeline_load,
    vectors_of_pipeline,
)
from mlworkers.science.linguistics.relatedness.features import FEWEST_PAIRS, pair_features
from mlworkers.science.linguistics.relatedness.plan import RelatednessPlan
from mlworkers.science.linguistics.relatedness.word_vectors import word_vectors_read


def analyse_relatedness(plan: RelatednessPlan, job: Job) -> Outcome:
    dataset = job.dataset_of(plan.dataset)
    # The pipeline first: a name that leads nowhere leaves no snapshot behind.
    pipeline = pipeline_load(plan.pipeline) if plan.pipeline else None
    vectors = None
    if pipeline is not None and not plan.vectors:
        vectors = vectors_of_pipeline(pipeline, plan.pipeline)
    snapshot = snapshot_taken(job, dataset, plan.snapshot, generated_pairs=plan.generated_pairs)
    table = table_of(snapshot)
    rows = table.rows(plan.score_set, split=plan.split or None)
    _check_enough(rows)
    sentences = rows.sentences
    place = {sentence: number for number, sentence in enumerate(sentences)}
    places = tuple(np.array([place[text] for text in side], dtype=np.int64) for side in _sides(rows))
    annotation = (
        annotated(pipeline, sentences, report=job.report) if pipeline else annotated_simply(sentences)
    )
    if plan.vectors:
        path = Path(os.path.expanduser(plan.vectors))
        vectors = word_vectors_read(path, annotation.vocabulary, report=job.report)
    features = pair_features(
        *_sides(rows),
        annotation,
        (places[0], places[1]),
        vectors,
        least_share=plan.least_share,
        report=job.report,
    )
    found = relatedness_analysis(
        features, rows.values, resamples=plan.resamples, seed=plan.seed, report=job.report
    )
    notes = []
    if not plan.pipeline:
        notes.append(
            _(
                "No spaCy pipeline was named, so parts of speech, subjects and objects were left out. Install one, "
                "such as en_core_web_md, and name it in “spaCy pipeline”."
            )
        )
        if not plan.vectors:
            notes.append(_("There were no word vectors, so only words in common were analysed."))
    if len(found.features) > 1 and found.common_pairs < FEWEST_PAIRS:
        notes.append(
            _("Only %(pairs)s pairs have every main feature, so there is no common subset and no regression.")
            % {"pairs": found.common_pairs}
        )
    # Lists of rows, so that the run's page leaves them to the page of the analysis.
    stored = as_stored(found)
    regression = stored.pop("regression")
    stored["regression"] = [] if regression is None else [regression]
    result = {
        **stored,
        **judges_results(table.judges(plan.score_set)),
        "snapshot": snapshot.number,
        "words_rule": words_rule(),
        "warnings": [*annotation.warnings, *notes],
    }
    words = {"pairs": intcomma(found.pairs), "features": len(found.features)}
    return Outcome(_("%(features)s features of %(pairs)s pairs analysed") % words, result)


def _sides(rows: Rows) -> tuple[list[str], list[str]]:
    return rows.first.tolist(), rows.second.tolist()


def _check_enough(rows: Rows) -> None:
    if len(rows) < FEWEST_PAIRS:
        sentence = _(
            "There are %(pairs)s pairs with a score, and an analysis needs %(least)s; choose another split or score "
            "set."
        )
        raise UserError(sentence, pairs=len(rows), least=FEWEST_PAIRS)
    if np.ptp(rows.values) == 0:
        sentence = _("All %(pairs)s scores are equal; choose a score set whose scores differ.")
        raise UserError(sentence, pairs=intcomma(len(rows)))
