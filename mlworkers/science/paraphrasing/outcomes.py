"""What becomes of written paraphrases: a reason for every row that is dropped, and what differs from the source."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from curation.pairs.holding_out import HeldOut
from curation.pairs.overlap import jaccard
from curation.pairs.text import SENTENCE_MAX_CHARACTERS, is_readable, near_copy_key, words
from mlworkers.science.paraphrasing.measured import miss
from mlworkers.science.paraphrasing.paraphraser import Target
from mlworkers.science.paraphrasing.tags import Tag

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")  # 1,000 and 3.5 are one number each
_NAME = re.compile(r"(?<=\s)[A-Z][\w'’-]+")  # a capital that does not begin the sentence


class Reason(StrEnum):
    """Why a row was dropped: the first that applies."""

    EMPTY = "empty"
    BROKEN = "unreadable characters"
    TOO_LONG = "too long to store"
    COPY = "copy of the source"
    NEAR_COPY = "near copy of the source"
    HELD_OUT = "stands in held-out pairs"
    WRITTEN = "already written for the source"
    MISS = "outside the cell that was asked for"


@dataclass
class ParaphraseRow:
    """source: its number. similarity, bleu: labels in 0..100; None where nothing could be compared."""

    source: int
    source_text: str
    target: Target
    text: str
    similarity: float | None
    bleu: float | None
    dropped: str = ""
    numbers_changed: bool = False
    names_changed: bool = False


def rows_judged(
    rows: Sequence[ParaphraseRow],
    tags: Mapping[str, Tag],
    *,
    near_copy: float,
    keep_misses: bool,
    held_out: HeldOut,
) -> None:
    """Mark each row with what became of it, in place. near_copy: share of all words in common from which it is one."""
    written: set[tuple[int, str]] = set()  # once for each source, not for the whole run
    for row in rows:
        key = (row.source, near_copy_key(row.text))
        reason = reason_of(row.text, row.source_text, near_copy=near_copy, held_out=held_out)
        if reason is None and not keep_misses and not hits(row, tags):
            reason = Reason.MISS
        row.dropped = str(reason or "")
        if not row.dropped and key in written:
            row.dropped = str(Reason.WRITTEN)
        if not row.dropped:
            written.add(key)
        row.numbers_changed = numbers_differ(row.text, row.source_text)
        row.names_changed = names_differ(row.text, row.source_text)


def reason_of(text: str, source: str, *, near_copy: float, held_out: HeldOut) -> Reason | None:
    """Why a paraphrase of the source cannot be stored; None where it can."""
    tests: tuple[tuple[Reason, Callable[[], bool]], ...] = (
        (Reason.EMPTY, lambda: not words(text)),
        (Reason.BROKEN, lambda: not is_readable(text)),
        (Reason.TOO_LONG, lambda: len(text) > SENTENCE_MAX_CHARACTERS),
        # The same words in the same order.
        (Reason.COPY, lambda: near_copy_key(text) == near_copy_key(source)),
        (Reason.NEAR_COPY, lambda: jaccard(text, source) >= near_copy),  # |A ∩ B| / |A ∪ B| of their words
        (Reason.HELD_OUT, lambda: text in held_out),
    )
    # Tests after the first hit are not made.
    return next((reason for reason, applies in tests if applies()), None)


def numbers_differ(text: str, source: str) -> bool:
    return _numbers(text) != _numbers(source)


def names_differ(text: str, source: str) -> bool:
    """Whether one of them has a name that the other lacks. Names are found by their capitals."""
    return _names(text, source) or _names(source, text)  # invented names, or lost ones


def hits(row: ParaphraseRow, tags: Mapping[str, Tag]) -> bool:
    labels = (np.nan if label is None else label for label in (row.similarity, row.bleu))
    return all(miss(tags[name], label) == 0 for name, label in zip(row.target, labels, strict=True))


def _numbers(text: str) -> list[str]:
    return sorted(_NUMBER.findall(text))


def _names(text: str, other: str) -> bool:
    """Whether the text has a capitalised word, not at its beginning, that the other has nowhere."""
    there = {word.casefold() for word in words(other)}  # a name may begin the other sentence: any case counts
    return any(not set(words(name)) <= there for name in _NAME.findall(text))
