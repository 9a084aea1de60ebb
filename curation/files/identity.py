"""The rows of a file get their source, split and id: the same ones each time it is read.

A first reading counts the rows, and finds what their scores span, before anything is written.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from curation.files.drafts import DraftPair, FileError, RowError
from curation.files.progress import Report
from curation.pairs.text import made_external_id, sentence_key

_key = lru_cache(256)(sentence_key)  # many files repeat a sentence in row after row
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


def split_in_name(stem: str) -> str:
    """The split in a file's name: the last of its words that names one, or ""."""
    words = re.split(r"[^a-z]+", stem.lower())
    return next((word for word in reversed(words) if word in SPLIT_WORDS), "")


def identified(
    rows: Iterable[DraftPair | RowError], origin: FileOrigin
) -> Iterator[IdentifiedPair | RowError]:
    """Give each pair its id: the file's, or one made from its content and its occurrence within the file.

    An id that the file has used before in the same source and split is an error of the later row.
    """
    occurrences = Counter[int]()
    lines: dict[int, int] = {}  # the line on which each of the file's own ids first stood, by the name's hash
    for row in rows:
        keys = (_key(row.a), _key(row.b)) if row.b else ("", "")
        source = row.source if origin.source is None else origin.source
        split = row.split if origin.split is None else origin.split
        # A row refused for its score still counts: once mended, it gets the id it would have had.
        content = hash((source, split, *keys))
        occurrences[content] += 1
        if isinstance(row, RowError):
            yield row
            continue
        external_id = row.external_id or made_external_id(source, split, *keys, occurrences[content])
        name = PairName(external_id, source, split)
        first = lines.setdefault(hash(name), row.line) if row.external_id else row.line
        if first != row.line:
            yield RowError(row.line, f'the id "{external_id}" stands on line {first} already', row.row)
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
    """lowest, highest: of the scores of the good rows, None where there are none.

    names: hashes of the names of the good rows.
    """

    rows: int = 0
    pairs: int = 0
    lowest: float | None = None
    highest: float | None = None
    names: set[int] = field(default_factory=set)


class TooManyRowsError(FileError):
    """The file has more rows than were to be read."""


def survey_rows(
    rows: Iterable[IdentifiedPair | RowError], *, most: int, report: Report, message: str
) -> Survey:
    """Read all rows. report hears of it now and then, with a total of 0 because nobody knows it yet.

    Raises TooManyRowsError where there are more than `most`.
    """
    survey = Survey()
    for survey.rows, row in enumerate(rows, 1):
        if survey.rows > most:
            raise TooManyRowsError(f"The file has more than {most:,} rows; split it.")
        if survey.rows % _ROWS_BETWEEN_REPORTS == 0:
            report(survey.rows, 0, message)
        if isinstance(row, RowError):
            continue
        survey.pairs += 1
        survey.names.add(hash(row.name))
        score = row.draft.score
        if score is not None:
            survey.lowest = score if survey.lowest is None else min(survey.lowest, score)
            survey.highest = score if survey.highest is None else max(survey.highest, score)
    return survey
