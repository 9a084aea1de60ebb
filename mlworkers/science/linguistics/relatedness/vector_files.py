"""Files of word vectors: the text of word2vec or GloVe, or the binary format of word2vec, each also packed with gzip.

A file is read once, a block at a time, and only the vectors of words that are asked for are kept, so that one of any
size fits into memory. Nothing is unpickled.
"""

import gzip
import io
import re
import zlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from curation.files.progress import Report, silent
from curation.files.unpacking import GZIP
from mlworkers.science.linguistics.relatedness.plan import RelatednessError

Vectors = NDArray[np.float32]
LONGEST_LINE = 1 << 18  # bytes; 4,096 numbers of 20 digits need a third of it
LONGEST_WORD = 1 << 12  # bytes, of the binary format; Google News has phrases of 98
MOST_NUMBERS = 8192  # in a vector
UNPACKED_MOST = 64 << 30  # bytes; the largest published files unpack to 8 GB
_BLOCK = 1 << 20
_WORDS_BETWEEN_REPORTS = 20_000
_HEADER = re.compile(rb"(\d{1,12}) (\d{1,6})\s*\n")  # how many words, and how many numbers each has
_NO_TEXT = re.compile(rb"[\x00-\x08\x0e-\x1f]")
# What people have beside such files, by its first bytes, and what to give in its place.
_OTHERS = {
    b"PK\x03\x04": "a zip file; unpack it, and give the file of vectors in it",
    b"\xba\x16\x4f\x2f": "a model of fastText; give the text file of its vectors (.vec)",
    b"\x80": "a pickled file, such as gensim saves, which is never loaded; save the vectors with gensim's "
    "save_word2vec_format",
}


class Found(NamedTuple):
    """width: the length of a vector. vectors: by word as it is written, each (width,)."""

    width: int
    vectors: Mapping[str, Vectors]


def vectors_read(path: Path, wanted: Collection[str], *, report: Report = silent) -> Found:
    """The vectors of the wanted words. report counts bytes of the file.

    Of a word that the file has twice, the first vector counts. Raises RelatednessError where the file holds no vectors,
    breaks off, or has none of the words.
    """
    try:
        with path.open("rb", buffering=0) as raw, _plain(raw, path) as file:
            reading = _Reading(path, raw, report)
            read = _binary if _is_binary(file.peek(LONGEST_LINE), path) else _text
            found = read(file, wanted, reading)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise RelatednessError(
            "%(file)s breaks off or is damaged; download it again, or pack it with gzip again.",
            file=path.name,
        ) from error
    except OSError as error:
        raise RelatednessError(
            "%(file)s cannot be read: %(why)s.", file=path.name, why=error.strerror or error
        ) from error
    if not found.vectors:
        raise RelatednessError(
            "%(file)s has a vector for no word of these pairs; choose word vectors of their language.",
            file=path.name,
        )
    return found


class _Reading:
    """A file while it is read. raw: as it lies on the disk, so that progress is a share of its size."""

    def __init__(self, path: Path, raw: io.FileIO, report: Report) -> None:
        self.path = path
        self._raw, self._report = raw, report
        self._size = path.stat().st_size

    def is_at(self, word: int) -> None:
        if word % _WORDS_BETWEEN_REPORTS == 0:
            self._report(min(self._raw.tell(), self._size), self._size, "Reading word vectors")


class _Bounded(io.RawIOBase):
    """What gzip packed, up to a bound: a small file can unpack to any size."""

    def __init__(self, packed: gzip.GzipFile, name: str) -> None:
        self._packed, self._name = packed, name
        self._size = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "bytearray | memoryview") -> int:  # type: ignore[override]
        block = self._packed.read(len(buffer))  # all of it, so that a look ahead sees a whole line
        self._size += len(block)
        if self._size > UNPACKED_MOST:
            raise RelatednessError(
                "%(file)s unpacks to more than %(most)s MB; give a file of fewer words.",
                file=self._name,
                most=f"{UNPACKED_MOST >> 20:,}",
            )
        buffer[: len(block)] = block
        return len(block)


@contextmanager
def _plain(raw: io.FileIO, path: Path) -> Iterator[io.BufferedReader]:
    """The file's bytes, unpacked where gzip packed it."""
    first = raw.read(4)
    raw.seek(0)
    for mark, what in _OTHERS.items():
        if first.startswith(mark):
            raise RelatednessError("%(file)s is %(what)s.", file=path.name, what=what)
    if not first.startswith(GZIP):
        yield io.BufferedReader(raw, buffer_size=_BLOCK)
        return
    with gzip.GzipFile(fileobj=raw) as packed:
        yield io.BufferedReader(_Bounded(packed, path.name), buffer_size=_BLOCK)


