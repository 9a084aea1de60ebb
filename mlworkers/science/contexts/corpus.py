"""A corpus of running text in a folder: its sentences in order, where documents are interrupted, and which sentences
are near copies. Everything is mapped from the disk, so that opening a corpus of millions of sentences takes no memory.
"""

import hashlib
import json
from array import array
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from curation.files.documents import Document
from curation.files.json_text import json_from
from curation.files.progress import Report, silent
from curation.pairs.text import WORDS_RULE, near_copy_key, words_may_have_changed

Places = NDArray[np.int64]
MOST_SENTENCES = 5_000_000
_EXAMPLES = 5
_NEAR, _COMMON = (
    0.8,
    20,
)  # Jaccard's index of two near-duplicate documents; documents of a sentence that is counted
_REPORTED = 20_000  # sentences between two reports
_TEXTS, _OFFSETS, _SEGMENTS, _DOCUMENTS = "texts.bin", "offsets.npy", "segments.npy", "segment_documents.npy"
_NAMES, _KEYS, _FACTS = "documents.jsonl", "near_keys.npy", "corpus.json"


class CorpusError(ValueError):
    """The corpus cannot be used. One sentence."""


class Context(NamedTuple):
    """What is around a place: the sentences before and after it, in the order of the text."""

    left: tuple[str, ...]
    right: tuple[str, ...]


@dataclass
class CorpusFacts:
    """What a corpus holds.

    segments: runs of sentences without interruption.
    places: sentences with one before and one after them.
    duplicates: documents left out because an earlier one has the same words.
    near_duplicates: twos of documents that share most of their sentences; they stay in.
    left_out: sentences that could not be used.
    duplicate_names, near_duplicate_names, left_out_because: the first of each, as text for people.
    words_rule: how the words were found by which near copies are known; "" in corpora of earlier versions.
    """

    language: str = "en"
    documents: int = 0
    segments: int = 0
    sentences: int = 0
    places: int = 0
    duplicates: int = 0
    duplicate_names: list[str] = field(default_factory=list)
    near_duplicates: int = 0
    near_duplicate_names: list[str] = field(default_factory=list)
    left_out: int = 0
    left_out_because: list[str] = field(default_factory=list)
    words_rule: str = ""


