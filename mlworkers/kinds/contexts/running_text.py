"""The corpora of a dataset, as its page lists them, and the contexts in one in which a sentence could occur."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from curation.foundation.errors import errors_shown
from curation.models import Dataset
from mlworkers.models import Artifact, Run
from mlworkers.science.contexts.bigram_index import BigramIndex
from mlworkers.science.contexts.corpus import Context, Corpus, CorpusError
from mlworkers.science.contexts.plan import INDEXING
from mlworkers.science.contexts.selection import Leaks, Window, by_retrieval, places_of_chunks, without_leaks

CHUNKS_LOOKED_AT = 200
CONTEXTS_SHOWN = 20
WINDOW = Window()


class FoundContext(NamedTuple):
    """A place in a document, and the similarity of its chunk to the sentence."""

    document: str
    context: Context
    cosine: float


@dataclass(frozen=True)
class CorpusRow:
    """A run that makes or made a corpus. facts: of its corpus, nothing while there is none."""

    run: Run
    facts: dict[str, Any]
    size: int


def corpora_of(dataset: Dataset) -> list[CorpusRow]:
    """Those that are there or will be, newest first: runs that failed, and those whose files were removed, are left to
    the list of runs.
    """
    runs = Run.objects.filter(dataset=dataset, kind=INDEXING).exclude(
        state__in=[Run.State.FAILED, Run.State.CANCELLED]
    )
    made = Artifact.objects.filter(run__in=runs.order_by(), kind="corpus")
    by_run = {artifact.run_id: artifact for artifact in made}
    rows = []
    for run in runs.select_related("started_by"):
        artifact = by_run.get(run.pk)
        if artifact is None:
            rows.append(CorpusRow(run, {}, 0))
        elif artifact.removed_at is None:
            rows.append(CorpusRow(run, artifact.card, artifact.size))
    return rows


def contexts_found(folder: Path, sentence: str, *, window: Window = WINDOW) -> list[FoundContext]:
    """The contexts of a corpus that a sentence fits best by words in common, none of which contains it.

    Raises UserError where the corpus cannot be read.
    """
    with errors_shown(CorpusError):
        corpus, index = Corpus(folder), BigramIndex(folder)
        found = index.retrieve(sentence, most=CHUNKS_LOOKED_AT)
    cosines = dict(zip(found.chunks.tolist(), found.cosines.tolist(), strict=True))
    places = by_retrieval(corpus, places_of_chunks(corpus, index, found.chunks), sentence)
    kept = without_leaks(corpus, places, Leaks([sentence]), window, most=CONTEXTS_SHOWN)
    return [
        FoundContext(corpus.document_of(place), corpus.context(place, *window), cosines[chunk])
        for place, chunk in zip(kept.places.tolist(), kept.chunks.tolist(), strict=True)
    ]
