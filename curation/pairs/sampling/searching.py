"""A partner for a sentence: the first sentence in random order that satisfies a condition.

Comparing all pairs of a million sentences would take 5 · 10¹¹ comparisons. Here sentences are kept in one random
order, and a search reads on from a random place until a sentence satisfies the condition, in blocks that double in
size. The expected number of comparisons is 1 / (share of sentences that satisfy it), whatever the number of sentences.
Where few satisfy it, an inverted index takes over: a sentence that shares at least t of m words with another one has
at least one of its m - t + 1 rarest words, so only the sentences with one of these are compared (prefix filtering,
Chaudhuri, Ganti & Kaushik 2006). Either way the partner is the same.
"""

from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from math import ceil

import numpy as np
from numpy.typing import NDArray

from curation.pairs.sampling.uses import Uses
from curation.pairs.word_tables import Integers, WordTable

FIRST_BLOCK = 256  # sentences compared first; doubled, a long search makes log2(n / 256) calls
READ_ON = 65_536  # sentences that are read in order before the inverted index is asked
ROUNDING = 1e-9  # .07 * 100 is 7.000000000000001, whose ceiling would be 8


class Denominator(StrEnum):
    """Which sentence's distinct words the shared ones are a share of."""

    FIRST = "first"  # of the STR paper
    SHORTER = "shorter"
    LONGER = "longer"


@dataclass(frozen=True)
class Window:
    """Which two sentences may be a pair: their unigram overlap, from low to below high, and their lengths.

    length_difference: the longest difference of the two lengths, as a share of the longer one.
    The defaults are those of STR's SNLI and Wiki_r (appendix A), where the denominator is the first sentence.
    """

    low: float = 0.25
    high: float = 0.75
    length_difference: float = 0.25
    denominator: Denominator = Denominator.FIRST

    def __post_init__(self) -> None:
        if not 0 <= self.low < self.high <= 1.0 + ROUNDING:
            raise ValueError(f"an overlap from {self.low:g} to below {self.high:g} holds nothing")
        if not 0 <= self.length_difference <= 1:
            raise ValueError(f"a length difference is a share from 0 to 1, not {self.length_difference:g}")

    @property
    def described(self) -> str:
        """In words, for a methods section."""
        words = {
            Denominator.FIRST: "the first sentence",
            Denominator.SHORTER: "the sentence with fewer",
            Denominator.LONGER: "the sentence with more",
        }[self.denominator]
        return (
            f"from {self.low:.3g} to below {self.high:.3g} of the distinct words of {words}, lengths differing by at "
            f"most {self.length_difference:.3g}"
        )

    def fits(
        self, shared: Integers, distinct: tuple[Integers, Integers], lengths: tuple[Integers, Integers]
    ) -> NDArray[np.bool_]:
        """Which of p pairs are within the window, (p,).

        shared: (p,) distinct words that both sentences of a pair have. distinct, lengths: of the first and the second
        sentence, each (p,): words without and with repeats.
        """
        whole = {
            Denominator.FIRST: distinct[0],
            Denominator.SHORTER: np.minimum(*distinct),
            Denominator.LONGER: np.maximum(*distinct),
        }[self.denominator]
        # |A and B| / |A|, or by the smaller or larger of |A| and |B|; sets of distinct words.
        overlap = shared / np.maximum(whole, 1)
        # | |a| - |b| | / max(|a|, |b|), in words with repeats.
        difference = np.abs(lengths[1] - lengths[0]) / np.maximum(np.maximum(*lengths), 1)
        result: NDArray[np.bool_] = (
            (overlap >= self.low - ROUNDING)
            & (overlap < self.high - ROUNDING)
            & (difference <= self.length_difference + ROUNDING)
        )
        return result


