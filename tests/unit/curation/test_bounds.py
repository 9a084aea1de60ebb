"""Hostile files cost little: each reading happens in a process of its own, whose memory is looked at afterwards."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from curation.files import parquet
from curation.files.drafts import FileError, RowError
from curation.files.identity import TooManyRowsError, survey_rows
from curation.files.parsing import Columns, inspect_file, parse_pairs, read_pairs
from curation.files.progress import silent
from curation.files.records import ROW_KEPT_CHARACTERS
from curation.files.sampling import preview_file
from tests import hostile_files
from tests.hostile_files import HOSTILE

ROOT = Path(__file__).resolve().parents[3]
MEGABYTES_MORE = 300
READ = """
import resource, sys
from itertools import islice
from pathlib import Path
from curation.files.drafts import FileError
from curation.files.parsing import inspect_file, parse_pairs
from curation.files.sampling import preview_file
def peak(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
before, path = peak(), Path(sys.argv[1])
try:
    preview_file(path)
    rows = parse_pairs(inspect_file(path))
    while list(islice(rows, 2000)):
        pass
except FileError as error:
    print(error)
print(peak() - before)
"""


def read(path: Path) -> tuple[str, int]:
    """What reading a file says, and how many megabytes it takes."""
    done = subprocess.run(
        [sys.executable, "-c", READ, str(path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    *said, megabytes = done.stdout.splitlines()
    return " ".join(said), int(megabytes)


@pytest.mark.exhaustive
@pytest.mark.parametrize("make", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_parquet_file_costs_little_memory(tmp_path, make: Callable[[Path], None]) -> None:
    path = tmp_path / "hostile.parquet"
    make(path)

    said, megabytes = read(path)

    assert megabytes < MEGABYTES_MORE
    assert said == "" or said.endswith(".")


@pytest.mark.exhaustive
@pytest.mark.parametrize("compression", ["gzip", "brotli", "snappy", "lz4"])
def test_a_page_that_unpacks_to_gigabytes_is_refused_however_it_is_packed(tmp_path, compression: str) -> None:
    path = tmp_path / "page.parquet"
    hostile_files.one_page(path, compression)

    with pytest.raises(FileError, match="holds a value of more than 1,000,000 bytes"):
        preview_file(path)


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("rows.jsonl", hostile_files.lines_of_json(8_000_000)),
        ("rows.csv", hostile_files.lines_of_csv(8_000_000)),
        ("rows.csv", hostile_files.open_cells(8_000_000)),
    ],
)
def test_long_lines_cost_little_memory(tmp_path, name: str, lines: Iterator[str]) -> None:
    path = tmp_path / name
    with path.open("w") as file:
        file.writelines(lines)

    _said, megabytes = read(path)

    assert megabytes < MEGABYTES_MORE / 2


def test_a_parquet_file_of_too_many_rows_is_refused_at_once(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(parquet, "ROWS_MOST", 2)
    pq.write_table(pa.table({"a": ["A."] * 3, "b": ["B."] * 3}), tmp_path / "pairs.parquet")

    with pytest.raises(FileError, match="has 3 rows, and at most 2 are read; split the file"):
        preview_file(tmp_path / "pairs.parquet")


def test_a_name_that_a_file_gives_to_texts_lifts_no_bound(tmp_path) -> None:
    texts = pa.ExtensionArray.from_storage(pa.json_(), pa.array(["x" * 1_000_001]))
    pq.write_table(pa.table({"sentence1": texts, "sentence2": ["B."]}), tmp_path / "named.parquet")

    with pytest.raises(FileError, match="a value of more than 1,000,000 bytes"):
        read_pairs(tmp_path / "named.parquet", Columns("sentence1", "sentence2"))


def test_lists_that_a_file_calls_something_else_are_not_read(tmp_path) -> None:
    lists = pa.array([[1, 2]])
    named = pa.ExtensionArray.from_storage(pa.opaque(lists.type, "text", "lab"), lists)
    pq.write_table(pa.table({"sentence1": ["A."], "sentence2": named}), tmp_path / "named.parquet")

    assert parquet.parquet_columns(tmp_path / "named.parquet") == (("sentence1",), ("sentence2",))


def test_a_survey_ends_after_the_rows_it_may_read() -> None:
    rows = iter([RowError(1, "no", "row")] * 5)

    with pytest.raises(TooManyRowsError, match="more than 3 rows"):
        survey_rows(rows, most=3, report=silent, message="")

    assert len(list(rows)) == 1


def test_of_a_long_row_the_beginning_is_kept(tmp_path) -> None:
    path = tmp_path / "pairs.csv"
    path.write_text("a,b\nA.,B.,{}\n".format("x" * 50_000))

    _layout, _pairs, [error] = read_pairs(path)

    assert len(error.row) == ROW_KEPT_CHARACTERS + 1
    assert error.row.endswith("…")


@pytest.mark.parametrize("compression", ["none", "snappy", "gzip", "brotli", "lz4", "zstd"])
@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_an_honest_parquet_file_is_read_whole_however_it_is_written(
    tmp_path, compression: str, version: str
) -> None:
    count = 6_001
    table = pa.table(
        {
            "a": [f"A dog runs past house {number}." for number in range(count)],
            "b": pa.array(
                [f"Cat {number % 9}." if number % 7 else None for number in range(count)]
            ).dictionary_encode(),
            "score": [number % 6 / 5 for number in range(count)],
            "more": [[number] for number in range(count)],
        }
    )
    path = tmp_path / "pairs.parquet"
    pq.write_table(table, path, compression=compression, data_page_version=version, row_group_size=1_999)

    rows = list(parse_pairs(inspect_file(path)))

    assert len(rows) == count
    assert rows[-1].a == f"A dog runs past house {count - 1}."
    assert [rows[0].reason, rows[1].b, rows[1].score] == ["sentence b is empty", "Cat 1.", 0.2]


def test_a_file_of_many_row_groups_is_read(tmp_path) -> None:
    table = pa.table({"sentence1": ["A dog runs."] * 10, "sentence2": ["A cat sleeps."] * 10})
    path = tmp_path / "pairs.parquet"
    with pq.ParquetWriter(path, table.schema) as writer:
        for _group in range(1000):
            writer.write_table(table)

    sample = preview_file(path)

    assert sample.rows[0] == ("A dog runs.", "A cat sleeps.")
