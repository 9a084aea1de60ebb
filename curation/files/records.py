"""Rows of a file before they mean anything: cells with the physical line on which each row begins.

A row that breaks the format is answered with a RowError, and reading goes on with the next physical line.
"""

import csv
import json
import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import IO, Literal, NamedTuple, NoReturn

from curation.files.drafts import FileError, Layout, RowError
from curation.files.encoding import errors_for, mended
from curation.files.json_text import LEVELS_MOST, nested_deeply
from curation.files.parquet import ROWS_MOST, parquet_rows
from curation.pairs.text import printable

LINE_MAX_CHARACTERS = 1_000_000
LINES_MOST = 10 * ROWS_MOST
# Of a row's text this much is kept, to show it where it is wrong.
ROW_KEPT_CHARACTERS = 12_000
# A quoted cell may run over several lines; one that runs over more has lost its closing quotation mark.
RECORD_MAX_LINES = 100
_NOT_CLOSED = "a quotation mark is opened and not closed"
_IMPORT_ID = '{"ImportId"'
# Columns that Qualtrics writes in every file, and the words that its second row has for them.
_OF_QUALTRICS = frozenset({"startdate", "enddate", "recordeddate", "responseid", "ipaddress"})
REPEATED = "the row repeats the header"
QUESTIONS = "the row is a second header row: it holds the texts of the questions (Qualtrics)"
IMPORT_IDS = "the row is a third header row: it holds import ids (Qualtrics)"


class Record(NamedTuple):
    line: int
    cells: Sequence[object]
    lines: Sequence[str] = ()

    @property
    def text(self) -> str:
        """The row as it stood in the file, or its cells where the file is not text; of a long row, the beginning."""
        if self.lines:
            return kept("".join(self.lines).rstrip("\r\n"))
        return kept("\t".join(str(cell)[: ROW_KEPT_CHARACTERS + 1] for cell in self.cells))


def kept(row: str) -> str:
    """What is kept of the text of a row."""
    shown = row if len(row) <= ROW_KEPT_CHARACTERS else f"{row[:ROW_KEPT_CHARACTERS]}…"
    return printable(shown)


def read_records(layout: Layout) -> Iterator[Record | RowError]:
    """The file's rows below the header, in the file's order. Cells stand in the order of `layout.columns`.

    Raises FileError where the file cannot be read any further.
    """
    readers = {"jsonl": _json_records, "parquet": _parquet_records}
    return readers.get(layout.format, _delimited_records)(layout)


def physical_lines(file: IO[str], name: str) -> Iterator[str]:
    """The lines with their ends, and with the characters that were meant (`mended`).

    Raises FileError for a line too long to be a row, or that cannot be decoded.
    """
    number = 0
    try:
        while line := file.readline(LINE_MAX_CHARACTERS):
            number += 1
            if len(line) == LINE_MAX_CHARACTERS:
                raise FileError(
                    f"Line {number} of {name} has more than {LINE_MAX_CHARACTERS:,} characters; "
                    f"check that the file has line ends, and one row a line."
                )
            if number > LINES_MOST:
                raise FileError(
                    f"{name} has more than {LINES_MOST:,} lines; split it, or take out those that hold no pair."
                )
            yield mended(line)
    except UnicodeDecodeError as error:
        raise FileError(
            f"{name} cannot be read as {error.encoding} after line {number}; save it as UTF-8."
        ) from error


class RecordLines:
    """Hands out physical lines, also to csv.reader, and remembers which of them the current record took."""

    def __init__(self, lines: Iterator[str], *, skip: int = 0) -> None:
        """skip: how many of the lines are passed over."""
        self._lines = islice(lines, skip, None)
        self._again: deque[str] = deque()
        self.number = skip
        self.taken: list[str] = []

    def __iter__(self) -> "RecordLines":
        return self

    def __next__(self) -> str:
        if self.taken and (
            len(self.taken) == RECORD_MAX_LINES or sum(map(len, self.taken)) > LINE_MAX_CHARACTERS
        ):
            raise csv.Error(_NOT_CLOSED)
        line = self._again.popleft() if self._again else next(self._lines)
        self.number += 1
        self.taken.append(line)
        return line

    def give_back(self, keeping: int) -> None:
        """Give back the lines of the current record but for the first ones."""
        again = self.taken[keeping:]
        self._again.extendleft(reversed(again))
        self.number -= len(again)
        del self.taken[keeping:]


