"""A table of judgements before its rows mean anything.

Where its header is, what separates its cells, and the cells of each judgement.
"""

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple, TextIO

from annotation.bws.files.columns import (
    ColumnIndexes,
    Columns,
    LongColumnIndexes,
    RecognisedColumns,
    find_columns,
    recognised_columns,
)
from annotation.bws.files.notices import ReadingError
from curation.files.drafts import FileError, RowError
from curation.files.encoding import Encoding, detect_encoding, errors_for
from curation.files.foreign import BEGINNING_BYTES, PARQUET, refuse_known_kinds, refuse_no_text
from curation.files.records import Record, RecordLines, physical_lines, split_cells
from curation.files.sniffing import detect_dialect, sample_lines
from curation.files.writing import as_text, replacing
from curation.pairs.text import printable

_HEADER_WITHIN = 20  # a header may follow some lines of title, and no more


class Answer(NamedTuple):
    """One row of judgements as cells: the items in the order of their columns, "" for one that is missing."""

    line: int
    items: list[str]
    best: str
    worst: str
    annotator: str = ""
    duplicate: str = ""


@dataclass(frozen=True)
class Table:
    """header: the row that names the columns. indexes: which of them hold what."""

    path: Path
    encoding: Encoding
    delimiter: str
    quoted: bool
    header: Record
    indexes: ColumnIndexes | LongColumnIndexes

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return [str(name) for name in self.header.cells]

    @property
    def item_columns(self) -> list[str]:
        """The name of the column of each item; none if a column or a row holds several items, or two half an item."""
        if isinstance(self.indexes, LongColumnIndexes) or len(self.indexes.items) == 1:
            return []
        return [self.names[columns[0]] for columns in self.indexes.items if len(columns) == 1]

    def answers(self) -> Iterator[Answer | RowError]:
        """The judgements of the file, and its rows that are none, in the order of the file."""
        if isinstance(self.indexes, LongColumnIndexes):
            return _gathered(self._rows(), self.indexes)
        return (row if isinstance(row, RowError) else _answer(row, self.indexes) for row in self._rows())

    def _rows(self) -> Iterator[Record | RowError]:
        lines, width = RecordLines(text_lines(self.path, self.encoding)), self.indexes.width
        for record in split_cells(lines, delimiter=self.delimiter, quoted=self.quoted):
            if record.line == self.header.line:
                continue
            if isinstance(record, RowError):
                yield record
            elif record.line < self.header.line:
                yield RowError(record.line, "the row is above the header", record.text)
            elif record.cells == self.header.cells:
                yield RowError(record.line, "the row repeats the header", record.text)
            elif len(record.cells) < width:
                needed = f"the row has {len(record.cells)} cells and needs {width}"
                yield RowError(record.line, needed, record.text)
            else:
                yield record


def _answer(record: Record, indexes: ColumnIndexes) -> Answer | RowError:
    cells = list(map(str, record.cells))
    if len(indexes.items) == 1:
        items = list_in(cells[indexes.items[0][0]])
    else:
        items = [
            cells[columns[0]] if len(columns) == 1 else "\n".join(cells[index] for index in columns)
            for columns in indexes.items
        ]
    annotator = "" if indexes.annotator is None else cells[indexes.annotator]
    duplicate = "" if indexes.duplicate is None else cells[indexes.duplicate]
    return Answer(record.line, items, cells[indexes.best], cells[indexes.worst], annotator, duplicate)


def _gathered(rows: Iterator[Record | RowError], indexes: LongColumnIndexes) -> Iterator[Answer | RowError]:
    """One answer for the rows of each screen (a person's block), in the order of their first rows."""
    screens: dict[tuple[str, str], list[Record]] = {}
    for row in rows:
        if isinstance(row, RowError):
            yield row
        else:
            key = (str(row.cells[indexes.annotator]), str(row.cells[indexes.block]))
            screens.setdefault(key, []).append(row)
    for (person, _block), records in screens.items():
        items = [str(record.cells[indexes.item]) for record in records]
        choices = [_whole(str(record.cells[indexes.choice])) for record in records]
        best, worst = (
            [item for item, choice in zip(items, choices, strict=True) if choice == sign] for sign in (1, -1)
        )
        if len(best) != 1 or len(worst) != 1 or not set(choices) <= {-1, 0, 1}:
            reason = "the rows of its id and block do not have one choice of 1, one of -1 and otherwise 0"
            yield RowError(records[0].line, reason, records[0].text)
        else:
            yield Answer(records[0].line, items, best[0], worst[0], person)


def _whole(cell: str) -> int | None:
    """1, -1 or 0 as programs write them, with or without a point; None for anything else."""
    try:
        value = float(cell)
    except ValueError:
        return None
    return int(value) if value in {-1.0, 0.0, 1.0} else None


