"""A row of cells into a judgement, or the reason why it is none."""

import ast
from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

from annotation.bws.columns import Places
from curation.pairs.text import is_readable, normalise


class BestIsWorst(StrEnum):
    """What to do with a row whose best item is its worst: the scripts of the field count it as both."""

    REJECT = "reject"
    COUNT = "count"
    FAIL = "fail"


class RowRejectedError(ValueError):
    """Why a row is no judgement."""


class BestIsWorstError(RowRejectedError):
    """The row names one item best and worst."""


class JudgementRow(NamedTuple):
    """Numbers of the items in the order of their places, of the best, the worst and who judged."""

    items: list[int]
    best: int
    worst: int
    annotator: int


class Names:
    """Numbers names as they come; texts that differ only in white space or Unicode form are one name."""

    def __init__(self) -> None:
        self.spellings: list[str] = []  # as first seen
        self._numbers: dict[str, int] = {}  # by normalised text
        self._seen: dict[str, int] = {}  # by text as it stands, which spares normalising most cells

    def number(self, cell: str) -> int:
        """The number of a name, a new one for a new name."""
        number = self.find(cell)
        if number is None:
            number = self._numbers[normalise(cell)] = self._seen[cell] = len(self.spellings)
            self.spellings.append(cell.strip())
        return number

    def find(self, cell: str) -> int | None:
        """The number of a name, or None for one that was not numbered yet."""
        number = self._seen.get(cell)
        if number is None and (number := self._numbers.get(normalise(cell))) is not None:
            self._seen[cell] = number
        return number


class RowReader:
    """Reads the rows of one file, whose names it numbers."""

    def __init__(self, places: Places, best_is_worst: BestIsWorst) -> None:
        self.items = Names()
        self.annotators = Names()
        self._places = places
        self._best_is_worst = best_is_worst
        self._size = len(places.items) if len(places.items) > 1 else 0  # 0: the first row will show it

    def read(self, cells: Sequence[str]) -> JudgementRow:
        """Raises RowRejectedError where the row is no judgement."""
        places = self._places
        if len(cells) <= places.last:
            raise RowRejectedError(f"the row has {len(cells)} cells and needs {places.last + 1}")
        items = [self.items.number(text) for text in self._item_texts(cells)]
        best = self._chosen("best", cells[places.best], items)
        worst = self._chosen("worst", cells[places.worst], items)
        if best == worst and self._best_is_worst is not BestIsWorst.COUNT:
            raise BestIsWorstError(
                f'the row names "{_short(self.items.spellings[best])}" both best and worst'
            )
        annotator = 0 if places.annotator is None else self.annotators.number(cells[places.annotator])
        return JudgementRow(items, best, worst, annotator)

    def _item_texts(self, cells: Sequence[str]) -> Sequence[str]:
        texts = [cells[place] for place in self._places.items]
        if len(texts) == 1:
            texts = _list_in(texts[0])
            self._size = self._size or len(texts)
        if len(texts) != self._size or len(texts) < 2:
            raise RowRejectedError(f"the row lists {len(texts)} items, and {max(2, self._size)} are needed")
        for number, text in enumerate(texts, 1):
            if not text or text.isspace():
                raise RowRejectedError(f"the row has no item {number}")
            if not is_readable(text):
                raise RowRejectedError(f"the row has an item {number} with characters that cannot be read")
        return texts

    def _chosen(self, role: str, cell: str, items: list[int]) -> int:
        """The item that a cell names, or the one whose place it gives where no item has that name."""
        for text in (cell, *_list_in(cell)):
            number = self.items.find(text)
            if number in items:
                return number
            place = text.strip()
            if place.isascii() and place.isdigit() and 1 <= int(place) <= len(items):
                return items[int(place) - 1]
        if not cell.strip():
            raise RowRejectedError(f"the row names no {role} item")
        raise RowRejectedError(f'the row names "{_short(cell)}" {role}, which is not among its items')


def _list_in(cell: str) -> list[str]:
    """The texts of a cell that holds a list, as Python and JSON write it; none where it does not."""
    try:
        values = ast.literal_eval(cell.strip()) if cell.lstrip().startswith(("[", "(")) else ()
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return []
    return [str(value) for value in values] if isinstance(values, list | tuple) else []


def _short(text: str) -> str:
    text = " ".join(text.split())
    text = text if len(text) <= 60 else f"{text[:59]}…"
    # Bytes that could not be decoded must not break the output that says so.
    return text.encode("utf-8", "backslashreplace").decode()
