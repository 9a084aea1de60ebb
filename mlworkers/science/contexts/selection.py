"""The contexts in which a sentence could occur: the places of the chunks that retrieval finds (section 3.3).

No context contains a scored sentence: a window with a near copy of one, in its middle or around it, or whose
sentences contain it, is dropped (methods that compare by contexts would otherwise read off the answer).
"""

from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from curation.pairs.text import near_copy_key, words
from mlworkers.science.contexts.bigram_index import BigramIndex
from mlworkers.science.contexts.corpus import Corpus, Places

_CONTAINED_WORDS = 3  # a shorter sentence, such as “Yes.”, is part of many others


class Window(NamedTuple):
    """How many sentences of a context are on each side, at most; one on each is the least."""

    left: int = 2
    right: int = 2


class Candidates(NamedTuple):
    """Places for a sentence: the sentence that it would replace (k,), the chunk of each (k,), the best first."""

    places: Places
    chunks: Places


class Leaks:
    """What the contexts of a pair must not contain."""

    def __init__(self, sentences: Iterable[str]) -> None:
        self._keys = np.array(sorted({int(near_copy_key(text), 16) for text in sentences}), dtype=np.uint64)
        told = [" ".join(words(text)) for text in sentences]
        # Spaces around the words make the search one for whole words.
        self._contained = [f" {text} " for text in told if text.count(" ") >= _CONTAINED_WORDS - 1]

    def in_window(self, corpus: Corpus, place: int, window: Window) -> bool:
        """Whether a sentence at the place, or in its context, is a near copy of one of the sentences or contains one.

        Only sentences of several words can be contained (`_CONTAINED_WORDS`): a shorter one is in many texts
        by chance.
        """
        first, after = corpus.bounds(place, *window)
        # Near copies: 64-bit keys are compared first.
        if np.isin(corpus.near_keys[first:after], self._keys).any():
            return True
        if not self._contained:
            return False
        return any(self._contains(corpus.text(number)) for number in range(first, after))

    def in_text(self, text: str) -> bool:
        """Whether a text is a near copy of one of the sentences, or contains one."""
        return int(near_copy_key(text), 16) in self._keys or self._contains(text)

    def _contains(self, text: str) -> bool:
        told = f" {' '.join(words(text))} "
        return any(sentence in told for sentence in self._contained)


def places_of_chunks(corpus: Corpus, index: BigramIndex, chunks: Places) -> Candidates:
    """Every place in some chunks with a sentence before and after it, in the order of the chunks."""
    places: list[int] = []
    of_chunk: list[int] = []
    for chunk in chunks.tolist():
        first, after = int(index.chunks[chunk]), int(index.chunks[chunk + 1])
        segment = corpus.segment_of(first)
        inside = range(
            # From the second sentence of the segment to the last but one: each place has both neighbours.
            max(first, int(corpus.segments[segment]) + 1),
            min(after, int(corpus.segments[segment + 1]) - 1),
        )
        places += inside
        of_chunk += [chunk] * len(inside)
    return Candidates(np.array(places, dtype=np.int64), np.array(of_chunk, dtype=np.int64))


def by_retrieval(corpus: Corpus, found: Candidates, sentence: str) -> Candidates:
    """One place of each chunk, in the order of the chunks: where the sentence of the corpus has most bigrams in
    common with the given one, and is thus most likely to be of its kind; the first of equals.
    """
    own = set(_bigrams(sentence))
    best: dict[int, tuple[int, int]] = {}
    for place, chunk in zip(found.places.tolist(), found.chunks.tolist(), strict=True):
        common = len(own.intersection(_bigrams(corpus.text(place))))  # distinct bigrams in common
        if chunk not in best or common > best[chunk][0]:
            best[chunk] = (common, place)
    places = [place for _common, place in best.values()]
    return Candidates(np.array(places, dtype=np.int64), np.array(list(best), dtype=np.int64))


def best_of_chunks(found: Candidates, scores: ArrayLike, *, one_of_chunk: bool) -> Candidates:
    """The places by their scores (k,), the highest first and equal ones in their order; of each chunk the best alone,
    or all.
    """
    # A stable sort of the negated scores keeps equal ones in their order.
    order = np.argsort(-np.asarray(scores, dtype=np.float64), kind="stable")
    if one_of_chunk:
        # `unique` gives the first, hence the best, occurrence of each chunk, by chunk number; sorting these
        # indices restores the order of the scores.
        _chunks, first = np.unique(found.chunks[order], return_index=True)
        order = order[np.sort(first)]
    return Candidates(found.places[order], found.chunks[order])


def at_random(corpus: Corpus, index: BigramIndex, *, most: int, seed: int | list[int]) -> Candidates:
    """Places drawn from the whole corpus, whatever the sentence: the paper's random selection (section 5.4)."""
    starts, ends = corpus.segments[:-1] + 1, corpus.segments[1:] - 1  # of the places of each segment
    # A number d of 0 … P - 1 names the d-th place of the corpus: its segment is the first whose cumulated
    # count exceeds d. The draw is uniform over places, not over segments.
    ends_of_places = np.cumsum(np.maximum(ends - starts, 0))
    rng = np.random.default_rng(seed)
    drawn = rng.permutation(int(ends_of_places[-1]))[:most]
    segments = np.searchsorted(ends_of_places, drawn, side="right")
    # Counted from the end of the segment: cumulated count - d places are left, d itself included.
    places: Places = (ends[segments] - (ends_of_places[segments] - drawn)).astype(np.int64)
    return Candidates(places, np.searchsorted(index.chunks, places, side="right") - 1)


def without_leaks(
    corpus: Corpus, found: Candidates, leaks: Leaks, window: Window, *, most: int
) -> Candidates:
    """The first `most` places whose window holds no scored sentence."""
    kept: list[int] = []
    for number, place in enumerate(found.places.tolist()):
        if len(kept) == most:
            break
        if not leaks.in_window(corpus, place, window):  # tests are made one by one: it stops at `most`
            kept.append(number)
    return Candidates(found.places[kept], found.chunks[kept])


def _bigrams(text: str) -> Iterable[tuple[str, str]]:
    return pairwise(words(text))
