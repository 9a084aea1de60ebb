"""Curves of similarity from contexts (Sun et al. 2022, tables 6 to 8): parts of a corpus, and points with intervals."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from curation.files.documents import Document
from curation.files.progress import Report
from curation.statistics.correlation import Scores, spearman
from curation.statistics.intervals import percentile_interval, resampled_correlations
from mlworkers.science.contexts.bigram_index import index_write
from mlworkers.science.contexts.corpus import Corpus, CorpusFacts, corpus_write

_FEWEST = 3  # pairs with a correlation


@dataclass(frozen=True)
class Point:
    """Spearman's correlation with people at one place of a curve, its 95 % interval over pairs, and the difference from
    the last place with its own. pairs: those that all places of the curve have a similarity of; own: of this one.
    """

    x: int
    own: int
    pairs: int
    spearman: float | None = None
    low: float | None = None
    high: float | None = None
    difference: float | None = None
    difference_low: float | None = None
    difference_high: float | None = None


def corpus_part(corpus: Corpus, folder: Path, *, sentences: int, seed: int, report: Report) -> CorpusFacts:
    """Write a part of a corpus and its index into a folder: documents in random order until there are so many
    sentences, of the last one its beginning. Of one seed, a smaller part is in each larger one. Raises CorpusError.
    """
    facts = corpus_write(
        _taken(corpus, sentences, seed), folder, language=corpus.facts.language, report=report
    )
    index_write(Corpus(folder), folder, report=report)
    return facts


def _taken(corpus: Corpus, sentences: int, seed: int) -> Iterator[Document]:
    bounds = list(_documents(corpus))
    left = sentences
    for number in np.random.default_rng([seed, 2]).permutation(len(bounds)).tolist():  # stream 2 of the seed
        first, after = bounds[number]
        if left <= 0:
            return
        # The order of the documents follows from the seed alone, so parts of one seed are nested.
        end = min(after, first + left)  # of the last document only as much as is still asked for
        starts = corpus.segments[
            np.searchsorted(corpus.segments, first) : np.searchsorted(corpus.segments, end)
        ]
        segments = [
            [corpus.text(place) for place in range(*ends)] for ends in pairwise([*starts.tolist(), end])
        ]
        left -= end - first
        yield Document(corpus.document_of(first), segments, [])


def _documents(corpus: Corpus) -> Iterator[tuple[int, int]]:
    """The first sentence of each document, and the one after its last."""
    first = 0
    while first < len(corpus):
        _first, after = corpus.document_bounds(first)
        yield first, after
        first = after


def curve_points(
    columns: Mapping[int, Sequence[Scores]], human: ArrayLike, *, resamples: int, seed: int
) -> list[Point]:
    """columns: by x, the similarities of n pairs, (n,), NaN where there is none; of each seed one. human: (n,).

    Correlations are means over the seeds. All points are of the pairs that have every similarity, and of the same
    resamples, so that they can be compared. There is none with fewer than three pairs, or of constant similarities.
    """
    scores = np.asarray(human, dtype=np.float64)
    # By x (seeds, n).
    tables = {
        x: np.stack([np.asarray(column, dtype=np.float64) for column in of]) for x, of in columns.items()
    }
    known = {x: ~np.isnan(table).any(axis=0) for x, table in tables.items()}  # (n,): known for every seed
    # Correlations of different sets of pairs could not be compared, whatever the number of pairs.
    common = np.logical_and.reduce(list(known.values()))
    pairs = int(common.sum())
    values, drawn = dict[int, float](), dict[int, Scores]()
    if pairs >= _FEWEST and np.ptp(scores[common]) > 0:  # else no correlation is defined
        for x, table in tables.items():
            # None where similarities are constant.
            of_seeds = [spearman(row[common], scores[common]) for row in table]
            if None not in of_seeds:
                # Mean over seeds of the correlations, not of similarities.
                values[x] = float(np.mean([one for one in of_seeds if one is not None]))
                # The mean over seeds is taken within each resample, (seeds, resamples) -> (resamples,). The
                # same seed draws the same pairs for every row, so that the interval is one over pairs and not
                # over seeds.
                drawn[x] = np.mean(
                    [
                        resampled_correlations(row[common], scores[common], seed=seed, resamples=resamples)
                        for row in table
                    ],
                    axis=0,
                )
    last = next(reversed(tables))
    found = []
    for x in tables:
        point = {"x": x, "own": int(known[x].sum()), "pairs": pairs}
        if x not in values:
            found.append(Point(**point))
            continue
        interval = percentile_interval(drawn[x])  # 2.5 and 97.5 % of (resamples,)
        difference, of_difference = None, None
        if x != last and last in values:
            # Paired differences: both correlations of a resample are of the same pairs, so what they share
            # cancels out.
            difference, of_difference = values[x] - values[last], percentile_interval(drawn[x] - drawn[last])
        found.append(
            Point(
                **point,
                spearman=values[x],
                low=interval.low if interval else None,
                high=interval.high if interval else None,
                difference=difference,
                difference_low=of_difference.low if of_difference else None,
                difference_high=of_difference.high if of_difference else None,
            )
        )
    return found