def list_in(cell: str) -> list[str]:
    """The texts of a cell that holds a list, as Python and JSON write it; none if it does not."""
    try:
        values = ast.literal_eval(cell.strip()) if cell.lstrip().startswith(("[", "(")) else ()
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return []
    return [str(value) for value in values] if isinstance(values, list | tuple) else []


def find_table(path: Path, columns: Columns) -> Table:
    """Find the header of a table and what separates its cells. Raises FileError if there is none."""
    refused: list[tuple[_Header, ReadingError]] = []
    encoding = encoding_of(path)
    for header in _possible_headers(path, encoding):
        try:
            indexes = find_columns(columns, header.names)
            return Table(path, encoding, header.delimiter, header.quoted, header.record, indexes)
        except ReadingError as error:
            refused.append((header, error))
    # No row fits: the error is about the one that looks most like a header.
    _header, why = max(refused, key=lambda refusal: refusal[0].width)
    raise ReadingError(why.notice.of_file(path.name)) from why


@dataclass(frozen=True)
class TableBeginning:
    """The header and the first rows of a table as cells, for people who choose its columns.

    recognised: the columns that would be taken. one_item_per_row: whether each row is an item of a judgement, so
    that there are no columns of items to choose.
    """

    names: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    recognised: RecognisedColumns
    one_item_per_row: bool
    encoding: str


def table_beginning(path: Path, columns: Columns, *, rows: int) -> TableBeginning:
    """Look at the beginning of a table whose columns may not be recognised. Raises FileError if it is no table."""
    encoding = encoding_of(path)
    headers = list(_possible_headers(path, encoding))
    fitting = next((header for header in headers if header.fits(columns)), None)
    header = fitting or max(headers, key=attrgetter("width"))
    below = (record for record in header.records(path, encoding) if record.line > header.record.line)
    width = header.width
    shown = ([printable(str(cell)) for cell in record.cells] for record in islice(below, rows))
    return TableBeginning(
        tuple(map(printable, header.names)),
        tuple(tuple([*cells, *[""] * width][:width]) for cells in shown),
        recognised_columns(header.names),
        fitting is not None and isinstance(find_columns(columns, header.names), LongColumnIndexes),
        encoding.name.removesuffix("-sig"),
    )


class _Header(NamedTuple):
    """A row that may be the header of a table, if this separates its cells."""

    record: Record
    delimiter: str
    quoted: bool

    @property
    def names(self) -> list[str]:
        return [str(name) for name in self.record.cells]

    @property
    def width(self) -> int:
        return len(self.record.cells)

    def fits(self, columns: Columns) -> bool:
        try:
            find_columns(columns, self.names)
        except FileError:
            return False
        return True

    def records(self, path: Path, encoding: Encoding) -> Iterator[Record]:
        """The first rows of the file that can be read."""
        lines = RecordLines(iter(sample_lines(path, encoding.name)))
        rows = split_cells(lines, delimiter=self.delimiter, quoted=self.quoted)
        return (row for row in rows if isinstance(row, Record))


def _possible_headers(path: Path, encoding: Encoding) -> Iterator[_Header]:
    """Every row that may be the header, the likelier ones first. Raises FileError for a file without a row."""
    lines = sample_lines(path, encoding.name)
    if not any(line.strip() for line in lines):
        raise FileError(f"{path.name} is empty; give a table of judgements with a header.")
    found = False
    for delimiter in ",\t;|":
        quoted = delimiter != "\t" or detect_dialect(lines, usual="\t", given="\t").quoted
        records = split_cells(RecordLines(iter(lines)), delimiter=delimiter, quoted=quoted)
        for record in islice(records, _HEADER_WITHIN):
            if isinstance(record, Record):
                found = True
                yield _Header(record, delimiter, quoted)
    if not found:
        raise FileError(f"{path.name} has no row that can be read; give a table of judgements with a header.")


def encoding_of(path: Path) -> Encoding:
    """The encoding of a text file. Raises FileError if it cannot be read, or is not text."""
    try:
        with path.open("rb") as file:
            beginning = file.read(BEGINNING_BYTES)
        encoding = detect_encoding(path)
    except OSError as error:
        raise FileError(f"{path} cannot be read: {error.strerror or error}; check the path.") from error
    refuse_known_kinds(path.name, beginning)
    if beginning.startswith(PARQUET):
        raise FileError(f"{path.name} is a Parquet file; write its rows as CSV, lists as text in one column.")
    refuse_no_text(path.name, beginning)
    return encoding


def text_lines(path: Path, encoding: Encoding) -> Iterator[str]:
    """The lines of a text file; bytes that are not text in its encoding are kept apart, if it allows that."""
    with path.open(encoding=encoding.name, errors=errors_for(encoding.name), newline="") as file:
        yield from physical_lines(file, path.name)


@contextmanager
def writing_text(path: Path) -> Iterator[TextIO]:
    """A UTF-8 file that is complete or not there."""
    with replacing(path) as file, as_text(file) as text:
        yield text