def split_cells(
    lines: RecordLines, *, delimiter: str, quoted: bool, width: int = 0
) -> Iterator[Record | RowError]:
    """Physical lines into rows of cells; blank lines are passed over.

    width: how many cells a row has, where that is known: rows that a quotation mark would merge then stay apart.
    """
    # Strict: a stray quotation mark is an error of its row, never a silent change of its sentences.
    quoting: Literal[0, 3] = csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE
    reader = csv.reader(lines, delimiter=delimiter, quoting=quoting, strict=True)
    longest = csv.field_size_limit()
    while True:
        lines.taken = []
        line = next(lines, None)
        if line is None:
            return
        if len(line) < longest and not (quoted and '"' in line):
            # Nearly every line. The reader would give the same, more slowly.
            row = line.rstrip("\r\n")
            if row:
                yield Record(lines.number, row.split(delimiter), lines.taken)
            continue
        lines.give_back(0)
        try:
            cells = next(reader)
        except csv.Error as error:
            lines.give_back(1)
            # The reason in words of a spreadsheet rather than of a parser.
            words = {
                "expected after": "a quotation mark inside a quoted cell is not doubled",
                "field limit": f"a cell has more than {longest:,} characters",
                "unexpected end": _NOT_CLOSED,
            }
            fault = str(error)
            reason = next((plain for mark, plain in words.items() if mark in fault), fault)
            yield RowError(lines.number, reason, kept(lines.taken[0].rstrip("\r\n")))
            continue
        record = Record(lines.number - len(lines.taken) + 1, cells, lines.taken)
        if len(lines.taken) > 1 and false_merge(record, delimiter, width):
            lines.give_back(1)
            yield RowError(lines.number, _NOT_CLOSED, kept(lines.taken[0].rstrip("\r\n")))
            continue
        yield record


def false_merge(record: Record, delimiter: str, width: int) -> bool:
    """Whether a row came of lines that would each be a row by itself.

    A mark that is part of the text opened a cell, and one of a later row closed it. A cell that really holds line ends
    divides its row into lines that have fewer cells, or into lines whose delimiters are those of prose: beside a space,
    before closing marks and a space, or between two digits.
    """
    if width < 2 or any(line.count(delimiter) != width - 1 for line in record.lines):
        return False
    mark = re.escape(delimiter)
    in_prose = re.compile(rf"\s{mark}|{mark}[\"'”’»]*\s|(?<=\d){mark}(?=\d)")
    return any(delimiter in in_prose.sub("", str(cell)) for cell in record.cells if "\n" in str(cell))


def _delimited_records(layout: Layout) -> Iterator[Record | RowError]:
    with _open_text(layout) as file:
        lines = RecordLines(physical_lines(file, layout.path.name), skip=layout.skipped)
        width = len(layout.columns)
        rows = split_cells(lines, delimiter=layout.delimiter, quoted=layout.quoted, width=width)
        if layout.header:
            next(rows, None)
        for row in rows:
            if isinstance(row, Record) and len(row.cells) != width:
                cells = "1 cell" if len(row.cells) == 1 else f"{len(row.cells)} cells"
                reason = f"the row has {cells}, the file {width} columns"
                yield RowError(row.line, reason, row.text, cells=row.cells)
            else:
                yield row


def _open_text(layout: Layout) -> IO[str]:
    return layout.path.open(encoding=layout.encoding, errors=errors_for(layout.encoding), newline="")


def _json_records(layout: Layout) -> Iterator[Record | RowError]:
    with _open_text(layout) as file:
        for number, line in enumerate(physical_lines(file, layout.path.name), 1):
            if line.isspace():
                continue
            try:
                values = json_object(line)
            except ValueError as error:
                yield RowError(number, str(error), kept(line.rstrip("\r\n")))
            else:
                yield Record(number, [values.get(name) for name in layout.columns], [line])


