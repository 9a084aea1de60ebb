"""Importing in the browser: upload, look, try, import; and what goes wrong on the way."""

import io
import re

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.files.uploadhandler import StopUpload
from django.http import HttpRequest

from curation.exchange.importing import AT_ONCE_ROWS
from curation.exchange.receiving import BoundedUpload, upload_refusal
from curation.models import ImportBatch
from tests.markup import squeezed

pytestmark = pytest.mark.django_db

THREE_ROWS = (
    "id,sentence1,sentence2,score,split\n"
    "one,A dog runs.,A dog is running.,4.5,train\n"
    "two,A cat sleeps.,A dog is running.,0.5,test\n"
    "bad,,Nothing before this.,3,train\n"
)
AS_GUESSED = {
    "header": "yes",
    "delimiter": ",",
    "a": "sentence1",
    "b": "sentence2",
    "score": "score",
    "external_id": "id",
    "split": "split",
    "score_set": "gold",
}


@pytest.fixture
def client(curator, client_of):
    return client_of(curator)


@pytest.fixture
def address(dataset) -> str:
    return f"/datasets/{dataset.slug}/import/"


@pytest.fixture
def upload(client, address):
    """Upload a text and give the batch that waits for it."""

    def send(text: str, name: str = "pairs.csv") -> ImportBatch:
        answer = client.post(address, {"file": SimpleUploadedFile(name, text.encode())})
        assert answer.status_code == 302, answer.content.decode()
        return ImportBatch.objects.latest("pk")

    return send


def test_a_file_of_single_sentences_leads_to_the_page_that_composes_pairs(
    client, upload, address, dataset
) -> None:
    batch = upload("A dog runs.\nA cat sleeps.\n", name="sentences.txt")

    page = client.get(f"{address}{batch.pk}/").text

    assert "The file has one column, and a pair is two sentences." in page
    assert f'href="/datasets/{dataset.slug}/compose/"' in page


def test_a_preview_without_known_sentences_says_at_once_what_to_choose(client, upload, address) -> None:
    unknown = upload("one,two,three\nA dog runs.,A dog is running.,x\n", name="unknown.csv")
    known = upload(THREE_ROWS)
    said = "Choose them below: one column for each sentence, or one column with both."

    assert said in squeezed(client.get(f"{address}{unknown.pk}/").text)
    assert said not in squeezed(client.get(f"{address}{known.pk}/").text)


def test_an_upload_writes_no_pair(upload, dataset) -> None:
    upload(THREE_ROWS)

    assert not dataset.pairs.exists()


FOLDED = "<details><summary>Change what is read</summary>"
OPEN = FOLDED.replace("<details>", "<details open>")


def test_choices_are_folded_where_every_column_was_recognised(upload, client, address) -> None:
    batch = upload(THREE_ROWS)

    page = squeezed(client.get(f"{address}{batch.pk}/").content.decode())

    assert FOLDED in page
    words = re.sub(r"<[^>]*>", "", page)
    said = "First sentence:sentence1· Second sentence:sentence2· Score:score· Id:id· Split:split"
    assert said in words


@pytest.mark.parametrize(
    "rows",
    [
        "one,two,three\nA dog runs.,A dog is running.,A cat sleeps.\n",
        "sentence1,sentence2,score,mood\nA dog runs.,A dog is running.,4.5,calm\nA cat.,A dog.,0.5,wild\n",
    ],
    ids=["sentences", "unread"],
)
def test_choices_are_open_where_something_is_doubtful(upload, client, address, rows: str) -> None:
    batch = upload(rows)

    page = squeezed(client.get(f"{address}{batch.pk}/").content.decode())

    assert OPEN in page
    assert ("Not read: mood" in page) == ("mood" in rows)


def test_choices_are_open_where_an_answer_was_wrong(upload, client, address) -> None:
    batch = upload(THREE_ROWS)

    page = client.post(f"{address}{batch.pk}/check/", AS_GUESSED | {"b": "sentence1"})

    assert OPEN in squeezed(page.content.decode())


def test_what_somebody_chose_is_said_above_the_folded_choices(upload, client, address) -> None:
    batch = upload(THREE_ROWS)
    client.post(f"{address}{batch.pk}/check/", AS_GUESSED | {"other_split": "new"})

    page = squeezed(client.get(f"{address}{batch.pk}/").content.decode())

    assert FOLDED in page
    words = re.sub(r"<[^>]*>", "", page)
    assert "Name of the scores:gold" in words
    assert "Rows that are pairs of another split:are new pairs" in words


