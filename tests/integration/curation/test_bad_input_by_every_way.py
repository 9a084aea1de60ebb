"""Every kind of bad input by every way into a dataset: the page, the API and the command say the same sentence."""

import gzip
import io
import json
import zipfile
from collections.abc import Callable
from html import unescape
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.core.management.base import CommandError
from django.test import Client

from curation.files import records
from curation.models import ImportBatch
from tests.factories import program_of
from tests.markup import squeezed

pytestmark = pytest.mark.django_db

ZEROS = bytes(30_000_000)  # 30 kB in a compressed file
FORTY_WORDS = " ".join(f"word{number}" for number in range(40)) + "."
HEAD = "sentence1,sentence2\n"


def table(**columns: list[object]) -> bytes:
    file = io.BytesIO()
    pq.write_table(pa.table(columns), file)
    return file.getvalue()


def zipped() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("pairs.csv", ZEROS)
    return file.getvalue()


NESTED = table(pair=[["A.", "B."], ["C.", "D."]], score=[1.0, 2.0])
PAIRS_REFUSED = {
    "zip bomb": ("p.zip", zipped(), "p.zip is no dataset folder: it holds no Parquet file"),
    "gzip bomb": ("p.csv.gz", gzip.compress(ZEROS, 1), "p.csv.gz is compressed; unpack it first"),
    "endless line": ("p.csv", f"{HEAD}A.,B.\n{'x' * 5_000}".encode(), "Line 3 of p.csv has more than 1,000 characters"),
    "nested": ("p.parquet", NESTED, 'p.parquet holds lists or other nested values in "pair"'),
    "empty": ("p.csv", b"", "p.csv is empty; give a file with one pair of sentences a row"),
    "sentences": ("p.csv", b"sentence\nA dog runs.\nA cat runs.\n", ("import_sentences, and sample pairs "
    "from them")),
}  # fmt: skip
PAIRS_REJECTED = {
    "mixed encodings": (HEAD.encode() + "Ä.,B.\nÖ.,D.\n".encode() + b"\xdc.,F.\n", 4, "not text in"),
    "ragged": (f"{HEAD}A.,B.\nalone\n".encode(), 3, "the row has 1 cell, the file 2 columns"),
    "NUL": (f"{HEAD}A\0.,B.\nC.,D.\n".encode(), 2, "the row holds a NUL"),
    "empty sentence": (f"{HEAD}A.,B.\nC.,  \n".encode(), 3, "sentence b is empty"),
    "a header again": (b"a,b\nA.,B.\nC.,D.\na,b\nE.,F.\n", 4, "the row repeats the header"),
}  # fmt: skip
GUESSED_WRONGLY = {
    "one id twice": (b"id,a,b\n1,A.,B.\n1,C.,D.\n", '"id" is not read as the id, because line 3 has the same'),
    "a score in words": (b"a,b,score\nA.,B.,1\nC.,D.,2\nE.,F.,four\n", '1 cell is not a number, first on line 4'),
}  # fmt: skip
OTHERS_SAY = {
    "empty": ("The file is empty. Choose another file.", "The file is empty. Send another file."),
    "sentences": ("The file has one column, and a pair is two sentences.",),
}  # forms, before the file is read
TAKEN = {
    "markup": '<b>Bold</b> & <script>alert("1")</script>',
    "right to left": "الكلب يجري في الحديقة.",
    "emoji": "A dog 🐕‍🦺 runs 🏃🏽.",
    "forty words": FORTY_WORDS,
}
SENTENCES_REFUSED = {
    "zip bomb": ("s.zip", zipped(), "s.zip is no dataset folder: it holds no Parquet file"),
    "gzip bomb": ("s.txt.gz", gzip.compress(ZEROS, 1), "has more than 1,000 characters"),
    "endless line": ("s.txt", b"A.\n" + b"x" * 5_000, "Line 2 of s.txt has more than 1,000 characters"),
    "nested": ("s.parquet", NESTED, "write one sentence a row into a column of text"),
    "empty": ("s.csv", b"", "s.csv is empty; give a file with one sentence a row"),
    "pairs": ("s.csv", f"{HEAD}A.,B.\nC.,D.\n".encode(), "import them on the page “Import” or with import_pairs"),
    "pairs without header": ("s.tsv", b"A dog.\tA cat.\nIt is.\tIt was.\n", "Pairs of sentences belong to the page"),
}  # fmt: skip
SENTENCES_REJECTED = {
    "mixed encodings": ("sentence\nÄ.\nÖ.\nÜ.\n".encode() + b"\xdc.\n", 5, "not text in the file's encoding"),
    "ragged": (b"sentence,source\nA.,x\nB.\n", 3, "the row has 1 cell, the file 2 columns"),
    "NUL": (b"sentence\nA\0.\nB.\n", 2, "the row holds a NUL"),
    "empty sentence": (b"sentence,source\nA.,x\n  ,y\n", 3, "the sentence is empty"),
}


