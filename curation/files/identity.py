"""The rows of a file get their source, split and id: the same ones each time it is read.

A first reading counts the rows, and finds what their scores span, before anything is written.
"""

import re
from array import array
from collections import Counter
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from curation.files.cells import Span
from curation.files.drafts import DraftPair, FileError, RowError
from curation.files.progress import Report
from curation.pairs.text import key_of_normalised, made_external_id, unordered

_key = lru_cache(256)(key_of_normalised)  # many files repeat a sentence in row after row
_ROWS_BETWEEN_REPORTS = 5000
_NAMED = re.compile(r'"[^"]*"|\d+')
SPLIT_WORDS = ("train", "dev", "validation", "valid", "val", "test")


class PairName(NamedTuple):
    """Which pair of a dataset is meant: ids repeat from file to file, and from split to split."""

    external_id: str
    source: str
    split: str


class IdentifiedPair(NamedTuple):
    draft: DraftPair
    name: PairName
    a_key: str
    b_key: str


@dataclass(frozen=True)
class FileOrigin:
    """The source and the split of a file whose rows name none; None where a column of the file names them."""

    source: str | None
    split: str | None


class _Everything(Container[int]):
    def __contains__(self, item: object) -> bool:
        return True


EVERYTHING = _Everything()


def split_in_name(stem: str) -> str:
    """The split in a file's name: the last of its words that names one, or ""."""
    words = re.split(r"[^a-z]+", stem.lower())
    return next((word for word in reversed(words) if word in SPLIT_WORDS), "")


def identified(
    rows: Iterable[DraftPair | RowError],
    origin: FileOrigin,
    *,
    repeated: Container[int] = EVERYTHING,
    made: bool = True,
) -> Iterator[IdentifiedPair | RowError]:
    """Give each pair its id: the file's, or one made from its content and its occurrence within the file.

    repeated: of which two sentences (`Survey.either`) the occurrences are counted; any others stand once.
    made: whether an id is made where the file has none; a first reading needs no such ids.
    An id that the file has used before in the same source and split is an error of the later row.
    """
    occurrences = Counter[int]()
    lines: dict[int, int] = {}  # the line on which each of the file's own ids first stood, by the name's hash
    for row in rows:
        keys = (_key(row.a), _key(row.b)) if row.b else ("", "")
        source = row.source if origin.source is None else origin.source
        split = row.split if origin.split is None else origin.split
        # A row refused for its score still counts: once mended, it gets the id it would have had.
        occurrence = 1
        if hash(unordered(*keys)) in repeated:
            content = hash((source, split, *keys))
            occurrences[content] += 1
            occurrence = occurrences[content]
        if isinstance(row, RowError):
            yield row
            continue
        external_id = row.external_id
        if made and not external_id:
            external_id = made_external_id(source, split, *keys, occurrence)
        name = PairName(external_id, source, split)
        first = lines.setdefault(hash(name), row.line) if row.external_id else row.line
        if first != row.line:
            reason = (
                f'the id "{external_id}" is on line {first} already; give the rows different ids, '
                f"or import the file without its column of ids"
            )
            yield RowError(row.line, reason, row.row, cells=row.cells)
        else:
            yield IdentifiedPair(row, name, *keys)


@dataclass
class Rejections:
    """Why rows were rejected: of each reason, how often and the first row.

    Reasons are the same if they differ only in numbers and quoted words.
    """

    counts: Counter[str] = field(default_factory=Counter)
    first: dict[str, RowError] = field(default_factory=dict)

    def add(self, error: RowError) -> None:
        reason = _NAMED.sub("", error.reason)
        self.counts[reason] += 1
        self.first.setdefault(reason, error)

    def most_frequent(self) -> tuple[int, RowError]:
        """How many rows have the most frequent reason, and the first of them."""
        [(reason, count)] = self.counts.most_common(1)
        return count, self.first[reason]


@dataclass
class Survey:
    """What a first reading of a file found.

    scores: of the good rows. ordered and either: from the hash of two sentences' keys to the number of rows that hold
    them in this order, and in either order; only those that stand several times.
    """

    rows: int = 0
    pairs: int = 0
    scores: Span = field(default_factory=Span)
    ordered: dict[int, int] = field(default_factory=dict)
    either: dict[int, int] = field(default_factory=dict)

    def rows_with(self, a_key: str, b_key: str) -> tuple[int, int]:
        """Of two sentences that stand in the file: how many rows hold them in this order, and in the other one."""
        both = self.either.get(hash(unordered(a_key, b_key)), 1)
        if a_key == b_key:
            return both, 0
        # Those that stand several times in one order are counted there. Else they stand once in it, or not at all.
        other = self.ordered.get(hash((b_key, a_key)), 0)
        same = self.ordered.get(hash((a_key, b_key)), 1 if not other or both > other else 0)
        return same, both - same


class TooManyRowsError(FileError):
    """The file has more rows than were to be read."""


def survey_rows(
    rows: Iterable[IdentifiedPair | RowError], *, most: int, report: Report, message: str
) -> Survey:
    """Read all rows. report hears of it now and then, with a total of 0 because nobody knows it yet.

    Raises TooManyRowsError where there are more than `most`.
    """
    survey = Survey()
    # Eight bytes a row: a set of the same hashes would take ten times as much.
    ordered, either = array("q"), array("q")
    for survey.rows, row in enumerate(rows, 1):
        if survey.rows > most:
            raise TooManyRowsError(f"The file has more than {most:,} rows; split it.")
        if survey.rows % _ROWS_BETWEEN_REPORTS == 0:
            report(survey.rows, 0, message)
        if isinstance(row, RowError):
            if row.b:
                keys = _key(row.a), _key(row.b)
                ordered.append(hash(keys))
                either.append(hash(unordered(*keys)))
            continue
        survey.pairs += 1
        ordered.append(hash((row.a_key, row.b_key)))
        either.append(hash(unordered(row.a_key, row.b_key)))
        score = row.draft.score
        if score is not None:
            survey.scores.add(score)
    survey.ordered, survey.either = _several(ordered), _several(either)
    return survey


def _several(hashes: "array[int]") -> dict[int, int]:
    """Those that stand more than once, and how often."""
    distinct, counts = np.unique(np.array(hashes, dtype=np.int64), return_counts=True)
    several = counts > 1
    return dict(zip(distinct[several].tolist(), counts[several].tolist(), strict=True))