_TOO_DEEP = "the line is not JSON of a pair: it is nested too deeply"


def json_object(line: str) -> dict[str, object]:
    """One line of a JSONL file. Raises ValueError with a reason where it holds no object."""
    try:
        values = json.loads(line.rstrip(), parse_constant=_refuse_constant)  # noqa: TID251 - each error below has its own sentence
    except json.JSONDecodeError as error:
        raise ValueError(f"the line is not JSON: {error.msg} at character {error.pos + 1}") from error
    except RecursionError as error:
        raise ValueError(_TOO_DEEP) from error
    if not isinstance(values, dict):
        raise ValueError("the line holds no JSON object")
    if line.count("[") + line.count("{") > LEVELS_MOST and nested_deeply(values):
        raise ValueError(_TOO_DEEP)
    return values


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"the line is not JSON: {name} is not a number")


def _parquet_records(layout: Layout) -> Iterator[Record | RowError]:
    wanted = sorted(set(layout.mapping.values()))
    names = [layout.columns[index] for index in wanted]
    for number, values in enumerate(parquet_rows(layout.path, names), 1):
        cells: list[object] = [None] * len(layout.columns)
        for index, value in zip(wanted, values, strict=True):
            cells[index] = value
        yield Record(number, cells)


def data_records(layout: Layout) -> Iterator[Record | RowError]:
    """The file's rows as `read_records` gives them, without headers among them."""
    records = read_records(layout)
    return headers_refused(layout.columns, records) if layout.header else records


def headers_refused(names: Sequence[str], rows: Iterable[Record | RowError]) -> Iterator[Record | RowError]:
    """The rows below a header, with an error instead of each that is a header again.

    Files that were joined repeat their header. Qualtrics writes three: the names of the columns, the texts of the
    questions (some of them blank), and a row of `{"ImportId": …}`; people often delete the third.
    names: of the columns, as the header has them.
    """
    remaining = iter(rows)
    first = list(islice(remaining, 2))
    # Why each of the first two rows below the header is a header too; "" for one that is none.
    kinds = [_reason(names, row.cells) for row in first if isinstance(row, Record)]
    # The texts of the questions are known by what stands below them.
    if kinds[1:] == [IMPORT_IDS] and not kinds[0]:
        kinds[0] = QUESTIONS
    reasons = iter(kinds)
    for row in first:
        reason = next(reasons, "") if isinstance(row, Record) else ""
        yield _refused(row, reason) if reason and isinstance(row, Record) else row
    wanted = [name.strip() for name in names]
    place = next((index for index, name in enumerate(wanted) if name), 0)
    for row in remaining:
        # One cell decides for nearly every row that it is not a header.
        repeats = len(row.cells) > place and _is(row.cells[place], wanted[place])
        if repeats and isinstance(row, Record) and _repeats(wanted, row.cells):
            yield _refused(row, REPEATED)
        else:
            yield row


def _reason(names: Sequence[str], cells: Sequence[object]) -> str:
    if _repeats([name.strip() for name in names], cells):
        return REPEATED
    filled = [str(cell).strip() for cell in cells if cell not in (None, "")]
    if filled and all(cell.replace(" ", "").startswith(_IMPORT_ID) for cell in filled):
        return IMPORT_IDS
    plain = [(_plain(name), _plain(cell)) for name, cell in zip(names, cells, strict=False)]
    return QUESTIONS if any(name == cell and name in _OF_QUALTRICS for name, cell in plain) else ""


def _repeats(names: Sequence[str], cells: Sequence[object]) -> bool:
    return len(cells) == len(names) and any(names) and all(map(_is, cells, names))


def _is(cell: object, name: str) -> bool:
    return isinstance(cell, str) and cell.strip() == name


def _plain(text: object) -> str:
    return re.sub(r"[^a-z0-9]", "", str(text).lower())


def _refused(row: Record, reason: str) -> RowError:
    return RowError(row.line, reason, row.text, cells=row.cells, is_header=True)
