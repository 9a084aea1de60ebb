"""An encoder trained on the sections of a corpus, and its accuracy before and after on documents that it never saw."""

from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
from django.contrib.humanize.templatetags.humanize import intcomma
from django.utils.translation import gettext as _
from sentence_transformers import SentenceTransformer

from curation.files.writing import folder_remove, folder_replacing
from curation.foundation.errors import errors_shown
from curation.pairs.segmenting import words_rule
from curation.statistics.correlation import Scores
from curation.statistics.intervals import percentile_interval
from mlworkers.kinds.contexts.indexing import corpus_named
from mlworkers.pipelines.encoder_data import curve_note, folder_linked
from mlworkers.pipelines.models import folder_of_model
from mlworkers.runs.jobs import Job, NewArtifact, Outcome
from mlworkers.runs.storage import content_of
from mlworkers.science.contexts.corpus import Corpus, CorpusError
from mlworkers.science.contexts.sections import (
    SectionTriplets,
    Triplet,
    accuracy_of,
    resampled_shares,
    section_triplets,
)
from mlworkers.science.contexts.sections_plan import SectionsPlan
from mlworkers.science.encoders.contrastive.examples import Examples
from mlworkers.science.encoders.contrastive.training import contrast_train
from mlworkers.science.encoders.encoding import sentence_vectors
from mlworkers.science.encoders.saving import About, encoder_save, seen_by
from mlworkers.science.paraphrasing.disclosure import benchmark_behind, benchmark_save
from mlworkers.science.pretrained.compute import choose_compute
from mlworkers.science.pretrained.encoder import load_encoder

ENCODER = "encoder"  # kind of artefact


def train_on_sections(plan: SectionsPlan, job: Job) -> Outcome:
    started = monotonic()
    dataset = job.dataset_of(plan.dataset)
    base = folder_of_model(plan.model, kind=ENCODER, report=job.report)
    corpus = Corpus(corpus_named(plan.corpus, dataset))
    with errors_shown(CorpusError):
        triplets = section_triplets(corpus, plan)
    kept = job.kept / ENCODER
    about = {"corpus": plan.corpus, "language": corpus.facts.language, "triplets": len(triplets.train)}
    train = partial(_trained, plan, job, base, triplets, about=about, licence=dataset.licence)
    figures = job.drawn_once("trained.json", train)
    folder_remove(job.kept / "checkpoints")
    folder = job.folder / ENCODER
    folder_linked(kept, folder)
    result = {
        **figures,
        "training_triplets": len(triplets.train),
        "test_triplets": len(triplets.test),
        "documents": triplets.documents,
        "documents_with_headings": triplets.headed,
        "sections": triplets.sections,
        "words_rule": words_rule(),
        "tested": triplets.held_out,
        **about,
        "seconds": round(monotonic() - started, 1),
    }
    words = {
        "triplets": intcomma(len(triplets.test)),
        "before": f"{100 * figures['accuracy_before']:.1f}",
        "after": f"{100 * figures['accuracy_after']:.1f}",
    }
    message = _(
        "%(before)s %% of %(triplets)s test triplets are right before the training, %(after)s %% after it"
    )
    card = {
        "label": _("Sections"),
        "seed": plan.seed,
        "base": plan.model,
        "base_sha256": content_of(base)[0],
        "dataset": dataset.slug,
        **about,
        **figures,
        "plan": asdict(plan),
        **({"labels_from": benchmark} if (benchmark := benchmark_behind(base)) else {}),
    }
    return Outcome(message % words, result, [NewArtifact(ENCODER, folder, card)])


def _trained(
    plan: SectionsPlan,
    job: Job,
    base: Path,
    triplets: SectionTriplets,
    *,
    about: dict[str, Any],
    licence: str,
) -> dict[str, Any]:
    """Train the encoder and save it. Both accuracies and their difference, each with its interval."""
    kept, compute = job.kept / ENCODER, choose_compute(plan.device)
    before = _cosines(load_encoder(base, compute), triplets.test, plan.device)
    made = contrast_train(
        base,
        Examples(tuple(triplets.train), tuple(triplets.train)),
        plan.training,
        checkpoints=job.kept / "checkpoints",
        now=monotonic,
        report=job.report,
        note=curve_note(job.curve),
    )
    after = _cosines(made.encoder, triplets.test, plan.device)
    sentences = list(dict.fromkeys(text for row in triplets.train for text in row))
    told = About(plan.model, content_of(base)[0], asdict(plan), about, licence)
    with folder_replacing(kept) as beside:
        encoder_save(made.encoder, beside, told, sentences, base=seen_by(base, plan.model))
        benchmark_save(beside, benchmark_behind(base))

    drawn = {"resamples": plan.resamples, "seed": plan.seed}
    found: dict[str, float | None] = {}
    for name, cosines in (("before", before), ("after", after)):
        accuracy = accuracy_of(*cosines, triplets.units, **drawn)
        low, high = (accuracy.interval.low, accuracy.interval.high) if accuracy.interval else (None, None)
        found |= {
            f"accuracy_{name}": accuracy.value,
            f"accuracy_{name}_low": low,
            f"accuracy_{name}_high": high,
        }
    gained = np.subtract(after[0] > after[1], before[0] > before[1], dtype=np.float64)
    shares = resampled_shares(gained, triplets.units, **drawn)
    interval = None if shares is None else percentile_interval(shares)
    low, high = (interval.low, interval.high) if interval else (None, None)
    gain = {"gain": float(gained.mean()), "gain_low": low, "gain_high": high}
    return {**found, **gain, "steps": made.training.steps}


def _cosines(encoder: SentenceTransformer, triplets: Sequence[Triplet], device: str) -> tuple[Scores, Scores]:
    """Of each anchor with its positive, and with its negative, (n,) each."""
    anchors, positives, negatives = (list(column) for column in zip(*triplets, strict=True))
    found = sentence_vectors(encoder, (*anchors, *positives, *negatives), choose_compute(device))
    return found.cosines(anchors, positives), found.cosines(anchors, negatives)
