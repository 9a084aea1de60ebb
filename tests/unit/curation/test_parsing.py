"""Files of sentence pairs into draft pairs."""

import csv
import io
import json
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.files import records
from curation.files.parsing import (
    Columns,
    DraftPair,
    FileError,
    RowError,
    inspect_file,
    parse_pairs,
    read_pairs,
)
from curation.pairs.text import normalise, shows_something

HEADER = "sentence1,sentence2,score\n"


@pytest.fixture
def written(tmp_path):
    """Write a file and return its path."""

    def write(content: str | bytes, name: str = "pairs.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def facts(pairs: list[DraftPair]) -> list[tuple[str, str, float | None]]:
    return [(pair.a, pair.b, pair.score) for pair in pairs]


def reasons(errors: list[RowError]) -> list[tuple[int, str]]:
    return [(error.line, error.reason) for error in errors]


# Formats


def test_a_csv_file_with_a_header_is_read_by_its_names(written) -> None:
    _, pairs, errors = read_pairs(written(HEADER + '"Rome, fell.",Rome  fell,4.5\n'))

    assert (facts(pairs), errors) == ([("Rome, fell.", "Rome fell", 4.5)], [])


def test_a_file_without_a_header_is_read_by_its_places(written) -> None:
    layout, pairs, _ = read_pairs(written("A.,B.,3.8\nC.,D.,0\n"), header=False)

    assert facts(pairs) == [("A.", "B.", 3.8), ("C.", "D.", 0.0)]
    assert layout.columns == ("1", "2", "3")


def test_a_third_column_of_words_is_no_score(written) -> None:
    _, pairs, errors = read_pairs(written("A.,B.,good\nC.,D.,bad\n"), header=False)

    assert (facts(pairs), errors) == ([("A.", "B.", None), ("C.", "D.", None)], [])


def test_json_lines_are_read_by_their_keys(written) -> None:
    lines = (
        '{"text_a": "A.", "text_b": "B.", "label": 1}\n\n{"label": "2.5", "text_b": "D.", "text_a": "C."}\n'
    )

    _, pairs, errors = read_pairs(written(lines, "pairs.jsonl"))

    assert (facts(pairs), errors) == ([("A.", "B.", 1.0), ("C.", "D.", 2.5)], [])
    assert [pair.line for pair in pairs] == [1, 3]


def test_a_parquet_file_is_read_by_its_names(tmp_path) -> None:
    table = pa.table({"s1": ["A.", "C."], "s2": ["B.", None], "similarity": [0.5, 1.0], "id": [7, 8]})
    pq.write_table(table, tmp_path / "pairs.parquet")

    _, pairs, errors = read_pairs(tmp_path / "pairs.parquet")

    assert [(*fact, pair.external_id) for fact, pair in zip(facts(pairs), pairs, strict=True)] == [
        ("A.", "B.", 0.5, "7")
    ]
    assert reasons(errors) == [(2, "sentence b is empty")]


@pytest.mark.parametrize(
    ("content", "format_"),
    [(HEADER + "A.,B.,1\n", "csv"), ('{"a": "A.", "b": "B."}\n', "jsonl"), ("a\tb\nA.\tB.\n", "csv")],
)
def test_a_file_with_an_unknown_ending_is_known_by_its_content(written, content: str, format_: str) -> None:
    layout, pairs, _ = read_pairs(written(content, "pairs.data"))

    assert (layout.format, len(pairs)) == (format_, 1)


def test_a_parquet_file_without_its_ending_is_known_by_its_content(tmp_path) -> None:
    pq.write_table(pa.table({"a": ["A."], "b": ["B."]}), tmp_path / "pairs")

    assert inspect_file(tmp_path / "pairs").format == "parquet"


# Delimiters and quotation marks


@pytest.mark.parametrize("delimiter", [",", "\t", ";", "|"])
def test_the_delimiter_is_found(written, delimiter: str) -> None:
    rows = [
        ["sentence1", "sentence2", "score"],
        ["One, two; three.", "Four | five.", "1"],
        ["Six, six.", "7", "2"],
    ]
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter).writerows(rows)

    layout, pairs, errors = read_pairs(written(text.getvalue()))

    assert layout.delimiter == delimiter
    assert (facts(pairs)[0], errors) == (("One, two; three.", "Four | five.", 1.0), [])


