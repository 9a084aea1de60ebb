"""Draft pairs get their source, split and id: the same ones each time a file is read."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from curation.files.drafts import DraftPair, RowError
from curation.pairs.text import made_external_id, sentence_key

_key = lru_cache(256)(sentence_key)  # many files repeat a sentence in row after row
SPLIT_WORDS = ("train", "dev", "validation", "valid", "val", "test")


class IdentifiedPair(NamedTuple):
    draft: DraftPair
    external_id: str
    source: str
    split: str
    a_key: str
    b_key: str


@dataclass(frozen=True)
class Origin:
    """The source and the split of a file whose rows name none; None where a column of the file names them."""

    source: str | None
    split: str | None


def split_in_name(stem: str) -> str:
    """The split that a file's name speaks of: the last of its words that names one, or ""."""
    words = re.split(r"[^a-z]+", stem.lower())
    return next((word for word in reversed(words) if word in SPLIT_WORDS), "")


def identified(rows: Iterable[DraftPair | RowError], origin: Origin) -> Iterator[IdentifiedPair | RowError]:
    """Give each pair its id: the file's, or one made from its content and its occurrence within the file.

    An id that the file has used before is an error of the later row.
    """
    occurrences = Counter[int]()
    lines: dict[int, int] = {}  # the line on which each of the file's own ids first stood, by the id's hash
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
        first = lines.setdefault(hash(external_id), row.line) if row.external_id else row.line
        if first != row.line:
            yield RowError(row.line, f'the id "{external_id}" stands on line {first} already', row.row)
        else:
            yield IdentifiedPair(row, external_id, source, split, *keys)
