"""Finished judgements imported in the browser: uploaded, seen, checked, imported; and what goes wrong on the way."""

import csv
import io
from datetime import timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db.models import Count

from annotation.models import Campaign, Judgement
from annotation.results import uploading
from annotation.tasks import judgements_import_task
from curation.exchange import uploads
from curation.foundation.heartbeats import database_now
from curation.models import ImportBatch, Pair
from tests.factories import PairFactory, client_of
from tests.hostile_files import HOSTILE, lines_of_csv, lines_of_json, open_cells
from tests.markup import squeezed

pytestmark = pytest.mark.django_db

ROWS = (
    "Item1,Item2,Item3,Item4,BestItem,WorstItem,Annotator\n"
    "a,b,c,d,a,d,anna\n"
    "a,b,c,d,b,d,ben\n"
    "c,d,e,f,e,c,anna\n"
    "c,d,e,f,nobody,c,ben\n"
)
AS_RECOGNISED = {
    "name": "Pilot",
    "items": ["Item1", "Item2", "Item3", "Item4"],
    "best": "BestItem",
    "worst": "WorstItem",
    "annotator": "Annotator",
    "spaces": "auto",
}


@pytest.fixture
def address(dataset) -> str:
    return f"/datasets/{dataset.slug}/judgements/"


@pytest.fixture
def client(curator):
    return client_of(curator)


@pytest.fixture
def upload(client, address):
    """Upload texts by the names of their files and give the batch that waits for them."""

    def send(text: str = ROWS, *, encoding: str = "utf-8", **more: str) -> ImportBatch:
        texts = {"judgements.csv": text} | {f"{name}.csv": other for name, other in more.items()}
        files = [SimpleUploadedFile(name, content.encode(encoding)) for name, content in texts.items()]
        answer = client.post(address, {"file": files})
        assert answer.status_code == 302, answer.content.decode()
        return ImportBatch.objects.latest("pk")

    return send


@pytest.fixture
def check(client, address):
    """Check an upload with these choices, and give the page that follows."""

    def post(batch: ImportBatch, **changed) -> str:
        answer = client.post(f"{address}{batch.pk}/check/", AS_RECOGNISED | changed, follow=True)
        return squeezed(answer.content.decode())

    return post


@pytest.fixture
def apply(client, address):
    def post(batch: ImportBatch):
        return client.post(f"{address}{batch.pk}/apply/", follow=True)

    return post


@pytest.fixture
def at_once(monkeypatch) -> None:
    """No worker answers the messages of these tests: they call the task themselves."""
    monkeypatch.setattr("annotation.tasks.worker_invite", lambda _task, _pk: None)


def test_the_upload_is_shown_with_its_columns_recognised(upload, client, address) -> None:
    batch = upload()

    page = squeezed(client.get(f"{address}{batch.pk}/").content.decode())

    assert "nobody" in page
    assert '<option value="BestItem" selected>' in page
    assert '<option value="Annotator" selected>' in page
    assert page.count("checked") == 5  # the items, and that each row is a judgement
    assert not Pair.objects.exists()


def test_the_check_says_what_the_campaign_would_hold_and_writes_nothing(upload, check) -> None:
    page = check(upload())

    for number, label in ((3, "judgements"), (2, "tuples"), (6, "items"), (2, "annotators")):
        assert f'<span class="value">{number}</span><span class="label">{label}</span>' in page
    assert "1 of 4 rows (25%) are not judgements and are left out" in page
    assert "the row names &quot;nobody&quot; best, which is not among its items" in page
    assert "6 new pairs, one for each item" in page
    assert "Create the campaign “Pilot” from 3 judgements" in page
    assert not Campaign.objects.exists()
    assert not Pair.objects.exists()