def test_a_named_delimiter_is_taken_as_it_is(written) -> None:
    layout = inspect_file(written("a;b,c\nA;B,C\n"), Columns(a="a", b="b,c"), delimiter=";")

    assert layout.columns == ("a", "b,c")


def test_stray_quotation_marks_in_a_tab_separated_file_are_text(written) -> None:
    content = 'sentence1\tsentence2\n"Yes," he said.\tHe said "yes".\n"Quoted"\t6" pipe\n'

    _, pairs, errors = read_pairs(written(content, "pairs.tsv"))

    assert facts(pairs) == [('"Yes," he said.', 'He said "yes".', None), ('"Quoted"', '6" pipe', None)]
    assert errors == []


def test_quotation_marks_that_a_writer_put_around_tab_separated_cells_are_taken_off(written) -> None:
    content = 'sentence1\tsentence2\n"He said ""yes""."\tPlain.\n"Two\tcells?"\tNo.\n'

    _, pairs, errors = read_pairs(written(content, "pairs.tsv"))

    assert facts(pairs) == [('He said "yes".', "Plain.", None), ("Two cells?", "No.", None)]
    assert errors == []


def test_a_cell_may_hold_line_ends_and_rows_keep_their_physical_lines(written) -> None:
    content = HEADER + '"Rome\nfell.",Rome fell.,5\r\n\r\nA.,B.,x\n'

    _, pairs, errors = read_pairs(written(content), Columns(score="score"))

    assert facts(pairs) == [("Rome fell.", "Rome fell.", 5.0)]
    assert pairs[0].line == 2
    assert reasons(errors) == [(5, 'the score "x" is not a number')]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_every_kind_of_line_end_is_known(written, end: str) -> None:
    _, pairs, errors = read_pairs(written(end.join(["a,b", "A.,B.", "C.,D.", ""])))

    assert ([pair.line for pair in pairs], errors) == ([2, 3], [])


def test_a_quotation_mark_that_is_never_closed_costs_its_own_row_only(written) -> None:
    rows = "".join(f"A {number}.,B.,1\n" for number in range(records.RECORD_MAX_LINES + 50))

    _, pairs, errors = read_pairs(written(HEADER + '"Rome, fell",B.,1\n"Open,B.,1\n' + rows))

    assert len(pairs) == records.RECORD_MAX_LINES + 51
    assert reasons(errors) == [(3, "a quotation mark is opened and not closed")]
    assert errors[0].row == '"Open,B.,1'


def test_a_quotation_mark_that_is_open_at_the_end_costs_its_own_row_only(written) -> None:
    _, pairs, errors = read_pairs(written(HEADER + '"A, a",B.,1\n"Open,B.,1\nC.,D.,2'))

    assert [pair.a for pair in pairs] == ["A, a", "C."]
    assert reasons(errors) == [(3, "a quotation mark is opened and not closed")]


def test_a_quotation_mark_that_is_not_doubled_is_refused_rather_than_dropped(written) -> None:
    _, pairs, errors = read_pairs(written(HEADER + '"Yes," he said.,B.,1\nC.,D.,2\n'))

    assert [pair.a for pair in pairs] == ["C."]
    assert reasons(errors) == [(2, "a quotation mark inside a quoted cell is not doubled")]


# Encodings


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_unicode_files_are_read_in_their_encoding(written, encoding: str) -> None:
    content = "sentence1,sentence2\nDer Fluß fließt.,Ein Fluß.\n".encode(encoding)

    _, pairs, errors = read_pairs(written(content))

    assert (facts(pairs), errors) == ([("Der Fluß fließt.", "Ein Fluß.", None)], [])


