"""Rows of a Parquet file. Every size is looked at before anything of that size is made.

A Parquet file of a kilobyte can stand for gigabytes: pages are compressed, a dictionary holds a long text once for
millions of rows, and counts are only claimed. So the tables of the file and the heads of its pages are read first, by
ourselves, and rows are taken out in batches that stay small even if every value is as long as its page allows.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import IO, Any, NamedTuple

from curation.files.drafts import FileError
from curation.files.heavy import pa, pc, pq
from curation.files.json_text import json_from
from curation.files.thrift import Struct, ThriftError, ThriftReader

ROWS_MOST = 2_000_000
VALUE_MOST_BYTES = 1_000_000
VALUE_KEPT_CHARACTERS = 20_000
# Of the columns that are read at the same time, together: a page of each is in memory, packed and unpacked.
PAGES_MOST_BYTES = 96 * 1024**2
_TABLES_MOST_BYTES = 8 * 1024**2
_TABLES_MOST_MEMBERS = 200_000
_PAGES_MOST = 100_000
_DICTIONARY_MOST_VALUES = 1_000_000
_BATCH_BYTES = 8 * 1024**2
_BATCH_ROWS = 4096
_NUMBER_BYTES = 16
_SHORT_BYTES = 2048
_HEAD_BYTES = (1024, 64 * 1024)  # a page's head is short; statistics may make it longer
_HEAD_MOST_MEMBERS = 1000
# Else the library takes a whole column of a group of rows into memory.
_PIECEMEAL = {"pre_buffer": False, "buffer_size": 64 * 1024}
_TAIL = 8  # the length of the tables, and PAR1
_MARK = b"PAR1"
# The numbers of the format: https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift
_DICTIONARY_PAGE = 2
# By a page's kind: the field of its head that describes it, and in that the number of values and their encoding.
_DESCRIBED = {0: (5, 1, 2), _DICTIONARY_PAGE: (7, 1, 2), 3: (8, 1, 4)}
_BY_DICTIONARY = frozenset({2, 8})
# The others hold only once what is repeated, or claim lengths that the library makes before it compares them.
_ENCODINGS = frozenset({0, 3, 4, 9}) | _BY_DICTIONARY


class _Page(NamedTuple):
    """What a page's head says. size, packed: its bytes in memory and in the file."""

    kind: int
    size: int
    packed: int
    values: int
    encoding: int


class _Chunk(NamedTuple):
    """A column in one group of rows.

    held: bytes of its largest pages. longest: bytes of a value at most, on average over many rows; those of its
    dictionary apart, which represents many rows with few bytes. dictionary: bytes of that; 0 without one.
    """

    name: str
    held: int
    longest: int
    dictionary: int
    dictionary_first: bool


def parquet_columns(path: Path) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The names of the columns that hold one value a row, and of those that hold lists or other nested values.

    Only the first can be read: how much one row of the others takes is known only after it was taken out.
    Raises FileError where the file cannot be used.
    """
    with _opened(path) as file:
        is_nested = {field.name: pa.types.is_nested(storage_of(field.type)) for field in file.schema_arrow}
        names = tuple(name for name in is_nested if not is_nested[name])
        # Arrow takes columns by name alone.
        name, times = Counter(file.schema_arrow.names).most_common(1)[0] if names else ("", 1)
        if times > 1:
            raise FileError(f'{path.name} has {times} columns named "{name}"; give each its own name.')
        return names, tuple(name for name in is_nested if is_nested[name])


def class_names(schema: pa.Schema) -> dict[str, Sequence[str]]:
    """The names of the classes of a column of numbers, as `datasets` keeps them in a file's metadata."""
    try:
        features = json_from((schema.metadata or {}).get(b"huggingface", b"{}"))["info"]["features"]
        return {
            name: [str(one) for one in feature["names"]]
            for name, feature in features.items()
            if isinstance(feature, dict) and feature.get("_type") == "ClassLabel" and feature.get("names")
        }
    except (ValueError, LookupError, TypeError, AttributeError):
        return {}


