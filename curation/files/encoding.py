"""Which encoding a text file is in: by its mark, by its zero bytes, or by reading all of it as UTF-8."""

import codecs
from pathlib import Path
from typing import NamedTuple

_BLOCK = 1 << 20
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # begins with the mark of UTF-16, so it is tried first
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


class Encoding(NamedTuple):
    name: str
    warning: str = ""


def detect_encoding(path: Path) -> Encoding:
    """The encoding of a text file. Reads the file once, a block at a time.

    A file that is not UTF-8 is taken for Windows-1252, with a warning; one that is UTF-8 but for a few bytes
    stays UTF-8, and the rows with those bytes are refused when they are read.
    """
    with path.open("rb") as file:
        beginning = file.read(4096)
    for mark, name in _MARKS:
        if beginning.startswith(mark):
            return Encoding(name)
    # Latin letters in UTF-16 leave every second byte zero; no other text encoding writes zero bytes at all.
    even, odd = beginning[::2].count(0), beginning[1::2].count(0)
    enough = len(beginning) // 5
    if odd > enough and even <= odd // 10:
        return Encoding("utf-16-le", "The file has no byte-order mark; it is read as UTF-16 (little endian).")
    if even > enough and odd <= even // 10:
        return Encoding("utf-16-be", "The file has no byte-order mark; it is read as UTF-16 (big endian).")
    return _by_content(path)


def errors_for(encoding: str) -> str:
    """How to handle undecodable bytes: kept apart, where the codec can, so that only their row is refused."""
    return "strict" if encoding.startswith(("utf-16", "utf-32")) else "surrogateescape"


def _by_content(path: Path) -> Encoding:
    characters = undecodable = 0
    with path.open(encoding="utf-8", errors="surrogateescape", newline="") as file:
        while text := file.read(_BLOCK):
            if not text.isascii():
                characters += len(text) - len(text.encode("ascii", "ignore"))
                undecodable += len(text) - len(text.encode("utf-8", "ignore").decode())
    if not undecodable:
        return Encoding("utf-8")
    if characters - undecodable > undecodable:
        bad = f"{undecodable:,} of its bytes; rows with such bytes are left out."
        return Encoding("utf-8", f"The file is UTF-8 but for {bad}")
    warning = "The file is not UTF-8; it is read as Windows-1252. Check the letters with accents."
    return Encoding("cp1252", warning)
