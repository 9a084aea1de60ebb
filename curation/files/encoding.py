"""Which encoding a text file is in: as somebody named it, by its mark, by its zero bytes, or by reading all of it.

Many files were Windows-1252 once and were read as Latin-1 before they were written again. Their curly quotation marks,
dashes and ellipses are then control characters (U+0080 to U+009F), which no text has. `mended` gives them back.
"""

import codecs
import re
from collections.abc import Sequence
from encodings.aliases import aliases
from pathlib import Path
from typing import NamedTuple

from curation.files.drafts import FileError
from curation.files.likely_encodings import likely_encodings, western

_BLOCK = 1 << 20
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # begins with the mark of UTF-16, so it is tried first
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


# What Windows-1252 has instead of the control characters U+0080 to U+009F; it leaves five of them undefined.
_MEANT = {
    code: bytes([code]).decode("cp1252")
    for code in range(0x80, 0xA0)
    if code not in {0x81, 0x8D, 0x8F, 0x90, 0x9D}
}
_CONTROLS = re.compile(f"[{''.join(map(chr, _MEANT))}]")


# Codecs of Python in which no file of sentences is.
_NO_FILES = frozenset(
    {"base64_codec", "bz2_codec", "hex_codec", "quopri_codec", "rot_13", "utf_7", "uu_codec", "zlib_codec"}
)
_LABELS = {
    "gbk": "GBK", "gb18030": "GB 18030", "big5": "Big5", "cp932": "Shift-JIS", "euc_jp": "EUC-JP", "cp949": "CP949",
    "iso8859_2": "ISO-8859-2", "iso8859_9": "ISO-8859-9", "koi8_r": "KOI8-R", "koi8_u": "KOI8-U", "tis_620": "TIS-620",
    "mac_cyrillic": "Mac Cyrillic", "mac_roman": "Mac Roman", "cp850": "CP850", "cp866": "CP866",
}  # fmt: skip
# What a page offers in its field; a command and the API take every encoding that Python knows.
FIELD = "Encoding"  # the label of the page's field
OFFERED = ("utf-8", "cp1252", *(f"cp125{number}" for number in (0, 1, 3, 4, 5, 6, 7, 8)), *_LABELS)
_SAMPLED = 1 << 18  # bytes of lines by which likely encodings are ranked


class Encoding(NamedTuple):
    name: str
    warning: str = ""


class UnknownEncodingError(FileError):
    """A file is in none of the encodings that are recognised. likely: the likeliest ones, by Python's names."""

    def __init__(self, name: str, likely: Sequence[str]) -> None:
        self.likely = tuple(likely)
        named = [encoding_label(one) for one in likely]
        probably = f"it is probably {' or '.join(named[:2])}" if named else "no encoding fits it"
        others = f" (or {', '.join(named[2:])})" if named[2:] else ""
        option = f"--encoding {likely[0]}" if likely else "--encoding"
        self._fault = (
            f"{name} is not UTF-8, and its letters are not those of Windows-1252: {probably}{others}."
        )
        super().__init__(f"{self._fault} Name its encoding ({option}), or save the file as UTF-8.")

    @property
    def for_page(self) -> str:
        return f"{self._fault} Choose its encoding under “{FIELD}”, or save the file as UTF-8."


def encoding_label(name: str) -> str:
    """What people call an encoding."""
    return _LABELS.get(name, f"Windows-{name[2:]}" if name.startswith("cp125") else name.upper())


def encoding_named(name: str) -> str:
    """The codec of an encoding that somebody named. Raises FileError where no text file can be in it."""
    try:
        codec = codecs.lookup(name).name.replace("-", "_")
    except (LookupError, ValueError):
        codec = ""
    if codec in _NO_FILES or codec not in {*aliases.values(), "iso8859_1", "utf_8_sig", "koi8_u"}:
        raise FileError(
            f"“{name[:40]}” is not an encoding of text files; name one such as utf-8, gbk or cp1251."
        )
    return codec


def mended(text: str) -> str:
    """The text with the characters that were meant where it has control characters of Windows-1252."""
    return text if text.isascii() else text.translate(_MEANT)


def detect_encoding(path: Path, named: str | None = None) -> Encoding:
    """The encoding of a text file. Reads the file, a block at a time.

    named: the encoding that a person or a program gave, which is not checked; None detects it. A file that is not UTF-8
    is taken for Windows-1252, with a warning, where its letters are those of Western Europe. One that is UTF-8 but for
    a few bytes stays UTF-8, and the rows with those bytes are refused when they are read. The warning also counts the
    characters that `mended` will give back. Raises UnknownEncodingError with likely encodings, and FileError for a name
    that is none.
    """
    with path.open("rb") as raw:
        beginning = raw.read(4096)
    if named:
        codec = encoding_named(named)
        return Encoding("utf-8-sig" if codec == "utf_8" and beginning.startswith(codecs.BOM_UTF8) else codec)
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
    return "strict" if encoding.startswith(("utf-16", "utf-32", "utf_16", "utf_32")) else "surrogateescape"


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

    # The first lines that are not ASCII.
    found: list[bytes] = []
    size = 0
    with path.open("rb") as file:
        for line in iter(lambda: file.readline(_SAMPLED), b""):
            if not line.isascii():
                found.append(line)
                size += len(line)
                if size >= _SAMPLED:
                    break
    beginning = b"".join(found)

    # A mark (�) stands for each invalid byte.
    with path.open(encoding="cp1252", errors="replace", newline="") as decoded:
        is_western = western(iter(lambda: decoded.readline(_BLOCK), ""), beginning)
    if not is_western:
        raise UnknownEncodingError(path.name, likely_encodings(beginning))
    warning = "The file is not UTF-8; it is read as Windows-1252. Check the letters with accents."
    return Encoding("cp1252", warning)
