"""A table of judgements before its rows mean anything.

Where its header is, what separates its cells, and the cells of each judgement. A JSONL or Parquet file is a table whose
keys or columns are the header.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import islice
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple, TextIO

from annotation.bws.files.answers import Answer, answer_of, answers_gathered
from annotation.bws.files.columns import (
    ColumnIndexes,
    Columns,
    LongColumnIndexes,
    RecognisedColumns,
    columns_guessed,
    find_columns,
    recognised_columns,
)
from annotation.bws.files.notices import ReadingError
from curation.files.columns import nested_refusal
from curation.files.dialects import DELIMITERS, HEADER_WITHIN, Dialect, detect_dialect, separator_named
from curation.files.drafts import FileError, Guess, Layout, RowError
from curation.files.encoding import Encoding, detect_encoding, errors_for
from curation.files.records import (
    Record,
    RecordLines,
    data_records,
    headers_refused,
    physical_lines,
    split_cells,
)
from curation.files.sampling import dialect_guesses, take_sample
from curation.files.sniffing import (
    BEGINNING_BYTES,
    JUDGEMENTS,
    PARQUET,
    all_lines,
    detect_format,
    refuse_known_kinds,
    refuse_no_text,
    sample_lines,
)
from curation.files.writing import as_text, replacing
from curation.pairs.text import printable

_LISTS_AS_TEXT = "write one item in each column, or the list as text in one column"


class _Header(NamedTuple):
    """A row that may be the header of a table, if this separates its cells."""

    record: Record
    delimiter: str = ""
    quoted: bool = False

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


@dataclass(frozen=True)
class _TextFile:
    """Lines whose cells a delimiter separates. delimiter: the one that was named, "" to try those of the field."""

    path: Path
    encoding: Encoding
    delimiter: str = ""

    @property
    def warning(self) -> str:
        return self.encoding.warning

    @property
    def encoding_name(self) -> str:
        return self.encoding.name.removesuffix("-sig")

    def headers(self) -> Iterator[_Header]:
        """Every row that may be the header, the likelier ones first. Raises FileError for a file without a row."""
        lines = sample_lines(self.path, self.encoding.name)
        if not any(line.strip() for line in lines):
            raise FileError(f"{self.path.name} is empty; give a file with {JUDGEMENTS}.")
        found = False
        for delimiter in self.delimiter or separator_named(lines[0]) or DELIMITERS:
            quoted = not self._has_marks or self.dialect(delimiter).quoted
            records = split_cells(RecordLines(iter(lines)), delimiter=delimiter, quoted=quoted)
            for record in islice(records, HEADER_WITHIN):
                if isinstance(record, Record):
                    found = True
                    yield _Header(record, delimiter, quoted)
        if not found:
            raise FileError(f"{self.path.name} has no row that can be read; give a file with {JUDGEMENTS}.")

    @cached_property
    def _has_marks(self) -> bool:
        return any('"' in line for line in all_lines(self.path, self.encoding.name))

    def dialect(self, delimiter: str) -> Dialect:
        """How the whole file is cut by a delimiter, also whether quotation marks enclose its cells."""
        lines = partial(all_lines, self.path, self.encoding.name)
        return detect_dialect(lines, usual=delimiter, given=delimiter)

    def guesses(self, header: _Header) -> Iterator[Guess]:
        """What was decided about a file with this header although nobody said it."""
        dialect = replace(self.dialect(header.delimiter), skipped=header.record.line - 1)
        return dialect_guesses(dialect, given=self.delimiter or None)

    def first(self, header: _Header) -> Iterator[Record]:
        """The first rows below the header."""
        return (row for row in self.records(header) if isinstance(row, Record))

    def records(self, header: _Header, _used: Sequence[int] = ()) -> Iterator[Record | RowError]:
        """The rows of the file, its header left out."""
        lines = RecordLines(text_lines(self.path, self.encoding))
        rows = split_cells(lines, delimiter=header.delimiter, quoted=header.quoted)
        for row in rows:
            if row.line >= header.record.line:
                break
            if isinstance(row, RowError):
                yield row
            elif not separator_named(row.lines[0]):
                yield RowError(row.line, "the row is above the header", row.text)
        yield from headers_refused(header.names, rows)


@dataclass(frozen=True)
class _RecordFile:
    """Objects of JSONL or rows of Parquet: their keys or columns are the header."""

    layout: Layout

    @property
    def warning(self) -> str:
        return "" if self.layout.format == "parquet" else " ".join(self.layout.warnings)

    @property
    def encoding_name(self) -> str:
        return self.layout.encoding.removesuffix("-sig") or "Parquet"

    def headers(self) -> Iterator[_Header]:
        yield _Header(Record(0, self.layout.columns))

    def guesses(self, _header: _Header) -> Iterator[Guess]:
        return iter(())

    def records(self, _header: _Header, used: Sequence[int] = ()) -> Iterator[Record | RowError]:
        """The rows, of Parquet their cells in the columns that are used."""
        places = {self.layout.columns[place]: place for place in used}
        for row in data_records(replace(self.layout, mapping=places)):
            yield row if isinstance(row, RowError) else row._replace(cells=_as_texts(row.cells))

    def first(self, _header: _Header) -> Iterator[Record]:
        """The first rows below the header."""
        return (Record(number, _as_texts(cells)) for number, cells in enumerate(self.layout.rows, 1))


def _as_texts(cells: Sequence[object]) -> list[str]:
    """Cells as CSV would hold them: nothing where there is no value, whole numbers without decimals."""
    return ["" if cell is None or cell != cell else str(cell) for cell in cells]  # noqa: PLR0124 - NaN is not itself


@dataclass(frozen=True)
class Table:
    """names: of the columns. indexes: which of them hold what. warning: a sentence on an encoding that was guessed.

    named: the columns that somebody named.
    """

    path: Path
    source: _TextFile | _RecordFile
    header: _Header
    indexes: ColumnIndexes | LongColumnIndexes
    named: Columns

    @property
    def warning(self) -> str:
        return self.source.warning

    @property
    def names(self) -> list[str]:
        return self.header.names

    def guesses(self) -> list[Guess]:
        """What was decided about the file although nobody said it. Reads a text file once more, or twice."""
        return [*self.source.guesses(self.header), *columns_guessed(self.named, self.indexes, self.names)]

    @property
    def item_columns(self) -> list[str]:
        """The name of the column of each item; none if a column or a row holds several items, or two half an item."""
        if isinstance(self.indexes, LongColumnIndexes) or len(self.indexes.items) == 1:
            return []
        return [self.names[columns[0]] for columns in self.indexes.items if len(columns) == 1]

    def answers(self) -> Iterator[Answer | RowError]:
        """The judgements of the file, and its rows that are none, in the order of the file."""
        if isinstance(self.indexes, LongColumnIndexes):
            return answers_gathered(self._rows(), self.indexes)
        return (row if isinstance(row, RowError) else answer_of(row, self.indexes) for row in self._rows())

    def _rows(self) -> Iterator[Record | RowError]:
        used = self.indexes.used
        width = 1 + max(used)
        for record in self.source.records(self.header, used):
            if isinstance(record, Record) and len(record.cells) < width:
                needed = f"the row has {len(record.cells)} cells and needs {width}"
                yield RowError(record.line, needed, record.text)
            else:
                yield record


def find_table(
    path: Path, columns: Columns, *, delimiter: str | None = None, encoding: str | None = None
) -> Table:
    """Find the header of a table and what separates its cells. Raises FileError if there is none."""
    refused: list[tuple[_Header, ReadingError]] = []
    source = _opened(path, delimiter, encoding)
    for header in source.headers():
        try:
            return Table(path, source, header, find_columns(columns, header.names), columns)
        except ReadingError as error:
            refused.append((header, error))
    # No row fits: the error is about the one that looks most like a header.
    _header, why = max(refused, key=lambda refusal: refusal[0].width)
    if isinstance(source, _RecordFile) and source.layout.nested:
        raise FileError(nested_refusal(path.name, source.layout.nested, instead=_LISTS_AS_TEXT)) from why
    raise ReadingError(why.notice.of_file(path.name)) from why


def _opened(path: Path, delimiter: str | None, encoding: str | None) -> _TextFile | _RecordFile:
    """Raises FileError if the file cannot be read, or is not a table."""
    kind = detect_format(path, rows=JUDGEMENTS)
    if kind in ("jsonl", "parquet"):
        return _RecordFile(take_sample(path, encoding=encoding))
    return _TextFile(path, encoding_of(path, encoding), delimiter or "")


@dataclass(frozen=True)
class TableBeginning:
    """The header and the first rows of a table as cells, for people who choose its columns.

    recognised: the columns that would be taken. one_item_per_row: whether each row is an item of a judgement.
    """

    names: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    recognised: RecognisedColumns
    one_item_per_row: bool
    encoding: str


def table_beginning(
    path: Path, columns: Columns, *, rows: int, delimiter: str | None = None, encoding: str | None = None
) -> TableBeginning:
    """Look at the beginning of a table whose columns may not be recognised. Raises FileError if it is not a table."""
    source = _opened(path, delimiter, encoding)
    headers = list(source.headers())
    fitting = next((header for header in headers if header.fits(columns)), None)
    header = fitting or max(headers, key=attrgetter("width"))
    width = header.width
    below = islice(source.first(header), rows)
    shown = ([printable(str(cell)) for cell in record.cells] for record in below)
    return TableBeginning(
        tuple(map(printable, header.names)),
        tuple(tuple([*cells, *[""] * width][:width]) for cells in shown),
        recognised_columns(header.names),
        fitting is not None and isinstance(find_columns(columns, header.names), LongColumnIndexes),
        source.encoding_name,
    )


def encoding_of(path: Path, named: str | None = None) -> Encoding:
    """The encoding of a text file; named: by somebody, None to detect it.

    Raises FileError if it cannot be read, or is not text.
    """
    try:
        with path.open("rb") as file:
            beginning = file.read(BEGINNING_BYTES)
        refuse_known_kinds(path.name, beginning)
        if beginning.startswith(PARQUET):
            raise FileError(f"{path.name} is a Parquet file; write its rows as text.")
        refuse_no_text(path.name, beginning)
        return detect_encoding(path, named)
    except OSError as error:
        raise FileError(f"{path} cannot be read: {error.strerror or error}; check the path.") from error


def text_lines(path: Path, encoding: Encoding) -> Iterator[str]:
    """The lines of a text file; bytes that are not text in its encoding are kept apart, if it allows that."""
    with path.open(encoding=encoding.name, errors=errors_for(encoding.name), newline="") as file:
        yield from physical_lines(file, path.name)


@contextmanager
def writing_text(path: Path) -> Iterator[TextIO]:
    """A UTF-8 file that is complete or not there."""
    with replacing(path) as file, as_text(file) as text:
        yield text
