"""Pairs and their scores into CSV, TSV, JSONL and Parquet, streaming."""

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any, Literal

from curation.files.drafts import FileError
from curation.files.heavy import pa, pq
from curation.files.writing import as_text, replacing

FORMATS = ("csv", "tsv", "jsonl", "parquet")
# nested: a column of a Parquet file without values. It stands for one that is not read.
Kind = Literal["text", "number", "integer", "nested"]
Row = Sequence[object]

_ROWS_IN_GROUP = 20_000
_CHARACTERS_IN_BLOCK = 64 * 1024
# Where a spreadsheet would begin a formula, also in the width of Chinese and Japanese: at the start of a cell, and
# after what it may take for the end of one. Its language decides which character that is, in spite of quotation marks.
_FORMULA = re.compile(r"""^(?=[\t\r\n=+\-@＝＋－＠])|[,;|\t\r\n]"*(?=[=+\-@＝＋－＠])""")
_NUMBER = re.compile(r"-?\d+(\.\d+)?(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)


@dataclass(frozen=True)
class Column:
    name: str
    kind: Kind = "text"


PAIR_COLUMNS = tuple(map(Column, ("id", "sentence1", "sentence2", "source", "subset", "split")))


def free_columns(wanted: Iterable[Column], taken: Iterable[Column] = PAIR_COLUMNS) -> tuple[Column, ...]:
    """The columns, those whose name is taken with "score: " before it."""
    used = {column.name for column in taken}
    columns = []
    for column in wanted:
        free = column.name
        while free in used:
            free = f"score: {free}"
        used.add(free)
        columns.append(Column(free, column.kind))
    return tuple(columns)


def write_table(
    path: Path,
    format: str,
    columns: Sequence[Column],
    rows: Iterable[Row],
    *,
    neutralise: bool = False,
    about: Mapping[str, str] | None = None,
) -> int:
    """Write rows, each as wide as `columns`, to a file that is whole or not there. Returns their number.

    neutralise: put an apostrophe before texts that a spreadsheet would run as a formula (CSV and TSV).
    about: what the file says about itself (Parquet alone has a place for it).
    Raises FileError where it cannot be written, or the format is unknown.
    """
    written = 0

    def counted() -> Iterator[Row]:
        nonlocal written
        for row in rows:
            yield row
            written += 1

    blocks = table_blocks(format, columns, counted(), neutralise=neutralise, about=about)
    with replacing(path) as file:
        file.writelines(blocks)
    return written


def table_blocks(
    format: str,
    columns: Sequence[Column],
    rows: Iterable[Row],
    *,
    neutralise: bool = False,
    about: Mapping[str, str] | None = None,
) -> Iterator[bytes]:
    """The bytes of the file that `write_table` writes, piece by piece, each made when it is asked for.

    Raises FileError, at once, where the format is unknown.
    """
    if format not in FORMATS:
        raise FileError(f'"{format}" is not a format of exports; choose one of {", ".join(FORMATS)}.')
    if format == "parquet":
        return _parquet_blocks(columns, rows, about or {})
    safe = rows
    if neutralise and format in {"csv", "tsv"}:
        texts = {index for index, column in enumerate(columns) if column.kind == "text"}
        safe = (
            [
                harmless(cell) if index in texts and isinstance(cell, str) else cell
                for index, cell in enumerate(row)
            ]
            for row in rows
        )
        columns = [Column(harmless(column.name), column.kind) for column in columns]
    names = [column.name for column in columns]
    if format == "jsonl":
        objects = (dict(zip(names, row, strict=True)) for row in safe)
        lines = (json.dumps(each, ensure_ascii=False, allow_nan=False) + "\n" for each in objects)
        return _in_blocks(lines)
    delimiter = "\t" if format == "tsv" else ","
    return _in_blocks(csv_lines(chain([names], safe), delimiter=delimiter, line_end="\n"))


def _in_blocks(lines: Iterable[str]) -> Iterator[bytes]:
    waiting: list[str] = []
    characters = 0
    for line in lines:
        waiting.append(line)
        characters += len(line)
        if characters >= _CHARACTERS_IN_BLOCK:
            yield "".join(waiting).encode()
            waiting, characters = [], 0
    yield "".join(waiting).encode()


def _parquet_blocks(
    columns: Sequence[Column], rows: Iterable[Row], about: Mapping[str, str]
) -> Iterator[bytes]:
    """Its row groups, and then its end, without which nothing reads the file."""
    types = {
        "text": pa.string(),
        "number": pa.float64(),
        "integer": pa.int64(),
        "nested": pa.list_(pa.string()),
    }
    schema = pa.schema([(column.name, types[column.kind]) for column in columns], metadata=dict(about))
    made = _Made()
    with pq.ParquetWriter(made, schema, compression="zstd") as writer:
        remaining = iter(rows)
        while group := list(islice(remaining, _ROWS_IN_GROUP)):
            cells = zip(*group, strict=True)
            arrays = [pa.array(column, field.type) for column, field in zip(cells, schema, strict=True)]
            writer.write_table(pa.table(arrays, schema=schema))
            yield made.taken()
    yield made.taken()


class _Made(io.RawIOBase):
    """What a Parquet writer writes to, so that its bytes can be taken away as they come."""

    def __init__(self) -> None:
        super().__init__()
        self._pieces: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, piece: Any, /) -> int:
        self._pieces.append(bytes(piece))
        return len(self._pieces[-1])

    def taken(self) -> bytes:
        pieces, self._pieces = self._pieces, []
        return b"".join(pieces)


class _Echo:
    """What a CSV writer writes to, so that it gives each line back."""

    def write(self, line: str) -> str:
        return line


def csv_lines(
    rows: Iterable[Row], *, spreadsheet: bool = False, delimiter: str = ",", line_end: str = "\r\n"
) -> Iterator[str]:
    """The lines of a CSV file, each made when it is asked for. rows: the names of the columns first.

    Every file of separated cells is written here, which a test holds.
    spreadsheet: no text in it, names of columns included, is a formula to a spreadsheet (`harmless`).
    """
    writer = csv.writer(_Echo(), delimiter=delimiter, lineterminator=line_end)
    for row in rows:
        yield writer.writerow(map(harmless_cell, row) if spreadsheet else row)


def csv_file_rows(path: Path) -> Iterator[Row]:
    """The rows of a CSV file that was written here."""
    with path.open(encoding="utf-8", newline="") as file:
        yield from csv.reader(file)


def neutralise_file(path: Path) -> None:
    """Write a CSV or TSV file again, so that no text in it is a formula to a spreadsheet (`harmless_cell`)."""
    delimiter = "\t" if path.suffix == ".tsv" else ","
    with path.open(encoding="utf-8", newline="") as before, replacing(path) as file, as_text(file) as text:
        rows = csv.reader(before, delimiter=delimiter)
        text.writelines(csv_lines(rows, spreadsheet=True, delimiter=delimiter, line_end="\n"))


def harmless_cell(cell: object) -> object:
    """A cell of a table whose columns have no kind: text that is a number stays one."""
    return harmless(cell) if isinstance(cell, str) and not _NUMBER.fullmatch(cell) else cell


def harmless(text: str) -> str:
    """The text, with an apostrophe wherever a spreadsheet would run what follows as a formula."""
    return _FORMULA.sub(r"\g<0>'", text)
