"""Models that learn from a corpus: what training them has in common, and the language model for contexts."""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from time import monotonic
from typing import Any, ClassVar, Protocol

from django.contrib.humanize.templatetags.humanize import intcomma
from django.utils.translation import gettext as _

from curation.files.writing import folder_remove, folder_replacing
from curation.foundation.errors import errors_shown
from mlworkers.kinds.contexts.indexing import corpus_named
from mlworkers.pipelines.encoder_data import curve_note, folder_linked
from mlworkers.runs.jobs import Job, NewArtifact, Outcome
from mlworkers.science.contexts.corpus import Corpus, CorpusError
from mlworkers.science.contexts.model_plan import ContextModelPlan
from mlworkers.science.contexts.model_training import context_model_trained
from mlworkers.science.encoders.saving import learned_save
from mlworkers.science.pretrained.compute import choose_compute

CONTEXT_MODEL = "context_model"  # kind of artefact
CARRIES_NOTHING = "The model is no better than frequencies of tokens, so its scores carry no information."
_OF_THE_RUN = ("seconds", "warnings")  # of a result: not said of the model


class Learned(Protocol):
    """What a training tells of its model, a dataclass."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def informs(self) -> bool: ...


def learned_once(job: Job, kind: str, learn: Callable[[Path, Path], Learned]) -> dict[str, Any]:
    """Let a model of that kind of artefact learn from a corpus, once for all attempts of the run; what it tells of
    itself. Its files are in the attempt's folder, under the name of the kind.

    learn: trains the model into the first folder, with checkpoints in the second. Raises UserError.
    """
    kept, checkpoints = job.kept / kind, job.kept / "checkpoints"

    def train() -> dict[str, Any]:
        with errors_shown(CorpusError), folder_replacing(kept) as beside:
            made = learn(beside, checkpoints)
            learned_save(beside, [])  # of a dataset's sentences; the corpus does not belong to it
        return {**asdict(made), "informs": made.informs}

    figures = job.drawn_once("trained.json", train)
    folder_remove(checkpoints)
    folder_linked(kept, job.folder / kind)
    return figures


def learned_artifact(job: Job, kind: str, result: Mapping[str, Any]) -> NewArtifact:
    """The model that `learned_once` left, with a card of what the result says of it."""
    card = {name: value for name, value in result.items() if name not in _OF_THE_RUN}
    return NewArtifact(kind, job.folder / kind, card)


def train_context_model(plan: ContextModelPlan, job: Job) -> Outcome:
    """Train a model that gives probabilities of sentences and of their contexts, on the places of a corpus.

    An attempt continues from the last checkpoint. The result warns where the model is no better than frequencies of
    tokens in one of the three directions, because its scores then carry no information.
    """
    started = monotonic()
    corpus = Corpus(corpus_named(plan.corpus, job.dataset_of(plan.dataset)))

    def learn(folder: Path, checkpoints: Path) -> Learned:
        return context_model_trained(
            corpus,
            plan,
            choose_compute(plan.device),
            folder=folder,
            checkpoints=checkpoints,
            report=job.report,
            note=curve_note(job.curve),
        )

    figures = learned_once(job, CONTEXT_MODEL, learn)
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
    message %= {"parameters": intcomma(figures["parameters"])}
    return Outcome(message, result, [learned_artifact(job, CONTEXT_MODEL, result)])