def test_the_upload_is_shown_with_its_columns_recognised(upload, client, address) -> None:
    batch = upload(THREE_ROWS)

    page = client.get(f"{address}{batch.pk}/").content.decode()

    assert "A dog is running." in page
    assert '<option value="sentence1" selected>' in page
    assert '<option value="score" selected>' in page


def test_trying_the_import_says_what_would_come_of_it_and_writes_nothing(
    upload, client, address, dataset
) -> None:
    batch = upload(THREE_ROWS)

    client.post(f"{address}{batch.pk}/check/", AS_GUESSED)
    page = client.get(f"{address}{batch.pk}/").content.decode()

    assert "Import 2 pairs" in page
    assert "sentence a is empty" in page
    assert not dataset.pairs.exists()


def test_corrected_rows_are_read_as_the_file_was_from_which_they_were_rejected(
    upload, client, address, dataset
) -> None:
    columns = {
        "header": "yes",
        "delimiter": ",",
        "a": "one",
        "b": "two",
        "score": "mark",
        "score_set": "gold",
    }
    batch = upload("one,two,mark\nA dog runs.,A dog walks.,4\nA cat sits.,A cat lies.,much\n")
    client.post(f"{address}{batch.pk}/check/", columns)
    client.post(f"{address}{batch.pk}/apply/")

    rejected = b"".join(client.get(f"{address}{batch.pk}/errors.csv").streaming_content).decode()
    corrected = upload(rejected.replace("much", "3"), name="corrected.csv")
    page = client.get(f"{address}{corrected.pk}/").content.decode()

    assert rejected.splitlines()[0] == "line,reason,source,one,two,mark"
    for name in ("source", "one", "two", "mark"):
        assert f'<option value="{name}" selected>' in page


def test_a_check_that_counts_no_leaks_says_what_counts_them(
    upload, client, address, dataset, monkeypatch
) -> None:
    monkeypatch.setattr("curation.exchange.import_leaks.MOST_ON_A_PAGE", 1)
    batch = upload(THREE_ROWS)

    client.post(f"{address}{batch.pk}/check/", AS_GUESSED)
    page = squeezed(client.get(f"{address}{batch.pk}/").content.decode())

    assert "too many pairs for this check to count the sentences that splits would share" in page
    assert f"semblance split_pairs {dataset.slug}" in page


def test_the_import_does_what_was_tried(upload, client, address, dataset) -> None:
    batch = upload(THREE_ROWS)
    client.post(f"{address}{batch.pk}/check/", AS_GUESSED)

    answer = client.post(f"{address}{batch.pk}/apply/", follow=True)

    assert "added 2 of 3 rows" in answer.content.decode()
    assert sorted(dataset.pairs.values_list("external_id", flat=True)) == ["one", "two"]
    assert list(dataset.score_sets.values_list("name", "low", "high")) == [("gold", 0.0, 5.0)]


def test_the_rejected_rows_can_be_downloaded(upload, client, address) -> None:
    batch = upload(THREE_ROWS)
    client.post(f"{address}{batch.pk}/check/", AS_GUESSED)

    answer = client.get(f"{address}{batch.pk}/errors.csv")

    lines = b"".join(answer.streaming_content).decode().splitlines()
    assert lines[0] == "line,reason,source,id,sentence1,sentence2,score,split"
    assert lines[1].startswith("4,sentence a is empty,")


def test_a_check_that_rejects_every_row_is_shown_with_the_file_of_rejected_rows(
    upload, client, address, dataset
) -> None:
    batch = upload(THREE_ROWS)
    client.post(f"{address}{batch.pk}/check/", AS_GUESSED)

    client.post(f"{address}{batch.pk}/check/", AS_GUESSED | {"low": "100", "high": "200"})
    page = squeezed(client.get(f"{address}{batch.pk}/").content.decode())
    rejected = b"".join(client.get(f"{address}{batch.pk}/errors.csv").streaming_content).decode()

    assert page.count("None of the 3 rows of pairs.csv can be imported.") == 1
    assert '<span class="value wrong">3</span>' in page
    assert f'href="{address}{batch.pk}/errors.csv"' in page
    assert "Import 2 pairs" not in page
    assert "already contains" not in page
    assert [line.split(",")[0] for line in rejected.splitlines()] == ["line", "2", "3", "4"]


