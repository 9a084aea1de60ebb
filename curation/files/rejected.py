"""Rejected rows as a table in the file's own columns, to be corrected and imported again."""

import json
from collections.abc import Callable, Sequence
from typing import TextIO

from curation.files.drafts import Layout, RowError
from curation.files.identity import FileOrigin
from curation.files.tables import csv_lines
from curation.pairs.text import printable

# A small file can stand for a great many rows, each of which is refused with its text.
CHARACTERS_MOST = 200_000_000
# What the columns of a file without a header are called, so that they are recognised when it is imported again.
_NAMES = {
    "a": "sentence1",
    "b": "sentence2",
    "pair": "text",
    "text": "sentence",
    "score": "score",
    "source": "source",
    "subset": "subset",
    "split": "split",
    "external_id": "id",
}


def rejected_writer(
    file: TextIO, layout: Layout, origin: FileOrigin, *, more: str
) -> Callable[[RowError], None]:
    """Write the header of a CSV file of rejected rows; the answer writes a row.

    Its columns are the line, the reason, and those of the file; before these the source and the split of all rows,
    where no column of the file has such a name: the corrected rows belong where they would have been. more: what stands
    instead of further rows once it has 200 million characters.
    """
    names: Sequence[str] = layout.columns
    if not layout.header:
        fields = {index: field for field, index in layout.mapping.items()}
        names = [_NAMES.get(fields.get(index, ""), f"column {index + 1}") for index in range(len(names))]
    plain = {name.casefold() for name in names}
    own = [
        "rejected line" if "line" in plain else "line",
        "rejected reason" if "reason" in plain else "reason",
    ]
    facts = {"source": origin.source, "split": origin.split}
    kept = {name: value for name, value in facts.items() if value and name not in plain}
    left = CHARACTERS_MOST

    def line(*cells: object) -> None:
        file.writelines(csv_lines([cells], line_end="\n"))

    def write(error: RowError) -> None:
        nonlocal left
        if left <= 0:
            return
        cells = [_text(cell) for cell in error.cells] or [error.row]
        left -= len(error.reason) + sum(map(len, cells))
        # What does not fit is counted, and no longer listed.
        listed = [error.line, error.reason, *kept.values(), *cells]
        line(*(listed if left > 0 else ("", more)))

    line(*own, *kept, *names)
    return write


def columns_in_front(header: Sequence[str], of: Sequence[str]) -> Sequence[str] | None:
    """The columns that a table has before those of the file whose rejected rows it may hold: none if it has the same
    columns; None if it is neither that file's table of rejected rows nor has its columns.
    """
    front = header[: len(header) - len(of)]
    known = {"line", "rejected line", "reason", "rejected reason", "source", "split"}
    return front if [*front, *of] == list(header) and known.issuperset(front) else None


def _text(cell: object) -> str:
    if isinstance(cell, str):
        return printable(cell)
    if isinstance(cell, list | dict):
        return printable(json.dumps(cell, ensure_ascii=False, default=str))
    return "" if cell is None else printable(str(cell))