def _is_binary(beginning: bytes, path: Path) -> bool:
    """Whether what follows a header is a word and the bytes of its numbers, rather than a line of text."""
    header = _HEADER.match(beginning)
    if header is None:
        return False
    _word, space, rest = beginning[header.end() :].partition(b" ")
    if not space:
        return False
    line = rest.split(b"\n", 1)[0].split()
    if line and all(_is_number(cell) for cell in line[-int(header[2]) :]):
        return False
    return (
        path.name.removesuffix(".gz").endswith(".bin")
        or _NO_TEXT.search(rest[: 4 * int(header[2])]) is not None
    )


def _is_number(cell: bytes) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _binary(file: io.BufferedReader, wanted: Collection[str], reading: _Reading) -> Found:
    """A header, then of each word its bytes, a space, and its numbers as 32-bit floats, the lowest byte first.

    The format of word2vec.c (Mikolov et al. 2013), which puts a line end before all words but the first; Google News
    has none.
    """
    path = reading.path
    header = _HEADER.match(file.readline(LONGEST_LINE))
    if header is None:
        raise _not_vectors(path, 1)
    count, width = int(header[1]), int(header[2])
    if not 1 < width <= MOST_NUMBERS:
        raise _not_vectors(path, 1)
    words = {word.encode(): word for word in wanted}
    found: dict[str, Vectors] = {}
    size = 4 * width
    buffer, start = b"", 0
    for number in range(count):
        reading.is_at(number)
        end = buffer.find(b" ", start)
        while end < 0 or len(buffer) - end <= size:
            block = file.read(_BLOCK)
            if not block:
                raise RelatednessError(
                    "%(file)s is binary word2vec and breaks off after %(read)s of %(count)s words; download it again.",
                    file=path.name,
                    read=f"{number:,}",
                    count=f"{count:,}",
                )
            buffer, start = buffer[start:] + block, 0
            end = buffer.find(b" ")
            _require_short(end if end >= 0 else len(buffer), number, path)
        _require_short(end - start, number, path)
        word = words.get(buffer[start:end].lstrip(b"\n"))
        if word is not None and word not in found:
            vector: Vectors = np.frombuffer(buffer, dtype="<f4", count=width, offset=end + 1).astype(
                np.float32
            )
            if not np.isfinite(vector).all():
                raise RelatednessError(
                    "The vector of “%(word)s” in %(file)s has numbers that are not finite.",
                    word=word,
                    file=path.name,
                )
            found[word] = vector
        start = end + 1 + size
    return Found(width, found)


def _require_short(length: int, number: int, path: Path) -> None:
    if length > LONGEST_WORD:
        raise RelatednessError(
            "Word %(word)s of %(file)s has more than %(most)d bytes; the file is not binary word2vec.",
            word=f"{number + 1:,}",
            file=path.name,
            most=LONGEST_WORD,
        )


def _text(file: io.BufferedReader, wanted: Collection[str], reading: _Reading) -> Found:
    """Lines of a word and its numbers with spaces between; the first may say how many words and numbers there are."""
    path = reading.path
    found: dict[str, Vectors] = {}
    width = 0
    for number, line in enumerate(_lines(file, path), 1):
        reading.is_at(number)
        text = line.decode("utf-8", "replace").strip()
        cells = text.split(" ")
        if number == 1 and len(cells) == 2 and all(cell.isdigit() for cell in cells):
            width = int(cells[1])
            continue
        width = width or len(cells) - 1
        if not 1 < width <= MOST_NUMBERS:
            raise _not_vectors(path, number)
        if text:
            # Some words of GloVe hold spaces.
            word, *numbers = text.rsplit(" ", width)
            if word in wanted and word not in found:
                found[word] = _vector(numbers, width, path, number)
            elif not found and number <= 2:
                _vector(numbers, width, path, number)  # so that another kind of file is found out at once
    return Found(width, found)


def _lines(file: io.BufferedReader, path: Path) -> Iterator[bytes]:
    number = 0
    while line := file.readline(LONGEST_LINE + 1):
        number += 1
        if len(line) > LONGEST_LINE:
            raise _not_vectors(path, number)
        yield line


def _vector(numbers: Sequence[str], width: int, path: Path, line: int) -> Vectors:
    try:
        vector: Vectors = np.array([float(number) for number in numbers], dtype=np.float32)
    except ValueError:
        raise _not_vectors(path, line) from None
    if vector.size != width or not np.isfinite(vector).all():
        raise _not_vectors(path, line)
    return vector


def _not_vectors(path: Path, line: int) -> RelatednessError:
    return RelatednessError(
        "Line %(line)d of %(file)s is not a word and its numbers; give a file of word2vec (text or binary) or GloVe, "
        "which may be packed with gzip.",
        line=line,
        file=path.name,
    )
