"""The number that a cell of a file holds."""

import math
import re
from dataclasses import dataclass

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
