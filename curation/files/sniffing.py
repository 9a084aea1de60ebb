"""What kind of file this is, by its first bytes; a file without a table of text is refused, and others give lines."""

import codecs
import re
from codecs import BOM_UTF8
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path

from curation.files.drafts import FileError
from curation.files.encoding import encoding_by_beginning, errors_for
from curation.files.records import physical_lines

SAMPLE_LINES = 2000
_SAMPLE_CHARACTERS = 1 << 20
TABLE_SUFFIXES = {
    ".csv": "csv", ".tsv": "tsv", ".tab": "tsv",
    ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet", ".pq": "parquet",
}  # fmt: skip
PROSE_SUFFIXES = {".md", ".markdown", ".rst", ".tex"}
PAIRS = "one pair of sentences a row"
JUDGEMENTS = "a table of judgements and its header"
BEGINNING_BYTES = 4096
PARQUET = b"PAR1"
_PACKAGE = b"PK\x03\x04"
_IMAGE = "is an image; give a text file, such as CSV"
_SOUND = "is a sound or a film; give a text file, such as CSV"
_PACKED = "is compressed; unpack it first"
_BY_MARK = {
    b"\x1f\x8b": _PACKED,
    b"\xfd7zXZ\x00": _PACKED,
    b"\x28\xb5\x2f\xfd": _PACKED,
    b"7z\xbc\xaf\x27\x1c": _PACKED,
    b"Rar!\x1a\x07": _PACKED,
    b"\xd0\xcf\x11\xe0": "is an old Excel or Word file; save it as CSV first",
    b"{\\rtf": "is a document in RTF; save it as plain text or CSV first",
    b"%PDF-": "is a PDF document; save its text as plain text or CSV first",
    b"%!PS": "is a PostScript document; save its text as plain text or CSV first",
    b"SQLite format 3\x00": "is an SQLite database; save its table as CSV first",
    b"\x89HDF\r\n\x1a\n": "is an HDF5 file; save its table as CSV or Parquet first",
    b"\x93NUMPY": "is a NumPy array; save it as CSV or Parquet first",
    b"ARROW1\x00\x00": "is an Arrow file; save it as Parquet first",
    b"\x89PNG\r\n\x1a\n": _IMAGE,
    b"\xff\xd8\xff": _IMAGE,
    b"GIF87a": _IMAGE,
    b"GIF89a": _IMAGE,
    b"II*\x00": _IMAGE,
    b"MM\x00*": _IMAGE,
    b"ID3": _SOUND,
    b"OggS\x00": _SOUND,
    b"fLaC\x00": _SOUND,
}
# These stand after the first bytes, or among other ones.
_BY_PATTERN = {
    rb"BZh[1-9]1AY&SY": _PACKED,
    rb"RIFF....WEBP": _IMAGE,
    rb"RIFF....(WAVE|AVI )": _SOUND,
    rb"....ftyp(avif|heic|heix|mif1)": _IMAGE,
    rb"....ftyp": _SOUND,
    rb"(\xef\xbb\xbf)?\s*<(!doctype html|html|head)[\s>]": "is a web page; download the file itself",
    rb"(\xef\xbb\xbf)?\s*<\?xml\s": "is an XML file; save its table as CSV first",
    rb"version https://git-lfs\.github\.com/": "only names a file that Git LFS keeps; download the file itself",
}
# What a package of the office programs holds, by the names of its first files.
_OFFICE = {
    b"xl/": "is an Excel file; save it as CSV first",
    b"word/": "is a Word document; save it as plain text or CSV first",
    b"ppt/": "is a PowerPoint file; save its text as plain text or CSV first",
    b"application/vnd.oasis.opendocument.spreadsheet": "is an OpenDocument spreadsheet; save it as CSV first",
    b"application/vnd.oasis.opendocument.text": "is an OpenDocument text; save it as plain text or CSV first",
}
# Control characters other than white space, Escape among them.
_NO_TEXT = bytes(set(range(32)) - set(b"\t\n\v\f\r") | {127})
_STRAY = 0.05  # the share of these that a text file may have: a stray one spoils its row and not the file


def refuse_known_kinds(name: str, beginning: bytes) -> None:
    """Raises FileError where a file begins as one of a kind that is known and is not a table of text."""
    if beginning.startswith(_PACKAGE):
        held = (reason for inside, reason in _OFFICE.items() if inside in beginning)
        found = next(held, "is a spreadsheet or an archive; save it as CSV first")
    else:
        by_mark = (reason for mark, reason in _BY_MARK.items() if beginning.startswith(mark))
        by_pattern = (
            reason
            for pattern, reason in _BY_PATTERN.items()
            if re.match(pattern, beginning, re.DOTALL | re.IGNORECASE)
        )
        found = next(by_mark, "") or next(by_pattern, "")
    if found:
        raise FileError(f"{name} {found}.")


def refuse_no_text(name: str, beginning: bytes) -> None:
    """Raises FileError where the beginning of a file is not text in any encoding.

    UTF-8 is text, whatever characters it holds: the rows with those that no text has are refused one by one.
    """
    if encoding_by_beginning(beginning):
        return
    with suppress(UnicodeDecodeError):
        codecs.getincrementaldecoder("utf-8")().decode(beginning)  # the last character may be cut off
        return
    if len(beginning.translate(None, _NO_TEXT)) < (1 - _STRAY) * len(beginning):
        raise FileError(f"{name} is not a text file; save it as text in UTF-8.")


def detect_format(path: Path, *, rows: str = PAIRS) -> str:
    """One of csv, tsv, jsonl and parquet. Raises FileError for a file that cannot be read or is none.

    rows: what the file should hold, for an error.
    """
    beginning = file_beginning(path, rows=rows)
    if known := TABLE_SUFFIXES.get(path.suffix.lower()):
        return known
    if path.suffix.lower() in PROSE_SUFFIXES:
        raise FileError(
            f"{path.name} is a document, not a table; give CSV, TSV, JSONL or Parquet with {rows}."
        )
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
