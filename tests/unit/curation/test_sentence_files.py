"""Files of single sentences: lines, columns and running text; and what is said of files that are something else."""

import gzip
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from curation.files.drafts import FileError, RowError
from curation.files.sentences import DraftSentence, SentenceColumns, inspect_sentences, read_sentences
from curation.files.unpacking import unpacked

USUAL = SentenceColumns()
JSON_LINES = """{"id": 1, "sentence": "A dog, asleep.", "target": "dogs", "from": "news"}
{"id": 2, "sentence": "A cat.", "target": "cats"}
"""


def read(path: Path, columns: SentenceColumns = USUAL, **how) -> list[DraftSentence | RowError]:
    return list(read_sentences(inspect_sentences(path, columns, **how)))


def texts(path: Path, columns: SentenceColumns = USUAL, **how) -> list[str]:
    return [row.text for row in read(path, columns, **how) if isinstance(row, DraftSentence)]


def written(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_a_plain_file_has_one_sentence_a_line(tmp_path: Path) -> None:
    path = written(tmp_path / "s.txt", "A dog, asleep.\r\n\n  Cafe\u0301  closed.\nLast")

    assert read(path) == [
        DraftSentence(1, "A dog, asleep."),
        DraftSentence(3, "Café closed."),
        DraftSentence(4, "Last"),
    ]


def test_a_bad_line_is_told_and_the_others_are_read(tmp_path: Path) -> None:
    path = written(
        tmp_path / "s.txt", b"Good one.\nnul \x00 here\n\xe2\x80\x8b\n" + b"x" * 2001 + b"\nGood two.\n"
    )

    rows = read(path)

    assert [row.line for row in rows] == [1, 2, 3, 4, 5]
    reasons = [row.reason for row in rows if isinstance(row, RowError)]
    assert "NUL" in reasons[0]
    assert reasons[1] == "the sentence is empty"
    assert reasons[2] == "the sentence has 2,001 characters; at most 2,000 are allowed"


def test_running_text_is_divided_at_the_ends_of_sentences(tmp_path: Path) -> None:
    path = written(
        tmp_path / "novel.txt", "Mr. Smith went\nhome. He slept!\n\n\nThen, at 3 p.m., Mrs. Smith\nwoke him."
    )

    assert read(path, documents=True) == [
        DraftSentence(1, "Mr. Smith went home."),
        DraftSentence(1, "He slept!"),
        DraftSentence(5, "Then, at 3 p.m., Mrs. Smith woke him."),
    ]


def test_bytes_that_are_no_text_reject_only_their_sentence_of_running_text(tmp_path: Path) -> None:
    path = written(tmp_path / "s.txt", b"\xef\xbb\xbfA dog ran. A d\x81g sat. A cat came.")

    rows = read(path, documents=True)

    assert [row.text for row in rows if isinstance(row, DraftSentence)] == ["A dog ran.", "A cat came."]
    assert [row.line for row in rows if isinstance(row, RowError)] == [1]


def test_a_paragraph_without_end_is_refused_with_its_place(tmp_path: Path) -> None:
    path = written(tmp_path / "book.txt", ("word " * 150_000 + "\n") * 2)

    with pytest.raises(FileError, match=r"A paragraph of book.txt .* up to line 2; put an empty line"):
        read(path, documents=True)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("s.csv", 'id,sentence,target,from\n1,"A dog, asleep.",dogs,news\n2,A cat.,cats,\n'),
        ("s.tsv", "id\tsentence\ttarget\tfrom\n1\tA dog, asleep.\tdogs\tnews\n2\tA cat.\tcats\t\n"),
        ("s.jsonl", JSON_LINES),
    ],
)
def test_a_column_with_source_and_labels(tmp_path: Path, name: str, content: str) -> None:
    path = written(tmp_path / name, content)

    rows = read(path, SentenceColumns(source="from", labels=["target"]))

    assert [row[1:] for row in rows] == [("A dog, asleep.", "news", ("dogs",)), ("A cat.", "", ("cats",))]


def test_parquet_and_columns_by_number(tmp_path: Path) -> None:
    table = pa.table({"text": ["One.", None, "Three."], "n": [1, 2, 3]})
    pq.write_table(table, tmp_path / "s.parquet")
    numbered = written(tmp_path / "s.tsv", "One.\tfor\nTwo.\tagainst\n")

    rows = read(tmp_path / "s.parquet")

    assert [type(row).__name__ for row in rows] == ["DraftSentence", "RowError", "DraftSentence"]
    assert read(numbered, SentenceColumns(text="1", labels=["2"]), header=False)[1][1:] == (
        "Two.",
        "",
        ("against",),
    )


def test_pairs_in_place_of_sentences_name_what_would_read_them(tmp_path: Path) -> None:
    path = written(tmp_path / "p.csv", "sentence1,sentence2,score\nA.,B.,1\n")

    with pytest.raises(FileError, match=r"p.csv holds pairs of sentences.*import_pairs.*--pairs.*one column"):
        inspect_sentences(path)
    assert texts(path, SentenceColumns(text="sentence2")) == ["B."]


def test_a_table_whose_sentences_are_not_known_lists_its_columns(tmp_path: Path) -> None:
    path = written(tmp_path / "t.csv", "who,what\na,b\n")

    with pytest.raises(
        FileError, match=r't.csv is not known; name it .*--text.*first row.*--no-header.*it has "who", "what"'
    ):
        inspect_sentences(path)
    with pytest.raises(FileError, match='no column "quote"'):
        inspect_sentences(path, SentenceColumns(text="quote"))


def test_rows_with_tabs_in_a_plain_file_are_no_sentences(tmp_path: Path) -> None:
    path = written(tmp_path / "t.txt", "A dog.\tnews\nA cat.\tnews\n")

    with pytest.raises(FileError, match=r"Every line of t.txt has several cells"):
        inspect_sentences(path)


@pytest.mark.parametrize("content", [b"", b" \n \n"])
def test_an_empty_file_says_so(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(FileError, match=r"is empty; give a file with one sentence a line"):
        inspect_sentences(written(tmp_path / "s.txt", content))


def test_gzip_is_unpacked_for_as_long_as_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "s.txt.gz"
    path.write_bytes(gzip.compress(b"One.\nTwo.\n"))

    with unpacked(path) as plain:
        assert plain.name == "s.txt"
        assert texts(plain) == ["One.", "Two."]

    assert not plain.exists()
    assert not plain.parent.exists()


def test_a_bomb_and_a_damaged_file_are_refused(tmp_path: Path) -> None:
    bomb, broken = tmp_path / "bomb.txt.gz", tmp_path / "broken.txt.gz"
    bomb.write_bytes(gzip.compress(bytes(3 << 20)))
    broken.write_bytes(gzip.compress(b"One.\n" * 1000)[:-20])

    with (
        pytest.raises(FileError, match=r"bomb.txt.gz unpacks to more than 2 MB"),
        unpacked(bomb, most=2 << 20),
    ):
        pass
    with pytest.raises(FileError, match=r"broken.txt.gz breaks off"), unpacked(broken):
        pass
    with pytest.raises(FileError, match=r"none.txt cannot be read"), unpacked(tmp_path / "none.txt"):
        pass
