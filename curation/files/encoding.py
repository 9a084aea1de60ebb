"""Which encoding a text file is in: by its mark, by its zero bytes, or by reading all of it as UTF-8.

Many files were Windows-1252 once and were read as Latin-1 before they were written again. Their curly quotation marks,
dashes and ellipses are then control characters (U+0080 to U+009F), which no text has. `mended` gives them back.
"""

import codecs
import re
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


# What Windows-1252 has in place of the control characters U+0080 to U+009F; it leaves five of them undefined.
_MEANT = {
    code: bytes([code]).decode("cp1252")
    for code in range(0x80, 0xA0)
    if code not in {0x81, 0x8D, 0x8F, 0x90, 0x9D}
}
_CONTROLS = re.compile(f"[{''.join(map(chr, _MEANT))}]")


class Encoding(NamedTuple):
    name: str
    warning: str = ""


def mended(text: str) -> str:
    """The text with the characters that were meant where it has control characters of Windows-1252."""
    return text if text.isascii() else text.translate(_MEANT)


def detect_encoding(path: Path) -> Encoding:
    """The encoding of a text file. Reads the file, a block at a time.

    A file that is not UTF-8 is taken for Windows-1252, with a warning; one that is UTF-8 but for a few bytes
    stays UTF-8, and the rows with those bytes are refused when they are read. The warning also counts the characters
    that `mended` will give back.
    """
    with path.open("rb") as raw:
        beginning = raw.read(4096)
    encoding = encoding_by_beginning(beginning) or _by_content(path)
    controls = 0
    with path.open(encoding=encoding.name, errors="replace", newline="") as file:
        while text := file.read(_BLOCK):
            controls += 0 if text.isascii() else len(_CONTROLS.findall(text))
    if not controls:
        return encoding
    meant = f"{controls:,} control characters of the file are read as the characters of Windows-1252 that were meant."
    return Encoding(encoding.name, f"{encoding.warning} {meant}".strip())


def encoding_by_beginning(beginning: bytes) -> Encoding | None:
    """The encoding that the first bytes of a file tell: by its mark, or by its zero bytes; None where they do not."""
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
    return None


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