def classes_described(classes: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """The metadata of a file from which `class_names` reads these."""
    features = {name: {"names": list(names), "_type": "ClassLabel"} for name, names in classes.items()}
    return {"huggingface": json.dumps({"info": {"features": features}})} if classes else {}


def parquet_classes(path: Path) -> dict[str, Sequence[str]]:
    """The names of the classes of each column that numbers them. Raises FileError where the file cannot be used."""
    with _opened(path) as file:
        return class_names(file.schema_arrow)


def parquet_sample(path: Path, names: Sequence[str], rows: int, *, characters: int) -> list[tuple[Any, ...]]:
    """The first rows, as far as these columns go, of texts so many characters. Raises FileError where they cannot be
    read.
    """
    with _opened(path) as file, path.open("rb") as content:
        # One column after the other, so that pages of one alone are in memory.
        columns = [
            [cell[:characters] if isinstance(cell, str | bytes) else cell for (cell,) in islice(cells, rows)]
            for cells in (_rows(path, file, content, [name]) for name in names)
        ]
    return list(zip(*columns, strict=True))


def parquet_rows(path: Path, names: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    """The rows of a file, as far as these columns go, in the file's order; of a long text its beginning.

    Raises FileError where they cannot be read.
    """
    with _opened(path) as file, path.open("rb") as content:
        for count, row in enumerate(_rows(path, file, content, names), 1):
            if count > ROWS_MOST:
                raise _too_many_rows(path, count)
            yield row


def _rows(
    path: Path, file: pq.ParquetFile, content: IO[bytes], names: Sequence[str]
) -> Iterator[tuple[Any, ...]]:
    # Of all columns that the library reads for these names: it takes a name for the beginning of others.
    indices = []
    for index in range(file.metadata.num_columns):
        column = file.schema.column(index)
        if any(column.path == name or column.path.startswith(f"{name}.") for name in names):
            if column.max_repetition_level:
                raise FileError(f'The column "{column.path}" of {path.name} holds lists; leave it out.')
            indices.append(index)
    for group in range(file.metadata.num_row_groups):
        chunks = [_measured(path, file, content, group, index) for index in indices]
        if sum(chunk.held for chunk in chunks) > PAGES_MOST_BYTES:
            raise FileError(
                f"{path.name} has pages that unpack to more than {PAGES_MOST_BYTES // 1024**2} MB; "
                f"write it again with smaller pages or row groups."
            )
        # So many rows that their values stay within bounds, however long they are.
        longest = sum(max(chunk.longest, _longest_in_dictionary(path, group, chunk)) for chunk in chunks)
        size = max(1, min(_BATCH_ROWS, _BATCH_BYTES // max(longest, 1)))
        for batch in file.iter_batches(size, row_groups=[group], columns=list(names), use_threads=False):
            columns = [_bounded(path, _plain(batch.column(name))) for name in names]
            yield from zip(*(column.to_pylist() for column in columns), strict=True)


def storage_of(kind: pa.DataType) -> pa.DataType:
    """What a column is made of: a file may call it by a name that says nothing about that."""
    while isinstance(kind, pa.BaseExtensionType):
        kind = kind.storage_type
    return kind


def is_one_of(kind: pa.DataType, names: Sequence[str]) -> bool:
    """names: of Arrow's types, such as "large_string"."""
    return any(getattr(pa.types, f"is_{name}")(kind) for name in names)


def is_text(kind: pa.DataType) -> bool:
    """Each value has its own bytes in a file; of others, such as runs and views, a few bytes may be every row."""
    return is_one_of(kind, ("string", "binary", "large_string", "large_binary"))


def _plain(column: pa.Array) -> pa.Array:
    """Texts, and what stands for texts, as Arrow has them without names of the file's own, each with its own bytes."""
    kind = storage_of(column.type)
    # Values that say where their text is: many rows may have the same.
    views = {pa.string_view(): pa.large_string(), pa.binary_view(): pa.large_binary()}
    if kind in views or pa.types.is_dictionary(kind) or is_text(kind):
        while isinstance(column, pa.ExtensionArray):
            column = column.storage
    return column.cast(views[kind]) if kind in views else column


@contextmanager
def _opened(path: Path) -> Iterator[pq.ParquetFile]:
    """The file, its tables looked at; what it and the library say against it becomes a FileError."""
    try:
        _refuse_large_tables(path)
        with pq.ParquetFile(path, **_PIECEMEAL) as file:
            if file.metadata.num_rows > ROWS_MOST:
                raise _too_many_rows(path, file.metadata.num_rows)
            yield file
    except FileError:
        raise
    except (pa.ArrowException, OSError) as error:
        raise _not_whole(path) from error
    except (ValueError, OverflowError, KeyError) as error:
        # Arrow keeps bytes that are not UTF-8 and dates outside Python's range; both show only when they are taken out.
        sentence = f"{path.name} holds a value that cannot be read ({error}); write it again without it."
        raise FileError(sentence) from error


def _not_whole(path: Path) -> FileError:
    return FileError(f"{path.name} is not a whole Parquet file; write it again.")


def _too_many_rows(path: Path, rows: int) -> FileError:
    return FileError(f"{path.name} has {rows:,} rows, and at most {ROWS_MOST:,} are read; split the file.")


def _refuse_large_tables(path: Path) -> None:
    """The tables at the end say where every page is. The library makes hundreds of bytes of each of their members."""
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - _TAIL))
        tail = file.read()
        length = int.from_bytes(tail[:4], "little")
        if tail[4:] != _MARK or length + _TAIL > size:
            raise FileError(f"{path.name} is not a Parquet file; check the file or its ending.")
        file.seek(size - _TAIL - length)
        tables = file.read(min(length, _TABLES_MOST_BYTES))
    try:
        if length > _TABLES_MOST_BYTES:
            raise ThriftError("they are too long")
        ThriftReader(tables, most=_TABLES_MOST_MEMBERS).struct()
    except ThriftError as error:
        raise FileError(
            f"The tables at the end of {path.name} cannot be read ({error}); "
            f"write it again with fewer columns or larger row groups."
        ) from error


def _measured(path: Path, file: pq.ParquetFile, content: IO[bytes], group: int, index: int) -> _Chunk:
    """Look at the heads of a column's pages in one group of rows."""
    described, column = file.metadata.row_group(group).column(index), file.schema.column(index)
    dictionary = largest = total = longest = 0
    encodings: list[int] = []
    first, dictionary_at = described.data_page_offset, described.dictionary_page_offset
    position = dictionary_at if dictionary_at and 0 < dictionary_at < first else first
    end = position + described.total_compressed_size
    # The pages as the library will find them.
    values = pages = 0
    while values < described.num_values and position < end:
        # As much of the file is read as the head of the page needs.
        for size in _HEAD_BYTES:
            content.seek(position)
            reader = ThriftReader(content.read(size), most=_HEAD_MOST_MEMBERS)
            with suppress(ThriftError):
                head = reader.struct()
                break
        else:
            raise _not_whole(path)
        page = _page(path, head)
        pages += 1
        if pages > _PAGES_MOST:
            raise FileError(
                f"{path.name} has more than {_PAGES_MOST:,} pages; write it again with larger ones."
            )
        values += 0 if page.kind == _DICTIONARY_PAGE else page.values
        position += reader.position + page.packed
        total += page.size
        if page.kind == _DICTIONARY_PAGE:
            dictionary = max(dictionary, page.size + page.packed)
        else:
            largest = max(largest, page.size + page.packed)
            longest = max(longest, page.size // max(page.values, 1))
            encodings.append(page.encoding)
    # A column that the file calls categorical is gathered into one dictionary for all the group's rows.
    field_index = file.schema_arrow.get_field_index(column.path)
    kind = storage_of(file.schema_arrow.field(field_index).type) if field_index >= 0 else None
    gathered = kind is not None and pa.types.is_dictionary(kind)
    longest = _bounded_length(path, max(longest, column.length or 0, _NUMBER_BYTES))
    texts = described.physical_type == "BYTE_ARRAY" and not _BY_DICTIONARY.isdisjoint(encodings)
    return _Chunk(
        column.path,
        held=max(dictionary + largest, total if gathered else 0),
        longest=longest,
        dictionary=dictionary if texts else 0,
        dictionary_first=encodings[:1] != [] and encodings[0] in _BY_DICTIONARY,
    )


def _page(path: Path, head: Struct) -> _Page:
    kind, size, packed = (_number(path, head, field) for field in (1, 2, 3))
    if kind not in _DESCRIBED:
        return _Page(kind, size, packed, 0, 0)
    field, *inner = _DESCRIBED[kind]
    about = head.get(field)
    values, encoding = (_number(path, about if isinstance(about, dict) else {}, number) for number in inner)
    if encoding not in _ENCODINGS:
        raise FileError(
            f"{path.name} is written with a delta encoding; write it again with plain or dictionary encoding."
        )
    if kind == _DICTIONARY_PAGE and values > _DICTIONARY_MOST_VALUES:
        raise FileError(f"{path.name} has a dictionary of {values:,} values; write it again without one.")
    if values > ROWS_MOST:
        raise _too_many_rows(path, values)
    return _Page(kind, size, packed, values, encoding)


def _number(path: Path, fields: Struct, field: int) -> int:
    value = fields.get(field)
    if not isinstance(value, int) or value < 0:
        raise _not_whole(path)
    return value


def _longest_in_dictionary(path: Path, group: int, chunk: _Chunk) -> int:
    """The length of the longest value of a column's dictionary: its first row is read with the dictionary beside it."""
    if chunk.dictionary <= _SHORT_BYTES or not chunk.dictionary_first:
        return chunk.dictionary
    with pq.ParquetFile(path, read_dictionary=[chunk.name], **_PIECEMEAL) as file:
        batches = file.iter_batches(batch_size=1, row_groups=[group], columns=[chunk.name], use_threads=False)
        values = _texts(_plain(next(batches).column(chunk.name)))
    return _longest(path, values) if len(values) else chunk.dictionary


def _bounded(path: Path, column: pa.Array) -> pa.Array:
    """The column, its long texts cut where nobody reads on. Raises FileError where a value is not a cell of a table."""
    values = _texts(column)
    if not len(values) or _longest(path, values) <= VALUE_KEPT_CHARACTERS:
        return column
    cut = pc.binary_slice if pa.types.is_binary(values.type) else pc.utf8_slice_codeunits
    kept = cut(values, 0, VALUE_KEPT_CHARACTERS)
    is_dictionary = pa.types.is_dictionary(column.type)
    return pa.DictionaryArray.from_arrays(column.indices, kept) if is_dictionary else kept


def _longest(path: Path, values: pa.Array) -> int:
    """The bytes of the longest of some texts. Raises FileError where it is longer than allowed."""
    return _bounded_length(path, pc.max(pc.binary_length(values)).as_py() or 0)


def _bounded_length(path: Path, longest: int) -> int:
    if longest > VALUE_MOST_BYTES:
        raise FileError(
            f"{path.name} holds a value of more than {VALUE_MOST_BYTES:,} bytes; "
            f"check that its columns hold one sentence a row."
        )
    return longest


def _texts(column: pa.Array) -> pa.Array:
    """The texts of a column, each of a dictionary once; nothing of a column of other values."""
    values = _plain(column.dictionary) if pa.types.is_dictionary(column.type) else column
    return values if is_text(values.type) else values[:0].cast(pa.string())