def test_the_import_makes_the_campaign_that_was_foreseen_and_leads_to_it(
    upload, check, apply, curator
) -> None:
    batch = upload()
    check(batch, question="Which is warmer?")

    answer = apply(batch)

    campaign = Campaign.objects.get()
    assert answer.redirect_chain[-1][0] == f"/campaigns/{campaign.pk}/"
    assert "publish the scores" in answer.content.decode()
    assert (campaign.name, campaign.question, campaign.state) == ("Pilot", "Which is warmer?", "closed")
    assert campaign.created_by == curator
    assert Judgement.objects.count() == 3
    assert Pair.objects.count() == 6


def test_the_import_remembers_what_became_of_it(upload, check, apply, client, address) -> None:
    batch = upload()
    check(batch)
    apply(batch)

    page = squeezed(client.get(f"{address}{batch.pk}/").content.decode())

    assert "3 judgements imported" in page
    assert f'href="/campaigns/{Campaign.objects.get().pk}/"' in page
    assert "which is not among its items" in page


def test_items_are_matched_with_the_pairs_that_have_their_ids(upload, check, apply, dataset) -> None:
    for name in "abcdef":
        PairFactory(dataset=dataset, external_id=name)
    batch = upload()

    page = check(batch)
    apply(batch)

    assert "Every item is the id of a pair of this dataset." in page
    assert Pair.objects.count() == 6


def test_items_that_are_no_pairs_are_said_and_the_choices_are_kept(upload, check, dataset) -> None:
    PairFactory(dataset=dataset, external_id="a")

    page = check(upload(), question="Which is warmer?")

    assert "5 of 6 items are no pair of" in page
    assert 'value="Which is warmer?"' in page
    assert "Create the campaign" not in page


def test_columns_with_other_names_are_chosen_on_the_page(upload, check, apply, client, address) -> None:
    batch = upload("w,x,y,top,flop,who\na,b,c,a,c,anna\nb,c,d,b,d,ben\n")

    looked = squeezed(client.get(f"{address}{batch.pk}/").content.decode())
    page = check(batch, items=["w", "x", "y"], best="top", worst="flop", annotator="who")
    apply(batch)

    assert '<option value="top">' in looked
    assert '<option value="flop" selected>' in page
    assert (Campaign.objects.get().tuple_size, Judgement.objects.count()) == (3, 2)


def test_a_file_may_name_nobody_although_a_column_looks_like_it(upload, check, apply) -> None:
    batch = upload()

    page = check(batch, annotator="")
    apply(batch)

    assert "annotators: the file names nobody" in page
    assert Campaign.objects.get().certificate["imported"]["annotators_named"] is False


def test_the_halves_of_items_are_read_as_they_were_recognised(upload, check) -> None:
    header = ",".join(f"pair{number}{side}" for number in (1, 2) for side in "ab")
    batch = upload(f"{header},best,worst\nA.,B.,C.,D.,1,2\n")

    page = check(batch, items=header.split(","), best="best", worst="worst", annotator="")

    assert '<span class="value">2</span><span class="label">items</span>' in page


LONG = "\n".join(
    [
        "{}",
        *(
            f"p,{block},{item},{choice}"
            for block in (1, 2)
            for item, choice in (("a", 1), ("b", 0), ("c", -1))
        ),
    ]
)
LONG_COLUMNS = {"rows": "item", "items": [], "best": "", "worst": ""}


@pytest.mark.parametrize("header", ["id,block,item,choice", "who,nr,what,how"])
def test_the_columns_of_a_file_with_one_item_in_each_row_are_recognised_or_chosen(
    upload, check, client, address, header
) -> None:
    batch = upload(LONG.format(header))
    who, nr, what, how = header.split(",")

    looked = squeezed(client.get(f"{address}{batch.pk}/").content.decode())
    page = check(batch, **LONG_COLUMNS, annotator=who, block=nr, item=what, choice=how)

    recognised = '<option value="item" selected>' in looked and 'value="item" class="" checked' not in looked
    assert recognised == (header == "id,block,item,choice")
    assert '<span class="value">1</span><span class="label">judgements</span>' in page
    assert "second judgement of a tuple by the same person" in page


