"""A table of judgements before its rows mean anything.

Where its header is, what separates its cells, and which columns hold the items, the best, the worst and who judged.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from operator import itemgetter
from pathlib import Path
from typing import TextIO

from curation.files.drafts import FileError, RowError
from curation.files.encoding import Encoding, detect_encoding, errors_for
from curation.files.records import Record, RecordLines, physical_lines, split_cells
from curation.files.sniffing import detect_dialect, refuse_archives
from curation.files.writing import as_text, replacing

_ITEM = re.compile(r"(?:item|option)(\d+)")
_RECOGNISED = {
    "best": ("bestitem", "best"),
    "worst": ("worstitem", "worst"),
    "annotator": ("annotator", "annotatorid", "worker", "workerid", "user", "username"),
}
# Control characters other than white space, Escape among them.
_NO_TEXT = bytes(set(range(32)) - set(b"\t\n\v\f\r") | {127})
_STRAY = 0.05  # the share of these that a text file may have: a stray one spoils its row and not the file
_HEADER_WITHIN = 20  # a header may follow some lines of title, and no more


@dataclass(frozen=True)
class Columns:
    """Names of columns; None to recognise them (Item1 ..., BestItem, WorstItem, Annotator).

    items: one name for each position, or a single column whose cells hold a list of all items.
    """

    items: Sequence[str] | None = None
    best: str | None = None
    worst: str | None = None
    annotator: str | None = None


@dataclass(frozen=True)
class Table:
    """header: the row that names the columns. items, best, worst: the indexes of columns in a row, from 0.

    annotator: the index of its column, or None if the table does not say who judged.
    """

    path: Path
    encoding: Encoding
    delimiter: str
    quoted: bool
    header: Record
    items: tuple[int, ...]
    best: int
    worst: int
    annotator: int | None

    @property
    def cells_needed(self) -> int:
        return 1 + max(*self.items, self.best, self.worst, self.annotator or 0)

    def records(self) -> Iterator[Record | RowError]:
        """All rows of the file, including the header and those before it."""
        lines = RecordLines(text_lines(self.path, self.encoding))
        return split_cells(lines, delimiter=self.delimiter, quoted=self.quoted)


def find_table(path: Path, columns: Columns) -> Table:
    """Find the header of a table and what separates its cells. Raises FileError if there is none."""
    encoding = encoding_of(path)
    lines = list(islice(text_lines(path, encoding), 2000))
    if not any(line.strip() for line in lines):
        raise FileError(f"{path.name} is empty; give a table of judgements with a header.")
    refused: list[tuple[int, FileError]] = []
    for delimiter in ",\t;|":
        quoted = delimiter != "\t" or detect_dialect(lines, usual="\t", given="\t").quoted
        records = split_cells(RecordLines(iter(lines)), delimiter=delimiter, quoted=quoted)
        for header in islice(records, _HEADER_WITHIN):
            if isinstance(header, Record):
                try:
                    indexes = _column_indexes(columns, [str(name) for name in header.cells])
                    return Table(path, encoding, delimiter, quoted, header, *indexes)
                except FileError as error:
                    refused.append((len(header.cells), error))
    # No row fits: the error is about the one that looks most like a header.
    why = max(refused, key=itemgetter(0))[1]
    raise FileError(f"{path.name}: {why}") from why


def _column_indexes(columns: Columns, header: Sequence[str]) -> tuple[tuple[int, ...], int, int, int | None]:
    """Of the items, the best, the worst and the annotator; case, spaces and underscores in names do not matter.

    Raises FileError if a column is missing or there twice.
    """
    names = [_plain(name) for name in header]
    numbered = {int(match[1]): match[0] for name in names if (match := _ITEM.fullmatch(name))}
    if columns.items is None and len(numbered) < 2:
        raise FileError(
            f"No columns Item1, Item2, … among {_listed(header)}; name the columns of the items with --items."
        )
    given = [numbered[number] for number in sorted(numbered)] if columns.items is None else columns.items
    items = tuple(_index(name, "items", names, header) for name in given)
    if len(set(items)) < len(items):
        raise FileError("--items names a column twice; name one for each position.")
    best = _index(columns.best, "best", names, header)
    worst = _index(columns.worst, "worst", names, header)
    annotated = columns.annotator is not None or not set(_RECOGNISED["annotator"]).isdisjoint(names)
    return items, best, worst, _index(columns.annotator, "annotator", names, header) if annotated else None


def _plain(name: str) -> str:
    return re.sub(r"[\s_]+", "", name).casefold()


def _index(given: str | None, role: str, names: list[str], header: Sequence[str]) -> int:
    for name in _RECOGNISED[role] if given is None else (_plain(given),):
        if names.count(name) > 1:
            raise FileError(f'There are two columns "{header[names.index(name)]}"; rename one of the two.')
        if name in names:
            return names.index(name)
    missing = given or f"{role.capitalize()}Item"
    raise FileError(f'No column "{missing}" among {_listed(header)}; name another with --{role}.')


def _listed(header: Sequence[str]) -> str:
    # A terminal obeys characters that cannot be printed.
    names = ["".join(sign if sign.isprintable() else "�" for sign in name) for name in header[:12]]
    shown = ", ".join(f'"{name if len(name) <= 40 else name[:39] + "…"}"' for name in names)
    return shown + (", …" if len(header) > 12 else "")


def encoding_of(path: Path) -> Encoding:
    """The encoding of a text file. Raises FileError if it cannot be read, or is not text."""
    try:
        with path.open("rb") as file:
            beginning = file.read(4096)
        encoding = detect_encoding(path)
    except OSError as error:
        raise FileError(f"{path} cannot be read: {error.strerror or error}; check the path.") from error
    refuse_archives(path.name, beginning)
    text = len(beginning.translate(None, _NO_TEXT))
    if not encoding.name.startswith(("utf-16", "utf-32")) and text < (1 - _STRAY) * len(beginning):
        raise FileError(f"{path.name} is not a text file; save it as text in UTF-8.")
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
