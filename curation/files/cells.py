"""What one cell of a file says: a sentence, a fact, a number; or BadRowError with the reason why it is none."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from curation.pairs.text import SENTENCE_MAX_CHARACTERS, is_readable, normalise, shows_something

_NUMBER_CHARACTERS = 1000
_CELL_SHOWN_CHARACTERS = 100
DECIMAL_COMMA = re.compile(r"\s*[+-]?\d*,\d+\s*", re.ASCII)


@dataclass
class Span:
    """What scores span. lowest, highest: None where there are none. whole: whether all are whole numbers."""

    lowest: float | None = None
    highest: float | None = None
    whole: bool = True

    def add(self, score: float) -> None:
        self.lowest = score if self.lowest is None else min(self.lowest, score)
        self.highest = score if self.highest is None else max(self.highest, score)
        self.whole = self.whole and score.is_integer()


def is_filled(cell: object) -> bool:
    """Whether a cell holds something. Parquet files have "not a number" where there is nothing."""
    if isinstance(cell, str):
        return cell.strip() != ""
    return cell is not None and not (isinstance(cell, float) and math.isnan(cell))


def is_number(cell: object) -> bool:
    """Whether a cell holds a finite number."""
    try:
        number(cell)
    except ValueError:
        return False
    return True


def number(cell: object) -> float:
    """The finite number in a cell. Raises ValueError with a reason where there is none."""
    # int and float read "1_000" and " 1" too, which no data file means as a number.
    if isinstance(cell, bool) or (isinstance(cell, str) and ("_" in cell or len(cell) > _NUMBER_CHARACTERS)):
        raise ValueError(f'"{_shown(cell)}" is not a number')
    try:
        value = float(cell)  # type: ignore[arg-type]  # what is not a number raises, whatever its type
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f'"{_shown(cell)}" is not a number') from error
    if not math.isfinite(value):
        raise ValueError(f'"{_shown(cell)}" is not a finite number')
    return value


def _shown(cell: object) -> str:
    text = str(cell)
    return text if len(text) <= _CELL_SHOWN_CHARACTERS else f"{text[:_CELL_SHOWN_CHARACTERS]}…"


_UNREAD_CHARACTERS = 10_000
_SENTENCES_REMEMBERED = 256


class BadRowError(ValueError):
    """Why a row is not taken."""


def sentence_in(cell: object, what: str) -> str:
    """The normalised sentence. what: how an error names it."""
    if cell is None or cell == "":
        raise BadRowError(f"{what} is empty")
    if not isinstance(cell, str):
        raise BadRowError(f"{what} is not text")
    _refuse_endless(cell, what, SENTENCE_MAX_CHARACTERS)
    text = _readable_sentence(cell)
    if not text:
        raise BadRowError(f"{what} is empty")
    return _bounded(text, what, SENTENCE_MAX_CHARACTERS)


def fact_in(cell: object, name: str, most: int) -> str:
    """What is kept beside a sentence, normalised; "" for an empty cell. most: characters."""
    written = "" if cell is None else str(cell)
    _refuse_endless(written, f"the {name}", most)
    return _bounded(_readable(written), f"the {name}", most)


def _bounded(text: str, what: str, most: int) -> str:
    if len(text) > most:
        raise BadRowError(f"{what} has {len(text):,} characters; at most {most:,} are allowed")
    return text


def _refuse_endless(text: str, what: str, most: int) -> None:
    """Refuse, before it is normalised, what is far longer than white space and composed letters can make it."""
    if len(text) > _UNREAD_CHARACTERS:
        raise BadRowError(
            f"{what} has more than {_UNREAD_CHARACTERS:,} characters; at most {most:,} are allowed"
        )


@lru_cache(_SENTENCES_REMEMBERED)
def _readable_sentence(text: str) -> str:
    """The normalised text, or nothing where it shows nothing. Many files repeat a sentence in row after row."""
    readable = _readable(text)
    return readable if shows_something(readable) else ""


def _readable(text: str) -> str:
    if not is_readable(text):
        raise BadRowError("the row holds a NUL or bytes that are not text in the file's encoding")
    return normalise(text)


def label_in(cell: object) -> int | None:
    """0, 1, or None for an empty cell."""
    value = number_in(cell, "label")
    if value not in {None, 0.0, 1.0}:
        raise BadRowError(f"the label {value:g} is neither 0 nor 1")
    return None if value is None else int(value)


def number_in(cell: object, what: str, *, decimal_comma: bool = False) -> float | None:
    """A number, or None for an empty cell: the pair simply has no score there.

    Parquet files say "not a number" where there is none. decimal_comma: whether a comma stands before decimals.
    """
    if not is_filled(cell):
        return None
    if decimal_comma and isinstance(cell, str) and DECIMAL_COMMA.fullmatch(cell):
        cell = cell.replace(",", ".")
    try:
        return number(cell)
    except ValueError as error:
        raise BadRowError(f"the {what} {error}") from error


def class_in(cell: object, names: Sequence[str], most: int) -> str:
    """The name of a class, or its number where names has none; "" for no class, which GLUE writes as -1."""
    try:
        value = number(cell)
    except ValueError:
        return fact_in(cell, "class", most) if is_filled(cell) else ""
    if value == -1:
        return ""
    if value != int(value):
        return fact_in(cell, "class", most)
    return fact_in(names[int(value)] if 0 <= value < len(names) else str(int(value)), "class", most)