class _Writer:
    """Documents into the files of a folder, one after the other."""

    def __init__(self, folder: Path, language: str) -> None:
        self._folder = folder
        self.facts = CorpusFacts(language=language, words_rule=WORDS_RULE)
        self._offsets, self._starts, self._of_document = array("q", [0]), array("q"), array("i")
        self._keys = array("Q")
        self._seen: dict[bytes, str] = {}  # document names by the near-copy keys of their sentences

    def write(self, documents: Iterable[Document], report: Report) -> None:
        with (
            (self._folder / _TEXTS).open("wb") as texts,
            (self._folder / _NAMES).open("w", encoding="utf-8") as names,
        ):
            for document in documents:
                self.facts.left_out += len(document.left_out)
                for error in document.left_out[: max(0, _EXAMPLES - len(self.facts.left_out_because))]:
                    self.facts.left_out_because.append(f"{document.name}, line {error.line}: {error.reason}")
                # Unsigned 64-bit numbers.
                keys = [[int(near_copy_key(text), 16) for text in segment] for segment in document.segments]
                if not keys or self._is_duplicate(document.name, keys):
                    continue
                names.write(json.dumps(document.name, ensure_ascii=False) + "\n")
                for segment, of_segment in zip(document.segments, keys, strict=True):
                    self._add(segment, of_segment, texts.write, report)
                self.facts.documents += 1

    def _is_duplicate(self, name: str, keys: list[list[int]]) -> bool:
        content = array("Q", [key for segment in keys for key in segment]).tobytes()
        digest = hashlib.sha256(content).digest()  # of the keys in their order: case and marks do not count
        if digest not in self._seen:
            self._seen[digest] = name
            return False
        first = self._seen[digest]
        self.facts.duplicates += 1
        if len(self.facts.duplicate_names) < _EXAMPLES:
            self.facts.duplicate_names.append(f"{name} = {first}")
        return True

    def _add(
        self, segment: list[str], keys: list[int], write: Callable[[bytes], object], report: Report
    ) -> None:
        facts = self.facts
        self._starts.append(facts.sentences)
        self._of_document.append(facts.documents)
        for text in segment:
            encoded = text.encode()
            write(encoded)
            self._offsets.append(self._offsets[-1] + len(encoded))  # in bytes, not characters
            facts.sentences += 1
            if facts.sentences % _REPORTED == 0:
                report(facts.sentences, 0, "Reading documents")
        self._keys.extend(keys)
        facts.segments += 1
        facts.places += max(0, len(segment) - 2)  # the first and the last lack a neighbour
        if facts.sentences > MOST_SENTENCES:
            raise CorpusError(
                f"The corpus has more than {MOST_SENTENCES:,} sentences, which is too many; leave documents out."
            )

    def close(self) -> CorpusFacts:
        facts = self.facts
        if not facts.sentences:
            raise CorpusError("The corpus has no sentence; upload text.")
        if not facts.places:
            raise CorpusError(
                f"None of the {facts.documents:,} documents has three sentences in a row, so nothing has a context; "
                "upload text whose documents have several sentences."
            )
        self._starts.append(facts.sentences)
        starts: Places = np.frombuffer(self._starts, np.int64)
        sizes = starts[1:] - starts[:-1]  # sentences of each segment
        documents = np.repeat(np.frombuffer(self._of_document, np.int32), sizes)
        found = near_duplicates(np.frombuffer(self._keys, np.uint64), documents)
        facts.near_duplicates = len(found)
        if found:
            text = (self._folder / _NAMES).read_text("utf-8")
            names = [json_from(line) for line in text.splitlines()]
            facts.near_duplicate_names = [
                f"{names[one]} ~ {names[other]} ({100 * share:.0f} %)"
                for one, other, share in found[:_EXAMPLES]
            ]
        for name, values, kind in (
            (_OFFSETS, self._offsets, np.int64),
            (_SEGMENTS, self._starts, np.int64),
            (_DOCUMENTS, self._of_document, np.int32),  # of segments, not of sentences
            (_KEYS, self._keys, np.uint64),
        ):
            np.save(self._folder / name, np.frombuffer(values, dtype=kind))
        (self._folder / _FACTS).write_text(json.dumps(asdict(facts)), "utf-8")
        return facts


def corpus_write(
    documents: Iterable[Document], folder: Path, *, language: str = "en", report: Report = silent
) -> CorpusFacts:
    """Write the files of a corpus into a folder. A document with the words of an earlier one is left out and counted.

    Raises CorpusError where no sentence has another one before and after it, or there are too many.
    """
    writer = _Writer(folder, language)
    writer.write(documents, report)
    return writer.close()


def near_duplicates(keys: NDArray[np.uint64], documents: NDArray[np.int32]) -> list[tuple[int, int, float]]:
    """Twos of documents whose sets of sentences have a Jaccard index of 0.8 or more, by their numbers, and the index.

    keys, documents: of n sentences, what near copies share and the number of the document, both (n,). Sentences that
    are in more than 20 documents, such as “Yes.”, count for the size of a set alone, so that a document of little else
    is not found.
    """
    order = np.lexsort((documents, keys))  # by key, then by document: O(n log n)
    keys, documents = keys[order], documents[order]
    # A document is a set of keys: a sentence that it repeats counts once.
    first = np.ones(len(keys), dtype=bool)
    first[1:] = (keys[1:] != keys[:-1]) | (documents[1:] != documents[:-1])
    keys, documents = keys[first], documents[first]
    sizes = np.bincount(documents)  # |A|: distinct keys of each document
    # Where the run of each key begins.
    begins = np.flatnonzero(np.append(True, keys[1:] != keys[:-1])) if len(keys) else np.empty(0, np.int64)
    ends = np.append(begins[1:], len(keys))
    spread = ends - begins  # documents of each key
    common: Counter[tuple[int, int]] = Counter()  # |A ∩ B| of each two documents with a common key
    # Pairs of documents are counted per shared key, at most C(20, 2) = 190 each, instead of over all pairs.
    for place in np.flatnonzero((spread > 1) & (spread <= _COMMON)).tolist():
        common.update(combinations(documents[begins[place] : ends[place]].tolist(), 2))
    found = [
        # Jaccard's index |A ∩ B| / |A ∪ B|, with |A ∪ B| = |A| + |B| - |A ∩ B|.
        (one, other, share / (int(sizes[one]) + int(sizes[other]) - share))
        for (one, other), share in common.items()
    ]
    return sorted(each for each in found if each[2] >= _NEAR)