def test_a_windows_file_is_read_with_a_warning(written) -> None:
    layout, pairs, _ = read_pairs(written("sentence1,sentence2\nIl a mangé.,“Oui”\n".encode("cp1252")))

    assert facts(pairs) == [("Il a mangé.", "“Oui”", None)]
    assert "Windows-1252" in layout.warnings[0]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_control_characters_that_were_windows_characters_once_are_given_back_and_counted(
    written, encoding
) -> None:
    # As a program writes it that took a Windows-1252 file for Latin-1.
    once = "sentence1,sentence2\n“It’s late …”,A dog\n".encode("cp1252").decode("latin-1")

    layout, pairs, _ = read_pairs(written(once.encode(encoding)))

    assert facts(pairs) == [("“It’s late …”", "A dog", None)]
    assert layout.warnings[0].startswith(
        "4 control characters of the file are read as the characters of Windows-1252"
    )


def test_a_unicode_file_needs_no_warning(written) -> None:
    assert inspect_file(written("a,b\nÉté.,Hiver.\n")).warnings == ()


def test_a_few_broken_bytes_cost_their_rows_only(written) -> None:
    content = "sentence1,sentence2\nÉté.,Hiver.\n".encode() + b"Br\xffken.,B.\n" + "Zoë.,Åsa.\n".encode()

    layout, pairs, errors = read_pairs(written(content))

    assert [pair.a for pair in pairs] == ["Été.", "Zoë."]
    assert reasons(errors) == [(3, "the row holds a NUL or bytes that are not text in the file's encoding")]
    assert errors[0].row == "Br�ken.,B."
    assert "but for 1 of its bytes" in layout.warnings[0]


def test_bytes_that_break_a_wide_encoding_end_the_reading_in_one_sentence(written) -> None:
    path = written("a,b\nA.,B.\n".encode("utf-16") + b"\xd8")

    with pytest.raises(FileError, match=r"^pairs.csv cannot be read as utf-16.*save it as UTF-8\.$"):
        read_pairs(path)


# Rows that are no pairs


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (",B.,1", "sentence a is empty"),
        ("A., \u00a0 ,1", "sentence b is empty"),
        ("\u200b\u2060,B.,1", "sentence a is empty"),
        (f"{'x' * 2001},B.,1", "sentence a has 2,001 characters; at most 2,000 are allowed"),
        (f"A.,{'word ' * 2000},1", "sentence b has 9,999 characters; at most 2,000 are allowed"),
        ("A\x00.,B.,1", "the row holds a NUL or bytes that are not text in the file's encoding"),
        ("A.,B.,high", 'the score "high" is not a number'),
        ("A.,B.,nan", 'the score "nan" is not a finite number'),
        ("A.,B.,-inf", 'the score "-inf" is not a finite number'),
        ("A.,B.,1_0", 'the score "1_0" is not a number'),
        ("A.,B.,5.01", "the score 5.01 is outside the scale 0 to 5"),
        ("A.,B.,-2", "the score -2 is outside the scale 0 to 5"),
        ("A.,B.", "the row has 2 cells, the file 3 columns"),
        ("A.,B.,1,more", "the row has 4 cells, the file 3 columns"),
    ],
)
def test_a_bad_row_is_refused_with_its_line_reason_and_text(written, row: str, reason: str) -> None:
    path = written(f"{HEADER}A.,B.,5\n{row}\nC.,D.,0\n")

    _, pairs, errors = read_pairs(path, Columns(score="score"), scale=(0, 5))

    assert [pair.a for pair in pairs] == ["A.", "C."]
    assert reasons(errors) == [(3, reason)]
    assert errors[0].row == row.replace("\x00", "�")


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("[1, 2]", "the line holds no JSON object"),
        ('{"a": "A.", "b": NaN}', "the line is not JSON: NaN is not a number"),
        ('{"a": "A."', "the line is not JSON: Expecting ',' delimiter at character 11"),
        ('{"a": "A.", "b": 5}', "sentence b is not text"),
        ('{"a": "A."}', "sentence b is empty"),
        (
            '{"a": "A.", "b": "\\ud800"}',
            "the row holds a NUL or bytes that are not text in the file's encoding",
        ),
        ('{"a": "A.", "b": "B.", "score": true}', 'the score "True" is not a number'),
        ('{"a": "A.", "b": "B.", "score": [1]}', 'the score "[1]" is not a number'),
        ("[" * 100_000, "the line is not JSON of a pair: it is nested too deeply"),
    ],
)
def test_a_bad_line_of_json_is_refused_with_its_reason(written, line: str, reason: str) -> None:
    good = json.dumps({"a": "A.", "b": "B.", "score": 1})

    path = written(f"{good}\n{line}\n{good}\n", "pairs.jsonl")
    _, pairs, errors = read_pairs(path, Columns(score="score" if '"score"' in line else None))

    assert len(pairs) == 2
    assert reasons(errors) == [(2, reason)]


