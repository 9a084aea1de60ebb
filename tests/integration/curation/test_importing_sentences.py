"""Files of sentences: uploaded, added at once or by a run, with rejected rows that can be corrected and added."""

import csv
import gzip
import tracemalloc
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command

from curation.exchange import pool, sentence_uploads
from curation.exchange.claiming import import_claim
from curation.exchange.pool import SentenceOptions, sentences_import
from curation.exchange.sentence_uploads import sentences_add, sentences_upload
from curation.files.sentences import SentenceColumns
from curation.foundation.errors import UserError
from curation.models import AuditEntry, ImportBatch, PooledSentence
from tests.factories import token_of
from tests.integration.curation.test_import_bad_input import KEPT
from tests.markup import squeezed

pytestmark = pytest.mark.django_db

GOOD = "".join(f"Der Hund läuft zum {number}. Baum.\n" for number in range(12)).encode()
BAD_LINES = {
    "NUL": (b"A\x00 dog.", "the row holds a NUL or bytes that are not text in the file's encoding"),
    "another encoding": ("Größe.".encode("latin-1"), "bytes that are not text in the file's encoding"),
    "invisible": ("\u200b\u200e".encode(), "the sentence is empty"),
    "too long": (b"x" * 2001, "the sentence has 2,001 characters; at most 2,000"),
}


@pytest.fixture
def written(tmp_path):
    def write(content: bytes, name: str = "news.txt") -> Path:
        path = tmp_path / name
        path.write_bytes(content)
        return path

    return write


@pytest.fixture
def page(dataset, client_of, curator):
    """`page("", file=…)` posts to the page of the pool, or to one below it, and follows; the answer."""
    client = client_of(curator)
    address = f"/datasets/{dataset.slug}/compose/sentences/"

    def post(below: str = "", **fields: object):
        return client.post(f"{address}{below}", {"kind": "lines", "language": "en"} | fields, follow=True)

    post.client, post.address = client, address
    return post


def uploaded(content: bytes, name: str = "news.txt") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, content)


def kept(dataset, content: bytes, **options: object) -> ImportBatch:
    return sentences_upload(
        dataset=dataset, file=uploaded(content), options=SentenceOptions(**options), by=None
    )


@pytest.mark.parametrize(("row", "reason"), BAD_LINES.values(), ids=BAD_LINES)
def test_a_bad_line_costs_itself_alone_or_everything_as_the_person_chose(
    dataset, written, row: bytes, reason: str
) -> None:
    path = written(GOOD + row + b"\n")

    with pytest.raises(UserError, match=r"1 row of news\.txt cannot be imported, so none was"):
        sentences_import(dataset=dataset, path=path, options=SentenceOptions(strict=True), by=None)
    nothing = PooledSentence.objects.count()
    outcome = sentences_import(dataset=dataset, path=path, options=SentenceOptions(), by=None)

    assert (nothing, outcome.added, outcome.rejected) == (0, 12, 1)
    assert outcome.errors[0].line == 13
    assert reason in outcome.errors[0].reason


@pytest.mark.parametrize("text", KEPT.values(), ids=KEPT)
def test_a_strange_sentence_is_text_in_the_pool_and_on_the_page(dataset, page, text: str) -> None:
    page(file=uploaded(f"{text}\nA dog runs to the tree.\n".encode()))

    assert PooledSentence.objects.order_by("pk").first().sentence.text == text
    fields = {
        "strategy": "overlap", "count": 1, "shortest": 0, "longest": 99, "cap": 1, "seed": 1, "low": 0, "high": 100,
        "share_of": "first", "length_difference": 100, "buckets": 1, "growth": 1,
    }  # fmt: skip
    shown = page.client.post(page.address.removesuffix("sentences/"), fields).content.decode()
    assert "Preview: 1 pair" in squeezed(shown)
    assert "<script>alert(1)" not in shown


