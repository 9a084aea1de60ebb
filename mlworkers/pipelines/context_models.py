"""A small language model that learns from a corpus how well sentences fit into contexts."""

import shutil
from dataclasses import asdict
from pathlib import Path
from time import monotonic

from django.contrib.humanize.templatetags.humanize import intcomma
from django.utils.translation import gettext as _

from curation.errors import UserError, errors_shown
from curation.files.writing import folder_replacing
from curation.models import Dataset
from mlworkers.contexts.corpus import Corpus, CorpusError
from mlworkers.contexts.model_plan import ContextModelPlan
from mlworkers.contexts.model_training import context_model_trained
from mlworkers.encoders.saving import learned_save
from mlworkers.models import Run
from mlworkers.pipelines.encoder_data import folder_linked
from mlworkers.pipelines.running_text import CORPUS
from mlworkers.pretrained.compute import choose_compute
from mlworkers.runs.jobs import Job, NewArtifact, Outcome
from mlworkers.runs.storage import artifact_path, content_of

CONTEXT_MODEL = "context_model"  # kind of artefact
CARRIES_NOTHING = "The model is no better than frequencies of tokens, so its scores carry no information."


def corpus_named(number: int, dataset: Dataset) -> Path:
    """The folder of a corpus of the dataset. Raises UserError where there is none, or it is no longer what was made."""
    run = Run.objects.filter(pk=number, dataset=dataset, kind="index_corpus").first()
    made = run.artifacts.filter(kind=CORPUS, removed_at=None).first() if run else None
    if made is None:
        raise UserError(
            _("Run %(number)s has no corpus of this dataset; choose another corpus."), number=number
        )
    folder = artifact_path(made)
    if not folder.is_dir() or content_of(folder)[0] != made.sha256:
        raise UserError(
            _("The files of the corpus %(number)s are gone or were changed; index it again."), number=number
        )
    return folder


def train_context_model(plan: ContextModelPlan, job: Job) -> Outcome:
    started = monotonic()
    corpus = Corpus(corpus_named(plan.corpus, job.dataset_of(plan.dataset)))
    kept = job.kept / CONTEXT_MODEL

    def train() -> dict[str, object]:
        with errors_shown(CorpusError), folder_replacing(kept) as beside:
            trained = context_model_trained(
                corpus,
                plan,
                choose_compute(plan.device),
                folder=beside,
                checkpoints=job.kept / "checkpoints",
                report=job.report,
                note=lambda point: job.curve.write(point.step, loss=point.loss),
            )
            learned_save(beside, [])  # of a dataset's sentences; the corpus is no part of it
        return {**asdict(trained), "informs": trained.informs}

    figures = job.drawn_once("trained.json", train)
    shutil.rmtree(job.kept / "checkpoints", ignore_errors=True)
    folder = job.folder / CONTEXT_MODEL
    folder_linked(kept, folder)
    result = {
        **figures,
        "language": corpus.facts.language,
        "warnings": [] if figures["informs"] else [_(CARRIES_NOTHING)],
        "seconds": round(monotonic() - started, 1),
    }
    if figures["informs"]:
        message = _("%(parameters)s parameters; better than frequencies of tokens in all three directions")
    else:
        message = _(
            "%(parameters)s parameters; no better than frequencies of tokens, so its scores carry no information"
        )
    card = {name: value for name, value in result.items() if name not in ("seconds", "warnings")}
    return Outcome(
        message % {"parameters": intcomma(figures["parameters"])},
        result,
        [NewArtifact(CONTEXT_MODEL, folder, card)],
    )
