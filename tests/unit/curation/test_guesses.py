"""What is decided about a file is decided from all of it, rejects no row, and is told."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from curation.files.drafts import Columns, FileError, Layout
from curation.files.parquet import classes_described
from curation.files.parsing import inspect_file, read_pairs
from curation.files.sampling import preview_file

LATE = 2100  # more lines than are tried at first
HEADER = "sentence1,sentence2,score\n"


@pytest.fixture
def written(tmp_path) -> Callable[..., Path]:
    def write(content: str, name: str = "pairs.csv") -> Path:
        path = tmp_path / name
        path.write_text(content, encoding="utf-8", newline="")
        return path

    return write


def taken(layout: Layout, what: str) -> list[str]:
    return [guess.taken for guess in layout.guesses if guess.what == what]


def rows(count: int, row: str) -> str:
    return "".join(row.format(n=number) for number in range(count))


# All of the file


@pytest.mark.parametrize("delimiter", [",", "\t", ";", "|"])
def test_quotation_marks_that_begin_late_are_text_and_merge_no_rows(written, delimiter: str) -> None:
    late = '"He opens a mark,A reply.,1\nA row.,Its partner.,2\nIt closes" here.,A reply.,3\n'
    content = (HEADER + rows(LATE, "A dog {n}.,A cat {n}.,1\n") + late).replace(",", delimiter)

    layout, pairs, errors = read_pairs(written(content))

    assert (len(pairs), errors, layout.quoted) == (LATE + 3, [], False)
    assert pairs[-3].a == '"He opens a mark'


def test_a_mark_that_would_merge_rows_of_a_quoted_file_costs_its_own_row(written) -> None:
    content = HEADER + rows(20, '"A dog, {n}.",A cat.,1\n') + '"Open.,B.,1\nC.,D.,1\nE.",F.,2\n'

    _, pairs, errors = read_pairs(written(content))

    assert [(error.line, error.reason) for error in errors] == [
        (22, "a quotation mark is opened and not closed")
    ]
    assert [pair.a for pair in pairs[-2:]] == ["C.", 'E."']


@pytest.mark.parametrize("header", [HEADER, '"sentence1","sentence2","score"\n'])
@pytest.mark.parametrize("bad", ['"The "old dog {n}.","A cat,"1"\n', '"A dog {n}.,A cat.,1\n'])
def test_a_bad_mark_costs_its_own_row_where_marks_enclose_nearly_all_cells(
    written, header: str, bad: str
) -> None:
    good = '"A dog {n}.","A cat {n}.","1"\n'
    content = header + rows(LATE, good) + bad + rows(5, good)

    layout, pairs, errors = read_pairs(written(content))

    assert (len(pairs), [error.line for error in errors], layout.quoted) == (LATE + 5, [LATE + 2], True)
    assert (pairs[0].a, pairs[-1].a, pairs[-1].score) == ("A dog 0.", "A dog 4.", 1)


@pytest.mark.parametrize(
    "second", ["A cat, a bird.", "2,000 cats.", 'It said,"" a bird is there.', "We go up 3-2,'' he said."]
)
def test_a_cell_of_two_lines_with_commas_of_prose_is_a_cell(written, second: str) -> None:
    both = f"A dog , it seems.\n{second}"
    content = "id,Text,score\n" + "".join(f'{n},"{both}",1\n' for n in range(20))

    _, pairs, errors = read_pairs(written(content))

    assert errors == []
    assert {(pair.a, pair.b) for pair in pairs} == {("A dog , it seems.", second.replace('""', '"'))}


def test_a_delimiter_that_fails_later_is_decided_again(written) -> None:
    content = rows(LATE, "Hello there {n}, you;Good day\n") + rows(9 * LATE, "Hello {n};Good day\n")

    assert inspect_file(written(content), header=False).delimiter == ";"


def test_scores_that_begin_late_are_read(written) -> None:
    path = written(HEADER + rows(LATE, "A {n}.,B.,\n") + rows(5, "C {n}.,D.,4.5\n"))

    _, pairs, errors = read_pairs(path)

    assert ([pair.score for pair in pairs].count(4.5), errors) == (5, [])


def test_keys_of_json_that_begin_late_are_read(written) -> None:
    content = rows(LATE, '{{"a": "A {n}.", "b": "B."}}\n') + '{"a": "C.", "b": "D.", "score": 2}\n'

    _, pairs, _ = read_pairs(written(content, "pairs.jsonl"))

    assert pairs[-1].score == 2


def test_scores_of_a_parquet_file_that_begin_late_are_read_and_not_a_number_is_no_score(tmp_path) -> None:
    scores = [*[None] * LATE, float("nan"), 4.0]
    sentences = [f"A {number}." for number in range(len(scores))]
    pq.write_table(pa.table({"a": sentences, "b": sentences, "score": scores}), tmp_path / "p.parquet")

    _, named, errors = read_pairs(tmp_path / "p.parquet", Columns(score="score"))

    assert (len(named), errors, [pair.score for pair in named[-2:]]) == (LATE + 2, [], [None, 4.0])


@pytest.mark.parametrize(
    ("late", "column"),
    [("1,A.,B.,news\n", "external_id"), (f"x,C.,D.,{'s' * 101}\n", "source")],
)
def test_what_a_guessed_column_cannot_hold_rejects_no_row(written, late: str, column: str) -> None:
    path = written("id,a,b,source\n" + rows(LATE, "{n},A {n}.,B.,news\n") + late)

    layout, pairs, errors = read_pairs(path)
    _, _, named = read_pairs(path, Columns(source="source"))

    assert (len(pairs), errors, len(named)) == (LATE + 1, [], int(column == "source"))
    assert getattr(pairs[-1], column) == ""
    told = next(guess.reason for guess in layout.guesses if guess.what == column)
    assert ("line" if column == "external_id" else "left out") in told


def test_a_preview_of_the_beginning_says_so(written) -> None:
    path = written(HEADER + rows(LATE, "A {n}.,B.,\n") + "C.,D.,1\n")

    assert preview_file(path).guess.score == "score"
    assert "first lines" in preview_file(path, whole=False).warnings[-1]


# Classes are not measurements


@pytest.mark.parametrize(
    ("name", "values", "score"),
    [
        ("label", [0, 1, 2], False),
        ("label", [0, 1], False),
        ("label", [-1, 0, 1, 2], False),
        ("label", ["neutral", "entailment"], False),
        ("gold_label", ["-", "neutral", "neutral"], False),
        ("label", [-1, -1], False),
        ("label", [0, 1, 2, 3], True),
        ("label", [0.5, 1, 2], True),
        ("score", [0, 1, 2], True),
        ("similarity", [0, 1], True),
        ("relatedness_score", [-1, 0, 1], True),
        ("gold", [1, 2], True),
    ],
)
def test_a_label_with_few_whole_values_is_a_class_and_no_score(
    written, name: str, values: Sequence[object], score: bool
) -> None:
    content = f"premise,hypothesis,{name}\n" + "".join(f"A {n}.,B.,{each}\n" for n, each in enumerate(values))

    layout, pairs, errors = read_pairs(written(content))

    assert ("score" in layout.mapping, errors) == (score, [])
    assert any(pair.score is not None for pair in pairs) == score
    if not score and set(values) != {-1}:
        assert [pair.subset for pair in pairs] == ["" if each == -1 else str(each) for each in values]


def test_classes_of_a_parquet_file_are_kept_by_name(tmp_path) -> None:
    about = classes_described({"score": ["no", "yes"]})
    table = pa.table({"a": ["A.", "B.", "C."], "b": ["D."] * 3, "score": [1, 0, -1]})
    pq.write_table(table.replace_schema_metadata(about), tmp_path / "p.parquet")

    layout, pairs, _ = read_pairs(tmp_path / "p.parquet")
    _, named, _ = read_pairs(tmp_path / "p.parquet", Columns(score="score"))

    assert [(pair.score, pair.subset) for pair in pairs] == [(None, "yes"), (None, "no"), (None, "")]
    assert "name it as the score" in next(guess.reason for guess in layout.guesses if guess.what == "score")
    assert named[0].score == 1


@pytest.mark.parametrize(
    ("values", "scores"),
    [
        ((0, 2.5, 5, -1), (0, 2.5, 5, None)),
        ((-1, -0.5, 0.5, 1), (-1, -0.5, 0.5, 1)),
        ((-1, 0, 1, 1), (-1, 0, 1, 1)),
    ],
)
def test_minus_one_is_no_score_where_nothing_else_is_negative(written, values, scores) -> None:
    path = written(HEADER + "".join(f"A {n}.,B.,{value}\n" for n, value in enumerate(values)))

    _, pairs, errors = read_pairs(path)

    assert ([pair.score for pair in pairs], errors) == (list(scores), [])


def test_none_says_that_the_file_has_no_such_column(written) -> None:
    path = written("id,a,b,score,split\n1,A.,B.,2,train\n")

    layout, [pair], _ = read_pairs(path, Columns(external_id="", score="", split=""))

    assert (pair.external_id, pair.score, pair.split) == ("", None, "")
    assert layout.mapping.keys() == {"a", "b"}


def test_a_falling_scale_turns_the_scores_round(written) -> None:
    _, pairs, errors = read_pairs(written(HEADER + "A.,B.,3\nC.,D.,1.1\nE.,F.,4\n"), scale=(3, 1))

    assert [pair.score for pair in pairs] == [1, 2.9]
    assert errors[0].reason == "the score 4 is outside the scale 1 to 3"


# Delimiters, decimals, titles


@pytest.mark.parametrize("header", ["sentence1;sentence2;score\n", "links;rechts;wert\n", ""])
def test_semicolons_with_commas_in_sentences_and_numbers(written, header: str) -> None:
    content = header + rows(9, "Ein Mann, der spielt {n}.;Jemand macht Musik.;0,{n}\n")

    columns = Columns(a="links", b="rechts", score="wert") if "wert" in header else Columns()

    layout, pairs, errors = read_pairs(written(content), columns, header=bool(header))

    assert (layout.delimiter, errors) == (";", [])
    assert [pair.score for pair in pairs] == [number / 10 for number in range(9)]


def test_commas_before_decimals_and_points_are_not_mixed(written) -> None:
    path = written("a\tb\tscore\nA.\tB.\t0.5\nC.\tD.\t1,000\n", "p.tsv")

    _, pairs, errors = read_pairs(path)

    assert ([pair.score for pair in pairs], errors) == ([0.5, None], [])


@pytest.mark.parametrize(
    "above",
    [
        "sep=;\n",
        "My study of 2020\n",
        "# made by a program\n# version 2; really; so\n",
        "Results;;\n\n",
        "sep=;\nMy study; the second\n",
    ],
)
def test_what_stands_above_the_header_is_passed_over_and_told(written, above: str) -> None:
    path = written(above + "sentence1;sentence2;score\n" + rows(6, "A, {n}.;B.;0,{n}\n"))

    layout, pairs, errors = read_pairs(path)

    assert (len(pairs), errors, layout.delimiter) == (6, [], ";")
    assert pairs[0].line == above.count("\n") + 2
    assert taken(layout, "first_line") == [str(above.count("\n") + 1)]


def test_a_first_row_of_data_is_no_title(written) -> None:
    _, pairs, _ = read_pairs(written("A.,B.,1\nC.,D.,2\n"), header=False)

    assert [pair.a for pair in pairs] == ["A.", "C."]


# Headers among the rows


@pytest.mark.parametrize(
    ("between", "lines"),
    [
        ("Response ID,First,Second\n" + '"{""ImportId"":""x""}","{""ImportId"":""y""}",\n', [2, 3]),
        (",First,\n" + '"{""ImportId"":""x""}","{""ImportId"":""y""}","{""ImportId"":""z""}"\n', [2, 3]),
        (",,\n" + '"{""ImportId"":""x""}","{""ImportId"":""y""}","{""ImportId"":""z""}"\n', [2, 3]),
        ("Response ID,First sentence,Second sentence\n", [2]),
        ("R_0,A.,B.\nResponseId,sentence1,sentence2\n", [3]),
    ],
)
def test_header_rows_among_the_data_are_rejected_with_a_reason(
    written, between: str, lines: list[int]
) -> None:
    path = written("ResponseId,sentence1,sentence2\n" + between + "R_1,C.,D.\nR_2,E.,F.\n")

    _, pairs, errors = read_pairs(path)

    assert [error.line for error in errors] == lines
    assert all(error.is_header and "header" in error.reason for error in errors)
    assert [pair.a for pair in pairs][-2:] == ["C.", "E."]


# Refusals that name the way


@pytest.mark.parametrize(
    ("names", "option"),
    [
        ("sentence1_tr,sentence2_tr", "--a sentence1_tr --b sentence2_tr"),
        ("id,caption1,caption2", "--a caption1 --b caption2"),
        ("query,passage,other", "--a query --b passage"),
        ("anchor,positive,negative", "--a anchor --b positive"),
    ],
)
def test_a_refusal_names_the_columns_that_may_be_meant(written, names: str, option: str) -> None:
    path = written(f"{names}\n" + ",".join("x" for _name in names.split(",")) + "\n")

    with pytest.raises(FileError) as caught:
        read_pairs(path)

    assert option in str(caught.value)


def test_rows_that_are_wider_than_the_header_are_refused_with_the_numbers_of_their_columns(written) -> None:
    path = written("id\tscore\tsentence1\tsentence2\n" + rows(5, "{n}\t1\tA.\tB.\tmore\tmore\n"), "p.tsv")

    with pytest.raises(FileError, match=r"2 cells more.*--no-header.*--a 3 --b 4 --score 2"):
        read_pairs(path)
    _, pairs, errors = read_pairs(path, Columns(a="3", b="4", score="2"), header=False)

    assert (len(pairs), [error.line for error in errors]) == (5, [1])