def test_a_column_that_is_not_chosen_is_asked_for(upload, check) -> None:
    page = check(
        upload(LONG.format("who,nr,what,how")), **LONG_COLUMNS, annotator="who", item="what", choice="how"
    )

    assert "Choose the column of the block." in page


CHINESE = (
    "Item1,Item2,Item3,BestItem,WorstItem,Annotator\n"
    "今天下雨了。,一个男人弹吉他。,孩子们在公园里玩。,今天下雨了。,一个男人弹吉他。,李\n"
    "今天下雨了。,一个男人弹吉他。,这只狗跑得很快。,这只狗跑得很快。,今天下雨了。,王\n"
)


def test_a_file_in_another_encoding_is_shown_in_likely_ones_and_read_in_the_chosen_one(
    upload, check, apply, client, address
) -> None:
    batch = upload(CHINESE, encoding="gbk")

    refused = client.get(f"{address}{batch.pk}/").content.decode()
    chosen = client.get(f"{address}{batch.pk}/?encoding=gbk").content.decode()
    asked = {"items": ["Item1", "Item2", "Item3"], "encoding": "gbk"}
    checked = check(batch, **asked)
    apply(batch)

    assert "it is probably GBK" in refused
    assert "Choose its encoding under “Encoding”, or save" in refused
    assert "--encoding" not in refused
    assert squeezed(refused).index("The first rows, read as GBK") < squeezed(refused).index(
        "孩子们在公园里玩。"
    )
    assert "Read the file as GBK" in refused
    assert "孩子们在公园里玩。" in chosen
    assert '<input type="hidden" name="encoding" value="gbk">' in chosen
    assert "Create the campaign “Pilot” from 2 judgements" in squeezed(checked)
    assert '<input type="hidden" name="encoding" value="gbk">' in checked
    assert Judgement.objects.count() == 2


def test_a_delimiter_that_is_chosen_is_kept(upload, check) -> None:
    rows = "Item1:Item2:BestItem:WorstItem:Annotator\na:b:a:b:anna\n"

    checked = check(upload(rows.replace(":", "|")), items=["Item1", "Item2"], delimiter="|")

    assert "from 1 judgement" in squeezed(checked)
    assert ImportBatch.objects.get().mapping["delimiter"] == "|"


def test_several_files_become_one_campaign(upload, check, apply) -> None:
    batch = upload(ROWS, second=ROWS.replace("anna", "cleo").replace("ben", "dora"))

    page = check(batch)
    apply(batch)

    assert batch.file_name == "judgements.csv, second.csv"
    assert "second.csv, 5" in page
    assert Judgement.objects.count() == 6
    assert Campaign.objects.get().participations.count() == 4


NEARLY_EQUAL = "Item1,Item2,Item3,best,worst\nA b.,C d.,E f.,A b.,C d.\nAb.,C d.,G h.,G h.,Ab.\n"
TEXTS = {"items": ["Item1", "Item2", "Item3"], "best": "best", "worst": "worst", "annotator": ""}


def test_texts_that_differ_in_spaces_are_one_item_unless_the_page_says_otherwise(upload, check) -> None:
    batch = upload(NEARLY_EQUAL)

    merged = check(batch, **TEXTS)
    kept = check(batch, **TEXTS, spaces="keep")

    assert '<span class="value">4</span><span class="label">items</span>' in merged
    assert "choose “Different items” under “Item texts that differ only in spaces”" in merged
    assert '<span class="value">5</span><span class="label">items</span>' in kept
    assert "choose “One item” under “Item texts that differ only in spaces”" in kept