@dataclass(frozen=True)
class Corpus:
    """A corpus of n sentences, numbered from 0 in their order."""

    folder: Path

    def __len__(self) -> int:
        return len(self._offsets) - 1

    @cached_property
    def facts(self) -> CorpusFacts:
        return CorpusFacts(**json_from((self.folder / _FACTS).read_text("utf-8")))

    @cached_property
    def segments(self) -> Places:
        """Where each segment begins, and at last n, (segments + 1,)."""
        return self._mapped(_SEGMENTS)

    @cached_property
    def near_keys(self) -> NDArray[np.uint64]:
        """What near copies share (`curation.pairs.text.near_copy_key`), (n,).

        An earlier version divided the words of some scripts otherwise; keys of such sentences are computed again.
        """
        keys: NDArray[np.uint64] = np.load(self.folder / _KEYS, mmap_mode="r")
        if self.facts.words_rule == WORDS_RULE:
            return keys
        renewed = np.array(keys)  # in memory, 8 bytes a sentence; the file stays as it is
        for number, text in enumerate(map(self.text, range(len(self)))):
            if words_may_have_changed(text):
                renewed[number] = int(near_copy_key(text), 16)
        return renewed

    def text(self, number: int) -> str:
        # Sentence i lies in bytes offsets[i] to offsets[i + 1] - 1.
        return bytes(self._texts[self._offsets[number] : self._offsets[number + 1]]).decode()

    def document_of(self, number: int) -> str:
        """The name of the sentence's document."""
        return self._names[int(self._of_document[self.segment_of(number)])]

    def document_bounds(self, number: int) -> tuple[int, int]:
        """The first sentence of a sentence's document, and the one after its last."""
        numbers = self._of_document  # of the segments, ascending
        document = numbers[self.segment_of(number)]
        # Segments of a document follow each other, so the two insertion points of its number bound them.
        first, after = (int(np.searchsorted(numbers, document, side=side)) for side in ("left", "right"))
        return int(self.segments[first]), int(self.segments[after])

    def segment_of(self, number: int) -> int:
        # The last that begins at or before it.
        return int(np.searchsorted(self.segments, number, side="right")) - 1

    def bounds(self, number: int, left: int, right: int) -> tuple[int, int]:
        """The first sentence of a window around a sentence, and the one after its last: as many as asked for on each
        side, or fewer where its segment begins or ends.
        """
        segment = self.segment_of(number)  # a window never leaves the segment
        first, after = int(self.segments[segment]), int(self.segments[segment + 1])  # the segment's bounds
        return max(first, number - left), min(after, number + right + 1)

    def context(self, number: int, left: int, right: int) -> Context:
        """What is around a sentence, as far as `bounds`."""
        first, after = self.bounds(number, left, right)
        before = tuple(map(self.text, range(first, number)))
        return Context(before, tuple(map(self.text, range(number + 1, after))))

    @cached_property
    def _offsets(self) -> Places:
        return self._mapped(_OFFSETS)

    @cached_property
    def _of_document(self) -> NDArray[np.int32]:
        numbers: NDArray[np.int32] = np.load(self.folder / _DOCUMENTS, mmap_mode="r")
        return numbers

    @cached_property
    def _texts(self) -> NDArray[np.uint8]:
        return np.memmap(self.folder / _TEXTS, dtype=np.uint8, mode="r")

    @cached_property
    def _names(self) -> list[str]:
        return [json_from(line) for line in (self.folder / _NAMES).read_text("utf-8").splitlines()]

    def _mapped(self, name: str) -> Places:
        values: Places = np.load(self.folder / name, mmap_mode="r")
        return values