def test_an_empty_score_is_no_score(written) -> None:
    _, pairs, errors = read_pairs(written(HEADER + "A.,B.,\nC.,D.,1\n"))

    assert ([pair.score for pair in pairs], errors) == ([None, 1.0], [])


@pytest.mark.parametrize("text", ["1e400", "0x10", "١٢x", "3,8"])
def test_what_is_no_plain_number_is_no_score(written, text: str) -> None:
    path = written(f'{HEADER}A.,B.,1\nC.,D.,"{text}"\n')

    _, of_guessed, none_rejected = read_pairs(path)
    _, _, rejected = read_pairs(path, Columns(score="score"))

    assert [pair.score for pair in of_guessed] == [1.0, None]
    assert (len(none_rejected), len(rejected)) == (0, 1)


def test_labels_are_zero_or_one(written) -> None:
    content = "question1,question2,same\nA.,B.,1\nC.,D.,0.0\nE.,F.,2\nG.,H.,yes\n"

    _, pairs, errors = read_pairs(written(content), Columns(label="same"))

    assert [pair.label for pair in pairs] == [1, 0]
    assert reasons(errors) == [(4, "the label 2 is neither 0 nor 1"), (5, 'the label "yes" is not a number')]


def test_a_bad_score_still_tells_which_sentences_the_row_holds(written) -> None:
    path = written("a,b,score,source\nA.,B.,1,news\nC.,D.,x,forum\n")
    _, _, errors = read_pairs(path, Columns(score="score"))

    assert (errors[0].a, errors[0].b, errors[0].source) == ("C.", "D.", "forum")


def test_what_does_not_fit_the_database_is_refused(written) -> None:
    content = f"a,b,id,split\nA.,B.,{'x' * 201},train\nC.,D.,1,{'y' * 21}\n"

    _, _, errors = read_pairs(written(content), Columns(external_id="id", split="split"))

    assert [error.reason for error in errors] == [
        "the id has 201 characters; at most 200 are allowed",
        "the split has 21 characters; at most 20 are allowed",
    ]


# Columns


@pytest.mark.parametrize(
    "header",
    [
        "sentence1,sentence2,score",
        "Sentence_A,Sentence_B,relatedness_score",
        "text_a,text_b,similarity",
        "premise,hypothesis,gold_score",
        "S1,S2,Gold",
        "question1,question2,similarity_score",
        "a,b,score",
    ],
)
def test_common_names_are_recognised(written, header: str) -> None:
    _, pairs, _ = read_pairs(written(f"{header}\nA.,B.,1\n"))

    assert facts(pairs) == [("A.", "B.", 1.0)]


def test_facts_beside_the_sentences_are_recognised(written) -> None:
    content = "id,split,source,subset,sentence1,sentence2,score\n7,train,news,old,A.,B.,1\n"

    _, pairs, _ = read_pairs(written(content))

    assert pairs[0][5:9] == ("news", "old", "train", "7")


def test_named_columns_win_over_common_names(written) -> None:
    content = "sentence1,sentence2,left,right,score,mine\nA.,B.,C.,D.,1,2\n"

    _, pairs, _ = read_pairs(written(content), Columns(a="left", b="right", score="mine"))

    assert facts(pairs) == [("C.", "D.", 2.0)]


def test_columns_without_a_header_are_named_by_number(written) -> None:
    _, pairs, _ = read_pairs(written("7,A.,B.,x,2\n"), Columns(a="2", b="3", score="5"), header=False)

    assert facts(pairs) == [("A.", "B.", 2.0)]


def test_a_column_of_words_named_label_is_no_score(written) -> None:
    _, pairs, errors = read_pairs(written("premise,hypothesis,label\nA.,B.,neutral\nC.,D.,entailment\n"))

    assert ([pair.score for pair in pairs], errors) == ([None, None], [])