def test_rejected_rows_are_downloaded_corrected_and_added_where_they_would_have_been(
    dataset, page, written
) -> None:
    table = b'tweet,target,site\nIt is good.,dogs,one\n"  ",dogs,two\nIt is "not,cats,two\nA.\x00,cats,one\n'
    fields = {"text": "tweet", "labels": "target", "source": "site"}

    told = page(file=uploaded(table, "tweets.csv"), **fields)

    batch = ImportBatch.objects.get(kind="sentences")
    shown = squeezed(told.content.decode())
    assert (batch.state, batch.rows, batch.added, batch.rejected) == ("done", 4, 2, 2)
    assert "added 2 of 4 rows" in shown
    assert "the sentence is empty" in shown
    answer = page.client.get(f"{page.address}{batch.pk}/errors.csv")
    rows = list(csv.DictReader(b"".join(answer.streaming_content).decode().splitlines()))
    assert [row["line"] for row in rows] == ["3", "5"]
    assert rows[0]["site"] == "two"
    rows[0]["tweet"] = "It is bad."
    with (written(b"").parent / "corrected.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerow(rows[0])
    page(file=uploaded((written(b"").parent / "corrected.csv").read_bytes(), "corrected.csv"), **fields)
    added = PooledSentence.objects.order_by("-pk").first()
    assert (added.sentence.text, added.source, added.labels) == ("It is bad.", "two", {"target": "dogs"})


def test_what_was_guessed_about_a_table_is_said_with_reasons(dataset, page) -> None:
    table = b"text;source\nIt is good.;news\nIt is bad, they say.;forum\n"

    told = squeezed(page(file=uploaded(table, "tweets.csv")).content.decode())
    partly = squeezed(page(file=uploaded(table + b";forum\n", "more.csv")).content.decode())

    for shown in (told, partly):
        assert "The cells are separated by semicolons: 100% of the lines then have 2 cells." in shown
        assert "holds the sentences." in shown
    assert "2 single sentences were added." in told


def test_a_delimiter_that_is_chosen_cuts_the_table(dataset, page) -> None:
    table = b"text|note;source|more;x\nIt rains.|a;b|c;d\n"

    page(file=uploaded(table, "tweets.csv"), delimiter="|", text="text")

    [sentence] = PooledSentence.objects.all()
    assert sentence.sentence.text == "It rains."
    assert ImportBatch.objects.get(kind="sentences").mapping["delimiter"] == "|"


def test_a_table_without_names_is_read_by_the_numbers_of_its_columns(dataset, page) -> None:
    table = b"It is good.\tdogs\nIt is bad.\tcats\n"

    refused = page(file=uploaded(table, "tweets.tsv"), text="1").content.decode()
    page(file=uploaded(table, "tweets.tsv"), text="1", labels="2", header="no")

    assert "columns have numbers only if you say that the first row names none" in squeezed(refused)
    kept = [(each.sentence.text, each.labels) for each in PooledSentence.objects.order_by("pk")]
    assert kept == [("It is good.", {"2": "dogs"}), ("It is bad.", {"2": "cats"})]
    batch = ImportBatch.objects.get(kind="sentences")
    assert SentenceOptions.from_json(batch.mapping).header is False


def test_rejected_lines_of_a_plain_file_keep_its_name_as_their_source(dataset, written, tmp_path) -> None:
    call_command(
        "import_sentences", str(written(GOOD + b"x" * 2001 + b"\n")), dataset=dataset.slug,
        errors=tmp_path / "rejected.csv",
    )  # fmt: skip

    (row,) = csv.DictReader((tmp_path / "rejected.csv").read_text().splitlines())
    assert row.keys() == {"line", "reason", "source", "sentence"}
    assert (row["line"], row["source"], len(row["sentence"])) == ("13", "news", 2001)
    (tmp_path / "rejected.csv").write_text("line,reason,source,sentence\n13,,news,It is shorter now.\n")
    call_command("import_sentences", str(tmp_path / "rejected.csv"), dataset=dataset.slug)
    assert set(PooledSentence.objects.values_list("source", flat=True)) == {"news"}


def test_all_or_nothing_on_the_page_can_be_changed_without_another_upload(dataset, page) -> None:
    told = page(file=uploaded(GOOD + b"A\x00.\n"), rejected_rows="nothing")

    batch = ImportBatch.objects.get()
    shown = squeezed(told.content.decode())
    assert (batch.state, PooledSentence.objects.count()) == ("failed", 0)
    assert "1 row of news.txt cannot be imported, so none was: you asked for all rows or none." in shown
    assert "Download the rejected rows" in shown
    assert '<option value="nothing" selected>' in shown
    page(f"{batch.pk}/", rejected_rows="")
    batch.refresh_from_db()
    assert (batch.state, batch.added, PooledSentence.objects.count()) == ("done", 12, 12)


def test_a_file_that_cannot_be_read_is_refused_beside_the_field_and_not_kept(dataset, page, settings) -> None:
    told = page(file=uploaded(b"a,b\nA dog.,A cat.\n", "pairs.csv"))

    assert "pairs.csv holds pairs of sentences" in squeezed(told.content.decode())
    assert not ImportBatch.objects.exists()
    assert not list((settings.SEMBLANCE_HOME / "imports").glob("*/*"))


def test_a_large_file_waits_for_a_run_on_the_page_and_in_the_api(dataset, page, curator, monkeypatch) -> None:
    monkeypatch.setattr(sentence_uploads, "AT_ONCE_SENTENCES", 11)
    token = token_of(curator)
    api = f"/api/v1/datasets/{dataset.slug}/compose/sentences/"
    headers = {"authorization": f"Token {token}"}

    told = squeezed(page(file=uploaded(GOOD)).content.decode())
    answer = page.client.post(
        f"{api}?filename=news.txt&kind=lines", GOOD, content_type="text/plain", headers=headers
    )

    first, second = ImportBatch.objects.order_by("pk")
    assert (first.state, PooledSentence.objects.count()) == ("uploaded", 0)
    assert 'action="/runs/start/import_sentences/"' in told
    assert answer.status_code == 202
    plan = {"dataset": dataset.slug, "batch": second.pk}
    assert answer.json()["as_run"] == {"kind": "import_sentences", "plan": plan}
    sentences_add(batch=second)
    after = page.client.get(f"{api}{second.pk}/", headers=headers).json()
    assert (after["state"], after["added"], after["as_run"]) == ("done", 12, None)
    assert page.client.delete(f"{api}{first.pk}/", headers=headers).status_code == 204


def test_the_api_says_what_was_rejected_and_where_all_of_it_is(dataset, client_of, curator) -> None:
    client = client_of(curator)
    headers = {"authorization": f"Token {token_of(curator)}"}
    api = f"/api/v1/datasets/{dataset.slug}/compose/sentences/"

    def sent(rejected_rows: str):
        address = f"{api}?filename=news.txt&kind=lines&rejected_rows={rejected_rows}"
        return client.post(address, GOOD + b"A\x00.\n", content_type="text/plain", headers=headers).json()

    nothing, others = sent("nothing"), sent("")

    assert (nothing["state"], nothing["added"], nothing["rejections"][0]["line"]) == ("failed", 0, 13)
    assert nothing["problem"].startswith("1 row of news.txt cannot be imported, so none was")
    assert (others["state"], others["added"], others["problem"]) == ("done", 12, "")
    rejected = client.get(others["rejected_rows"], headers=headers)
    assert b"".join(rejected.streaming_content).splitlines()[0] == b"line,reason,source,sentence"


@pytest.mark.django_db(transaction=True)
def test_an_import_that_was_stopped_goes_on_and_counts_what_all_attempts_added(dataset, monkeypatch) -> None:
    monkeypatch.setattr(pool, "ONE_TRANSACTION_ROWS", 5)
    monkeypatch.setattr(pool, "CHUNK_ROWS", 5)
    batch = kept(dataset, GOOD + GOOD[:58])  # two lines again
    chunks = []

    def killed(done: int, total: int, message: str) -> None:
        chunks.append(done)
        if len(chunks) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sentences_add(batch=batch, report=killed)
    written = PooledSentence.objects.count()
    batch.refresh_from_db()
    running = batch.state
    sentences_add(batch=batch, again=True)

    batch.refresh_from_db()
    assert (written, running) == (10, "running")
    assert (batch.state, batch.rows, batch.added, batch.unchanged) == ("done", 14, 12, 2)
    entry = AuditEntry.objects.get(action="sentences_added")
    assert entry.batch == batch, "one entry for both attempts"


def test_an_upload_that_another_process_reads_is_left_alone(dataset, page) -> None:
    batch = kept(dataset, GOOD)
    import_claim(batch=batch)

    with pytest.raises(UserError, match="has been imported, is being imported"):
        sentences_add(batch=batch)
    assert "are being added" in page(f"{batch.pk}/").content.decode()
    assert not PooledSentence.objects.exists()


def test_files_of_sentences_are_for_those_who_may_curate(dataset, client_of, annotator, stranger) -> None:
    batch = kept(dataset, GOOD)
    address = f"/datasets/{dataset.slug}/compose/sentences/{batch.pk}/"

    for person, status in ((annotator, 403), (stranger, 404)):
        client = client_of(person)
        assert client.get(address).status_code == status
        assert client.get(f"{address}errors.csv").status_code == status
        assert client.post(f"{address}discard/").status_code == status
    assert ImportBatch.objects.filter(pk=batch.pk).exists()


def test_a_bomb_of_five_gigabytes_is_unpacked_no_further_than_a_request_may(dataset, page, tmp_path) -> None:
    """gzip allows several members one after the other: a member of 16 MB, 320 times."""
    bomb = gzip.compress(b"A dog runs.\n" * (1 << 20) + b"\n" * (4 << 20)) * 320

    told = page(file=uploaded(bomb, "bomb.txt.gz"))

    assert ImportBatch.objects.get().state == "uploaded"
    assert "This file is large, so a run reads it." in squeezed(told.content.decode())
    assert not PooledSentence.objects.exists()


def test_a_run_refuses_a_bomb_in_one_sentence(dataset, monkeypatch) -> None:
    monkeypatch.setattr(sentence_uploads, "UNPACKED_MOST", 8 << 20)
    options = SentenceOptions()
    bomb = uploaded(gzip.compress(b"\n" * (9 << 20)), "bomb.txt.gz")
    batch = sentences_upload(dataset=dataset, file=bomb, options=options, by=None)

    with pytest.raises(UserError, match=r"bomb.txt.gz unpacks to more than 8 MB; divide it"):
        sentences_add(batch=batch)
    batch.refresh_from_db()
    assert (batch.state, batch.report["error"][:11]) == ("failed", "bomb.txt.gz")


def test_a_line_without_end_is_refused_without_being_held_in_memory(dataset, written) -> None:
    path = written(b"A dog runs to the tree.\n")
    with path.open("r+b") as file:
        file.truncate(96 << 20)  # a hole: zero bytes that take no room on the disk
    tracemalloc.start()

    with pytest.raises(UserError, match=r"Line 2 of news.txt has more than 1,000,000 characters"):
        sentences_import(dataset=dataset, path=path, options=SentenceOptions(), by=None)

    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 24 << 20
    assert not PooledSentence.objects.exists()


def test_a_column_called_source_is_the_source_unless_it_holds_the_sentences(dataset, written) -> None:
    path = written(b"text,source\nA dog runs.,web\n", "a.csv")
    other = written(b"source,more\nA cat sits.,x\n", "b.csv")
    by_source = SentenceOptions(columns=SentenceColumns(text="source"))

    sentences_import(dataset=dataset, path=path, options=SentenceOptions(), by=None)
    sentences_import(dataset=dataset, path=other, options=by_source, by=None)

    assert list(PooledSentence.objects.order_by("pk").values_list("source", flat=True)) == ["web", "b"]
