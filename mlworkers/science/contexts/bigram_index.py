"""Which chunks of a corpus have bigrams in common with a sentence: TF-IDF vectors of bigrams, stored by bigram.

A chunk is a run of consecutive sentences of one segment; a bigram is two words that follow each other in one sentence.
The weight of a bigram in a chunk is its count times ln((1 + chunks) / (1 + chunks with it)) + 1, and each chunk's
vector is brought to length 1, as scikit-learn does by default. The paper retrieves 20,000 chunks so (section 3.3).
"""

from array import array
from bisect import bisect_left
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from curation.files.progress import Report, silent
from curation.pairs.text import WORDS_RULE, words, words_may_have_changed
from mlworkers.science.contexts.corpus import Corpus, CorpusError, Places

Keys = NDArray[np.uint64]
_WORD_BITS = 32
_REPORTED = 20_000
_CHUNKS, _WORDS, _WORD_ENDS = "chunks.npy", "words.bin", "word_ends.npy"
_RULE = "words_rule.txt"  # how the words were found; earlier versions wrote none
_BIGRAMS, _BOUNDS, _POSTINGS, _WEIGHTS = "bigrams.npy", "bounds.npy", "postings.npy", "weights.npy"


class IndexFacts(NamedTuple):
    chunks: int
    words: int
    bigrams: int
    postings: int


class Retrieved(NamedTuple):
    """Chunks (k,), the most similar first and equal ones by number, and their cosine similarities (k,)."""

    chunks: Places
    cosines: NDArray[np.float64]


def index_write(
    corpus: Corpus, folder: Path, *, chunk_sentences: int = 5, report: Report = silent
) -> IndexFacts:
    """Write the index of a corpus into a folder. chunk_sentences: of each chunk; the last one of a segment
    may have fewer. Raises CorpusError where the corpus has no bigram.
    """
    # (chunks,): the first sentence of each; no chunk crosses the end of a segment.
    starts = np.concatenate(
        [
            np.arange(first, after, chunk_sentences)
            for first, after in zip(corpus.segments[:-1], corpus.segments[1:], strict=True)
        ]
    )
    bounds = np.append(starts, len(corpus)).astype(np.int64)  # segments follow on each other
    keys, chunks, met = _bigrams(corpus, bounds, report)  # keys, chunks: (bigrams of the text,)

    # The same bigrams where words are numbered in the order of their bytes, so that a word is found by halving.
    # A key is (number of the first word) · 2^32 + (number of the second), so one uint64 sorts both at once.
    encoded = [word.encode() for word in met]
    by_bytes = sorted(range(len(encoded)), key=encoded.__getitem__)
    number = np.empty(len(by_bytes), dtype=np.uint64)  # old number of a word -> its rank by bytes
    number[by_bytes] = np.arange(len(by_bytes), dtype=np.uint64)
    low = np.uint64((1 << _WORD_BITS) - 1)
    shift = np.uint64(_WORD_BITS)
    keys = number[keys >> shift] << shift | number[keys & low]
    known = [encoded[place] for place in by_bytes]

    if not len(keys):
        raise CorpusError(
            "No sentence of the corpus has two words, so nothing can be found in it; upload other text."
        )
    report(len(corpus), len(corpus), "Sorting bigrams")
    # O(b log b) for b bigrams of the text.
    order = np.argsort(keys, kind="stable")  # chunks stay in their order within a bigram
    keys, chunks = keys[order], chunks[order]
    # A run of equal (bigram, chunk) in the sorted arrays is one posting; the length of the run is its count.
    first = np.ones(len(keys), dtype=bool)
    first[1:] = (keys[1:] != keys[:-1]) | (chunks[1:] != chunks[:-1])
    places = np.flatnonzero(first)
    counts = np.diff(np.append(places, len(keys)))  # (postings,): term frequencies
    keys, chunks = keys[places], chunks[places]
    bigrams, begins = np.unique(keys, return_index=True)
    spread = np.diff(np.append(begins, len(keys)))  # chunks of each bigram
    # Smoothed inverse document frequency: idf = ln((1 + N) / (1 + df)) + 1, for N chunks and df of them with
    # it. A bigram that every chunk has then weighs 1 and not 0.
    rarity = np.log((1 + len(starts)) / (1 + spread)) + 1
    weights = counts * np.repeat(rarity, spread)
    # Cosine normalisation: each weight is divided by the Euclidean length of its chunk's vector. A retrieval
    # is then a sum of products, and no chunk gains by being long.
    lengths = np.sqrt(np.bincount(chunks, weights**2, minlength=len(starts)))
    weights /= lengths[chunks]
    (folder / _RULE).write_text(WORDS_RULE, "utf-8")
    np.save(folder / _CHUNKS, bounds)
    (folder / _WORDS).write_bytes(b"".join(known))
    np.save(folder / _WORD_ENDS, np.cumsum([len(word) for word in known], dtype=np.int64))
    np.save(folder / _BIGRAMS, bigrams)
    np.save(folder / _BOUNDS, np.append(begins, len(keys)).astype(np.int64))
    np.save(folder / _POSTINGS, chunks)
    np.save(folder / _WEIGHTS, weights.astype(np.float32))  # 7 digits are enough for an order
    return IndexFacts(len(starts), len(known), len(bigrams), len(keys))


