"""How many words two sentences share, and which of many sentences shares most with another.

The Dice of the STR paper (Abdalla, Vishnubhotla and Mohammad 2021), over words, each once. It is a statistic, so its
words are those of `segmenting.segmented_words`. What decides about pairs (`jaccard`) uses `text.words`.
"""

from array import array
from collections.abc import Collection, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from curation.pairs.segmenting import segmented_words
from curation.pairs.text import words


def dice(one: str, other: str) -> float:
    """Twice the number of shared words over the sum of both numbers of words, 0..1; 0 where neither has a word."""
    left, right = set(segmented_words(one)), set(segmented_words(other))
    together = len(left) + len(right)
    return 2 * len(left & right) / together if together else 0.0


def jaccard(one: str, other: str) -> float:
    """The number of shared words over the number of words that either has, 0..1; 1 where neither has a word."""
    return jaccard_of_words(frozenset(words(one)), frozenset(words(other)))


def jaccard_of_words(one: frozenset[str], other: frozenset[str]) -> float:
    """As `jaccard`, of words that are sets already."""
    either = len(one | other)
    return len(one & other) / either if either else 1.0


def pair_jaccard(one: tuple[str, str], other: tuple[str, str]) -> float:
    """How alike two pairs are: the Jaccard index of the two sides that have less in common, 0..1, whichever way round
    the pairs agree more.
    """
    return max(
        min(jaccard(one[0], other[0]), jaccard(one[1], other[1])),
        min(jaccard(one[0], other[1]), jaccard(one[1], other[0])),
    )


@dataclass(frozen=True)
class Nearest:
    """number: of the sentence found, as the index was given it; overlap: its Dice with the one asked for, 0..1."""

    number: int
    overlap: float


class WordIndex:
    """The sentences that hold each word, so that the nearest one is found without reading all of them again.

    Built in one pass over the sentences; held in 4 bytes for each different word of each sentence. A search is exact:
    it adds up the lists of the words asked for, and looks at one number for each sentence.
    """

    def __init__(self, sentences: Iterable[tuple[int, str]]) -> None:
        numbers, lengths = array("q"), array("i")
        places: dict[str, array[int]] = {}
        for index, (number, text) in enumerate(sentences):
            distinct = set(words(text))
            numbers.append(number)
            lengths.append(len(distinct))
            for word in distinct:
                places.setdefault(word, array("i")).append(index)
        self._numbers: NDArray[np.int64] = np.array(numbers, dtype=np.int64)
        self._lengths: NDArray[np.int32] = np.array(lengths, dtype=np.int32)
        self._places = {word: np.array(list_, dtype=np.int32) for word, list_ in places.items()}

    def __len__(self) -> int:
        return len(self._numbers)

    def nearest(self, text: str, *, without: Collection[int] = ()) -> Nearest | None:
        """The sentence with the highest Dice, of equals the one given first; None where none shares a word."""
        asked = set(words(text))
        shared = np.zeros(len(self._numbers), dtype=np.int32)
        for word in asked & self._places.keys():
            shared[self._places[word]] += 1
        shared[np.isin(self._numbers, list(without))] = 0
        if not shared.any():
            return None
        overlap = 2 * shared / (self._lengths + len(asked))
        best = int(overlap.argmax())
        return Nearest(int(self._numbers[best]), float(overlap[best]))
