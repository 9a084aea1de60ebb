"""Rows among the data that are headers: of any kind of table, decided here and nowhere else.

Files that were joined repeat their header. Qualtrics writes three: the names of the columns, the texts of the
questions (some of them blank), and a row of `{"ImportId": …}`; people often delete the third.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from curation.files.drafts import Layout, RowError
from curation.files.records import Record, read_records

_IMPORT_ID = '{"ImportId"'
# Columns that Qualtrics writes in every file, and the words that its second row has for them.
_OF_QUALTRICS = frozenset({"startdate", "enddate", "recordeddate", "responseid", "ipaddress"})
REPEATED = "the row repeats the header"
QUESTIONS = "the row is a second header row: it holds the texts of the questions (Qualtrics)"
IMPORT_IDS = "the row is a third header row: it holds import ids (Qualtrics)"


def data_records(layout: Layout) -> Iterator[Record | RowError]:
    """The file's rows as `read_records` gives them, without headers among them."""
    records = read_records(layout)
    return headers_refused(layout.columns, records) if layout.header else records


def headers_refused(names: Sequence[str], rows: Iterable[Record | RowError]) -> Iterator[Record | RowError]:
    """The rows below a header, with an error instead of each that is a header again.

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
