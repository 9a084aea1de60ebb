#!/usr/bin/env python3
"""What a child process with a memory limit would cost instead of our reading of Parquet's page heads (ADR 27).

usage: python docs/experiments/parquet_apart.py        (in the project's environment; two minutes; a temporary folder)

The child has pyarrow's own limits and RLIMIT_DATA; it gives plain batches back as an Arrow stream. Seconds are those of
the processor, parent and child together, medians of seven turns that take both readers in alternation.
"""

import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from statistics import median
from typing import IO, Any, cast

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

MEGABYTES = 512
VALUE_MOST, VALUE_KEPT, BATCH_BYTES, BATCH_ROWS, ROWS_MOST = 1_000_000, 20_000, 8 * 1024**2, 4096, 2_000_000
LIMITS: dict[str, Any] = {
    "pre_buffer": False,
    "buffer_size": 64 * 1024,
    "thrift_string_size_limit": 8 * 1024**2,
    "thrift_container_size_limit": 200_000,
}
TEXTS = {pa.string(), pa.binary(), pa.large_string(), pa.large_binary()}
VIEWS = {pa.string_view(): pa.large_string(), pa.binary_view(): pa.large_binary()}

peaks: list[int] = []  # megabytes of each child


class RefusedError(Exception):
    """The child does not read the file."""


def bounded(column: pa.Array) -> tuple[pa.Array, int]:
    """A column whose long texts are cut, and the bytes of its longest value."""
    column = column.cast(VIEWS[column.type]) if column.type in VIEWS else column
    values = column.dictionary if pa.types.is_dictionary(column.type) else column
    values = values.cast(VIEWS[values.type]) if values.type in VIEWS else values
    longest = getattr(values.type, "byte_width", 16) if pa.types.is_fixed_size_binary(values.type) else 16
    if values.type in TEXTS:
        longest = pc.max(pc.binary_length(values)).as_py() or 0
        if VALUE_KEPT < longest <= VALUE_MOST:
            values = pc.binary_slice(values.cast(pa.large_binary()), 0, VALUE_KEPT)
            longest = VALUE_KEPT
    if longest > VALUE_MOST:
        raise RefusedError("a value is too long")
    return (
        pa.DictionaryArray.from_arrays(column.indices, values)
        if pa.types.is_dictionary(column.type)
        else values
    ), longest


def child(path: str, keeps_dictionaries: str) -> None:
    resource.setrlimit(resource.RLIMIT_DATA, (MEGABYTES * 1024**2,) * 2)
    pa.set_memory_pool(pa.system_memory_pool())
    with pq.ParquetFile(path, **LIMITS) as file:
        if file.metadata.num_rows > ROWS_MOST:
            raise RefusedError("it has too many rows")
        fields = [field for field in file.schema_arrow if not pa.types.is_nested(field.type)]
    names = [field.name for field in fields]
    texts = [field.name for field in fields if field.type in TEXTS or field.type in VIEWS]
    stream = None
    with pq.ParquetFile(
        path, read_dictionary=texts if keeps_dictionaries == "yes" else None, **LIMITS
    ) as file:
        for batch in file.iter_batches(BATCH_ROWS, columns=names, use_threads=False):
            columns = [bounded(batch.column(name)) for name in names]
            size = max(1, min(BATCH_ROWS, BATCH_BYTES // max(sum(longest for _, longest in columns), 1)))
            for start in range(0, batch.num_rows, size):
                parts = [column.slice(start, size) for column, _ in columns]
                plain = [
                    one.dictionary_decode() if pa.types.is_dictionary(one.type) else one for one in parts
                ]
                made = pa.record_batch(plain, names=names)
                stream = stream or pa.ipc.new_stream(pa.PythonFile(sys.stdout.buffer, "wb"), made.schema)
                stream.write_batch(made)
    if stream:
        stream.close()


def rows_apart(path: Path, *, keeps_dictionaries: bool = True) -> Iterator[tuple[Any, ...]]:
    command = [sys.executable, "-I", __file__, "--child", str(path), "yes" if keeps_dictionaries else "no"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:  # noqa: S603 - this file
        written, messages = cast("tuple[IO[bytes], IO[bytes]]", (process.stdout, process.stderr))
        try:
            with pa.ipc.open_stream(written) as batches:
                for batch in batches:
                    yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)
        except pa.ArrowInvalid:
            pass  # nothing came: the child says why
        said, _, peak = messages.read().decode().strip().rpartition("\n")
        peaks.append(int(peak) // 1024 if peak.isdecimal() else MEGABYTES)
        if process.wait():
            raise RefusedError(said[:80] or f"exit {process.returncode}")


def processor() -> float:
    both = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in both)


def seconds(rows: Callable[[], Iterator[Any]]) -> float:
    before = processor()
    for _row in rows():
        pass
    return processor() - before


def honest(path: Path, rows: int) -> None:
    draw = random.Random(rows)  # noqa: S311 - no secret
    words = [f"word{number}" for number in range(5000)]
    columns = [[" ".join(draw.choices(words, k=9)) for _row in range(rows)] for _column in range(2)]
    scores = [draw.random() * 5 for _row in range(rows)]
    table = pa.table({"sentence1": columns[0], "sentence2": columns[1], "score": scores})
    pq.write_table(table, path, compression="zstd")


def main(folder: Path) -> None:
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    from curation.files.parquet import parquet_rows  # noqa: PLC0415 - the child starts without the project
    from tests.hostile_files import HOSTILE  # noqa: PLC0415

    names = ["sentence1", "sentence2", "score"]
    print("rows: seconds of ours, of the child, of the child that unpacks dictionaries; ratios")
    for count in (10, 1_000, 100_000):
        path = folder / f"{count}.parquet"
        honest(path, count)
        if list(parquet_rows(path, names)) != list(rows_apart(path)):
            raise SystemExit("The two readers differ.")
        readers: list[Callable[[], Iterator[Any]]] = [
            partial(parquet_rows, path, names),
            partial(rows_apart, path),
            partial(rows_apart, path, keeps_dictionaries=False),
        ]
        turns = [[seconds(rows) for rows in readers] for _turn in range(7)]
        ours, *others = (median(column) for column in zip(*turns, strict=True))
        print(f"{count:7}: {ours:.4f}", *(f"{each:.4f} ({each / ours:.1f})" for each in others))
    print("hostile file: what the child says; megabytes of the child; seconds passed")
    for name, make in HOSTILE.items():
        path = folder / f"{name}.parquet"
        make(path)
        begun = time.monotonic()
        try:
            said = f"{sum(1 for _row in rows_apart(path))} rows"
        except RefusedError as error:
            said = str(error)
        print(f"{name}: {said}; {peaks[-1]}; {time.monotonic() - begun:.1f}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        try:
            child(*sys.argv[2:])
        except (RefusedError, MemoryError, OSError, pa.ArrowException) as error:
            print(type(error).__name__, str(error).replace("\n", " "), file=sys.stderr)
            sys.exit(3)
        finally:
            print(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0], file=sys.stderr)
    else:
        with tempfile.TemporaryDirectory(prefix="parquet-") as made:
            main(Path(made))
