"""What kind of file this is, and its lines."""

from codecs import BOM_UTF8
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from curation.files.drafts import FileError
from curation.files.encoding import errors_for
from curation.files.foreign import BEGINNING_BYTES, PARQUET, refuse_known_kinds, refuse_no_text
from curation.files.records import physical_lines

SAMPLE_LINES = 2000
_SAMPLE_CHARACTERS = 1 << 20
TABLE_SUFFIXES = {
    ".csv": "csv", ".tsv": "tsv", ".tab": "tsv",
    ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet", ".pq": "parquet",
}  # fmt: skip
PAIRS = "one pair of sentences a row"


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
    for line in islice(all_lines(path, encoding), SAMPLE_LINES):
        lines.append(line)
        characters += len(line)
        if characters > _SAMPLE_CHARACTERS:
            break
    return lines


def all_lines(path: Path, encoding: str) -> Iterator[str]:
    """The lines of a text file with their ends. Raises FileError where it cannot be read any further."""
    with path.open(encoding=encoding, errors=errors_for(encoding), newline="") as file:
        yield from physical_lines(file, path.name)
