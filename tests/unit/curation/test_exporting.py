"""Tables into files that are whole or not there."""

import csv
import errno
import io
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.files.parsing import Columns, FileError, read_pairs
from curation.files.tables import FORMATS, PAIR_COLUMNS, Column, csv_lines, free_columns, write_table
from curation.files.writing import replacing
from curation.pairs.text import normalise, shows_something


@pytest.fixture
def folder(tmp_path) -> Path:
    """A folder with nothing in it."""
    empty = tmp_path / "files"
    empty.mkdir()
    return empty


TEXT_AND_NUMBER = (Column("text"), Column("score", "number"))
ROWS = [('He said "yes", twice.', 0.1), ("=1+1", None), ("-5 degrees\t", 2.0)]


def test_a_csv_file_holds_what_python_reads_back(tmp_path) -> None:
    written = write_table(tmp_path / "out.csv", "csv", TEXT_AND_NUMBER, ROWS)

    with (tmp_path / "out.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    assert written == 3
    assert rows == [
        ["text", "score"],
        ['He said "yes", twice.', "0.1"],
        ["=1+1", ""],
        ["-5 degrees\t", "2.0"],
    ]


def test_json_lines_hold_an_object_for_each_row(tmp_path) -> None:
    write_table(tmp_path / "out.jsonl", "jsonl", TEXT_AND_NUMBER, [("Zoë.", None)])

    text = (tmp_path / "out.jsonl").read_text(encoding="utf-8")
    assert json.loads(text) == {"text": "Zoë.", "score": None}
    assert "Zoë." in text


def test_a_parquet_file_says_what_it_is_about(tmp_path) -> None:
    about = {"semblance": '{"dataset": "x"}'}

    write_table(tmp_path / "out.parquet", "parquet", TEXT_AND_NUMBER, ROWS, about=about)

    table = pq.read_table(tmp_path / "out.parquet")
    assert table.to_pydict() == {"text": [row[0] for row in ROWS], "score": [row[1] for row in ROWS]}
    assert table.schema.metadata[b"semblance"] == b'{"dataset": "x"}'


@pytest.mark.parametrize("format_", FORMATS)
def test_a_table_without_rows_still_names_its_columns(tmp_path, format_: str) -> None:
    path = tmp_path / f"out.{format_}"

    assert write_table(path, format_, TEXT_AND_NUMBER, []) == 0

    if format_ == "parquet":
        assert pq.read_table(path).column_names == ["text", "score"]
    elif format_ != "jsonl":
        assert path.read_text().split() in (["text,score"], ["text", "score"])


def test_formulas_are_neutralised_where_that_is_asked(tmp_path) -> None:
    rows = [(text, -1.0) for text in ("=1+1", "+1", "-5", "@x", "\tx", "\n=1", "＝1", "＠x", "1=1", "")]

    write_table(tmp_path / "out.csv", "csv", TEXT_AND_NUMBER, rows, neutralise=True)

    with (tmp_path / "out.csv").open(newline="", encoding="utf-8") as file:
        texts, numbers = zip(*list(csv.reader(file))[1:], strict=True)
    assert texts == ("'=1+1", "'+1", "'-5", "'@x", "'\tx", "'\n'=1", "'＝1", "'＠x", "1=1", "")
    assert set(numbers) == {"-1.0"}


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("text", ["a;=b", 'a;"=b";c', "a\t=b", "a\n=b", "a|@b", "a,+b;-c", '"=a'])
def test_no_text_is_a_formula_by_any_sign_that_ends_a_cell(text, delimiter) -> None:
    """A spreadsheet in German ends a cell of a CSV file at a semicolon, in spite of quotation marks."""
    lines = "".join(csv_lines([["id", "text"], ["1", text]], spreadsheet=True))

    rows = list(csv.reader(io.StringIO(lines, newline=""), delimiter=delimiter))

    assert not any(cell.startswith(("=", "+", "-", "@")) for row in rows for cell in row)


def test_a_column_named_as_a_formula_is_neutralised_too(tmp_path) -> None:
    columns = [Column("id"), Column("=1+1", "number")]

    write_table(tmp_path / "out.csv", "csv", columns, [("a", 0.5)], neutralise=True)

    assert (tmp_path / "out.csv").read_text() == "id,'=1+1\na,0.5\n"


def test_a_score_set_named_as_another_column_gets_a_name_of_its_own() -> None:
    names = [column.name for column in free_columns(map(Column, ["gold", "split", "score: split", "people"]))]

    assert names == ["gold", "score: split", "score: score: split", "people"]


def test_an_unknown_format_is_answered_with_the_known_ones(tmp_path) -> None:
    with pytest.raises(FileError, match="choose one of csv, tsv, jsonl, parquet"):
        write_table(tmp_path / "out.xls", "xls", TEXT_AND_NUMBER, ROWS)


# The whole file or none


def failing(error: BaseException) -> Iterator[tuple[str, float]]:
    yield ("A.", 1.0)
    raise error


@pytest.mark.parametrize("format_", FORMATS)
@pytest.mark.parametrize("error", [RuntimeError("stopped"), KeyboardInterrupt()], ids=["error", "interrupt"])
def test_an_error_while_writing_keeps_the_older_file(folder, format_: str, error: BaseException) -> None:
    path = folder / "out"
    path.write_text("older")

    with pytest.raises(type(error)):
        write_table(path, format_, TEXT_AND_NUMBER, failing(error))

    assert path.read_text() == "older"
    assert list(folder.iterdir()) == [path]


@pytest.mark.parametrize("format_", FORMATS)
def test_a_full_disk_is_one_sentence_and_leaves_nothing(folder, monkeypatch, format_: str) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)

    with pytest.raises(
        FileError, match=r"^The disk is full, so out was not written; free some space and try again\.$"
    ):
        write_table(folder / "out", format_, TEXT_AND_NUMBER, ROWS)

    assert list(folder.iterdir()) == []


