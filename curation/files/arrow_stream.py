"""Rows of an Arrow stream, as `datasets` writes them (`save_to_disk`). Nothing is decompressed or unpickled.

What a message claims is looked at before the library makes anything of it: its table must be of plain values, without
compression and without dictionaries, so that a batch takes no more memory than it has bytes in the file. The numbers
are those of the format: https://github.com/apache/arrow/blob/main/format/Message.fbs
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from curation.files.drafts import FileError
from curation.files.heavy import pa, pc
from curation.files.parquet import ROWS_MOST, VALUE_MOST_BYTES, is_one_of, is_text, storage_of

_ROWS_AT_ONCE, _BYTES_AT_ONCE = 1_000, 8 * 1024**2
# Types that a cell may have besides texts.
_PLAIN = ("null", "boolean", "integer", "floating", "decimal", "temporal", "fixed_size_binary")
# A message's table: the kind of its contents, and these; of a batch of records the table of its compression.
_KIND, _CONTENTS, _RECORDS, _COMPRESSION = 1, 2, 3, 3


def arrow_schema(path: Path) -> pa.Schema:
    """Raises FileError where the file is not a stream of Arrow."""
    try:
        with pa.memory_map(str(path)) as source:
            return pa.ipc.read_schema(pa.ipc.MessageReader.open_stream(source).read_next_message())
    except (pa.ArrowException, OSError, StopIteration, EOFError) as error:
        raise _unreadable(path) from error


def arrow_rows(path: Path, names: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    """The rows of a stream as far as these columns go, each of plain values. Raises FileError."""
    schema, count = arrow_schema(path), 0
    for name in names:
        kind = storage_of(schema.field(name).type)
        is_categorical = pa.types.is_dictionary(kind)  # its dictionary is refused where it stands
        if not is_categorical and not is_text(kind) and not is_one_of(kind, _PLAIN):
            raise FileError(f'The column "{name}" of {path.name} is not plain ({kind}); save it as Parquet.')
    try:
        with pa.memory_map(str(path)) as source:
            messages = pa.ipc.MessageReader.open_stream(source)
            messages.read_next_message()
            for message in messages:
                _refuse_packed(path, message.metadata.to_pybytes())
                batch = pa.ipc.read_record_batch(message, schema)
                count += batch.num_rows
                if count > ROWS_MOST:
                    raise FileError(f"{path.name} has more than {ROWS_MOST:,} rows; split the file.")
                batch = batch.select(list(names))
                # Places of texts that lie outside their message would be read where something else is.
                batch.validate(full=True)
                columns = [
                    each.storage if isinstance(each, pa.ExtensionArray) else each for each in batch.columns
                ]
                texts = [each for each in columns if is_text(each.type)]
                longest = max([1, *(pc.max(pc.binary_length(each)).as_py() or 0 for each in texts)])
                if longest > VALUE_MOST_BYTES:
                    raise FileError(
                        f"{path.name} holds a value of more than {VALUE_MOST_BYTES:,} bytes; "
                        f"check that its columns hold one sentence a row."
                    )
                size = max(1, min(_ROWS_AT_ONCE, _BYTES_AT_ONCE // longest))
                for start in range(0, batch.num_rows, size):
                    part = batch.slice(start, size)
                    yield from zip(*(column.to_pylist() for column in part.columns), strict=True)
    except (pa.ArrowException, OSError, EOFError, ValueError, OverflowError) as error:
        if isinstance(error, FileError):
            raise
        raise _unreadable(path) from error


def _refuse_packed(path: Path, message: bytes) -> None:
    root = _uint(message, 0, 4)
    kind = _field(message, root, _KIND)
    if kind is None or message[kind] != _RECORDS:
        raise FileError(
            f"{path.name} has categorical columns; save it as Parquet, with texts in their place."
        )
    contents = _field(message, root, _CONTENTS)
    if contents is None or _field(message, contents + _uint(message, contents, 4), _COMPRESSION) is not None:
        raise FileError(f"{path.name} is compressed; save it as Parquet.")


def _field(message: bytes, table: int, number: int) -> int | None:
    """Where a field of a flatbuffer's table is; None where it is not given."""
    places = table - int.from_bytes(message[table : table + 4], "little", signed=True)
    offset = 4 + 2 * number
    if offset >= _uint(message, places, 2):
        return None
    within = _uint(message, places + offset, 2)
    return table + within if within else None


def _uint(message: bytes, place: int, size: int) -> int:
    found = message[place : place + size] if place >= 0 else b""
    if len(found) != size:
        raise ValueError("a message breaks off")
    return int.from_bytes(found, "little")


def _unreadable(path: Path) -> FileError:
    return FileError(f"{path.name} is not a whole Arrow stream; save the dataset again.")