@pytest.fixture(autouse=True)
def short_lines(monkeypatch) -> None:
    """The bound of 1,000,000 characters, in files of a few kilobytes."""
    monkeypatch.setattr(records, "LINE_MAX_CHARACTERS", 1_000)


@pytest.fixture
def by_command(dataset, tmp_path, capsys) -> Callable[[str, str, bytes], str]:
    """What a command says of a file."""

    def said(command: str, name: str, content: bytes) -> str:
        path: Path = tmp_path / name
        path.write_bytes(content)
        try:
            call_command(command, str(path), dataset=dataset.slug)
        except CommandError as error:
            return str(error)
        return capsys.readouterr().out

    return said


def sized(content: bytes) -> dict[str, str]:
    return {"CONTENT_LENGTH": str(len(content))}


@pytest.fixture
def program(curator) -> Client:
    return program_of(curator)


@pytest.fixture
def by_api(dataset, program) -> Callable[[str, str, bytes], str]:
    """What the API says of a file of pairs, or of sentences: every answer up to the import."""
    address = f"/api/v1/datasets/{dataset.slug}"

    def said(what: str, name: str, content: bytes) -> str:
        if what == "import_sentences":
            answer = program.generic(
                "POST",
                f"{address}/compose/sentences/?filename={name}",
                content,
                "text/plain",
                **sized(content),
            )
            return json.dumps(answer.json(), ensure_ascii=False)
        answer = program.generic(
            "POST", f"{address}/imports/?filename={name}", content, "text/csv", **sized(content)
        )
        told = [answer.json()]
        for step in ("check", "apply"):
            if answer.status_code < 300:
                below = f"{address}/imports/{told[0]['id']}/{step}/"
                answer = program.post(below, {}, content_type="application/json")
                told.append(answer.json())
        return json.dumps(told, ensure_ascii=False)

    return said


@pytest.fixture
def by_page(dataset, curator, client_of) -> Callable[[str, str, bytes], str]:
    """What the pages say of a file of pairs, or of sentences: all that are shown up to the import."""
    client, address = client_of(curator), f"/datasets/{dataset.slug}"

    def said(what: str, name: str, content: bytes) -> str:
        file = SimpleUploadedFile(name, content)
        if what == "import_sentences":
            fields = {"kind": "lines", "language": "en", "file": file}
            return text_of(client.post(f"{address}/compose/sentences/", fields, follow=True))
        told = text_of(client.post(f"{address}/import/", {"file": file}, follow=True))
        batch = ImportBatch.objects.order_by("pk").last()
        if batch is None:
            return told
        below = f"{address}/import/{batch.pk}/"
        looked = client.get(below)
        told += text_of(looked)
        if "form" not in looked.context:
            return told
        shown = looked.context["form"]
        sent = {field.name: field.value() for field in shown if field.value() is not None}
        sent |= {"header": "yes", "delimiter": ","}
        told += text_of(client.post(f"{below}check/", sent, follow=True))
        return told + text_of(client.post(f"{below}apply/", follow=True))

    return said


def text_of(answer) -> str:
    return unescape(squeezed(answer.content.decode()))


def plain(said: str) -> str:
    return said.replace('\\"', '"')