def test_an_import_that_rejects_every_row_shows_its_own_figures_and_not_those_of_the_check(
    upload, client, address, dataset
) -> None:
    three_rows = THREE_ROWS.replace("id,", "number,")
    batch, other = upload(three_rows), upload(three_rows.replace("A dog", "The dog"))
    for each in (batch, other):
        chosen = AS_GUESSED | {"source_name": "wire", "external_id": "number"}
        client.post(f"{address}{each.pk}/check/", chosen)
    client.post(f"{address}{other.pk}/apply/")

    answer = client.post(f"{address}{batch.pk}/apply/")
    page = squeezed(client.get(f"{address}{batch.pk}/").content.decode())

    assert answer.status_code == 400
    assert "None of the 3 rows of pairs.csv can be imported." in page
    assert '<span class="value wrong">3</span>' in page
    assert f'href="{address}{batch.pk}/errors.csv"' in page
    assert "Import 2 pairs" not in page


def test_without_rejected_rows_there_is_no_file_of_them(upload, client, address) -> None:
    batch = upload("sentence1,sentence2\nA dog runs.,A dog is running.\n")

    answer = client.get(f"{address}{batch.pk}/errors.csv")

    assert answer.status_code == 404


def test_a_file_imported_twice_has_nothing_left_to_import(upload, client, address) -> None:
    for _time in range(2):
        batch = upload(THREE_ROWS)
        client.post(f"{address}{batch.pk}/check/", AS_GUESSED)
        page = client.get(f"{address}{batch.pk}/").content.decode()
        client.post(f"{address}{batch.pk}/apply/")

    assert "There is nothing to import" in page


def test_a_column_may_be_left_out_although_it_was_recognised(upload, client, address, dataset) -> None:
    batch = upload(THREE_ROWS)

    client.post(f"{address}{batch.pk}/check/", AS_GUESSED | {"score": ""})
    client.post(f"{address}{batch.pk}/apply/")

    assert dataset.pairs.count() == 2
    assert not dataset.score_sets.exists()


def test_one_source_may_stand_for_all_rows(upload, client, address, dataset) -> None:
    batch = upload(THREE_ROWS)

    client.post(f"{address}{batch.pk}/check/", AS_GUESSED | {"source_name": "field work"})
    client.post(f"{address}{batch.pk}/apply/")

    assert set(dataset.pairs.values_list("source", flat=True)) == {"field work"}


def test_a_file_without_a_header_has_its_columns_by_number(upload, client, address, dataset) -> None:
    batch = upload("A dog runs.;A dog is running.;4.5\nA cat sleeps.;A dog is running.;0.5\n")
    page = client.get(f"{address}{batch.pk}/?header=no&delimiter=%3B").content.decode()

    numbered = {"header": "no", "delimiter": ";", "a": "1", "b": "2", "score": "3", "score_set": "gold"}
    client.post(f"{address}{batch.pk}/check/", numbered)
    client.post(f"{address}{batch.pk}/apply/")

    assert "Column 3" in page
    assert dataset.pairs.count() == 2


def test_one_column_with_both_sentences_is_recognised_shown_and_imported(
    upload, client, address, dataset
) -> None:
    batch = upload('PairID,Text,Score\none,"A dog runs.\nA dog is running.",0.9\ntwo,Alone.,0.5\n')

    page = squeezed(client.get(f"{address}{batch.pk}/").content.decode())
    chosen = {"pair": "Text", "score": "Score", "external_id": "PairID", "score_set": "gold"}
    client.post(f"{address}{batch.pk}/check/", {"header": "yes", "delimiter": ",", **chosen})
    checked = client.get(f"{address}{batch.pk}/").content.decode()
    client.post(f"{address}{batch.pk}/apply/")

    assert "<div>A dog runs.</div><div>A dog is running.</div>" in page.replace("> <", "><")
    assert page.count('<option value="Text" selected>') == 1
    assert "the cell holds one text only" in checked
    assert '<option value="Text" selected>' in checked
    assert list(dataset.pairs.values_list("external_id", "a__text", "b__text")) == [
        ("one", "A dog runs.", "A dog is running.")
    ]


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"low": "0"}, "Give both ends of the scale, or neither."),
        ({"low": "5", "high": "0"}, "scale"),
        ({"b": "sentence1"}, "Both sentences are in the same column"),
        ({"a": "nowhere"}, "Select a valid choice."),
        ({"b": ""}, "Choose two columns with one sentence each, or one column with both sentences."),
        ({"pair": "split"}, "Choose one column with both sentences or two columns, not three."),
        ({"a": "", "b": "", "pair": "sentence1"}, "None of the 3 rows of pairs.csv can be imported"),
        ({"low": "100", "high": "200"}, "None of the 3 rows of pairs.csv can be imported"),
    ],
)
def test_what_cannot_be_tried_is_said_and_the_choices_are_kept(
    upload, client, address, changed: dict[str, str], sentence: str
) -> None:
    batch = upload(THREE_ROWS)

    chosen = AS_GUESSED | changed | {"split_name": "kept"}
    page = client.post(f"{address}{batch.pk}/check/", chosen, follow=True)

    assert sentence in page.content.decode()
    assert 'value="kept"' in page.content.decode()


