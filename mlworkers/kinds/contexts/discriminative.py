"""A discriminative model, trained on a corpus; `mlworkers.science.contexts.discriminative_plan` says what it is."""

import shutil
from pathlib import Path
from time import monotonic

from django.contrib.humanize.templatetags.humanize import intcomma
from django.utils.translation import gettext as _

from mlworkers.kinds.contexts.context_models import Learned, learned_artifact, learned_once
from mlworkers.kinds.contexts.indexing import corpus_named
from mlworkers.pipelines.encoder_data import curve_note
from mlworkers.pipelines.models import folder_of_model
from mlworkers.runs.jobs import Job, Outcome
from mlworkers.runs.storage import content_of
from mlworkers.science.contexts.corpus import Corpus
from mlworkers.science.contexts.discriminative import ENCODER
from mlworkers.science.contexts.discriminative_plan import DiscriminativePlan, Reader
from mlworkers.science.contexts.discriminative_training import discriminative_trained
from mlworkers.science.pretrained.compute import choose_compute

DISCRIMINATIVE_MODEL = "discriminative_model"  # kind of artefact
RANKS_NOTHING = "The model finds the right context no more often than chance, so it cannot rank contexts."


def train_discriminative_model(plan: DiscriminativePlan, job: Job) -> Outcome:
    """Train a model that says how well a sentence fits its contexts, on the places of a corpus.

    An attempt continues from the last checkpoint. The result gives shares of held-out places, each with its interval:
    the right one of two sentences, and the right one of two contexts; and a warning where both may be chance.
    """
    started = monotonic()
    corpus = Corpus(corpus_named(plan.corpus, job.dataset_of(plan.dataset)))
    frozen = plan.reader is Reader.FROZEN
    encoder = folder_of_model(plan.encoder, kind="encoder", report=job.report) if frozen else None

    def learn(folder: Path, checkpoints: Path) -> Learned:
        made = discriminative_trained(
            corpus,
            plan,
            choose_compute(plan.device),
            folder=folder,
            encoder=encoder,
            checkpoints=checkpoints,
            report=job.report,
            note=curve_note(job.curve),
        )
        if encoder is not None:
            shutil.copytree(encoder, folder / ENCODER)
        return made

    figures = learned_once(job, DISCRIMINATIVE_MODEL, learn)
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
    return Outcome(message % words, result, [learned_artifact(job, DISCRIMINATIVE_MODEL, result)])