@pytest.fixture(params=["command", "api", "page"])
def way(request, by_command, by_api, by_page) -> Callable[[str, str, bytes], str]:
    return {"command": by_command, "api": by_api, "page": by_page}[request.param]


@pytest.mark.parametrize("case", PAIRS_REFUSED)
def test_a_file_that_holds_no_pairs_is_refused_in_one_sentence(dataset, way, case: str) -> None:
    name, content, sentence = PAIRS_REFUSED[case]

    said = plain(way("import_pairs", name, content))

    assert any(one in said for one in (sentence, *OTHERS_SAY.get(case, ())))
    assert not dataset.pairs.exists()


@pytest.mark.parametrize("case", PAIRS_REJECTED)
def test_a_bad_row_of_pairs_is_told_with_its_line_and_the_others_are_imported(
    dataset, way, case: str
) -> None:
    content, line, reason = PAIRS_REJECTED[case]

    said = plain(way("import_pairs", "p.csv", content))

    assert reason in said
    assert str(line) in said
    assert dataset.pairs.exists()


@pytest.mark.parametrize("case", TAKEN)
def test_strange_text_is_a_sentence_like_any_other(dataset, way, case: str) -> None:
    cell = '"' + TAKEN[case].replace('"', '""') + '"'

    said = way("import_pairs", "p.csv", f"{HEAD}{cell},B.\n".encode())
    way("import_sentences", "s.csv", f"sentence\n{cell}\n".encode())

    assert [pair.a.text for pair in dataset.pairs.all()] == [TAKEN[case]]
    assert [row.sentence.text for row in dataset.pool.all()] == [TAKEN[case]]
    assert "error" not in said.lower() or "errors" in said


@pytest.mark.parametrize("case", SENTENCES_REFUSED)
def test_a_file_that_holds_no_sentences_is_refused_in_one_sentence(dataset, way, case: str) -> None:
    name, content, sentence = SENTENCES_REFUSED[case]

    said = plain(way("import_sentences", name, content))

    assert any(one in said for one in (sentence, *OTHERS_SAY.get(case, ())))
    assert not dataset.pool.exists()


@pytest.mark.parametrize("case", SENTENCES_REJECTED)
def test_a_bad_sentence_is_told_with_its_line_and_the_others_are_added(dataset, way, case: str) -> None:
    content, line, reason = SENTENCES_REJECTED[case]

    said = plain(way("import_sentences", "s.csv", content))

    assert reason in said
    assert str(line) in said
    assert dataset.pool.exists()


@pytest.mark.parametrize("case", GUESSED_WRONGLY)
def test_a_guess_rejects_no_row_and_is_told_with_its_reason(dataset, way, case: str) -> None:
    content, reason = GUESSED_WRONGLY[case]

    said = plain(way("import_pairs", "p.csv", content))

    assert reason in said
    assert dataset.pairs.count() == content.count(b"\n") - 1


def test_a_score_column_of_words_is_not_read_and_the_way_to_read_it_is_named(dataset, way) -> None:
    said = plain(way("import_pairs", "p.csv", b"a,b,score\nA.,B.,high\nC.,D.,\nE.,F.,low\n"))

    assert 'The column "score" is not read as the score' in said
    assert 'line 2 holds "high"' in said
    assert dataset.pairs.count() == 3


@pytest.mark.parametrize("kind", ["import_pairs", "import_sentences"])
@pytest.mark.parametrize("name", ["command", "api", "page"])
def test_another_encoding_is_refused_with_the_field_or_the_option_that_names_it(
    request, name: str, kind: str
) -> None:
    header = "sentence" if kind == "import_sentences" else HEAD.strip()
    rows = ["Собака бежит по улице и громко лает на людей.,Кошка сидит у окна."] * 3
    content = "\n".join([header, *(row.split(",")[0] if header == "sentence" else row for row in rows)])

    said = plain(request.getfixturevalue(f"by_{name}")(kind, "p.csv", content.encode("koi8_r")))

    assert "it is probably KOI8-R" in said
    assert ("(--encoding koi8_r)" in said) == (name == "command")
    assert ("under “Encoding”" in said) == (name != "command")