def _bigrams(corpus: Corpus, bounds: Places, report: Report) -> tuple[Keys, NDArray[np.int32], list[str]]:
    """The key of every bigram of the corpus in its order, the chunk that it is in, and the words by number."""
    numbers: dict[str, int] = {}
    keys, chunks = array("Q"), array("i")  # 8 + 4 bytes for each bigram of the text, in memory
    for chunk, (first, after) in enumerate(pairwise(bounds.tolist())):
        before = len(keys)
        for sentence in range(first, after):
            # By first occurrence.
            found = [numbers.setdefault(word, len(numbers)) for word in words(corpus.text(sentence))]
            keys.extend(one << _WORD_BITS | other for one, other in pairwise(found))
            if sentence % _REPORTED == 0:
                report(sentence, len(corpus), "Counting bigrams")
        chunks.extend([chunk] * (len(keys) - before))
    return np.frombuffer(keys, np.uint64), np.frombuffer(chunks, np.int32), list(numbers)


class _Words:
    """The words of an index by number, in the order of their bytes, mapped from the disk."""

    def __init__(self, folder: Path) -> None:
        try:
            self._ends = np.load(folder / _WORD_ENDS, mmap_mode="r")
        except FileNotFoundError as error:
            raise CorpusError("The index is one of an earlier version; index the corpus again.") from error
        self._bytes = np.memmap(folder / _WORDS, dtype=np.uint8, mode="r")

    def __len__(self) -> int:
        return len(self._ends)

    def __getitem__(self, number: int) -> bytes:
        start = self._ends[number - 1] if number else 0
        return bytes(self._bytes[start : self._ends[number]])

    def text(self) -> str:
        """All words, one behind the other."""
        return bytes(self._bytes).decode()

    def number(self, word: str) -> int | None:
        encoded = word.encode()
        place = bisect_left(self, encoded)  # O(log words) comparisons
        return place if place < len(self) and self[place] == encoded else None


@dataclass(frozen=True)
class BigramIndex:
    """The index in a folder, mapped from the disk: opening it takes no memory, whatever its size."""

    folder: Path

    def check(self) -> None:
        """Raises CorpusError where an earlier version wrote the index, and its words are not those of this one."""
        self._words.number("")
        if (self.folder / _RULE).is_file() or not words_may_have_changed(self._words.text()):
            return
        raise CorpusError(
            "An earlier version wrote the index and divided words of this corpus at marks; index the corpus again."
        )

    @cached_property
    def chunks(self) -> Places:
        """The first sentence of each chunk, and at last the number of sentences, (chunks + 1,)."""
        return np.load(self.folder / _CHUNKS)  # type: ignore[no-any-return]

    def retrieve(self, sentence: str, *, most: int) -> Retrieved:
        """The chunks most similar to a sentence; none that has no bigram in common with it."""
        # The sentence's bigrams that the index has, ascending, and how often each is in it.
        numbers = [self._words.number(word) for word in words(sentence)]
        pairs_of_words = [
            one << _WORD_BITS | other
            for one, other in pairwise(numbers)
            if one is not None and other is not None
        ]
        # (bigrams,): term frequencies of the sentence.
        keys, counts = np.unique(np.array(pairs_of_words, dtype=np.uint64), return_counts=True)
        # A key above all others would be found behind the end; the comparison below then rejects it.
        at = np.minimum(np.searchsorted(self._bigrams, keys), len(self._bigrams) - 1)
        known = self._bigrams[at] == keys
        keys, counts = keys[known], counts[known]
        places = np.searchsorted(self._bigrams, keys)  # each is there: `_known` has checked
        begins, ends = self._bounds[places], self._bounds[places + 1]
        chunks = len(self.chunks) - 1
        # The sentence gets the same weights as the chunks do; ends - begins is the number of chunks with the
        # bigram. Bigrams that the index lacks count neither in the product nor in the length of the
        # sentence's vector.
        weights = counts * (np.log((1 + chunks) / (1 + ends - begins)) + 1)
        length = np.linalg.norm(weights)
        # The cost is the number of postings of the sentence's bigrams: common ones cost most.
        cosines = np.zeros(chunks)
        for weight, begin, end in zip(
            weights, begins, ends, strict=True
        ):  # ascending bigrams: always the same sum
            # A chunk is at most once among the postings of a bigram, so that the indexed addition loses
            # nothing.
            cosines[self._postings[begin:end]] += weight / length * self._weights[begin:end]
        found = np.flatnonzero(cosines)
        # Partial selection costs O(n), a full sort O(n log n). All that tie with the last one stay until the
        # sort, which breaks ties by the number of the chunk.
        if len(found) > most:
            values = cosines[found]
            found = found[values >= np.partition(values, len(values) - most)[len(values) - most]]
        order = np.lexsort((found, -cosines[found]))[:most]
        best = found[order]
        return Retrieved(best, cosines[best])

    @cached_property
    def _words(self) -> _Words:
        """Raises CorpusError where the index was written by an earlier version."""
        return _Words(self.folder)

    @cached_property
    def _bigrams(self) -> Keys:
        return np.load(self.folder / _BIGRAMS, mmap_mode="r")  # type: ignore[no-any-return]

    @cached_property
    def _bounds(self) -> Places:
        return np.load(self.folder / _BOUNDS, mmap_mode="r")  # type: ignore[no-any-return]

    @cached_property
    def _postings(self) -> NDArray[np.int32]:
        return np.load(self.folder / _POSTINGS, mmap_mode="r")  # type: ignore[no-any-return]

    @cached_property
    def _weights(self) -> NDArray[np.float32]:
        return np.load(self.folder / _WEIGHTS, mmap_mode="r")  # type: ignore[no-any-return]