def test_a_score_column_with_a_few_bad_cells_is_still_the_score(written) -> None:
    layout, pairs, errors = read_pairs(written(HEADER + "A.,B.,1\nC.,D.,2\nE.,F.,n/a\n"))

    assert ([pair.score for pair in pairs], errors) == ([1.0, 2.0, None], [])
    assert layout.guesses[-1].reason == (
        'In "score" 1 cell is not a number, first on line 4: "n/a". Such pairs have no score.'
    )


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (Columns(a="left", b="sentence2"), r'no column "left"; it has "sentence1", "sentence2", "score"\.$'),
        (Columns(a="sentence1", b="sentence1"), r'"sentence1" of pairs.csv is named for both a and b'),
        (
            Columns(a="sentence1"),
            r'not known; if .*name both \(--a sentence1 --b sentence2\); it has "sentence1", "sentence2", "score"\.$',
        ),
    ],
)
def test_wrong_columns_are_answered_with_those_the_file_has(written, columns: Columns, message: str) -> None:
    with pytest.raises(FileError, match=message):
        inspect_file(written(HEADER + "A.,B.,1\n"), columns)


def test_a_number_beyond_the_columns_is_answered_with_how_they_are_numbered(written) -> None:
    with pytest.raises(FileError, match=r'no column "4".*numbered from 1'):
        inspect_file(written("A.,B.,1\n"), Columns(a="1", b="4"), header=False)


def test_a_name_that_two_columns_have_is_refused(written) -> None:
    with pytest.raises(FileError, match='2 columns named "text"'):
        inspect_file(written("text,text,score\nA.,B.,1\n"), Columns(a="text", b="text"))


def test_a_file_without_a_header_that_is_read_with_one_says_what_to_do(written) -> None:
    with pytest.raises(FileError, match="say that the file has no header"):
        inspect_file(written("A plane is taking off.,An air plane is taking off.,5.0\n"))


# Files that cannot be used


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("pairs.csv", b"", "is empty"),
        ("pairs.csv", b"\n \n", "is empty"),
        ("pairs.csv", b"\x1f\x8b\x08\x00", "is compressed; unpack it first"),
        ("pairs.xlsx", b"PK\x03\x04...", "save it as CSV first"),
        ("pairs.csv", b"PK\x03\x04...xl/workbook.xml", "is an Excel file; save it as CSV first"),
        ("pairs.docx", b"PK\x03\x04...word/document.xml", "is a Word document; save it as plain text or CSV"),
        ("pairs.xls", b"\xd0\xcf\x11\xe0\xa1\xb1", "is an old Excel or Word file; save it as CSV first"),
        ("pairs.csv", b"\x89PNG\r\n\x1a\n\x00\x00", "is an image; give a text file, such as CSV"),
        ("pairs.parquet", b"\xff\xd8\xff\xe0\x00\x10JFIF", "is an image; give a text file, such as CSV"),
        ("pairs.csv", b"RIFF\n\n\n\nWEBPVP8 ", "is an image; give a text file, such as CSV"),
        ("pairs.csv", b"%PDF-1.7\n%", "is a PDF document; save its text as plain text or CSV first"),
        ("pairs.db", b"SQLite format 3\x00", "is an SQLite database; save its table as CSV first"),
        ("pairs", b"{\\rtf1\\ansi A.}", "is a document in RTF; save it as plain text or CSV first"),
        ("pairs.csv", b"\n<!DOCTYPE html>\n<html>", "is a web page; download the file itself"),
        ("pairs.csv", b"version https://git-lfs.github.com/spec/v1\n", "download the file itself"),
        ("pairs.csv", bytes(range(256)), "is not a text file; save it as text in UTF-8"),
        ("pairs.json", b'[{"a": "A.", "b": "B."}]', r"write one object a line \(JSONL\)"),
        ("pairs.parquet", b"a,b\nA.,B.\n", "is not a Parquet file"),
        ("pairs.jsonl", b"a,b\nA.,B.\n", "holds no JSON object"),
        ("notes.md", b"# Rules, first\n\nRead both, then choose.\n", "is a document, not a table; give CSV"),
        ("pairs.csv", b"sentence\nA.\n", "has one column only"),
        (
            "pairs.csv",
            b"a,b\n" + b"x" * (records.LINE_MAX_CHARACTERS + 1),
            "Line 2 of pairs.csv has more than",
        ),
        ("pairs.csv", b"a,b\x00c,b\nA.,x,B.\n", "holds a NUL or bytes that are not text; rename the column"),
        ("pairs.csv", b"a,b" + b",x" * 999 + b"\n", "has 1,001 columns, and at most 1,000 are read"),
        (
            "pairs.jsonl",
            json.dumps({f"key {number}": 1 for number in range(1001)}).encode(),
            "has 1,001 columns",
        ),
    ],
)
def test_an_unusable_file_is_answered_in_one_sentence(
    written, name: str, content: bytes, message: str
) -> None:
    with pytest.raises(FileError, match=message) as caught:
        read_pairs(written(content, name))

    assert str(caught.value).endswith(".")
    assert "\n" not in str(caught.value)


