"""Small files that stand for gigabytes, or for hours: each is a few kilobytes and harmless until somebody reads it."""

import struct
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

TEXT = "x" * 1_000_000


def _varint(number: int) -> bytes:
    content = b""
    while number > 127:
        content += bytes([number & 127 | 128])
        number >>= 7
    return content + bytes([number])


def _integer(number: int) -> bytes:
    return _varint(number << 1)


def _list(size: int, kind: int) -> bytes:
    return bytes([0xF0 | kind]) + _varint(size)


def _with_tables(path: Path, schema: bytes, groups: bytes) -> None:
    """A Parquet file that is nothing but its tables."""
    tables = b"\x15" + _integer(1) + b"\x19" + schema + b"\x16" + _integer(0) + b"\x19" + groups + b"\x00"
    path.write_bytes(b"PAR1" + tables + struct.pack("<I", len(tables)) + b"PAR1")


_ROOT = b"\x48" + _varint(1) + b"s" + b"\x15" + _integer(1) + b"\x00"
_LEAF = b"\x15" + _integer(6) + b"\x25" + _integer(1) + b"\x18" + _varint(1) + b"a" + b"\x00"
_CHUNK = b"\x26" + _integer(0) + b"\x00"


def many_chunks(path: Path) -> None:
    """Three bytes for each of a million descriptions of columns, of which the library makes 700 bytes each."""
    group = b"\x19" + _list(900, 12) + _CHUNK * 900 + b"\x16" + _integer(0) + b"\x16" + _integer(0) + b"\x00"
    _with_tables(path, _list(2, 12) + _ROOT + _LEAF, _list(1200, 12) + group * 1200)


def one_text_in_all_rows(path: Path) -> None:
    texts = pa.DictionaryArray.from_arrays(pa.array([0] * 3000, pa.int32()), pa.array([TEXT]))
    pq.write_table(pa.table({"sentence1": texts, "sentence2": texts}), path, compression="zstd")


def longer_text_in_all_rows(path: Path) -> None:
    texts = pa.DictionaryArray.from_arrays(pa.array([0] * 3000, pa.int32()), pa.array([TEXT * 30]))
    pq.write_table(pa.table({"sentence1": texts, "sentence2": texts}), path, compression="zstd")


def plain_text_in_all_rows(
    path: Path, compression: str = "zstd", length: int = len(TEXT), rows: int = 60
) -> None:
    schema = pa.schema({"sentence1": pa.string(), "sentence2": pa.string()})
    with pq.ParquetWriter(path, schema, compression=compression, use_dictionary=False) as writer:
        for _group in range(rows // 20):
            texts = pa.array([TEXT[:length]] * 20)
            writer.write_table(pa.table([texts, texts], schema=schema))


def one_page(path: Path, compression: str = "zstd") -> None:
    """A page of 200 MB."""
    texts = pa.array([TEXT * 4] * 50)
    table = pa.table({"sentence1": texts, "sentence2": ["B."] * 50})
    pq.write_table(table, path, compression=compression, use_dictionary=False, data_page_size=1 << 30)


def delta_texts(path: Path) -> None:
    """Each text says only that it begins as the one before it, which is long."""
    texts = pa.array([TEXT[:900_000]] * 200)
    encodings = {"sentence1": "DELTA_BYTE_ARRAY", "sentence2": "DELTA_BYTE_ARRAY"}
    table = pa.table({"sentence1": texts, "sentence2": texts})
    pq.write_table(table, path, use_dictionary=False, column_encoding=encodings, compression="zstd")


def nested_lists(path: Path) -> None:
    one = pa.ListArray.from_arrays(pa.array([0, 3_000_000], pa.int32()), pa.nulls(3_000_000, pa.int8()))
    pq.write_table(
        pa.table({"sentence1": ["A."], "sentence2": ["B."], "more": one}), path, compression="zstd"
    )


def many_rows(path: Path) -> None:
    texts = pa.DictionaryArray.from_arrays(pa.array([0] * 2_100_000, pa.int32()), pa.array(["A dog runs."]))
    pq.write_table(pa.table({"sentence1": texts, "sentence2": texts}), path, row_group_size=2_100_000)


def many_columns(path: Path) -> None:
    pq.write_table(pa.table({f"c{number}": ["A."] for number in range(2000)}), path)


def wide_rows(path: Path) -> None:
    """Two hundred columns, each of which holds a long text once."""
    texts = pa.DictionaryArray.from_arrays(pa.array([0] * 300, pa.int32()), pa.array([TEXT[:900_000]]))
    pq.write_table(pa.table({f"c{number}": texts for number in range(200)}), path, compression="zstd")


def many_groups(path: Path) -> None:
    table = pa.table({"sentence1": ["A."], "sentence2": ["B."]})
    with pq.ParquetWriter(path, table.schema) as writer:
        for _group in range(12_000):
            writer.write_table(table)


def wide_values(path: Path) -> None:
    """Of a value of a fixed width every row takes that width, even where it has none."""
    nothing = pa.nulls(20, pa.binary(4_000_000))
    pq.write_table(pa.table({"sentence1": ["A."] * 20, "sentence2": nothing}), path)


def _views(text: str, rows: int) -> pa.Array:
    """The same text in each row, which takes sixteen bytes of its own."""
    content = text.encode()
    view = struct.pack("<i4sii", len(content), content[:4], 0, 0)
    return pa.Array.from_buffers(
        pa.string_view(), rows, [None, pa.py_buffer(view * rows), pa.py_buffer(content)]
    )


def views_of_one_text(path: Path) -> None:
    texts = _views(TEXT[:900_000], 1000)
    pq.write_table(pa.table({"sentence1": texts, "sentence2": texts}), path, compression="zstd")


def stream_write(path: Path, column: pa.Array) -> None:
    """A stream of Arrow with the column twice."""
    batch = pa.record_batch([column, column], names=["sentence1", "sentence2"])
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, batch.schema) as writer:
        writer.write(batch)


