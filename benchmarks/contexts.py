"""Retrieval of 20,000 chunks from a corpus of 1,000,000 sentences, for single sentences.

With SEMBLANCE_REAL_DATA, the sentences are those of its novels, and beyond these, halves of two of them put together.
Without it, they are made. The baseline is scikit-learn's TfidfVectorizer with a sparse product and a full sort, on the
same chunks; recall is against it.
"""

import os
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, pairwise
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np
from _compare import is_quick, peak_mb, print_comparison, rates_compared
from _sentences import sentences_made
from sklearn.feature_extraction.text import TfidfVectorizer

from curation.files.documents import Document, read_documents
from curation.pairs.text import words
from mlworkers.science.contexts.bigram_index import BigramIndex, index_write
from mlworkers.science.contexts.corpus import Corpus, corpus_write

MOST = 20_000
ASKED = 200  # sentences that are looked up
OF_BASELINE = 20  # of them, by the baseline too
SENTENCES_IN_DOCUMENT = 200  # of those that are made or put together


def documents(number: int) -> Iterator[Document]:
    """Documents of so many sentences in all."""
    folder = Path(os.environ.get("SEMBLANCE_REAL_DATA", "")) / "novels"
    real: list[str] = []
    if "SEMBLANCE_REAL_DATA" in os.environ and folder.is_dir():
        for document in chain.from_iterable(map(read_documents, sorted(folder.glob("*.txt")))):
            if len(real) >= number:
                return
            real += chain.from_iterable(document.segments)
            yield document
    left = number - len(real)
    more = recombined(real, left) if real else sentences_made(left)
    for start in range(0, len(more), SENTENCES_IN_DOCUMENT):
        yield Document(f"made {start}", [more[start : start + SENTENCES_IN_DOCUMENT]], [])


def recombined(real: list[str], number: int) -> list[str]:
    rng = np.random.default_rng(3)
    halves = [text.split() for text in real]
    return [
        " ".join(halves[one][: len(halves[one]) // 2 + 1] + halves[other][len(halves[other]) // 2 :])
        for one, other in rng.integers(len(real), size=(number, 2)).tolist()
    ]


def bigrams_of(chunk: list[str]) -> list[str]:
    return [f"{one} {other}" for text in chunk for one, other in pairwise(words(text))]


def main() -> None:
    number = 30_000 if is_quick(__doc__) else 1_000_000
    with TemporaryDirectory() as name:
        folder = Path(name)
        started = perf_counter()
        corpus_write(documents(number), folder)
        corpus = Corpus(folder)
        facts = index_write(corpus, folder)
        built, peak = perf_counter() - started, peak_mb()
        rng = np.random.default_rng(4)
        asked = [corpus.text(place) for place in rng.integers(len(corpus), size=ASKED).tolist()]
        index = BigramIndex(folder)
        index.retrieve(asked[0], most=MOST)  # loads the words
        seconds, found = [], []
        for sentence in asked:
            started = perf_counter()
            found.append(index.retrieve(sentence, most=MOST))
            seconds.append(perf_counter() - started)
        chunks = [list(map(corpus.text, range(*bounds))) for bounds in pairwise(index.chunks.tolist())]
        vectors = TfidfVectorizer(analyzer=bigrams_of)
        table = vectors.fit_transform(chunks).tocsr()
        of_baseline, agreeing = [], 0
        for sentence, ours in zip(asked[:OF_BASELINE], found, strict=False):
            started = perf_counter()
            cosines = (table @ vectors.transform([[sentence]]).T).toarray()[:, 0]
            best = np.lexsort((np.arange(len(cosines)), -cosines))[:MOST]
            of_baseline.append(perf_counter() - started)
            least = cosines[best[-1]]
            # What is above the last one by more than rounding must be there; equal ones differ by their last bits.
            agreeing += set(np.flatnonzero(cosines > least + 1e-6).tolist()) <= set(ours.chunks.tolist())
        compared = rates_compared(
            "contexts",
            work=1,
            unit="sentences/s",
            seconds=median(seconds),
            baseline="scikit-learn, sparse product and full sort",
            baseline_seconds=median(of_baseline),
            notes=f"{len(corpus):,} sentences, {facts.chunks:,} chunks, {facts.bigrams:,} bigrams, {facts.postings:,} "
            f"postings, built in {built:.0f} s; retrieval of {MOST:,} chunks: median {1000 * median(seconds):.1f} ms, "
            f"95th percentile {1000 * float(np.quantile(seconds, 0.95)):.1f} ms, slowest {1000 * max(seconds):.1f} ms; "
            f"recall 1.0 on {agreeing} of {OF_BASELINE} sentences against the baseline",
        )
        print_comparison(replace(compared, peak_mb=peak))


if __name__ == "__main__":
    main()
