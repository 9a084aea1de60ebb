"""A table of judgements before its rows mean anything.

Where its header is, what separates its cells, and which columns hold the items, the best, the worst and who judged.
"""

import io
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TextIO

from curation.files.drafts import FileError, RowError
from curation.files.encoding import Encoding, detect_encoding, errors_for
from curation.files.records import Record, RecordLines, physical_lines, split_cells
from curation.files.sniffing import detect_dialect, refuse_archives
from curation.files.writing import replacing

_ITEM = re.compile(r"(?:item|option)(\d+)")
_RECOGNISED = {
    "best": ("bestitem", "best"),
    "worst": ("worstitem", "worst"),
    "annotator": ("annotator", "annotatorid", "worker", "workerid", "user", "username"),
}


@dataclass(frozen=True)
class Columns:
    """Names of columns; None where they are to be recognised (Item1 ..., BestItem, WorstItem, Annotator).

    items: one name a place, or a single column whose cells hold a list of all items.
    """

    items: tuple[str, ...] | None = None
    best: str | None = None
    worst: str | None = None
    annotator: str | None = None


@dataclass(frozen=True)
class Places:
    """Where in a row the cells stand, from 0. annotator is None where the table does not say who judged."""

    items: tuple[int, ...]
    best: int
    worst: int
    annotator: int | None

    @property
    def last(self) -> int:
        return max(*self.items, self.best, self.worst, self.annotator or 0)


RECOGNISED = Columns()


def places_of(columns: Columns, cells: Sequence[object]) -> Places:
    """Find the columns in a header; case, spaces and underscores in its names do not matter.

    Raises FileError where one is missing or stands twice.
    """
    header = [str(name) for name in cells]
    names = [_plain(name) for name in header]
    annotator = columns.annotator
    if annotator is None and any(name in _RECOGNISED["annotator"] for name in names):
        annotator = next(name for name in _RECOGNISED["annotator"] if name in names)
    return Places(
        items=_item_places(columns.items, names, header),
        best=_place(columns.best, "best", names, header),
        worst=_place(columns.worst, "worst", names, header),
        annotator=None if annotator is None else _place(annotator, "annotator", names, header),
    )


def _plain(name: str) -> str:
    return re.sub(r"[\s_]+", "", name).casefold()


def _item_places(wanted: tuple[str, ...] | None, names: list[str], header: Sequence[str]) -> tuple[int, ...]:
    if wanted is not None:
        places = tuple(_place(name, "items", names, header) for name in wanted)
        if len(set(places)) < len(places):
            raise FileError("--items names a column twice; name one for each place.")
        return places
    numbered = {int(found[1]): found[0] for name in names if (found := _ITEM.fullmatch(name))}
    if len(numbered) < 2:
        raise FileError(
            f"No columns Item1, Item2, … among {_listed(header)}; name the columns of the items with --items."
        )
    return tuple(_place(numbered[number], "items", names, header) for number in sorted(numbered))


def _place(wanted: str | None, role: str, names: list[str], header: Sequence[str]) -> int:
    known = _RECOGNISED[role] if wanted is None else (_plain(wanted),)
    for name in known:
        if names.count(name) > 1:
            raise FileError(f'The column "{header[names.index(name)]}" stands twice; rename one of the two.')
        if name in names:
            return names.index(name)
    missing = wanted or f"{role.capitalize()}Item"
    raise FileError(f'No column "{missing}" among {_listed(header)}; name another with --{role}.')


def _listed(header: Sequence[str]) -> str:
    # A terminal obeys what cannot be printed.
    names = ["".join(sign if sign.isprintable() else "�" for sign in name) for name in header[:12]]
    shown = ", ".join(f'"{name if len(name) <= 40 else name[:39] + "…"}"' for name in names)
    return shown + (", …" if len(header) > 12 else "")


# Control characters other than white space, Escape among them.
_NO_TEXT = bytes(set(range(32)) - set(b"\t\n\v\f\r") | {127})
_STRAY = 0.05
# A header may follow some lines of title, and no more.
_HEADER_WITHIN = 20


@dataclass(frozen=True)
class Table:
    """header: the row that names the columns; places: where in it those of a judgement stand."""

    path: Path
    encoding: Encoding
    delimiter: str
    quoted: bool
    header: Record
    places: Places

    def records(self) -> Iterator[Record | RowError]:
        """All rows of the file, those before the header and the header among them."""
        with open_text(self.path, self.encoding) as file:
            lines = RecordLines(physical_lines(file, self.path.name))
            yield from split_cells(lines, delimiter=self.delimiter, quoted=self.quoted)


def encoding_of(path: Path) -> Encoding:
    """Which encoding a text file is in. Raises FileError where it cannot be read, or is no text."""
    try:
        with path.open("rb") as file:
            beginning = file.read(4096)
        encoding = detect_encoding(path)
    except OSError as error:
        raise FileError(f"{path} cannot be read: {error.strerror or error}; check the path.") from error
    refuse_archives(path.name, beginning)
    if not encoding.name.startswith(("utf-16", "utf-32")) and _is_binary(beginning):
        raise FileError(f"{path.name} is no text file; save it as text in UTF-8.")
    return encoding


def _is_binary(beginning: bytes) -> bool:
    """Whether more than a few bytes are such as no text holds; a stray one spoils its row and not the file."""
    return len(beginning.translate(None, _NO_TEXT)) < (1 - _STRAY) * len(beginning)


def open_text(path: Path, encoding: Encoding) -> TextIO:
    """Open a text file; bytes that are no text in its encoding are kept apart, where it allows that."""
    return path.open(encoding=encoding.name, errors=errors_for(encoding.name), newline="")


def find_table(path: Path, columns: Columns) -> Table:
    """Find the header of a table and what separates its cells. Raises FileError where there is none."""
    encoding = encoding_of(path)
    with open_text(path, encoding) as file:
        lines = list(islice(physical_lines(file, path.name), 2000))
    if not any(line.strip() for line in lines):
        raise FileError(f"{path.name} is empty; give a table of judgements with a header.")
    candidates = list(_candidates(lines))
    for delimiter, quoted, header in candidates:
        with suppress(FileError):
            return Table(path, encoding, delimiter, quoted, header, places_of(columns, header.cells))
    # None will do: the error speaks of the row that most looks like a header.
    likely = max((header for _, _, header in candidates), key=lambda header: len(header.cells))
    try:
        places_of(columns, likely.cells)
    except FileError as error:
        raise FileError(f"{path.name}: {error}") from error
    raise AssertionError("a header that was refused is refused again")


def _candidates(lines: Sequence[str]) -> Iterator[tuple[str, bool, Record]]:
    """What might be the header, under each delimiter that might separate its cells."""
    for delimiter in ",\t;|":
        quoted = delimiter != "\t" or detect_dialect(lines, usual="\t", given="\t").quoted
        records = split_cells(RecordLines(iter(lines)), delimiter=delimiter, quoted=quoted)
        for record in islice(records, _HEADER_WITHIN):
            if isinstance(record, Record):
                yield delimiter, quoted, record


@contextmanager
def writing_text(path: Path) -> Iterator[TextIO]:
    """A UTF-8 file that is whole or not there."""
    with replacing(path) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="")
        try:
            yield text
        finally:
            text.detach()
