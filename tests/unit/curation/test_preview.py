"""What a file looks like before it is imported."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from curation.files.parsing import Columns
from curation.files.sampling import preview_file


def written(folder: Path, content: str, name: str = "pairs.csv") -> Path:
    path = folder / name
    path.write_text(content, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("content", "header"),
    [
        ("sentence1,sentence2,score\nA.,B.,1\n", True),
        ("links,rechts,wert\nA.,B.,1\n", True),
        ("links,rechts\nA.,B.\n", True),
        ("A plane is taking off.,An air plane is taking off.,5.0\nC.,D.,1\n", False),
        ("A plane is taking off.,An air plane is taking off.\nC.,D.\n", False),
        ("two women are embracing while holding to go packages,the sisters are hugging\nC.,D.\n", False),
    ],
)
def test_whether_the_first_row_names_the_columns_is_guessed(tmp_path, content: str, header: bool) -> None:
    assert preview_file(written(tmp_path, content)).header is header


def test_what_is_said_about_the_header_wins_over_the_guess(tmp_path) -> None:
    seen = preview_file(written(tmp_path, "sentence1,sentence2,score\nA.,B.,1\n"), header=False)

    assert (seen.columns, seen.rows[0]) == (("1", "2", "3"), ("sentence1", "sentence2", "score"))


def test_the_columns_to_choose_are_guessed(tmp_path) -> None:
    seen = preview_file(
        written(tmp_path, "id;Sentence 1;Sentence 2;Gold;split\n1;A, a.;B.;3,5;train\n2;C.;D.;4;dev\n")
    )

    assert seen.delimiter == ";"
    assert seen.guess == Columns(
        a="Sentence 1", b="Sentence 2", score="Gold", split="split", external_id="id"
    )


def test_where_nothing_is_known_nothing_is_guessed(tmp_path) -> None:
    seen = preview_file(written(tmp_path, "links,rechts,wert\nA.,B.,1\n"))

    assert seen.guess == Columns()


def test_the_first_rows_are_shown_as_wide_as_the_columns(tmp_path) -> None:
    seen = preview_file(written(tmp_path, "a,b,score\n" + "A.,B.,1\nC.,D.\nE.,F.,3,more\n" * 9), rows=3)

    assert seen.rows == (("A.", "B.", "1"), ("C.", "D.", ""), ("E.", "F.", "3"))


def test_what_cannot_be_shown_is_shown_as_a_mark(tmp_path) -> None:
    (tmp_path / "pairs.csv").write_bytes(b"a,b\n" + "é".encode() * 9 + b"\xff\x00,B.\n")

    assert preview_file(tmp_path / "pairs.csv").rows == (("é" * 9 + "��", "B."),)


def test_lines_of_json_and_parquet_files_are_shown_too(tmp_path) -> None:
    pq.write_table(pa.table({"a": ["A."], "b": ["B."], "score": [None]}), tmp_path / "pairs.parquet")
    lines = written(tmp_path, '{"a": "A.", "b": "B."}\n{"a": "C.", "b": "D.", "score": 1}\n', "pairs.jsonl")

    of_parquet, of_json = preview_file(tmp_path / "pairs.parquet"), preview_file(lines)

    assert (of_parquet.columns, of_parquet.rows) == (("a", "b", "score"), (("A.", "B.", ""),))
    assert of_json.rows == (("A.", "B.", ""), ("C.", "D.", "1"))


def test_the_two_sentences_of_a_cell_are_shown_apart(tmp_path) -> None:
    seen = preview_file(
        written(tmp_path, "PairID,Text,Score\np1,\"A.\nB.\",1\np2,\"['C.', 'D.']\",0\np3,E.,0\n")
    )

    assert (seen.guess, seen.header) == (Columns(pair="Text", score="Score", external_id="PairID"), True)
    assert [row[1][1] for row in seen.shown_rows()] == [("A.", "B."), ("C.", "D."), ("E.",)]


def test_both_sentences_in_a_cell_are_guessed_without_a_header_too(tmp_path) -> None:
    seen = preview_file(written(tmp_path, '1,"A.\nB.",1\n2,"C.\nD.",0\n'))

    assert (seen.guess, seen.header) == (Columns(pair="2"), False)
