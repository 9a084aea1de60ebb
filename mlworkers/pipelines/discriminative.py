"""A small model that learns from a corpus which sentence stands in a context."""

import shutil
from dataclasses import asdict
from time import monotonic

from django.contrib.humanize.templatetags.humanize import intcomma
from django.utils.translation import gettext as _

from curation.errors import errors_shown
from curation.files.writing import folder_replacing
from mlworkers.contexts.corpus import Corpus, CorpusError
from mlworkers.contexts.discriminative import ENCODER
from mlworkers.contexts.discriminative_plan import DiscriminativePlan, Reader
from mlworkers.contexts.discriminative_training import discriminative_trained
from mlworkers.encoders.saving import learned_save
from mlworkers.pipelines.context_models import corpus_named
from mlworkers.pipelines.encoder_data import folder_linked
from mlworkers.pipelines.models import folder_of_model
from mlworkers.pretrained.compute import choose_compute
from mlworkers.runs.jobs import Job, NewArtifact, Outcome
from mlworkers.runs.storage import content_of

DISCRIMINATIVE_MODEL = "discriminative_model"  # kind of artefact
RANKS_NOTHING = "The model finds the right context no more often than chance, so it cannot rank contexts."


def train_discriminative_model(plan: DiscriminativePlan, job: Job) -> Outcome:
    started = monotonic()
    corpus = Corpus(corpus_named(plan.corpus, job.dataset_of(plan.dataset)))
    frozen = plan.reader is Reader.FROZEN
    encoder = folder_of_model(plan.encoder, kind="encoder", report=job.report) if frozen else None
    kept = job.kept / DISCRIMINATIVE_MODEL

    def trained() -> dict[str, object]:
        with errors_shown(CorpusError), folder_replacing(kept) as beside:
            made = discriminative_trained(
                corpus,
                plan,
                choose_compute(plan.device),
                folder=beside,
                encoder=encoder,
                checkpoints=job.kept / "checkpoints",
                report=job.report,
                note=lambda point: job.curve.write(point.step, loss=point.loss),
            )
            if encoder is not None:
                shutil.copytree(encoder, beside / ENCODER)
            learned_save(beside, [])  # of a dataset's sentences; the corpus is no part of it
        return {**asdict(made), "informs": made.informs}

    figures = job.drawn_once("trained.json", trained)
    shutil.rmtree(job.kept / "checkpoints", ignore_errors=True)
    folder = job.folder / DISCRIMINATIVE_MODEL
    folder_linked(kept, folder)
    result = {
        **figures,
        "head": plan.head.value,
        "language": corpus.facts.language,
        "warnings": [] if figures["informs"] else [_(RANKS_NOTHING)],
        "seconds": round(monotonic() - started, 1),
    }
    if encoder is not None:
        result["encoder_sha256"] = content_of(encoder)[0]
    words = {
        "parameters": intcomma(figures["parameters"]),
        "sentence": f"{100 * figures['right_sentence']['value']:.1f}",
        "context": f"{100 * figures['right_context']['value']:.1f}",
    }
    message = _(
        "%(parameters)s parameters; finds the right sentence of two in %(sentence)s %%, and the right contexts in "
        "%(context)s %% of held-out places"
    )
    card = {name: value for name, value in result.items() if name not in ("seconds", "warnings")}
    return Outcome(message % words, result, [NewArtifact(DISCRIMINATIVE_MODEL, folder, card)])
