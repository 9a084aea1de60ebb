"""Sentences that have most of their words in common: near duplicates, found exactly and without comparing all pairs.

Two sets of words with m1 <= m2 words and a Jaccard index of t or more share at least ceil(t m1) of the first's words,
and m1 >= t m2. So, with the words of every sentence in one order, rarest first, the first m - ceil(t m) + 1 words of
both (their prefixes) have a word in common (prefix filtering: Chaudhuri, Ganti & Kaushik 2006; Bayardo, Ma & Srikant
2007). Only such pairs are compared. The result is exact, unlike that of MinHash, which misses some pairs.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import scipy

from curation.pairs.word_tables import Integers, Reals, WordTable

ROWS_AT_ONCE = 20_000  # sentences whose candidates are listed together
ROUNDING = 1e-9


class NearDuplicates(NamedTuple):
    """first, second: the numbers of two sentences, first < second, (p,) each. overlap: their Jaccard index, (p,).

    Of sentences with the same set of words, each is paired with the first one alone, and that one stands for all of
    them in the other pairs. So the number of pairs does not grow with the square of the number of copies, and the
    pairs connect the same sentences as all pairs would.
    """

    first: Integers
    second: Integers
    overlap: Reals


def near_duplicates(
    table: WordTable,
    *,
    threshold: float = 0.8,
    compared: Callable[[int, int], object] = lambda done, total: None,
) -> NearDuplicates:
    """All pairs of sentences whose sets of words have a Jaccard index of at least `threshold`; sorted by number.

    Sentences without words are in no pair. Raises ValueError where the threshold is not above 0 and at most 1.
    Memory grows with the words and with the candidates of 20,000 sentences.
    compared: receives the numbers of compared and of all sentences.
    """
    if not 0 < threshold <= 1:
        raise ValueError(f"a Jaccard index to look for is above 0 and at most 1, not {threshold:g}")
    kept, copy, original = _one_of_each_set(table)
    distinct = table.taken(kept)
    found = [(kept[a], kept[b], overlap) for a, b, overlap in _joined(distinct, threshold, compared)]
    found.append((original, copy, np.ones(len(copy))))
    first, second, overlap = (np.concatenate(parts) for parts in zip(*found, strict=True))
    order = np.lexsort((second, first))
    return NearDuplicates(first[order], second[order], overlap[order])


def _one_of_each_set(table: WordTable) -> tuple[Integers, Integers, Integers]:
    """The first sentence with each set of words; then every other sentence, and the first one with its words."""
    # 128 random bits for each word; their sum modulo 2^64, twice, names a set. Two sets share a name with a chance
    # below 1e-26 among a million sentences.
    bits = np.random.default_rng(0).integers(2**64, size=(2, table.vocabulary), dtype=np.uint64)
    before = np.zeros(1, dtype=np.uint64)
    sums = (np.concatenate([before, np.cumsum(of_word[table.words])]) for of_word in bits)
    names = np.stack([each[table.starts[1:]] - each[table.starts[:-1]] for each in sums], axis=1)  # (n, 2)
    has_words = np.flatnonzero(table.distinct)
    _, first, which = np.unique(names[has_words], axis=0, return_index=True, return_inverse=True)
    original = has_words[first[which.reshape(-1)]]
    is_copy = original != has_words
    return np.sort(has_words[first]), has_words[is_copy], original[is_copy]


def _joined(
    table: WordTable, threshold: float, compared: Callable[[int, int], object]
) -> Iterator[tuple[Integers, Integers, Reals]]:
    sizes = table.distinct
    prefixes = _prefixes(table, threshold)
    by_word = prefixes.T.tocsr()
    whole = table.matrix
    for start in range(0, len(table), ROWS_AT_ONCE):
        # Column j of row i: how many words the prefixes of i and j share, for j > i alone.
        shared = scipy.sparse.triu(
            prefixes[start : start + ROWS_AT_ONCE] @ by_word, k=start + 1, format="coo"
        )
        first, second = (start + shared.row).astype(np.int64), shared.col.astype(np.int64)
        small, large = np.minimum(sizes[first], sizes[second]), np.maximum(sizes[first], sizes[second])
        like = small >= threshold * large - ROUNDING
        first, second = first[like], second[like]
        together = whole[first].multiply(whole[second]).sum(axis=1)
        overlap = together / np.maximum(sizes[first] + sizes[second] - together, 1)
        near = overlap >= threshold - ROUNDING
        yield first[near], second[near], overlap[near].astype(np.float64)
        compared(min(start + ROWS_AT_ONCE, len(table)), len(table))


def _prefixes(table: WordTable, threshold: float) -> "scipy.sparse.csr_array":
    """1 where a word is in the prefix of a sentence, (n, v)."""
    sizes = table.distinct
    sentence = np.repeat(np.arange(len(table)), sizes)
    # Rarest first within each sentence; of equally rare words the lower number, so that all have one order.
    order = np.lexsort((table.words, table.frequencies[table.words], sentence))
    place = np.arange(len(order)) - table.starts[:-1][sentence]
    length = sizes - np.ceil(threshold * sizes - ROUNDING).astype(np.int64) + 1
    kept = place < length[sentence]
    rows, words = sentence[kept], table.words[order][kept]
    ones = np.ones(len(rows), dtype=np.int32)
    return scipy.sparse.csr_array((ones, (rows, words)), shape=(len(table), table.vocabulary))
