"""A table of judgements before its rows mean anything: where its header is and what separates its cells."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TextIO

from annotation.bws.columns import Columns, Places, places_of
from curation.files.drafts import FileError, RowError
from curation.files.encoding import Encoding, detect_encoding, errors_for
from curation.files.records import Record, RecordLines, physical_lines, split_cells
from curation.files.sniffing import detect_dialect, refuse_archives

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