class PartnerSearch:
    """Finds partners by words within a window."""

    def __init__(self, table: WordTable, window: Window, *, seed: int) -> None:
        order = np.random.default_rng([seed, 1]).permutation(len(table))  # stream 1
        self._sentences: Integers = order  # at each place the number of its sentence
        self._places: Integers = np.argsort(order)  # of each sentence its place
        self._table = table.taken(order)
        self._window = window
        # (v,) 1 for the words of the first sentence, set and cleared in each search: shared words by one look-up each.
        self._marks = np.zeros(table.vocabulary, dtype=np.int8)

    def partner(self, first: int, *, start: int, uses: Uses) -> int | None:
        """The first sentence from place `start` on, in the random order and round its end, that fits and is free.

        None where there is none. first: the number of the sentence that gets a partner.
        """
        marked = self._table.of(self._places[first])
        if not len(marked):
            return None
        self._marks[marked] = 1
        try:
            place = self._read_on(first, start, uses)
        finally:
            self._marks[marked] = 0
        return None if place is None else int(self._sentences[place])

    def _read_on(self, first: int, start: int, uses: Uses) -> int | None:
        number, block, read = len(self._table), FIRST_BLOCK, 0
        while read < min(number, READ_ON):
            begin = (start + read) % number  # round the end
            # Not beyond the end of the list, nor beyond where the search began.
            end = min(begin + block, number, begin + number - read)
            found = self._free(first, begin + np.flatnonzero(self._fit(first, slice(begin, end))), uses)
            if found is not None:
                return found
            read, block = read + end - begin, 2 * block
        if read >= number:
            return None
        # The places of all sentences that can have enough of the first sentence's words. With low = 0 a partner may
        # share no word, so no word finds it.
        if self._window.low == 0:
            candidates = np.arange(number)
        else:
            own, least = self._places[first], 1
            if self._window.denominator is not Denominator.SHORTER:
                # t = ceil(low * m), the fewest words that an overlap of `low` needs; of the shorter one, 1 is enough.
                least = max(1, ceil(self._window.low * self._table.distinct[own] - ROUNDING))
            mine = self._table.of(own)
            # Rarest first: the m - t + 1 shortest lists of the index.
            rarest = mine[np.argsort(self._table.frequencies[mine], kind="stable")][: len(mine) - least + 1]
            starts, places = self._index
            candidates = np.unique(
                np.concatenate([places[starts[word] : starts[word + 1]] for word in rarest])
            )
        # The places that were read already come last here, and are refused again.
        # Distance from `start`, round the end.
        candidates = candidates[np.argsort((candidates - start) % number, kind="stable")]
        for begin in range(0, len(candidates), READ_ON):
            part = candidates[begin : begin + READ_ON]
            found = self._free(first, part[self._fit(first, part)], uses)
            if found is not None:
                return found
        return None

    def _free(self, first: int, fitting: Integers, uses: Uses) -> int | None:
        numbers = self._sentences[fitting]
        allowed = (
            place for place, other in zip(fitting, numbers, strict=True) if uses.allows(first, int(other))
        )
        return next(allowed, None)

    def _fit(self, first: int, places: slice | Integers) -> NDArray[np.bool_]:
        """Which of the sentences at these places are within the window; the first sentence's words are marked."""
        table = self._table
        if isinstance(places, slice):
            # Shared words of each sentence: the running sum of marks over all words, at its end less at its start.
            starts = table.starts[places.start : places.stop + 1]
            marks = self._marks[table.words[starts[0] : starts[-1]]]
            shared = np.diff(np.concatenate([[0], np.cumsum(marks, dtype=np.int64)])[starts - starts[0]])
        else:
            part = table.taken(places)
            marks = self._marks[part.words]
            shared = np.diff(np.concatenate([[0], np.cumsum(marks, dtype=np.int64)])[part.starts])
        own = self._places[first]
        theirs, lengths = table.distinct[places], table.lengths[places]
        mine = np.broadcast_to(table.distinct[own], theirs.shape)
        return self._window.fits(
            shared, (mine, theirs), (np.broadcast_to(table.lengths[own], lengths.shape), lengths)
        )

    @cached_property
    def _index(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The inverted index: the places of the sentences with word w are at starts[w]:starts[w + 1]."""
        by_word = self._table.matrix.tocsc()
        return by_word.indptr, by_word.indices