@pytest.mark.parametrize(
    ("text", "choices"),
    [
        (NEARLY_EQUAL, TEXTS),
        ("Item1,Item2,Item3,best,worst\na,b,nan,a,b\nb,c,nan,b,c\na,c,b,a,b\n", TEXTS),
        (
            "Item1,Item2,best,worst,is_duplicate\na,b,a,b,0\na,c,a,c,1\n",
            TEXTS | {"items": ["Item1", "Item2"]},
        ),
        ("Item1,Item2,best,worst,is_duplicate\na,b,a,b,1\n", TEXTS | {"items": ["Item1", "Item2"]}),
        ("one,two,best,worst\na,b,a,b\n", TEXTS | {"items": []}),
    ],
)
def test_no_sentence_of_the_page_names_an_option_of_the_command(upload, check, text, choices) -> None:
    page = check(upload(text), **choices)

    assert "Use --" not in page
    assert " --" not in page.replace("<!--", "")


def test_rows_with_items_to_leave_out_are_left_out(upload, check) -> None:
    page = check(upload(), without="e\n\n")

    assert '<span class="value">2</span><span class="label">judgements</span>' in page
    assert "Rows left out" in page


def test_the_rejected_rows_can_be_downloaded(upload, check, client, address) -> None:
    batch = upload()
    check(batch)

    content = b"".join(client.get(f"{address}{batch.pk}/errors.csv").streaming_content).decode()

    rows = list(csv.reader(io.StringIO(content)))
    assert rows[0] == ["file", "line", "reason"]
    assert rows[1][:2] == ["judgements.csv", "5"]


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"items": []}, "Choose the columns of the items."),
        ({"best": ""}, "Choose the column of the best item."),
        ({"best": "Item1"}, "“Item1” is a column of the items; choose another column."),
        ({"worst": "BestItem"}, "“BestItem” is chosen twice; choose another column."),
        ({"worst": "nowhere"}, "Select a valid choice."),
        (
            {"without": "zebra"},
            "No row of judgements.csv holds the item &quot;zebra&quot; that is to be left out.",
        ),
        ({"name": ""}, "This field is required."),
        ({"spaces": "perhaps"}, "Select a valid choice."),
    ],
)
def test_what_cannot_be_checked_is_said_and_the_choices_are_kept(
    upload, check, changed: dict, sentence: str
) -> None:
    page = check(upload(), question="Which is warmer?", **changed)

    assert sentence in page
    assert 'value="Which is warmer?"' in page
    assert "Create the campaign" not in page


def test_a_file_that_was_imported_is_refused_with_the_name_of_its_campaign(upload, check, apply) -> None:
    first = upload()
    check(first)
    apply(first)

    page = check(upload())

    assert "These judgements are in the dataset already, as the campaign “Pilot”" in page
    assert Campaign.objects.count() == 1


def test_an_import_that_was_not_checked_is_not_done(upload, apply) -> None:
    answer = apply(upload())

    assert "its columns were not checked" in answer.content.decode()
    assert not Campaign.objects.exists()


def test_a_second_click_leads_to_the_campaign_of_the_first(upload, check, apply) -> None:
    batch = upload()
    check(batch)
    apply(batch)

    answer = apply(batch)

    assert answer.redirect_chain[-1][0] == f"/campaigns/{Campaign.objects.get().pk}/"
    assert Judgement.objects.count() == 3


def test_while_a_process_imports_nobody_else_does(upload, check, apply) -> None:
    batch = upload()
    check(batch)
    ImportBatch.objects.update(state="running", heartbeat_at=database_now())

    page = apply(batch).content.decode()

    assert "The judgements are being imported." in page
    assert not Campaign.objects.exists()


def test_a_failure_halfway_leaves_nothing_and_is_said_on_the_page(upload, check, apply, dataset) -> None:
    batch = upload()
    check(batch)
    PairFactory(dataset=dataset, external_id="another")  # the items become no pairs any more

    page = squeezed(apply(batch).content.decode())

    assert "6 of 6 items are no pair of" in page
    assert "Discard the upload" in page
    assert not Campaign.objects.exists()
    assert Pair.objects.count() == 1


