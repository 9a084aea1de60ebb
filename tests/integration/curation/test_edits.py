"""Edits of many pairs: the preview, the edit, undo; on the page and under two at once."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from threading import Barrier
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from curation.datasets.edits import Edit, edit_apply, edit_leaks, edit_preview, edit_undo, edits_of
from curation.datasets.selectors import PairFilter
from curation.foundation.errors import UserError
from curation.models import AuditEntry, Pair
from curation.pairs.leaks import Leak
from curation.people.audit import pair_history
from curation.review.verdicts import review_decide
from tests.factories import GeneratedPairFactory, MembershipFactory, PairFactory
from tests.markup import squeezed

pytestmark = pytest.mark.django_db
AT = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
NEWS = PairFilter(source="news")


def values(dataset, field: str) -> list[str]:
    return list(dataset.pairs.order_by("pk").values_list(field, flat=True))


def applied(dataset, edit, by=None) -> AuditEntry:
    return edit_apply(dataset=dataset, edit=edit, by=by, state=edit_preview(dataset, edit).state)


# The edit


@pytest.mark.parametrize(("field", "value"), [("split", "dev"), ("source", "press"), ("status", "retired")])
def test_every_pair_that_the_filter_finds_gets_the_value_and_no_other(dataset, fill, field, value) -> None:
    fill(9)
    before = values(dataset, field)
    meant = [source == "news" for source in values(dataset, "source")]

    entry = applied(dataset, Edit(field, value, NEWS))

    assert values(dataset, field) == [
        value if edited else old for old, edited in zip(before, meant, strict=True)
    ]
    assert (entry.pairs, entry.details) == (3, {"set": {field: value}, "filter": {"source": "news"}})


def test_the_pairs_that_were_selected_get_the_value_whatever_the_filter_finds(dataset, fill) -> None:
    fill(4)
    first, second, *_rest = dataset.pairs.order_by("pk")

    applied(dataset, Edit("split", "dev", NEWS, pairs=(first.pk, second.pk)))

    assert values(dataset, "split") == ["dev", "dev", "train", "test"]


def test_a_split_is_taken_away(dataset, fill) -> None:
    fill(2)

    applied(dataset, Edit("split", ""))

    assert values(dataset, "split") == ["", ""]


def test_a_pair_of_another_dataset_is_not_edited(dataset, fill) -> None:
    other = PairFactory()
    fill(1)

    with pytest.raises(UserError, match="nothing to apply"):
        edit_apply(dataset=dataset, edit=Edit("split", "dev", pairs=(other.pk,)), by=None)
    assert Pair.objects.get(pk=other.pk).split == ""


def test_the_preview_counts_and_changes_nothing(dataset, fill) -> None:
    fill(5)

    preview = edit_preview(dataset, Edit("split", "train"))

    assert (preview.found, preview.changed, preview.reviewed, preview.before) == (5, 2, 0, [("test", 2)])
    assert values(dataset, "split") == ["train", "test", "train", "test", "train"]


def test_an_edit_of_splits_says_what_they_would_share(dataset, fill) -> None:
    fill(6)
    train, test = (dataset.pairs.get(external_id=f"pair-{number}") for number in (0, 2))
    test.a = train.a
    test.save()
    edit = Edit("split", "test", pairs=(test.pk,))

    found = edit_leaks(dataset, edit)

    assert found.before == []
    assert found.after == [Leak("test", "train", 1, 4, own=1), Leak("train", "test", 1, 2, own=1)]
    assert edit_leaks(dataset, Edit("split", "", pairs=(test.pk,))).after == []
    assert edit_leaks(dataset, Edit("source", "press", pairs=(test.pk,))) is None


def test_the_page_and_the_api_say_what_splits_would_share(
    dataset, fill, client_of, curator, monkeypatch
) -> None:
    fill(6)
    dataset.pairs.filter(external_id="pair-2").update(a=dataset.pairs.get(external_id="pair-0").a)
    pair = dataset.pairs.get(external_id="pair-2").pk
    sent = {"change": "split", "value": "test", "pair": [pair], "which": "selected"}
    client = client_of(curator)

    page = squeezed(client.post(f"/datasets/{dataset.slug}/edits/", sent).content.decode())
    asked = {"field": "split", "value": "test", "pairs": [pair]}
    address = f"/api/v1/datasets/{dataset.slug}/edits/preview/"
    answer = client.post(address, asked, content_type="application/json").json()
    monkeypatch.setattr("curation.datasets.splits.MOST_ON_A_PAGE", 5)
    uncounted = client.post(address, asked, content_type="application/json").json()

    assert "1 of the 4 pairs of test (25 %) share a sentence with train." in page
    assert "Now no split shares a sentence with another." in page
    assert answer["leaks_before"] == []
    assert answer["leaks"][0] == {"split": "test", "other": "train", "pairs": 1, "of": 4, "own": 1}
    assert uncounted["leaks"] is None


def test_what_changed_after_the_preview_is_not_edited_unseen(dataset, fill) -> None:
    fill(3)
    state = edit_preview(dataset, Edit("split", "dev")).state
    PairFactory(dataset=dataset)

    with pytest.raises(UserError, match="Look at the preview again"):
        edit_apply(dataset=dataset, edit=Edit("split", "dev"), by=None, state=state)
    assert "dev" not in values(dataset, "split")


def test_the_status_that_a_review_decided_is_left_alone(dataset, curator) -> None:
    reviewed, waiting = (GeneratedPairFactory(dataset=dataset, p_d=0.2) for _ in range(2))
    review_decide(pair=reviewed, verdict="keep", client_id=uuid4(), by=curator, at=AT)

    preview = edit_preview(dataset, Edit("status", "rejected"))
    applied(dataset, Edit("status", "rejected"))

    assert (preview.changed, preview.reviewed) == (1, 1)
    assert Pair.objects.get(pk=reviewed.pk).status == "active"
    assert Pair.objects.get(pk=waiting.pk).status == "rejected"


@pytest.mark.parametrize(
    ("field", "value", "at"), [("split", "all", {"source": "file"}), ("source", "all", {"split": "train"})]
)
def test_ids_that_would_name_two_pairs_are_an_error_that_names_them(dataset, field, value, at) -> None:
    for part in ("one", "two"):
        PairFactory(dataset=dataset, external_id="7", **at, **{field: part})

    with pytest.raises(UserError, match="“7”"):
        edit_preview(dataset, Edit(field, value))
    with pytest.raises(UserError, match="“7”"):
        edit_apply(dataset=dataset, edit=Edit(field, value), by=None)
    assert sorted(values(dataset, field)) == ["one", "two"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"field": "external_id", "value": "7"},
        {"field": "status", "value": "gone"},
        {"field": "split", "value": "x" * 21},
        {"field": "source", "value": "x" * 101},
        {"field": "split", "value": "dev", "pairs": ()},
        {"field": "split", "value": "dev", "pairs": tuple(range(1001))},
    ],
)
def test_an_edit_that_makes_no_sense_is_refused(wrong) -> None:
    with pytest.raises(UserError):
        Edit(**wrong)


def test_an_archived_dataset_is_not_edited(dataset, fill) -> None:
    fill(1)
    dataset.archived = True
    dataset.save()

    with pytest.raises(UserError, match="is archived"):
        edit_apply(dataset=dataset, edit=Edit("split", "dev"), by=None)


def test_an_edit_of_many_pairs_asks_the_database_as_often_as_one_of_few(dataset, fill) -> None:
    def queries(value: str) -> int:
        with CaptureQueriesContext(connection) as captured:
            edit_undo(entry=edit_apply(dataset=dataset, edit=Edit("split", value), by=None), by=None)
        return len(captured)

    fill(2)
    few = queries("dev")
    fill(60)

    assert queries("dev") == few


# Undo


def test_undo_gives_back_what_each_pair_had(dataset, fill, curator) -> None:
    fill(6)
    before = values(dataset, "split")
    entry = applied(dataset, Edit("split", "dev"), by=curator)

    undone = edit_undo(entry=entry, by=curator)

    assert values(dataset, "split") == before
    assert (undone.undoes, undone.by, undone.pairs) == (entry, curator, 6)
    assert edits_of(dataset).get().undone_by == undone
    with pytest.raises(UserError, match="undone before"):
        edit_undo(entry=entry, by=curator)


def test_undo_does_not_overwrite_what_came_later(dataset, fill) -> None:
    fill(3)
    entry = applied(dataset, Edit("split", "dev"))
    applied(dataset, Edit("split", "held back", NEWS))

    with pytest.raises(UserError, match="1 of the pairs have been changed"):
        edit_undo(entry=entry, by=None)
    assert values(dataset, "split") == ["held back", "dev", "dev"]


def test_undo_does_not_take_back_a_review_decision(dataset, curator) -> None:
    pair = GeneratedPairFactory(dataset=dataset, p_d=0.2, status="pending")
    entry = applied(dataset, Edit("status", "active"))
    review_decide(pair=pair, verdict="keep", client_id=uuid4(), by=curator, at=AT)

    with pytest.raises(UserError, match="changed or reviewed since"):
        edit_undo(entry=entry, by=None)
    assert Pair.objects.get(pk=pair.pk).status == "active"


def test_undo_is_refused_where_another_pair_has_the_name_meanwhile(dataset) -> None:
    moved = PairFactory(dataset=dataset, external_id="7", split="train")
    entry = applied(dataset, Edit("split", "dev"))
    PairFactory(dataset=dataset, external_id="7", split="train")

    with pytest.raises(UserError, match="Another pair has the id"):
        edit_undo(entry=entry, by=None)
    assert Pair.objects.get(pk=moved.pk).split == "dev"
    assert not AuditEntry.objects.filter(action="edit_undone").exists()


def test_the_history_of_a_pair_has_the_edit(dataset, fill, curator) -> None:
    fill(1)
    entry = applied(dataset, Edit("status", "retired"), by=curator)

    (line,) = pair_history(dataset.pairs.get())

    assert (line.entry, line.by, line.what, line.before, line.after) == (
        entry,
        curator,
        "status",
        "active",
        "retired",
    )


# Two at once


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_two_who_edit_at_once_edit_one_after_the_other_and_both_are_undone(dataset, fill) -> None:
    fill(300)
    before = values(dataset, "split")
    barrier = Barrier(2)

    def edit(value: str) -> AuditEntry:
        try:
            barrier.wait(timeout=20)
            return edit_apply(dataset=dataset, edit=Edit("split", value), by=None)
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(edit, ("one", "two")))

    first, second = AuditEntry.objects.filter(action="pairs_edited").order_by("pk")
    assert set(values(dataset, "split")) == {second.details["set"]["split"]}
    assert set(second.changes.values_list("before", flat=True)) == {first.details["set"]["split"]}
    edit_undo(entry=second, by=None)
    edit_undo(entry=first, by=None)
    assert values(dataset, "split") == before


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_a_verdict_that_is_given_during_an_edit_is_not_overwritten(dataset, curator) -> None:
    pairs = [GeneratedPairFactory(dataset=dataset, p_d=0.2) for _ in range(20)]
    barrier = Barrier(2)

    def edit() -> None:
        try:
            barrier.wait(timeout=20)
            edit_apply(dataset=dataset, edit=Edit("status", "retired"), by=None)
        finally:
            connection.close()

    def review() -> list[str]:
        given = []
        try:
            barrier.wait(timeout=20)
            for pair in pairs:
                try:
                    review_decide(
                        pair=pair, verdict="reject", reasons=["logic"], client_id=uuid4(), by=curator, at=AT
                    )
                    given.append(pair.pk)
                except UserError:
                    pass  # it was retired before
        finally:
            connection.close()
        return given

    with ThreadPoolExecutor(2) as pool:
        reviewing, editing = pool.submit(review), pool.submit(edit)
        editing.result()
        rejected = reviewing.result()

    for pair in Pair.objects.filter(pk__in=[pair.pk for pair in pairs]):
        assert pair.status == ("rejected" if pair.pk in rejected else "retired")


# The page


@pytest.fixture
def edits(dataset, curator, client_of):
    """`edits({…}, "source=news")` sends the form with the filters of the table, and gives the page that follows."""
    client = client_of(curator)

    def send(form: dict, query: str = "") -> str:
        answer = client.post(f"/datasets/{dataset.slug}/edits/?{query}", form, follow=True)
        return squeezed(answer.content.decode())

    return send


FOUND = {"change": "split", "value": "dev", "which": "found"}


def state_in(page: str) -> str:
    return page.split('name="state" value="')[1].split('"', maxsplit=1)[0]


def test_the_page_shows_a_preview_then_edits_and_undoes(dataset, fill, edits, client_of, curator) -> None:
    fill(6)
    before = values(dataset, "split")

    preview = edits(FOUND, "source=news")
    unchanged = values(dataset, "split")
    after = edits(FOUND | {"state": state_in(preview), "apply": "yes"}, "source=news")
    edited = values(dataset, "split")
    entry = AuditEntry.objects.get(action="pairs_edited")
    undone = client_of(curator).post(f"/datasets/{dataset.slug}/edits/{entry.pk}/undo/", follow=True)

    assert "2 pairs of 2 change." in preview
    assert unchanged == before
    assert "2 pairs were edited." in after
    assert edited.count("dev") == 2
    assert "The pairs have the values back" in undone.content.decode()
    assert values(dataset, "split") == before


def test_the_table_has_a_box_for_each_pair_and_the_boxes_are_what_is_edited(
    dataset, fill, edits, client_of, curator, staff
) -> None:
    fill(3)
    first = dataset.pairs.order_by("pk")[0]
    table = client_of(curator).get(f"/datasets/{dataset.slug}/").content.decode()
    form = {"change": "retired", "which": "selected", "pair": [first.pk]}

    preview = edits(form)
    edits(form | {"state": state_in(preview), "apply": "yes"})

    assert table.count('form="edit-pairs"') == 3
    assert 'form="edit-pairs"' not in client_of(staff).get(f"/datasets/{dataset.slug}/").content.decode()
    assert values(dataset, "status") == ["retired", "active", "active"]


@pytest.mark.parametrize(
    ("form", "query", "says"),
    [
        (FOUND | {"which": "selected"}, "", "Select 1 to 1000 pairs"),
        (FOUND | {"value": "x" * 21}, "", "has at most 20 characters"),
        (FOUND | {"change": "id"}, "", "id is not one of the available choices"),
        (FOUND, "status=nothing", "One of the filters makes no sense"),
    ],
)
def test_a_form_that_is_wrong_says_so_and_edits_nothing(dataset, fill, edits, form, query, says) -> None:
    fill(2)

    page = edits(form | {"apply": "yes", "state": "2:3:1:2"}, query)

    assert says in page
    assert "Back to the pairs" in page
    assert "dev" not in values(dataset, "split")


def test_who_only_reads_can_edit_and_undo_nothing(dataset, fill, staff, client_of) -> None:
    fill(1)
    entry = applied(dataset, Edit("split", "dev"))
    client, address = client_of(staff), f"/datasets/{dataset.slug}/edits/"

    assert client.get(address).status_code == 200
    assert client.post(address, FOUND).status_code == 403
    assert client.post(f"{address}{entry.pk}/undo/").status_code == 403


def test_an_edit_of_another_dataset_cannot_be_undone_through_ones_own(
    dataset, fill, stranger, client_of
) -> None:
    fill(1)
    entry = applied(dataset, Edit("split", "dev"))
    own = MembershipFactory(user=stranger, role="owner").dataset

    assert client_of(stranger).post(f"/datasets/{own.slug}/edits/{entry.pk}/undo/").status_code == 404


def test_without_edits_the_page_says_so(dataset, curator, client_of) -> None:
    assert "No edits yet." in client_of(curator).get(f"/datasets/{dataset.slug}/edits/").content.decode()
