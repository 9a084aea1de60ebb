"""What kind of file this is: its format, its delimiter, and whether quotation marks enclose its cells."""

from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from curation.files.drafts import FileError
from curation.files.encoding import errors_for
from curation.files.foreign import BEGINNING_BYTES, PARQUET, refuse_known_kinds, refuse_no_text
from curation.files.records import Record, RecordLines, json_object, physical_lines, split_cells

SAMPLE_LINES = 2000
_SAMPLE_CHARACTERS = 1 << 20
TABLE_SUFFIXES = {
    ".csv": "csv", ".tsv": "tsv", ".tab": "tsv",
    ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet", ".pq": "parquet",
}  # fmt: skip
PAIRS = "one pair of sentences a row"
_DELIMITERS = ",\t;|"


@dataclass(frozen=True)
class Dialect:
    """How the cells of a text file are separated. rows: its first rows, the header among them."""

    delimiter: str
    quoted: bool
    rows: tuple[tuple[str, ...], ...]

    @property
    def width(self) -> int:
        """How many cells most rows have."""
        widths = Counter(map(len, self.rows))
        return max(widths, key=lambda width: (widths[width], width), default=0)

    @property
    def regularity(self) -> float:
        """The share of rows with as many cells as most; 0 where that is one cell, which separates nothing."""
        usual = self.width
        return 0.0 if usual < 2 else sum(len(row) == usual for row in self.rows) / len(self.rows)


def detect_format(path: Path, *, rows: str = PAIRS) -> str:
    """One of csv, tsv, jsonl and parquet. Raises FileError for a file that cannot be read or is none.

    rows: what the file should hold, for an error.
    """
    beginning = file_beginning(path, rows=rows)
    if known := TABLE_SUFFIXES.get(path.suffix.lower()):
        return known
    if beginning.startswith(PARQUET):
        return "parquet"
    first = beginning.removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
    if first == b"[":
        raise FileError(f"{path.name} holds one JSON list; write one object a line (JSONL).")
    return "jsonl" if first == b"{" else "csv"


def file_beginning(path: Path, *, rows: str) -> bytes:
    """The first bytes of a file. rows: what the file should hold, for an error.

    Raises FileError where the file cannot be read, is empty, or is of a kind that holds no table of text.
    """
    try:
        with path.open("rb") as file:
            beginning = file.read(BEGINNING_BYTES)
    except OSError as error:
        raise FileError(f"{path.name} cannot be read: {error.strerror}; check the path.") from error
    if not beginning.removeprefix(BOM_UTF8).strip():
        raise FileError(f"{path.name} is empty; give a file with {rows}.")
    refuse_known_kinds(path.name, beginning)
    if not beginning.startswith(PARQUET) and TABLE_SUFFIXES.get(path.suffix.lower()) != "parquet":
        refuse_no_text(path.name, beginning)
    return beginning


def sample_lines(path: Path, encoding: str) -> list[str]:
    """The first lines of a text file with their ends, at most 2,000 and about a million characters."""
    lines: list[str] = []
    characters = 0
    with path.open(encoding=encoding, errors=errors_for(encoding), newline="") as file:
        for line in islice(physical_lines(file, path.name), SAMPLE_LINES):
            lines.append(line)
            characters += len(line)
            if characters > _SAMPLE_CHARACTERS:
                break
    return lines


def sample_objects(lines: Sequence[str]) -> list[dict[str, object]]:
    """The objects of the first lines of a JSONL file, those that can be read."""
    objects = []
    for line in lines:
        with suppress(ValueError):  # parsing answers for the line; here only the keys count
            objects.append(json_object(line))
    return objects


def detect_dialect(lines: Sequence[str], *, usual: str, given: str | None = None) -> Dialect:
    """The delimiter under which most rows have the same number of cells: the usual one where it will do."""
    candidates = [_dialect(lines, given or usual)]
    if given is None and candidates[0].regularity < 0.9:
        candidates += [_dialect(lines, other) for other in _DELIMITERS if other != usual]
    return max(candidates, key=lambda dialect: dialect.regularity)


def _dialect(lines: Sequence[str], delimiter: str) -> Dialect:
    quoted = Dialect(delimiter, quoted=True, rows=_rows(lines, delimiter, quoted=True))
    if delimiter != "\t" or not any('"' in line for line in lines):
        return quoted
    # Many TSV files of the field know no quoting and hold stray quotation marks; others are written as CSV.
    plain = Dialect(delimiter, quoted=False, rows=_rows(lines, delimiter, quoted=False))
    if plain.regularity != quoted.regularity:
        return max(plain, quoted, key=lambda dialect: dialect.regularity)
    # Marks around cells come from a writer where it encloses every text, or only those where it must.
    enclosed = [cell for row in plain.rows for cell in row if len(cell) > 1 and cell[0] == cell[-1] == '"']
    needless = any('"' not in cell[1:-1] for cell in enclosed)
    every = all(any(cell.startswith('"') for cell in row) for row in plain.rows)
    return quoted if every or not needless else plain


def _rows(lines: Sequence[str], delimiter: str, *, quoted: bool) -> tuple[tuple[str, ...], ...]:
    """The cells of each row; an unreadable row has none."""
    records = split_cells(RecordLines(iter(lines)), delimiter=delimiter, quoted=quoted)
    return tuple(tuple(map(str, row.cells)) if isinstance(row, Record) else () for row in records)