def test_a_large_import_is_left_to_a_worker_that_finishes_it(
    upload, check, apply, client, address, at_once, monkeypatch
) -> None:
    monkeypatch.setattr(uploading, "IMPORT_AT_ONCE", 2)
    batch = upload()
    check(batch)

    waiting = squeezed(apply(batch).content.decode())
    judgements_import_task(batch.pk)
    ended = client.get(f"{address}{batch.pk}/state/", headers={"HX-Request": "true"})

    assert "It has not started yet." in waiting
    assert Judgement.objects.count() == 3
    assert ended["HX-Redirect"] == f"/campaigns/{Campaign.objects.get().pk}/"


def test_a_large_file_is_checked_by_a_worker(upload, check, client, address, at_once, monkeypatch) -> None:
    monkeypatch.setattr(uploading, "CHECK_AT_ONCE_BYTES", 10)
    batch = upload()

    waiting = check(batch)
    judgements_import_task(batch.pk)
    page = squeezed(client.get(f"{address}{batch.pk}/").content.decode())

    assert "The file is being checked." in waiting
    assert "Create the campaign “Pilot” from 3 judgements" in page
    assert not Campaign.objects.exists()


def test_a_worker_that_cannot_check_says_why_and_the_choices_are_kept(
    upload, check, client, address, at_once, monkeypatch
) -> None:
    monkeypatch.setattr(uploading, "CHECK_AT_ONCE_BYTES", 10)
    batch = upload()
    check(batch, without="zebra", question="Which is warmer?")

    judgements_import_task(batch.pk)
    page = squeezed(client.get(f"{address}{batch.pk}/").content.decode())

    assert "No row of judgements.csv holds the item &quot;zebra&quot;" in page
    assert 'value="Which is warmer?"' in page


def test_a_message_alone_imports_nothing(upload, check) -> None:
    batch = upload()
    check(batch)

    assert judgements_import_task(batch.pk) is False
    assert not Campaign.objects.exists()


def test_an_import_whose_worker_fell_silent_is_taken_over_once_by_another(upload, check) -> None:
    batch = upload()
    check(batch)
    silent_since = database_now() - timedelta(hours=1)
    ImportBatch.objects.update(state="running", attempt=1, heartbeat_at=silent_since)

    invited = list(uploading.judgement_imports_free(database_now()).values_list("pk", flat=True))
    taken = [judgements_import_task(batch.pk) for _time in range(2)]

    assert invited == [batch.pk]
    assert taken == [True, False]
    assert Campaign.objects.count() == 1


def test_a_file_that_silenced_three_workers_waits_for_a_person(upload, check, client, address) -> None:
    batch = upload()
    check(batch)
    silent_since = database_now() - timedelta(hours=1)
    ImportBatch.objects.update(state="running", lost=2, heartbeat_at=silent_since)

    page = client.get(f"{address}{batch.pk}/").content.decode()

    assert not uploading.judgement_imports_free(database_now()).exists()
    assert "was interrupted. Nothing of the file was imported." in page
    assert "Create the campaign" in page


def test_checks_do_not_count_as_workers_that_fell_silent(upload, check, monkeypatch) -> None:
    batch = upload()
    for _time in range(4):
        check(batch)
    monkeypatch.setattr(uploading, "IMPORT_AT_ONCE", 1)
    batch.refresh_from_db()
    uploading.judgements_import(batch=batch)
    silent_since = database_now() - timedelta(hours=1)
    for _time in range(2):
        assert uploading.import_claim_waiting(batch=batch)
        ImportBatch.objects.update(heartbeat_at=silent_since)

    assert uploading.judgement_imports_free(database_now()).exists()
    assert uploading.import_claim_waiting(batch=batch)
    ImportBatch.objects.update(heartbeat_at=silent_since)
    assert not uploading.judgement_imports_free(database_now()).exists()


def test_an_upload_can_be_discarded_while_it_waits_and_not_while_it_is_imported(
    upload, check, client, address
) -> None:
    batch = upload()
    check(batch)
    ImportBatch.objects.update(state="waiting")
    waiting = client.get(f"{address}{batch.pk}/").content.decode()
    ImportBatch.objects.update(state="running", heartbeat_at=database_now())
    running = client.get(f"{address}{batch.pk}/").content.decode()

    assert waiting.count("Discard the upload") == 1
    assert "Discard the upload" not in running