def test_a_missing_file_is_answered_in_one_sentence(tmp_path) -> None:
    with pytest.raises(
        FileError, match=r"none.csv cannot be read: No such file or directory; check the path\.$"
    ):
        inspect_file(tmp_path / "none.csv")


def test_a_folder_is_no_file(tmp_path) -> None:
    with pytest.raises(FileError, match="cannot be read: Is a directory"):
        inspect_file(tmp_path)


def test_a_parquet_file_that_breaks_off_says_so(tmp_path) -> None:
    path = tmp_path / "pairs.parquet"
    pq.write_table(pa.table({"a": ["A."] * 5000, "b": ["B."] * 5000}), path)
    whole = path.read_bytes()
    path.write_bytes(b"PAR1" + b"\x00" * (len(whole) // 2) + whole[len(whole) // 2 + 4 :])

    with pytest.raises(FileError, match="Parquet"):
        read_pairs(path)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (
            pa.Table.from_arrays([pa.array(["A."])] * 3, names=["a", "a", "b"]),
            'has 2 columns named "a"; give each its own name',
        ),
        (
            pa.table({"a": pa.array([b"\xff"]).view(pa.string()), "b": ["B."]}),
            "holds a value that cannot be read",
        ),
        (
            pa.table({"a": ["A."], "b": ["B."], "score": pa.array([2**31 - 1], pa.date32())}),
            "holds a value that cannot be read",
        ),
        (pa.table({f"c{number}": ["A."] for number in range(1001)}), "has 1,001 columns"),
    ],
)
def test_a_parquet_file_that_python_cannot_take_is_answered_in_one_sentence(
    tmp_path, table: pa.Table, message: str
) -> None:
    path = tmp_path / "pairs.parquet"
    pq.write_table(table, path)

    with pytest.raises(FileError, match=message):
        read_pairs(path)


PAIRED = pa.array([["A.", "B."], ["C.", "D."]])


@pytest.mark.parametrize(
    ("table", "columns"),
    [
        (pa.table({"Text": PAIRED, "Score": [1, 2]}), Columns()),
        (pa.table({"PairID": [1, 2], "Text": PAIRED, "Score": [1, 2]}), Columns()),
        (pa.table({"PairID": [1, 2], "Text": PAIRED, "Score": [1, 2]}), Columns(pair="Text")),
        (pa.table({"Text": PAIRED}), Columns()),
        (pa.table({"Text": PAIRED.cast(pa.list_(pa.string(), 2)), "Score": [1, 2]}), Columns()),
    ],
)
def test_two_sentences_in_a_list_of_a_parquet_file_are_refused_with_what_to_do(
    tmp_path, table: pa.Table, columns: Columns
) -> None:
    pq.write_table(table, tmp_path / "pairs.parquet")

    with pytest.raises(FileError) as caught:
        read_pairs(tmp_path / "pairs.parquet", columns)

    assert str(caught.value) == (
        'pairs.parquet holds lists or other nested values in "Text", which are not read from Parquet files; if these '
        "are the two sentences of a pair, write them into two columns, or into one text with a line end between."
    )


