"""Pairs and their scores into CSV, TSV, JSONL and Parquet, streaming."""

import csv
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO, Literal, TextIO

import pyarrow as pa
import pyarrow.parquet as pq

from curation.files.drafts import FileError
from curation.files.writing import as_text, replacing

FORMATS = ("csv", "tsv", "jsonl", "parquet")
# nested: a column of a Parquet file without values. It stands for one that is not read.
Kind = Literal["text", "number", "integer", "nested"]
Row = Sequence[object]

_ARROW = {"text": pa.string(), "number": pa.float64(), "integer": pa.int64(), "nested": pa.list_(pa.string())}
_ROWS_IN_GROUP = 20_000
# What a spreadsheet takes for the beginning of a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
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
    if format not in FORMATS:
        raise FileError(f'"{format}" is no format of exports; choose one of {", ".join(FORMATS)}.')
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
    with replacing(path) as file:
        if format == "parquet":
            return _write_parquet(file, columns, safe, about or {})
        with as_text(file) as text:
            return _write_text(text, format, columns, safe)


def _write_text(text: TextIO, format: str, columns: Sequence[Column], rows: Iterable[Row]) -> int:
    names = [column.name for column in columns]
    if format == "jsonl":

        def write(row: Row) -> object:
            values = dict(zip(names, row, strict=True))
            return text.write(json.dumps(values, ensure_ascii=False, allow_nan=False) + "\n")
    else:
        writer = csv.writer(text, delimiter="\t" if format == "tsv" else ",", lineterminator="\n")
        writer.writerow(names)
        write = writer.writerow
    count = 0
    for count, row in enumerate(rows, 1):  # noqa: B007 - the last one is their number
        write(row)
    return count


def _write_parquet(
    file: IO[bytes], columns: Sequence[Column], rows: Iterable[Row], about: Mapping[str, str]
) -> int:
    schema = pa.schema([(column.name, _ARROW[column.kind]) for column in columns], metadata=dict(about))
    count = 0
    with pq.ParquetWriter(file, schema, compression="zstd") as writer:
        remaining = iter(rows)
        while group := list(islice(remaining, _ROWS_IN_GROUP)):
            cells = zip(*group, strict=True)
            arrays = [pa.array(column, field.type) for column, field in zip(cells, schema, strict=True)]
            writer.write_table(pa.table(arrays, schema=schema))
            count += len(group)
    return count


class _Echo:
    """What a CSV writer writes to, so that it gives each line back."""

    def write(self, line: str) -> str:
        return line


def csv_lines(rows: Iterable[Row], *, spreadsheet: bool = False) -> Iterator[str]:
    """The lines of a CSV file, for an answer that is sent while it is written. rows: the names of the columns first.

    spreadsheet: no text in it, names of columns included, is a formula to a spreadsheet (`harmless`).
    """
    writer = csv.writer(_Echo())
    for row in rows:
        yield writer.writerow(map(harmless_cell, row) if spreadsheet else row)


def csv_file_rows(path: Path) -> Iterator[Row]:
    """The rows of a CSV file that was written here."""
    with path.open(encoding="utf-8", newline="") as file:
        yield from csv.reader(file)


def harmless_cell(cell: object) -> object:
    """A cell of a table whose columns have no kind: text that is a number stays one."""
    return harmless(cell) if isinstance(cell, str) and not _NUMBER.fullmatch(cell) else cell


def harmless(text: str) -> str:
    """The text, behind an apostrophe where a spreadsheet would run it as a formula."""
    return f"'{text}" if text.startswith(_FORMULA) else text
