"""The file of judgements: its one reader and its one writer.

CSV with Item1 ... ItemN, BestItem and WorstItem among other columns, as Kiritchenko and Mohammad's scripts know it.
Real files hold more than that, and a row that is not a judgement is reported with its line and the reason.
"""

import ast
import csv
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np

from annotation.bws.files.tables import Columns, Table, find_table, writing_text
from annotation.bws.judgements import Judgements
from curation.files.drafts import FileError, RowError
from curation.files.records import Record
from curation.pairs.text import is_readable, normalise


class BestIsWorst(StrEnum):
    """What to do with a row whose best item is its worst: the scripts of the field count it as both."""

    REJECT = "reject"
    COUNT = "count"
    FAIL = "fail"


@dataclass(frozen=True, eq=False)
class JudgementFile:
    """The contents of a file of judgements.

    items, annotators: names as first spelled; a number in `judgements` is an index of these.
    repeated_items: rows that name an item twice, kept. rejected: the rows that are not judgements.
    left_out: rows that hold an item that was to be left out.
    warning: a sentence on an encoding that had to be guessed, or "".
    """

    judgements: Judgements
    items: tuple[str, ...]
    annotators: tuple[str, ...]
    repeated_items: int
    rejected: tuple[RowError, ...] = ()
    left_out: int = 0
    warning: str = ""


def write_judgements(
    path: Path, items: Sequence[str], judgements: Judgements, annotators: Sequence[str] | None = None
) -> None:
    """Write the file that `read_judgements` reads; arguments as of `judgement_lines`."""
    with writing_text(path) as file:
        file.writelines(judgement_lines(items, judgements, annotators))


def judgement_lines(
    items: Sequence[str],
    judgements: Judgements,
    annotators: Sequence[str] | None = None,
    *,
    cell: Callable[[str], str] = str,
) -> Iterator[str]:
    """The lines of a file of judgements, each with its line end: Item1 ... ItemN, BestItem, WorstItem, Annotator.

    items, annotators: the names behind the numbers of `judgements`. Without annotators, there or here, their column is
    left out. cell: applied to every name, for example to disarm formulas for spreadsheets.
    """
    line = csv.writer(
        SimpleNamespace(write=str), lineterminator="\n"
    ).writerow  # returns what `write` returns
    columns = [*(f"Item{position + 1}" for position in range(judgements.size)), "BestItem", "WorstItem"]
    people = None if annotators is None else judgements.annotators
    yield line([*columns, *(["Annotator"] if people is not None else [])])
    names = [cell(item) for item in items]
    rows = np.column_stack([judgements.items, judgements.best, judgements.worst])  # (n, k + 2)
    for number, row in enumerate(rows):
        person = [] if annotators is None or people is None else [cell(annotators[people[number]])]
        yield line([*(names[item] for item in row.tolist()), *person])


def read_judgements(
    path: Path,
    columns: Columns | None = None,
    *,
    best_is_worst: BestIsWorst = BestIsWorst.REJECT,
    strict: bool = False,
    without: Collection[str] = (),
) -> JudgementFile:
    """Read judgements from a table with a header: comma, tab, semicolon or bar between its cells.

    columns: their names, if they are not those of the field. strict: raise FileError for the first row that is not a
    judgement, instead of listing it as rejected. without: items, for example those of gold questions, whose rows are
    left out. Raises FileError if the file or its columns cannot be read, or if no judgement is left.
    """
    table = find_table(path, columns or Columns())
    reader = _RowReader(table, best_is_worst)
    unwanted = {reader.items.number(name) for name in without}
    rows: list[_Row] = []
    left_out: list[_Row] = []
    rejected: list[RowError] = []
    for record in table.records():
        if record.line == table.header.line:
            continue
        try:
            row = reader.read(record)
        except _RowRejectedError as reason:
            if strict or (isinstance(reason, _BestIsWorstError) and best_is_worst is BestIsWorst.FAIL):
                raise FileError(f"Line {record.line} of {path.name}: {reason}; correct the row.") from reason
            text = record.text if isinstance(record, Record) else record.row
            rejected.append(RowError(record.line, str(reason), text))
        else:
            (rows if unwanted.isdisjoint(row.items) else left_out).append(row)
    held = {item for row in left_out for item in row.items}
    for name in without:
        if reader.items.number(name) not in held:  # a mistake in the name
            raise FileError(f'No row of {path.name} holds the item "{name}" that is to be left out.')
    if not rows:
        why = "every row holds an item to leave out" if left_out else "there is no row below the header"
        if rejected:
            why = f"line {rejected[0].line}, {rejected[0].reason}"
        raise FileError(f"{path.name} holds no judgement: {why}.")
    file = _as_arrays(rows, reader, annotated=table.annotator is not None)
    return replace(file, rejected=tuple(rejected), left_out=len(left_out), warning=table.encoding.warning)