def test_a_column_of_lists_beside_the_sentences_is_left_out_with_a_warning(tmp_path) -> None:
    table = pa.table({"a": ["A.", "C."], "tokens": PAIRED, "b": ["B.", "D."]})
    pq.write_table(table, tmp_path / "pairs.parquet")

    layout, pairs, errors = read_pairs(tmp_path / "pairs.parquet")

    assert ([(pair.a, pair.b) for pair in pairs], errors) == ([("A.", "B."), ("C.", "D.")], [])
    assert [warning.split("; ")[0] for warning in layout.warnings] == [
        'pairs.parquet holds lists or other nested values in "tokens", which are not read from Parquet files'
    ]


def test_lists_beside_columns_that_are_not_known_are_mentioned(tmp_path) -> None:
    pq.write_table(
        pa.table({"best": ["A."], "worst": ["B."], "items": PAIRED[:1]}), tmp_path / "pairs.parquet"
    )

    with pytest.raises(FileError, match=r'it has "best", "worst"\. pairs.parquet holds lists .* in "items"'):
        read_pairs(tmp_path / "pairs.parquet")


# Whole files


# Control characters of Windows-1252 are read as the characters that were meant.
unread = "\x00" + "".join(map(chr, range(0x80, 0xA0)))
cells = st.text(st.characters(exclude_categories=["Cs"], exclude_characters=unread), max_size=30).filter(
    lambda text: shows_something(normalise(text))
)
scores = st.one_of(st.none(), st.floats(0, 5))


@given(
    st.lists(st.tuples(cells, cells, scores), min_size=1, max_size=15), st.sampled_from([",", ";", "\t", "|"])
)
def test_what_a_csv_writer_wrote_is_read_as_it_was(tmp_path_factory, rows, delimiter: str) -> None:
    path = tmp_path_factory.mktemp("files") / "pairs.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, delimiter=delimiter).writerows([("sentence1", "sentence2", "score"), *rows])

    columns = Columns(a="sentence1", b="sentence2", score="score")
    pairs = list(parse_pairs(inspect_file(path, columns, delimiter=delimiter)))

    assert facts(pairs) == [(normalise(a), normalise(b), score) for a, b, score in rows]


@given(st.binary(max_size=300))
def test_no_bytes_break_the_reading(tmp_path_factory, content: bytes) -> None:
    path = tmp_path_factory.mktemp("files") / "pairs.csv"
    path.write_bytes(b"a,b,score\nA.,B.,1\n" + content)

    with suppress(FileError):
        _, pairs, errors = read_pairs(path)
        assert all(row.reason and row.line >= 2 for row in errors)
        assert all(pair.a and pair.b for pair in pairs)


@given(st.text('",\n\r\tAb. \x00é', max_size=60))
def test_no_row_takes_a_good_row_below_it_along(tmp_path_factory, content: str) -> None:
    path = tmp_path_factory.mktemp("files") / "pairs.csv"
    path.write_text(f"a,b,score\n{content}\nLast.,Row.,1\n", encoding="utf-8", newline="")

    rows = list(parse_pairs(inspect_file(path, Columns(a="a", b="b", score="score"), delimiter=",")))

    assert rows[-1][1:4] == ("Last.", "Row.", 1.0)
    assert [row.line for row in rows] == sorted({row.line for row in rows})


@pytest.mark.exhaustive
def test_a_file_is_read_as_it_goes(written) -> None:
    path = written(HEADER + "A.,B.,1\n" * 200_000)

    rows = parse_pairs(inspect_file(path))

    assert next(rows).line == 2
    assert next(rows).line == 3


# Both sentences in one cell


STR = "Index,SourceID,SubsetID,PairID,Text,Score\n"
SEMREL = "PairID,Text,Score\n"
FOUR = [
    ("Rome fell.", "Rome burned."),
    ('"Yes," he said.', "It's 5 o'clock."),
    ("[1] A.", "B [2]"),
    ("ñ", "x\\y"),
]


