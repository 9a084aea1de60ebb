"""The words of many sentences as numbers, so that overlaps of a million of them can be counted.

All overlaps are of distinct words (`text.words`, the same on every machine), as the Dice of the STR paper is. A word
can be replaced by a synonym first (`sampling/synonyms.py`), so that synonyms count as shared.
"""

from array import array
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy
from numpy.typing import NDArray

from curation.pairs.segmenting import word_count
from curation.pairs.text import has_unspaced_script, words

Integers = NDArray[np.int64]
Reals = NDArray[np.float64]
AT_ONCE = 100_000  # pairs whose overlaps are counted together: about 100 MB


@dataclass(frozen=True)
class WordTable:
    """The distinct words of n sentences.

    words: numbers from 0 to v - 1, those of sentence i at starts[i]:starts[i + 1].
    starts: (n + 1,), ascending, the first one 0.
    lengths: (n,), the number of words with repeats (`segmenting.word_count`), which bounds on length refer to.
    vocabulary: v, the number of different words.
    """

    words: NDArray[np.int32]
    starts: Integers
    lengths: Integers
    vocabulary: int

    def __len__(self) -> int:
        return len(self.lengths)

    def of(self, sentence: int) -> NDArray[np.int32]:
        """The distinct words of a sentence, as numbers in no particular order."""
        return self.words[self.starts[sentence] : self.starts[sentence + 1]]

    @cached_property
    def distinct(self) -> Integers:
        """The number of distinct words of each sentence, (n,)."""
        return np.diff(self.starts)

    @cached_property
    def frequencies(self) -> Integers:
        """In how many sentences each word occurs, (v,)."""
        return np.bincount(self.words, minlength=self.vocabulary)

    @cached_property
    def matrix(self) -> "scipy.sparse.csr_array":
        """1 where a sentence has a word, (n, v)."""
        ones = np.ones(len(self.words), dtype=np.float32)
        return scipy.sparse.csr_array((ones, self.words, self.starts), shape=(len(self), self.vocabulary))

    def taken(self, sentences: Integers) -> "WordTable":
        """The same words of these sentences alone, in the order given."""
        sizes = self.distinct[sentences]
        starts = np.concatenate([[0], np.cumsum(sizes)])
        places = np.arange(starts[-1]) + np.repeat(self.starts[sentences] - starts[:-1], sizes)
        return WordTable(self.words[places], starts, self.lengths[sentences], self.vocabulary)


def word_table(sentences: Iterable[str], *, synonyms: Mapping[str, str] | None = None) -> WordTable:
    """Read the sentences once. synonyms: which word stands for a word; one that is not in it stands for itself."""
    numbers = _Numbers({} if synonyms is None else synonyms)
    found, starts, lengths = array("i"), array("q", [0]), array("q")
    for sentence in sentences:
        read = words(sentence)
        lengths.append(word_count(sentence) if has_unspaced_script(sentence) else len(read))
        found.extend({numbers[word] for word in read})
        starts.append(len(found))
    # Copies: a view of an array cannot outlive a later growth of it, and an empty one has no view.
    return WordTable(
        np.array(found, dtype=np.int32),
        np.array(starts, dtype=np.int64),
        np.array(lengths, dtype=np.int64),
        numbers.distinct,
    )


class _Numbers(dict[str, int]):
    """The number of each word as it is written; words that one word stands for share a number."""

    def __init__(self, synonyms: Mapping[str, str]) -> None:
        super().__init__()
        self._synonyms = synonyms
        self._known: dict[str, int] = {}

    @property
    def distinct(self) -> int:
        return len(self._known)

    def __missing__(self, word: str) -> int:
        stands = self._synonyms.get(word, word)
        number = self[word] = self._known.setdefault(stands, len(self._known))
        return number


def inverse_document_frequencies(table: WordTable) -> Reals:
    """ln(n / number of sentences with the word), (v,): 0 for a word that every sentence has."""
    return np.log(len(table) / np.maximum(table.frequencies, 1))


def dice_of_pairs(
    table: WordTable, left: Integers, right: Integers, *, weights: Reals | None = None
) -> Reals:
    """The Dice coefficient of each pair of sentences, 2 w(A and B) / (w(A) + w(B)), (p,) in 0..1; 0 without words.

    left, right: the numbers of the sentences of p pairs. weights: of each word, (v,); w of some words is their sum.
    Without weights each word counts 1, as in the STR paper (section 5). `inverse_document_frequencies` are those of
    its Goodreads subset (appendix A).
    """
    weight = np.ones(table.vocabulary) if weights is None else weights
    whole = table.matrix @ weight
    together = whole[left] + whole[right]
    shared = shared_weight_of_pairs(table, left, right, weight)
    result = np.zeros(len(left))
    np.divide(2 * shared, together, out=result, where=together > 0)
    return result


def shared_weight_of_pairs(table: WordTable, left: Integers, right: Integers, weights: Reals) -> Reals:
    """The weight of the distinct words that both sentences of each pair have, (p,). weights: of each word, (v,)."""
    matrix, result = table.matrix, np.zeros(len(left))
    for start in range(0, len(left), AT_ONCE):
        part = slice(start, start + AT_ONCE)
        result[part] = matrix[left[part]].multiply(matrix[right[part]]) @ weights
    return result
