"""A run that scored pairs by contexts, with its files, for its pages."""

import numpy as np

from curation.files.documents import Document
from curation.models import PairScore
from mlworkers.models import Artifact, Run
from mlworkers.runs.storage import home_relative, run_folder
from mlworkers.science.contexts.bigram_index import index_write
from mlworkers.science.contexts.corpus import Corpus, corpus_write
from mlworkers.science.contexts.pair_terms import PairContexts
from mlworkers.science.contexts.scored_file import scored_write
from mlworkers.science.contexts.similarity import Weights, pair_similarity
from tests.factories import PairFactory, RunFactory, ScoreSetFactory

TEXT = [f"The {who} came home in the {where}." for who in ("dog", "cat", "fox") for where in ("rain", "snow")]
WEIGHTS = Weights(0.0, 0.5, 0.25, 0.25)


def scored_run(dataset, *, pairs: int = 12, places: tuple[int, int, int, int] = (1, 2, 3, 4)) -> Run:
    """A run that scored some pairs of two sources by four contexts each, and a corpus. places: of the contexts of each
    pair, two of either sentence; equal places get equal terms.
    """
    indexed = RunFactory(kind="index_corpus", dataset=dataset, state="succeeded")
    folder = run_folder(indexed.pk) / "corpus"
    folder.mkdir(parents=True)
    corpus_write([Document("a.txt", [TEXT], [])], folder)
    index_write(Corpus(folder), folder)
    Artifact.objects.create(run=indexed, kind="corpus", path=home_relative(folder), sha256="0" * 64)
    run = RunFactory(
        kind="score_contexts",
        dataset=dataset,
        state="succeeded",
        plan={"corpus": indexed.pk, "left": 2, "right": 2},
        result={"weights": WEIGHTS.as_dict(), "warnings": []},
    )
    sets = {
        name: ScoreSetFactory(
            dataset=dataset,
            name=f"run {run.pk}: {name}",
            kind="model",
            low=-1.0,
            high=1.0,
            run_ref=run.pk,
            parameters={"label": f"contexts-{name}"},
        )
        for name in ("centred", "raw")
    }
    rng = np.random.default_rng(1)
    found = []
    for number in range(pairs):
        pair = PairFactory(dataset=dataset, source=("news", "forums")[number % 2])
        terms = rng.normal(-3, 1, size=(3, 4, 4))
        terms[..., 0] = np.nan
        terms = terms[:, [places.index(place) for place in places]]
        own = PairContexts(list(places), [False, False, True, True], *terms)
        similar = pair_similarity(*terms, WEIGHTS, resamples=50)
        for name, score_set in sets.items():
            PairScore.objects.create(
                score_set=score_set,
                pair=pair,
                value=getattr(similar, name),
                contexts=4,
                interval_low=-1,
                interval_high=1,
            )
        found.append((pair.pk, own))
    scores = run_folder(run.pk) / "scores"
    scores.mkdir(parents=True)
    scored_write(scores, found, WEIGHTS, same=[])
    Artifact.objects.create(run=run, kind="context_scores", path=home_relative(scores), sha256="0" * 64)
    return run