@pytest.mark.parametrize("written_as", ["\n".join, "\t".join, repr, json.dumps])
@pytest.mark.parametrize("delimiter", [",", "\t", ";"])
def test_both_sentences_of_a_cell_are_read_whatever_divides_it(written, written_as, delimiter: str) -> None:
    text = io.StringIO()
    rows = [[f"p{n}", written_as([*both]), n / 4] for n, both in enumerate(FOUR)]
    csv.writer(text, delimiter=delimiter).writerows([["PairID", "Text", "Score"], *rows])

    layout, pairs, errors = read_pairs(written(text.getvalue()))

    assert layout.mapping == {"pair": 1, "score": 2, "external_id": 0}
    assert (facts(pairs), errors) == ([(a, b, n / 4) for n, (a, b) in enumerate(FOUR)], [])
    assert [pair.external_id for pair in pairs] == ["p0", "p1", "p2", "p3"]


def test_the_columns_of_str_2022_are_recognised(written) -> None:
    content = STR + '0,STS,STS_b,STS-1,"A dog runs.\nA cat sleeps.",0.25\n'

    _, [pair], errors = read_pairs(written(content))

    assert (pair.a, pair.b, pair.score, errors) == ("A dog runs.", "A cat sleeps.", 0.25, [])
    assert (pair.source, pair.subset, pair.external_id) == ("STS", "STS_b", "STS-1")


def test_a_list_of_two_texts_in_a_json_line_is_both_sentences(written) -> None:
    _, pairs, errors = read_pairs(
        written('{"Text": ["A.", "B."], "Score": 1}\n{"Text": ["C."]}\n', "p.jsonl")
    )

    assert facts(pairs) == [("A.", "B.", 1.0)]
    assert reasons(errors) == [
        (2, "the cell holds one text only; it must hold two sentences, with a line end or a tab between them")
    ]


def test_a_cell_without_two_sentences_is_an_error_of_its_row(written) -> None:
    content = SEMREL + 'p1,"A.\nB.",1\np2,Alone.,1\np3,"C.\nD.\nE.",0\np4,,0\np5,"F.\n ",0\np6,"G.\nH.",0\n'

    _, pairs, errors = read_pairs(written(content))

    assert facts(pairs) == [("A.", "B.", 1.0), ("G.", "H.", 0.0)]
    assert [(line, reason.partition(";")[0]) for line, reason in reasons(errors)] == [
        (4, "the cell holds one text only"),
        (5, "the cell holds 3 texts"),
        (8, "the cell is empty"),
        (9, "the cell holds one text only"),
    ]


def test_a_column_of_both_sentences_with_another_name_is_named(written) -> None:
    path = written('paar,wert\n"A.\nB.",1\n')

    assert facts(read_pairs(path, Columns(pair="paar", score="wert"))[1]) == [("A.", "B.", 1.0)]
    with pytest.raises(FileError, match=r'column "paar" of pairs.csv hold two sentences.*\(--pair "paar"\)'):
        inspect_file(path)


def test_a_column_of_both_sentences_without_a_header_is_named_by_its_number(written) -> None:
    path = written('1,"A.\nB.",1\n2,"C.\nD.",0\n')

    named = read_pairs(path, Columns(pair="2", score="3"), header=False)[1]

    assert facts(named) == [("A.", "B.", 1.0), ("C.", "D.", 0.0)]
    # Without the option the number in column 1 would become a sentence.
    with pytest.raises(FileError, match=r'column "2" of pairs.csv hold two sentences.*\(--pair "2"\)'):
        inspect_file(path, header=False)


def test_one_column_and_two_columns_of_sentences_are_not_named_together(written) -> None:
    with pytest.raises(FileError, match="name one column with --pair, or two with --a and --b"):
        inspect_file(written('Text,b\n"A.\nB.",C.\n'), Columns(pair="Text", b="b"))


def test_two_columns_of_sentences_win_over_a_column_called_text(written) -> None:
    path = written('Text,sentence1,sentence2\n"A.\nB.",C.,D.\n')

    assert facts(read_pairs(path)[1]) == [("C.", "D.", None)]
    assert facts(read_pairs(path, Columns(pair="Text"))[1]) == [("A.", "B.", None)]


def test_a_column_called_text_with_one_sentence_in_its_cells_is_not_both_sentences(written) -> None:
    with pytest.raises(FileError, match=r'are not known. In its column "Text", the cell holds one text only'):
        inspect_file(written("id,Text,Score\n1,A.,1\n2,B.,0\n"))
