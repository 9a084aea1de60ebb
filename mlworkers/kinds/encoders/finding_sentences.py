"""The sentences of a dataset that are nearest to a typed one, by an index and an encoder that stay loaded."""

from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from curation.foundation.errors import UserError, errors_shown
from mlworkers.kinds.encoders.relating import encoder_kept
from mlworkers.kinds.encoders.sentence_search import INDEX
from mlworkers.models import Artifact
from mlworkers.pipelines.models import folder_of_artifact, folder_of_model
from mlworkers.runs.jobs import Job, Outcome
from mlworkers.runs.storage import content_of
from mlworkers.science.encoders.encoding import EncoderError, encode
from mlworkers.science.encoders.index_plan import SentenceSearchPlan
from mlworkers.science.encoders.sentence_index import SentenceIndex, SentenceIndexError


@dataclass(frozen=True)
class _KeptIndex:
    """An index that stays open. encoder: the key of the encoder that was seen to be its own."""

    key: tuple[str, int]
    index: SentenceIndex
    encoder: tuple[str, int]


_kept: list[_KeptIndex] = []  # one at most: a worker's memory is for its runs


def search_sentences(plan: SentenceSearchPlan, job: Job) -> Outcome:
    """Find the sentences of an index that are nearest to a sentence that somebody typed, by cosine.

    The worker keeps one index open with its encoder, since the next question mostly asks the same one. Raises UserError
    where the index is gone or its encoder has changed.
    """
    made = Artifact.objects.filter(run=plan.index, run__dataset=job.dataset, kind=INDEX).first()
    if made is None:
        sentence = _("Run %(run)s made no index of the sentences of this dataset; choose another index.")
        raise UserError(sentence, run=plan.index)
    loaded = encoder_kept(folder_of_model(made.card["model"], kind="encoder", report=job.report))
    with errors_shown(EncoderError, SentenceIndexError):
        # The index of an artefact: the one that is open already, or in its place. Raises UserError where its
        # encoder has become another one.
        folder = folder_of_artifact(made)
        key = (str(folder), folder.stat().st_mtime_ns)
        if not _kept or _kept[0].key != key or _kept[0].encoder != loaded.key:
            _kept.clear()  # before the next is opened: two may not fit
            if (
                content_of(folder_of_model(made.card["model"], kind="encoder"))[0]
                != made.card["model_sha256"]
            ):
                sentence = _(
                    "The encoder %(model)s has changed since the index was made; index the sentences again."
                )
                raise UserError(sentence, model=made.card["model"])
            _kept.append(_KeptIndex(key, SentenceIndex(folder), loaded.key))
        index = _kept[0].index

        query = encode(loaded.encoder, [plan.sentence], loaded.compute)[0]
        found = index.nearest(query, most=plan.most)
    neighbours = list(zip(found.sentences.tolist(), found.cosines.tolist(), strict=True))
    message = ngettext("%(n)s sentence found", "%(n)s sentences found", len(neighbours))
    return Outcome(message % {"n": len(neighbours)}, {"neighbours": neighbours})