def test_an_unreadable_file_says_so_and_can_be_discarded(upload, client, address) -> None:
    batch = upload("PAR1 and no more", name="pairs.parquet")

    page = client.get(f"{address}{batch.pk}/").content.decode()

    assert "pairs.parquet is not a Parquet file; check the file or its ending." in page
    assert "Discard the upload" in page


def test_a_file_of_another_kind_is_refused_beside_the_field_and_not_kept(client, address, home) -> None:
    image = SimpleUploadedFile("scan.csv", b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR")

    page = client.post(address, {"file": image}).content.decode()

    assert "scan.csv is an image; give a text file, such as CSV." in page
    assert 'aria-invalid="true"' in page
    assert not ImportBatch.objects.exists()
    assert not list((home / "imports").iterdir())


def test_discarding_removes_the_upload(upload, client, address, home) -> None:
    batch = upload(THREE_ROWS)

    client.post(f"{address}{batch.pk}/discard/")

    assert not ImportBatch.objects.exists()
    assert not (home / batch.path).exists()


def test_a_large_file_is_imported_by_a_run(upload, client, address) -> None:
    batch = upload(THREE_ROWS)
    client.post(f"{address}{batch.pk}/check/", AS_GUESSED)
    ImportBatch.objects.update(rows=AT_ONCE_ROWS + 1)

    page = client.get(f"{address}{batch.pk}/").content.decode()

    assert 'action="/runs/start/import_pairs/"' in page
    assert f'name="batch" value="{batch.pk}"' in squeezed(page)


def test_a_large_file_is_not_imported_in_a_request(upload, client, address, dataset) -> None:
    batch = upload(THREE_ROWS)
    client.post(f"{address}{batch.pk}/check/", AS_GUESSED)
    ImportBatch.objects.update(rows=AT_ONCE_ROWS + 1)

    answer = client.post(f"{address}{batch.pk}/apply/")

    assert answer.status_code == 400
    assert "pairs.csv has 20001 rows. Start a run to import it." in answer.content.decode()
    assert not dataset.pairs.exists()


def test_an_import_that_was_not_tried_is_not_done(upload, client, address) -> None:
    batch = upload(THREE_ROWS)

    answer = client.post(f"{address}{batch.pk}/apply/")

    assert answer.status_code == 400
    assert "its columns were not checked" in answer.content.decode()


def test_a_file_that_is_too_large_is_refused_on_the_form(client, address, settings, home) -> None:
    settings.UPLOAD_MAX_BYTES = 1000

    answer = client.post(address, {"file": SimpleUploadedFile("pairs.csv", b"a,b\n" * 1000)})

    assert "The file is larger than 1000" in answer.content.decode()
    assert not ImportBatch.objects.exists()
    assert not (home / "imports").exists()


def test_no_file_is_asked_for(client, address) -> None:
    answer = client.post(address)

    assert "Choose a file." in answer.content.decode()


def test_a_full_disk_while_uploading_is_one_sentence() -> None:
    """/dev/full takes a file and has no room for it."""
    request = HttpRequest()
    handler = BoundedUpload(request)
    handler.file = io.FileIO("/dev/full", "w")  # type: ignore[assignment]

    with pytest.raises(StopUpload):
        handler.receive_data_chunk(b"some text", 0)

    handler.file.close()
    assert upload_refusal(request) == (
        "The file could not be stored: No space left on device. Free some space, then upload the file again."
    )


def test_the_past_imports_say_what_came_of_them(upload, client, address) -> None:
    batch = upload(THREE_ROWS)
    client.post(f"{address}{batch.pk}/check/", AS_GUESSED)
    client.post(f"{address}{batch.pk}/apply/")
    upload(THREE_ROWS, name="second.csv")

    page = client.get(address).content.decode()

    assert "added 2 of 3 rows" in page
    assert "1 rejected" in page
    assert "not imported yet" in page


def test_hostile_cells_stay_text(upload, client, address) -> None:
    hostile = "<script>alert(1)</script>"
    batch = upload(
        f"sentence1,sentence2,{hostile}\n{hostile},{hostile},1\n,{hostile},1\n", name=f"{hostile}.csv"
    )
    chosen = {"header": "yes", "delimiter": ",", "a": "sentence1", "b": "sentence2", "score_set": hostile}

    looked = client.get(f"{address}{batch.pk}/").content.decode()
    client.post(f"{address}{batch.pk}/check/", chosen)
    tried = client.get(f"{address}{batch.pk}/").content.decode()

    assert hostile not in looked + tried
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in looked


def test_the_check_lists_what_changes_and_the_import_changes_it(upload, client, address, dataset) -> None:
    for text in (THREE_ROWS, THREE_ROWS.replace("train", "dev").replace("0.5", "0")):
        batch = upload(text)
        client.post(f"{address}{batch.pk}/check/", AS_GUESSED | {"low": 0, "high": 5})
        page = squeezed(client.get(f"{address}{batch.pk}/").content.decode())
        imported = squeezed(client.post(f"{address}{batch.pk}/apply/", follow=True).content.decode())

    assert "2 pairs of the dataset change" in page
    assert "1 row cannot be used" in page
    assert '<td data-label="Before">train</td>' in page
    assert '<td data-label="After">dev</td>' in page
    assert '<td data-label="After">0</td>' in page
    assert "Update 2 pairs" in page
    assert "2 pairs of the dataset were changed" in imported
    assert "1 row was rejected" in imported
    assert sorted(dataset.pairs.values_list("split", "scores__value")) == [("dev", 4.5), ("test", 0.0)]


def test_the_button_of_an_import_that_adds_and_changes_says_both(upload, client, address) -> None:
    more = "three,A bird sings.,A bird is singing.,2,train\n"
    for text in (THREE_ROWS, THREE_ROWS.replace("train", "dev") + more):
        batch = upload(text)
        client.post(f"{address}{batch.pk}/check/", AS_GUESSED | {"low": 0, "high": 5})
        page = squeezed(client.get(f"{address}{batch.pk}/").content.decode())
        client.post(f"{address}{batch.pk}/apply/")

    assert "Import 1 pair and update 1" in page


def test_the_columns_of_an_earlier_file_are_proposed_for_the_next_one(upload, client, address) -> None:
    renamed = THREE_ROWS.replace("id,sentence1,sentence2,score", "key,left,right,mark")
    chosen = {"a": "left", "b": "right", "score": "mark", "external_id": "key", "low": 0, "high": 10}
    first = upload(renamed)
    client.post(f"{address}{first.pk}/check/", AS_GUESSED | chosen)
    client.post(f"{address}{first.pk}/apply/")

    alike, other = upload(renamed, "next.csv"), upload(renamed.replace("mark", "grade"), "other.csv")
    pages = [squeezed(client.get(f"{address}{batch.pk}/").content.decode()) for batch in (alike, other)]

    assert "proposed as in the import of pairs.csv" in pages[0]
    assert '<option value="mark" selected>mark</option>' in pages[0]
    assert 'name="high" value="10"' in pages[0]
    assert "proposed as in" not in pages[1]


def test_nothing_is_imported_if_that_was_chosen_and_a_row_is_rejected(
    upload, client, address, dataset
) -> None:
    batch = upload(THREE_ROWS)
    client.post(f"{address}{batch.pk}/check/", AS_GUESSED | {"rejected_rows": "nothing"})

    page = squeezed(client.get(f"{address}{batch.pk}/").content.decode())
    client.post(f"{address}{batch.pk}/apply/")

    assert "nothing will be imported" in page
    assert "Import 2 pairs" not in page
    assert not dataset.pairs.exists()
