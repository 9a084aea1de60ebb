"""Files that nobody would write on purpose, or that somebody wrote on purpose: one sentence each, and the good rows."""

import gzip
import zipfile
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from curation.exchange.exporting import pairs_export
from curation.exchange.importing import ImportOptions, pairs_import
from curation.files import records
from curation.files.drafts import Columns
from curation.foundation.errors import UserError
from curation.models import Dataset, Pair

pytestmark = pytest.mark.django_db

GOOD = b"A dog runs.,A dog is running.,4\n"
FORTY_WORDS = " ".join(f"word{number}" for number in range(40)) + "."
NAMED = ImportOptions(columns=Columns(score="score"), scale=(0, 5))
BAD_ROWS = {
    "ragged": (b"only one cell\n", "the row has 1 cell, the file 3 columns"),
    "too wide": (b"A.,B.,1,and more\n", "the row has 4 cells, the file 3 columns"),
    "NUL": (b"A\x00.,B.,1\n", "the row holds a NUL or bytes that are not text in the file's encoding"),
    "another encoding": (
        "Café.,Größe.,1\n".encode("latin-1"),
        "bytes that are not text in the file's encoding",
    ),
    "empty sentence": (b"A.,   ,1\n", "sentence b is empty"),
    "invisible sentence": ("A.,\u200b\u200e,1\n".encode(), "sentence b is empty"),
    "a score in words": (b"A.,B.,four\n", 'the score "four" is not a number'),
    "a score without end": (b"A.,B.,inf\n", "the score"),
    "a sentence too long": (b"A.," + b"x" * 2001 + b",1\n", "sentence b has 2,001 characters; at most 2,000"),
    "an open quotation mark": (b'"A, a.","B.,1\n', "a quotation mark is opened and not closed"),
}
KEPT = {
    "HTML": "<b>Bold</b> & <script>alert(1)</script>",
    "a formula": '=HYPERLINK("http://x")',
    "right to left": "الكلب يجري في الحديقة.",
    "emoji": "A dog 🐕‍🦺 runs 🏃🏽.",
    "forty words": FORTY_WORDS,
    "direction marks": "abc \u202eevil\u202c.",
    "SQL": "Robert'); DROP TABLE curation_pair;--",
}


@pytest.fixture
def written(tmp_path):
    def write(content: bytes, name: str = "pairs.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(content)
        return path

    return write


@pytest.mark.parametrize(("row", "reason"), BAD_ROWS.values(), ids=BAD_ROWS)
def test_a_bad_row_costs_itself_alone_or_everything_as_the_person_chose(
    dataset, written, row: bytes, reason: str
) -> None:
    # One such row among many: a file of which half is in another encoding would be read in that one.
    many = b"".join(f"Der Hund läuft {number}.,Ja {number}.,1\n".encode() for number in range(9))
    path = written(b"sentence1,sentence2,score\n" + GOOD + row + many)

    with pytest.raises(UserError, match=r"1 row of pairs\.csv cannot be imported, so none was"):
        pairs_import(dataset=dataset, path=path, options=replace(NAMED, strict=True))
    nothing = Pair.objects.count()
    outcome = pairs_import(dataset=dataset, path=path, options=NAMED)

    assert (nothing, outcome.added, outcome.rejected) == (0, 10, 1)
    assert outcome.errors[0].line == 3
    assert reason in outcome.errors[0].reason


@pytest.mark.parametrize("text", KEPT.values(), ids=KEPT)
def test_a_strange_sentence_is_text_in_the_database_on_pages_and_in_exports(
    dataset, written, tmp_path, curator, client_of, text: str
) -> None:
    quoted = '"' + text.replace('"', '""') + '"'
    pairs_import(dataset=dataset, path=written(f"sentence1,sentence2\n{quoted},B.\n".encode()))

    assert Pair.objects.get().a.text == text
    page = client_of(curator).get(f"/datasets/{dataset.slug}/").content.decode()
    assert "<script>alert(1)" not in page
    pairs_export(dataset=dataset, path=tmp_path / "out.csv", format="csv")
    again = pairs_import(dataset=dataset, path=tmp_path / "out.csv")
    assert (again.added, again.unchanged) == (0, 1)


def test_an_id_with_different_texts_is_an_error_of_the_later_row(dataset, written) -> None:
    path = written(b"id,a,b\n7,A.,B.\n7,C.,D.\n8,E.,F.\n")
    outcome = pairs_import(
        dataset=dataset, path=path, options=ImportOptions(columns=Columns(external_id="id"))
    )

    assert outcome.added == 2
    assert outcome.errors[0].reason == (
        'the id "7" is on line 2 already; give the rows different ids, or import the file without its column of ids'
    )


def test_a_line_without_end_is_read_no_further_than_a_line_may_be(dataset, written, monkeypatch) -> None:
    monkeypatch.setattr(records, "LINE_MAX_CHARACTERS", 1000)
    path = written(b"sentence1,sentence2,score\n" + GOOD + b"x" * 5_000_000)

    with pytest.raises(
        UserError, match=r"Line 3 of pairs.csv has more than 1,000 characters; check that the file has"
    ):
        pairs_import(dataset=dataset, path=path)
    assert not Pair.objects.exists()


@pytest.mark.parametrize("ending", [".csv.gz", ".csv", ".zip"])
def test_a_compressed_file_is_not_unpacked(dataset, tmp_path, ending: str) -> None:
    path = tmp_path / f"pairs{ending}"
    zeros = bytes(50_000_000)  # which is 50 kB in the file
    if ending == ".zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("pairs.csv", zeros)
    else:
        path.write_bytes(gzip.compress(zeros, 1))

    with pytest.raises(UserError, match=r"compressed|is a spreadsheet or an archive; save it as CSV first"):
        pairs_import(dataset=dataset, path=path)


def test_nested_columns_of_parquet_files_are_refused_with_what_to_do(dataset, tmp_path) -> None:
    path = tmp_path / "pairs.parquet"
    pq.write_table(pa.table({"sentences": [["A.", "B."]], "more": [{"x": 1}]}), path)

    with pytest.raises(UserError, match=r"holds lists or other nested values.*write them into two columns"):
        pairs_import(dataset=dataset, path=path)


def test_a_file_of_bad_rows_alone_makes_no_dataset(written) -> None:
    with pytest.raises(UserError, match="None of the 2 rows"):
        pairs_import(dataset=Dataset(slug="new", name="New"), path=written(b"a,b\nA.,\n,B.\n"))

    assert not Dataset.objects.exists()
