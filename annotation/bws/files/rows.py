"""The rows of one file of judgements: the items they hold, and every way to read which is the best and the worst."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

import numpy as np

from annotation.bws.files.answers import Answer, list_in
from annotation.bws.files.choices import (
    Naming,
    names_a_tie,
    position_behind_word,
    position_by_column,
    position_in_cell,
)
from annotation.bws.files.columns import plain
from annotation.bws.files.names import ItemRegister, NameRegister
from annotation.bws.files.tables import Table
from annotation.bws.judgements import IntArray, Mask
from curation.files.columns import is_rejected
from curation.files.drafts import RowError
from curation.files.identity import TooManyRowsError
from curation.pairs.text import is_readable

# Of one file: as many take some gigabytes of memory.
MOST_ROWS = 2_000_000
# A longer list is not a tuple that a person judged, and every row takes the memory of the longest.
_MOST_ITEMS = 100
_NO_COLUMN = (-1, -1, -1)
_TRUE, _FALSE = ("1", "1.0", "true", "t", "yes", "y"), ("", "0", "0.0", "false", "f", "no", "n")


class Fault(StrEnum):
    """Why rows are not judgements, as a clause."""

    FORM = "they do not have the form of a judgement"
    OUTSIDE = "they name a best or worst item that is not among their items"
    EMPTY = "they name no best or no worst item"
    ALIKE = "they name one item both best and worst"


class Rejected(NamedTuple):
    """A row that is not a judgement. file: the name of its file, "" where only one was read."""

    line: int
    reason: str
    fault: Fault = Fault.FORM
    file: str = ""


class Draft(NamedTuple):
    """A row before it is known how its file names the best and the worst.

    items: their numbers in the order of their positions. cells: of the best and the worst. positions: the position that
    each of the two names in each way of Naming, -1 for none. respelled: the number of the cell's text where it names
    its item (Naming.ITEM) with other spaces, else -1. tie: both cells say so, and no item of the row has that name.
    """

    line: int
    items: list[int]
    cells: tuple[str, str]
    positions: tuple[list[int], list[int]]
    respelled: tuple[int, int]
    annotator: int
    tie: bool = False


@dataclass
class FileRows:
    """flagged: rows that the file itself calls duplicates, which are left out. refused: rows of rejected assignments,
    which are left out too.
    """

    table: Table
    drafts: list[Draft] = field(default_factory=list)
    rejected: list[Rejected] = field(default_factory=list)
    flagged: int = 0
    refused: int = 0

    @property
    def annotated(self) -> bool:
        return self.table.indexes.annotator is not None

    @property
    def positions(self) -> IntArray:
        """The positions that cells may name, (n, 2, 4)."""
        return np.array([draft.positions for draft in self.drafts], dtype=np.int64).reshape(
            -1, 2, len(Naming)
        )

    @property
    def ties(self) -> Mask:
        """(n,)."""
        return np.array([draft.tie for draft in self.drafts], dtype=np.bool_)

    @property
    def respelled(self) -> IntArray:
        """(n, 2), of the best and the worst cell."""
        return np.array([draft.respelled for draft in self.drafts], dtype=np.int64).reshape(-1, 2)


def read_rows(
    table: Table,
    items: ItemRegister,
    annotators: NameRegister,
    *,
    keep_duplicates: bool = False,
    keep_rejected: bool = False,
    most: int = MOST_ROWS,
) -> FileRows:
    """Read all rows of a file; its names are added to those that are known.

    Raises TooManyRowsError if there are more than `most`.
    """
    file, reader = FileRows(table), _RowReader(table, items, annotators)
    for number, answer in enumerate(table.answers(), 1):
        if number > most:
            raise TooManyRowsError(f"{table.path.name} has more than {most:,} rows; split the file.")
        if isinstance(answer, RowError):
            file.rejected.append(Rejected(answer.line, answer.reason))
            continue
        try:
            if not keep_duplicates and _is_flagged(answer.duplicate):
                file.flagged += 1
            elif not keep_rejected and is_rejected(answer.status):
                file.refused += 1
            else:
                file.drafts.append(reader.draft(answer))
        except ValueError as reason:
            file.rejected.append(Rejected(answer.line, str(reason)))
    return file


def _is_flagged(cell: str) -> bool:
    word = cell.strip().casefold()
    if word not in _TRUE and word not in _FALSE:
        raise ValueError(f'the row is a duplicate by "{short(cell)}", which is neither true nor false')
    return word in _TRUE


class _Meaning(NamedTuple):
    """What a best or worst cell may mean, whatever its row holds.

    texts: the cell, and the texts of a list in it. columns: the column, from 0, that it means as a position from 1, as
    a position from 0 and as a name of a column, -1 for none. worded: whether the position stands behind a word, so that
    it is one only where no item of the row has this name.
    """

    texts: tuple[str, ...]
    columns: tuple[int, int, int]
    worded: bool


class _RowReader:
    def __init__(self, table: Table, items: ItemRegister, annotators: NameRegister) -> None:
        self._items, self._annotators = items, annotators
        self._meanings: dict[str, _Meaning] = {}  # most cells repeat those of other rows
        self._columns = position_by_column(table.item_columns)

    def draft(self, answer: Answer) -> Draft:
        """Raises ValueError with the reason if the row holds fewer than two items, or text that cannot be read."""
        numbers: list[int] = []
        position: list[int] = []  # of each column: a row may leave some of them empty
        for column, text in enumerate(answer.items, 1):
            empty = not text or text.isspace()
            position.append(-1 if empty else len(numbers))
            if empty:
                continue
            if not is_readable(text):
                raise ValueError(f"the row has an item {column} with characters that cannot be read")
            numbers.append(self._items.number(text))
            if len(numbers) > _MOST_ITEMS:
                raise ValueError(f"the row has more than {_MOST_ITEMS} items")
        if len(numbers) < 2:
            raise ValueError(f"the row has {len(numbers)} of at least 2 items")
        best, worst = self._meaning(answer.best), self._meaning(answer.worst)
        (best_positions, best_text), (worst_positions, worst_text) = (
            self._positions(cell, numbers, position) for cell in (best, worst)
        )
        return Draft(
            line=answer.line,
            items=numbers,
            cells=(best.texts[0], worst.texts[0]),
            positions=(best_positions, worst_positions),
            respelled=(best_text, worst_text),
            annotator=self._annotators.number(answer.annotator),
            tie=names_a_tie(answer.best)
            and names_a_tie(answer.worst)
            and max(*best_positions, *worst_positions) < 0,
        )

    def _meaning(self, cell: str) -> "_Meaning":
        meaning = self._meanings.get(cell)
        if meaning is None:
            number, worded = position_in_cell(cell), False
            column = self._columns.get(cell.strip(), self._columns.get(plain(cell), -1))
            if number is None and column < 0:
                number, worded = position_behind_word(cell), True
            columns = (-1 if number is None else number - 1, -1 if number is None else number, column)
            meaning = self._meanings[cell] = _Meaning((cell, *list_in(cell)), columns, worded)
        return meaning

    def _positions(self, cell: "_Meaning", items: list[int], position: list[int]) -> tuple[list[int], int]:
        """The positions that a cell names, by Naming; and its text's number if it is spelled with other spaces."""
        for text in cell.texts:
            if (number := self._items.find(text)) in items:
                named, respelled = items.index(number), -1
                break
        else:
            named, respelled = self._respelled(cell.texts, items)
        if cell.columns == _NO_COLUMN or (cell.worded and named >= 0):  # most cells that are items
            return [named, -1, -1, -1], respelled
        last = len(position)
        return [named, *[position[c] if 0 <= c < last else -1 for c in cell.columns]], respelled

    def _respelled(self, texts: Sequence[str], items: list[int]) -> tuple[int, int]:
        for text in texts:
            alike = self._items.find_alike(text)
            for index, item in enumerate(items):
                if alike is not None and self._items.alike[item] == alike:
                    return index, self._items.number(text)
        return -1, -1


def short(text: str) -> str:
    """A cell as a message shows it."""
    text = " ".join(text.split())
    text = text if len(text) <= 60 else f"{text[:59]}…"
    # Bytes that could not be decoded must not break the output that says so.
    return text.encode("utf-8", "backslashreplace").decode()