def test_a_worker_that_lost_its_claim_writes_nothing(upload, check, monkeypatch) -> None:
    batch = upload()
    check(batch)
    ImportBatch.objects.update(state="waiting")
    read = uploading.read_judgements

    def read_while_another_takes_over(*arguments, **named):
        ImportBatch.objects.update(attempt=9)
        return read(*arguments, **named)

    monkeypatch.setattr(uploading, "read_judgements", read_while_another_takes_over)

    assert judgements_import_task(batch.pk) is False
    assert not Campaign.objects.exists()
    assert not Pair.objects.exists()


def test_discarding_removes_the_upload(upload, client, address, home) -> None:
    batch = upload(ROWS, second=ROWS)

    client.post(f"{address}{batch.pk}/discard/")

    assert not ImportBatch.objects.exists()
    assert not (home / batch.path).parent.exists()


def test_an_import_of_judgements_is_no_import_of_pairs(upload, check, client, dataset) -> None:
    batch = upload()
    check(batch)

    listed = client.get(f"/datasets/{dataset.slug}/import/").content.decode()
    opened = client.get(f"/datasets/{dataset.slug}/import/{batch.pk}/")

    assert batch.file_name not in listed
    assert opened.status_code == 404


def test_files_of_one_name_are_both_kept(client, address) -> None:
    client.post(address, {"file": [SimpleUploadedFile("a.csv", b"x"), SimpleUploadedFile("A.csv", b"y")]})

    batch = ImportBatch.objects.get()
    assert batch.file_name == "a.csv, A-2.csv"
    assert [path.read_bytes() for path in uploads.import_files(batch)] == [b"y", b"x"]


def test_no_file_is_asked_for(client, address) -> None:
    answer = client.post(address)

    assert "Choose a file." in answer.content.decode()


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("sheet.xlsx", b"PK\x03\x04 not a table", "is a spreadsheet or an archive; save it as CSV first"),
        ("paper.pdf", b"%PDF-1.7\n1 0 obj", "is a PDF document; save its text as plain text or CSV first"),
        ("scan.png", b"\x89PNG\r\n\x1a\n\x00\x00", "is an image; give a text file, such as CSV"),
        ("rows.csv.gz", b"\x1f\x8b\x08 packed", "is compressed; unpack it first"),
        ("program.csv", bytes(range(256)) * 4, "is not a text file; save it as text in UTF-8."),
        ("blank.csv", b"\n\n", "is empty; give a file with a table of judgements and its header."),
    ],
)
def test_a_file_that_is_no_table_is_refused_beside_the_field_and_nothing_is_kept(
    client, address, home, name, content, sentence
) -> None:
    good = SimpleUploadedFile("good.csv", ROWS.encode())

    page = client.post(address, {"file": [good, SimpleUploadedFile(name, content)]}).content.decode()

    assert f"{name} {sentence}" in page
    assert not ImportBatch.objects.exists()
    assert not list((home / "imports").glob("*"))


def test_hostile_cells_stay_text(upload, check, client, address) -> None:
    hostile = "<script>alert(1)</script>"
    batch = upload(
        f"Item1,Item2,{hostile},BestItem,WorstItem\n{hostile},b,c,{hostile},b\na,b,c,{hostile},b\n"
    )

    looked = client.get(f"{address}{batch.pk}/").content.decode()
    page = check(batch, items=["Item1", "Item2", hostile], annotator="", name=hostile)

    assert hostile not in looked + page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in looked


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("lines", "size"), [(lines_of_csv, 3_000_000), (lines_of_json, 3_000_000), (open_cells, 800_000)]
)
def test_a_text_file_made_to_exhaust_its_reader_holds_no_judgement(
    upload, check, client, address, lines, size
) -> None:
    batch = upload("Item1,Item2,BestItem,WorstItem\n" + "".join(lines(size)))

    looked = client.get(f"{address}{batch.pk}/")
    page = check(batch, items=["Item1", "Item2"], annotator="")

    assert looked.status_code == 200
    assert "judgements.csv holds no judgement" in page
    assert not Campaign.objects.exists()