def test_a_folder_that_does_not_exist_is_named(folder) -> None:
    with pytest.raises(FileError, match=r"The folder .*/none does not exist, so out\.csv was not written"):
        write_table(folder / "none" / "out.csv", "csv", TEXT_AND_NUMBER, ROWS)


def test_a_folder_is_not_replaced_by_a_file(folder) -> None:
    (folder / "out").mkdir()

    with pytest.raises(FileError, match="out is a folder; give the name of a file in it"):
        write_table(folder / "out", "csv", TEXT_AND_NUMBER, ROWS)

    assert list(folder.iterdir()) == [folder / "out"]


def test_a_file_appears_only_when_it_is_whole(folder) -> None:
    with replacing(folder / "out") as file:
        file.write(b"half")
        file.flush()
        before = (folder / "out").exists()

    assert not before
    assert (folder / "out").read_bytes() == b"half"


# Out and in again


sentences = (
    st.text(st.characters(exclude_categories=["Cs"]), max_size=40).map(normalise).filter(shows_something)
)
quoted = st.text("\"' =,;|-", max_size=6).map(normalise).filter(bool)
facts = st.sampled_from(["", "news", 'the "old" one', "x,y"])
rows = st.lists(
    st.tuples(
        sentences | quoted,
        sentences | quoted,
        facts,
        facts,
        st.sampled_from(["", "train"]),
        st.none()
        | st.floats(-1, 1, exclude_min=True),  # a column of nothing but -1 has no scores, as in GLUE
    ),
    min_size=1,
    max_size=12,
)


@pytest.mark.exhaustive
@pytest.mark.parametrize("format_", FORMATS)
@given(rows)
def test_an_exported_table_is_read_as_it_was(
    tmp_path_factory, format_: str, rows: list[tuple[object, ...]]
) -> None:
    path: Path = tmp_path_factory.mktemp("files") / f"out.{format_}"
    numbered = [(f"p{number}", *row) for number, row in enumerate(rows)]

    write_table(path, format_, (*PAIR_COLUMNS, Column("score", "number")), numbered)
    _, pairs, errors = read_pairs(path, Columns(score="score"))

    read = [(p.external_id, p.a, p.b, p.source, p.subset, p.split, p.score) for p in pairs]
    assert errors == []
    assert read == numbered


def test_lines_for_a_spreadsheet_hold_no_formula_and_numbers_stay_numbers() -> None:
    rows = [["=name", "b"], ["-1+1", "-0.5"], ["@x", -2], ["+49", "-1e-05"]]

    lines = list(csv_lines(rows, spreadsheet=True))

    assert lines == ["'=name,b\r\n", "'-1+1,-0.5\r\n", "'@x,-2\r\n", "'+49,-1e-05\r\n"]
    assert next(csv_lines(rows)) == "=name,b\r\n"