def _runs(rows: int) -> pa.Array:
    return pa.RunEndEncodedArray.from_arrays(pa.array([rows], pa.int32()), pa.array([TEXT[:900_000]]))


def _lists() -> pa.Array:
    return pa.array([[1] * 10] * 10)


# Columns of streams of Arrow that say little and mean much, or are lists under another name.
COLUMNS: dict[str, Callable[[], pa.Array]] = {
    "runs": lambda: _runs(1_000_000),
    "runs called texts": lambda: pa.ExtensionArray.from_storage(
        pa.opaque(_runs(1).type, "text", "lab"), _runs(1_000_000)
    ),
    "views": lambda: _views(TEXT[:900_000], 100_000),
    "lists called texts": lambda: pa.ExtensionArray.from_storage(
        pa.opaque(_lists().type, "text", "lab"), _lists()
    ),
    "a tensor": lambda: pa.ExtensionArray.from_storage(
        pa.fixed_shape_tensor(pa.int64(), [10]), pa.FixedSizeListArray.from_arrays(pa.array(range(100)), 10)
    ),
}


HOSTILE: dict[str, Callable[[Path], None]] = {
    made.__name__: made
    for made in (
        many_chunks, one_text_in_all_rows, longer_text_in_all_rows, plain_text_in_all_rows, one_page, delta_texts,
        nested_lists, many_rows, many_columns, wide_rows, many_groups, wide_values,
        views_of_one_text,
    )
}  # fmt: skip


def lines_of_json(size: int) -> Iterator[str]:
    """Lines that take fifty times as much memory once they are read, up to about that many characters."""
    line = '{"a": "A.", "b": "B.", "source": [' + ",".join(["{}"] * 300_000) + "]}\n"
    for _number in range(size // len(line)):
        yield line


def lines_of_csv(size: int) -> Iterator[str]:
    yield "a,b,c\n"
    for number in range(size // 900_000):
        yield f"{number},B.,{'é😀' * 50_000},{'x' * 800_000}\n"


def open_cells(size: int) -> Iterator[str]:
    """Each line ends in a cell that is never closed, a hundred lines long."""
    yield "a,b\n"
    for _number in range(size // 120_000):
        yield ",".join(["x" * 100_000] * 9) + ',"\n'