def test_a_parquet_file_made_to_exhaust_its_reader_is_refused_unread(client, address, tmp_path) -> None:
    path = tmp_path / "judgements.parquet"
    HOSTILE["many_chunks"](path)
    client.post(address, {"file": SimpleUploadedFile(path.name, path.read_bytes())})

    page = client.get(f"{address}{ImportBatch.objects.get().pk}/").content.decode()

    assert "write it again with fewer columns or larger row groups" in page


def test_a_cell_with_a_very_long_list_rejects_its_row(upload, check) -> None:
    long_list = ",".join(map(str, range(20_000)))
    batch = upload(f'items,best,worst\n"[{long_list}]",1,2\n"[1, 2, 3]",1,2\n')

    page = check(batch, items=["items"], best="best", worst="worst", annotator="")

    assert "the row has more than 100 items" in page
    assert '<span class="value">1</span><span class="label">judgements</span>' in page


def test_rows_of_several_sizes_become_tuples_of_several_sizes(upload, check, apply) -> None:
    batch = upload(ROWS + "a,b,f,,a,f,cleo\n")

    page = check(batch)
    answer = apply(batch)

    assert "1 row has fewer than 4 items (the smallest 3)" in page
    assert answer.status_code == 200
    assert sorted(Campaign.objects.get().tuples.annotate(n=Count("items")).values_list("n", flat=True)) == [
        3,
        4,
        4,
    ]


def test_rows_larger_than_a_tuple_are_refused_with_what_to_do(upload, check) -> None:
    columns = [f"Item{number}" for number in range(1, 10)]
    batch = upload(f"{','.join(columns)},best,worst\na,b,c,d,e,f,g,h,i,a,b\n")

    page = check(batch, items=columns, best="best", worst="worst", annotator="")

    assert "The largest row has 9 items, and a tuple of the site holds at most 8." in page


@pytest.mark.parametrize(
    ("role", "looking", "sending"), [("owner", 200, 302), ("curator", 200, 302), ("annotator", 403, 403)]
)
def test_who_may_create_campaigns_may_import_them(role, looking, sending, address, request) -> None:
    client = client_of(request.getfixturevalue(role))

    looked = client.get(address)
    sent = client.post(address, {"file": SimpleUploadedFile("a.csv", ROWS.encode())})

    assert (looked.status_code, sent.status_code) == (looking, sending)


@pytest.mark.parametrize("action", ["", "check/", "apply/", "discard/", "state/", "errors.csv"])
@pytest.mark.parametrize(("role", "status"), [("annotator", 403), ("stranger", 404)])
def test_an_import_is_closed_to_others(role, status, action, upload, address, request) -> None:
    batch = upload()
    client = client_of(request.getfixturevalue(role))
    send = client.post if action in {"check/", "apply/", "discard/"} else client.get

    assert send(f"{address}{batch.pk}/{action}").status_code == status
    assert ImportBatch.objects.filter(pk=batch.pk, mapping={}).exists()


def test_an_archived_dataset_takes_no_judgements(upload, client, address, dataset) -> None:
    batch = upload()
    dataset.archived = True
    dataset.save()

    statuses = [
        client.post(f"{address}{batch.pk}/{action}/", AS_RECOGNISED).status_code
        for action in ("check", "apply")
    ]

    assert statuses == [403, 403]
    assert client.get(f"{address}{batch.pk}/").status_code == 200


def test_the_import_is_offered_to_who_may_create_campaigns(dataset, client, staff) -> None:
    link, page = f'href="/datasets/{dataset.slug}/judgements/"', f"/campaigns/?dataset={dataset.slug}"

    assert link in squeezed(client.get(page).content.decode())
    assert link not in squeezed(client_of(staff).get(page).content.decode())