def _as_arrays(rows: Sequence["_Row"], reader: "_RowReader", *, annotated: bool) -> JudgementFile:
    """Items and annotators that are only in rejected rows are left out."""
    items, item_of = np.unique(np.array([row.items for row in rows]), return_inverse=True)  # (m,), (n, k)
    best = np.searchsorted(items, [row.best for row in rows])
    worst = np.searchsorted(items, [row.worst for row in rows])
    people, person_of = np.unique([row.annotator for row in rows], return_inverse=True)
    ordered = np.sort(item_of, axis=1)
    return JudgementFile(
        judgements=Judgements(item_of, best, worst, len(items), person_of if annotated else None),
        items=tuple(reader.items.spellings[item] for item in items),
        annotators=tuple(reader.annotators.spellings[person] for person in people) if annotated else (),
        repeated_items=int((ordered[:, 1:] == ordered[:, :-1]).any(axis=1).sum()),
    )


class _RowRejectedError(ValueError):
    """Why a row is not a judgement."""


class _BestIsWorstError(_RowRejectedError):
    pass


class _Row(NamedTuple):
    """Numbers of the items in the order of their positions, of the best, of the worst, and of the annotator."""

    items: list[int]
    best: int
    worst: int
    annotator: int


class NameRegister:
    """Numbers names as they come; texts that differ only in white space or Unicode form are one name."""

    def __init__(self) -> None:
        self.spellings: list[str] = []  # as first seen
        # By normalised text, and by texts as they are, so that most cells need no normalising.
        self._numbers: dict[str, int] = {}

    def number(self, cell: str) -> int:
        """The number of a name, a new one for a new name."""
        number = self.find(cell)
        if number is None:
            number = self._numbers[normalise(cell)] = self._numbers[cell] = len(self.spellings)
            self.spellings.append(cell.strip())
        return number

    def find(self, cell: str) -> int | None:
        """The number of a name, or None for a name that has no number yet."""
        number = self._numbers.get(cell)
        if number is None and (number := self._numbers.get(normalise(cell))) is not None:
            self._numbers[cell] = number
        return number


class _RowReader:
    """Reads the rows of one file, and numbers its names."""

    def __init__(self, table: Table, best_is_worst: BestIsWorst) -> None:
        self.items, self.annotators = NameRegister(), NameRegister()
        self._table, self._best_is_worst = table, best_is_worst
        self._size = len(table.items) if len(table.items) > 1 else 0  # 0: the first row will show it

    def read(self, record: Record | RowError) -> _Row:
        """Raises _RowRejectedError if the row is not a judgement."""
        if isinstance(record, RowError):
            raise _RowRejectedError(record.reason)
        table, cells = self._table, [str(cell) for cell in record.cells]
        if record.line < table.header.line:
            raise _RowRejectedError("the row is above the header")
        if record.cells == table.header.cells:
            raise _RowRejectedError("the row repeats the header")
        if len(cells) < table.cells_needed:
            raise _RowRejectedError(f"the row has {len(cells)} cells and needs {table.cells_needed}")
        items = [self.items.number(text) for text in self._item_texts(cells)]
        best = self._chosen("best", cells[table.best], items)
        worst = self._chosen("worst", cells[table.worst], items)
        if best == worst and self._best_is_worst is not BestIsWorst.COUNT:
            name = _short(self.items.spellings[best])
            raise _BestIsWorstError(f'the row names "{name}" both best and worst')
        annotator = 0 if table.annotator is None else self.annotators.number(cells[table.annotator])
        return _Row(items, best, worst, annotator)

    def _item_texts(self, cells: Sequence[str]) -> Sequence[str]:
        texts = [cells[index] for index in self._table.items]
        if len(texts) == 1:
            texts = _list_in(texts[0])
            self._size = self._size or len(texts)
        if len(texts) != self._size or len(texts) < 2:
            raise _RowRejectedError(f"the row lists {len(texts)} items, and {max(2, self._size)} are needed")
        for number, text in enumerate(texts, 1):
            if not text or text.isspace():
                raise _RowRejectedError(f"the row has no item {number}")
            if not is_readable(text):
                raise _RowRejectedError(f"the row has an item {number} with characters that cannot be read")
        return texts

    def _chosen(self, role: str, cell: str, items: list[int]) -> int:
        """The item that a cell names, or the one whose position it gives if no item has that name."""
        for text in (cell, *_list_in(cell)):
            number = self.items.find(text)
            if number in items:
                return number
            position = text.strip()
            if position.isascii() and position.isdigit() and 1 <= int(position) <= len(items):
                return items[int(position) - 1]
        if not cell.strip():
            raise _RowRejectedError(f"the row names no {role} item")
        raise _RowRejectedError(f'the row names "{_short(cell)}" {role}, which is not among its items')


def _list_in(cell: str) -> list[str]:
    """The texts of a cell that holds a list, as Python and JSON write it; none if it does not."""
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
