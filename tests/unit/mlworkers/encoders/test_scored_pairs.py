"""Reading the files that encoders are measured on: what is wrong is said, and nothing is left out."""

import pytest

from curation.files.parsing import Columns, FileError
from mlworkers.science.encoders.scored_pairs import JudgedPairs, read_judged_pairs

SCORED = """sentence1,sentence2,score
A dog runs.,A dog is running.,4.5
A cat sits.,Rain falls.,0
It is late.,It is night.,3
"""


@pytest.fixture
def file(tmp_path):
    def write(text: str):
        path = tmp_path / "pairs.csv"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_scores_are_read_in_the_order_of_the_file(file) -> None:
    pairs = read_judged_pairs(file(SCORED), Columns())

    assert pairs.values == (4.5, 0, 3)
    assert (pairs.first[1], pairs.second[1]) == ("A cat sits.", "Rain falls.")


def test_labels_are_read_where_their_column_is_named(file) -> None:
    text = "a,b,same\nx y,x z,1\nu v,w w,0\np q,p r,1\n"

    pairs = read_judged_pairs(file(text), Columns(label="same"))

    assert pairs.values == (1, 0, 1)


@pytest.mark.parametrize(
    ("text", "columns", "reason"),
    [
        ("sentence1,sentence2\na b,c d\n", Columns(), "No column of pairs.csv is known to hold scores"),
        (SCORED, Columns(score="gold"), 'pairs.csv has no column "gold"'),
        (
            SCORED + "x y,z w,high\n",
            Columns(score="score"),
            'pairs.csv, line 5: the score "high" is not a number;',
        ),
        (
            SCORED + "x y,z w,nan\n",
            Columns(score="score"),
            'pairs.csv, line 5: the score "nan" is not a finite number;',
        ),
        (SCORED + "x y,z w,\n", Columns(score="score"), "pairs.csv, line 5: it has no score;"),
        (SCORED + "x y,,1\nz,,2\n", Columns(), r"line 5: sentence b is empty \(and 1 rows more\)"),
        (
            "\n".join(SCORED.splitlines()[:2]),
            Columns(),
            "pairs.csv holds too few pairs, 1; measuring needs 3",
        ),
        ("a,b,score\nx,y,2\nz,w,2\nu,v,2\n", Columns(), "Every score in pairs.csv is 2"),
        ("a,b,label\nx,y,1\nz,w,1\nu,v,1\n", Columns(label="label"), "Every label in pairs.csv is 1"),
        (
            "a,b,label\nx,y,1\nz,w,2\nu,v,0\n",
            Columns(label="label"),
            "line 3: the label 2 is neither 0 nor 1",
        ),
    ],
)
def test_a_file_that_measures_nothing_is_refused_with_the_reason(file, text, columns, reason) -> None:
    with pytest.raises(FileError, match=reason):
        read_judged_pairs(file(text), columns)


def test_a_file_that_is_not_there_is_named(tmp_path) -> None:
    with pytest.raises(FileError, match=r"missing\.csv"):
        read_judged_pairs(tmp_path / "missing.csv", Columns())


def test_pairs_that_stand_in_both_files_are_counted_in_either_order() -> None:
    test = JudgedPairs("test", ("a", "c", "e"), ("b", "d", "f"), (1, 0, 1))
    dev = JudgedPairs("dev", ("d", "a"), ("c", "x"), (1, 0))

    assert test.shared_with(dev) == 1
