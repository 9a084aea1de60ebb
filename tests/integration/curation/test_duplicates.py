"""The page of duplicates: the search, what it keeps, the groups, and setting pairs aside."""

import csv
import io
import re

import pytest

from curation.datasets.duplicates import search_is_stale
from curation.exchange import duplicate_searches
from curation.exchange.duplicate_searches import search_ask, search_cancel, search_carry_out, searches_sweep
from curation.models import AuditEntry, Dataset, DuplicateSearch, Pair, PairScore
from tests.factories import (
    DatasetFactory,
    MembershipFactory,
    PairFactory,
    ScoreSetFactory,
    SentenceFactory,
)

pytestmark = pytest.mark.django_db

State = DuplicateSearch.State


def pair_add(dataset: Dataset, first: str, second: str, **about: str) -> Pair:
    a, b = (
        dataset.sentences.filter(text=text).first() or SentenceFactory(dataset=dataset, text=text)
        for text in (first, second)
    )
    return PairFactory(dataset=dataset, a=a, b=b, **about)


@pytest.fixture
def repeated(dataset) -> Dataset:
    """A group of three, exact and mirrored, that leaks; a near one of two; and two pairs that repeat nothing."""
    pair_add(dataset, "a dog runs", "it rains", external_id="one", split="train")
    pair_add(dataset, "it rains", "a dog runs", external_id="two", split="test")
    pair_add(dataset, "a dog runs", "it rains", external_id="three", split="train", source="again")
    pair_add(dataset, "=SUM(1) a small bird sings", "the sun sets", external_id="four")
    pair_add(dataset, "=SUM(1) a small bird sings now", "The sun sets.", external_id="five")
    pair_add(dataset, "a dog runs", "the sun sets", external_id="six")
    pair_add(dataset, "a cat sleeps", "a mat lies here", external_id="seven")
    return dataset


@pytest.fixture
def other(curator) -> Dataset:
    other = MembershipFactory(user=curator, role="curator", dataset=DatasetFactory(slug="theirs")).dataset
    pair_add(other, "a mat lies here", "A cat sleeps!", external_id="eight")
    return other


@pytest.fixture
def shown_page(client_of, curator, repeated):
    """The curator's page of duplicates, with this query, after a POST of this form where there is one."""

    def get(query: str = "", form: dict | None = None) -> str:
        address = f"/datasets/{repeated.slug}/duplicates/"
        client = client_of(curator)
        answer = client.get(address + query) if form is None else client.post(address, form, follow=True)
        assert answer.status_code == 200
        return answer.content.decode()

    return get


@pytest.fixture
def later(monkeypatch) -> list[int]:
    """Every search is left to a worker, whose invitations are listed."""
    invited: list[int] = []
    monkeypatch.setattr(duplicate_searches, "AT_ONCE", 0)
    monkeypatch.setattr(duplicate_searches, "search_invite", invited.append)
    return invited


def groups(search: DuplicateSearch) -> list[tuple[str, list[str]]]:
    named: dict[int, tuple[str, list[str]]] = {}
    for row in search.found.select_related("pair"):
        named.setdefault(row.group, (row.likeness, []))[1].append(row.pair.external_id)
    return list(named.values())


def test_before_a_search_the_page_offers_one_and_an_empty_dataset_an_import(
    shown_page, repeated, client_of
) -> None:
    assert "Search for duplicates" in shown_page()

    repeated.pairs.all().delete()

    assert "No pairs yet. Import a file first." in shown_page()


def test_a_search_of_few_pairs_shows_its_groups_at_once_the_largest_first(shown_page, repeated) -> None:
    shown = shown_page(form={"threshold": "0.8"})

    assert "2 groups with 5 pairs" in shown
    assert groups(DuplicateSearch.objects.get()) == [
        ("mirrored", ["one", "two", "three"]),
        ("near", ["four", "five"]),
    ]
    assert shown.index("Group 1: 3 pairs") < shown.index("Group 2: 2 pairs")
    assert "leak between splits: test, train" in shown
    # The first sentences of four and five share 6 of their 7 words.
    assert "0.86" in shown


def test_equal_pairs_with_different_scores_have_a_section(shown_page, repeated, client_of, curator) -> None:
    by_people = ScoreSetFactory(dataset=repeated, name="of experts")
    for external_id, value in (("one", 4.5), ("two", 1.25), ("three", 4.5), ("four", 1), ("five", 2)):
        pair = repeated.pairs.get(external_id=external_id)
        PairScore.objects.create(score_set=by_people, pair=pair, value=value)

    shown = shown_page(form={"threshold": "0.8"})
    address = f"/datasets/{repeated.slug}/duplicates/duplicates.csv?threshold=0.8"
    rows = csv.DictReader(io.StringIO(client_of(curator).get(address).getvalue().decode("utf-8-sig")))

    section = shown[shown.index("Equal pairs with different scores: 1 group") : shown.index("Group 1")]
    assert "of experts" in section
    assert re.findall(r">([\d.]+)</a>", section) == ["4.500", "1.250", "4.500"]
    assert {row["id"] for row in rows if row["scores_differ"] == "1"} == {"one", "two", "three"}


def test_a_part_of_the_groups_can_be_shown_alone(shown_page) -> None:
    shown_page(form={"threshold": "0.8"})

    near, leaking = shown_page("?threshold=0.8&part=near"), shown_page("?threshold=0.8&part=leaks")

    assert ("Group 2" in near, "Group 1" in near) == (True, False)
    assert ("Group 2" in leaking, "Group 1" in leaking) == (False, True)


def test_a_higher_threshold_is_another_search(shown_page) -> None:
    shown_page(form={"threshold": "0.8"})

    assert "1 group with 3 pairs" in shown_page(form={"threshold": "1"})
    assert "2 groups with 5 pairs" in shown_page("?threshold=0.8")
    assert DuplicateSearch.objects.count() == 2


@pytest.mark.parametrize("threshold", ["0.2", "1.5", "nan", "x"])
def test_a_threshold_that_makes_no_sense_is_refused(shown_page, threshold: str) -> None:
    shown_page(form={"threshold": threshold})

    assert not DuplicateSearch.objects.exists()


def test_pairs_of_another_dataset_are_found_and_the_own_ones_set_aside(
    shown_page, other, repeated, client_of, curator
) -> None:
    shown = shown_page(form={"threshold": "0.8", "against": "theirs"})
    search = DuplicateSearch.objects.get()
    form = {"search": search.pk, "which": "elsewhere"}

    edited(client_of(curator), repeated, form)

    assert "also in another dataset" in shown
    assert ("near", ["seven", "eight"]) in groups(search)
    assert list(Pair.objects.filter(status="retired").values_list("external_id", flat=True)) == ["seven"]


def edited(client, dataset: Dataset, form: dict) -> str:
    """Preview an edit and apply it; the preview."""
    address = f"/datasets/{dataset.slug}/edits/"
    preview = client.post(address, form).content.decode()
    state = re.search(r'name="state" value="([^"]*)"', preview)
    assert state is not None, preview
    client.post(address, form | {"state": state[1], "apply": "yes"})
    return preview


def test_all_but_the_first_of_each_group_are_set_aside_and_come_back(
    shown_page, repeated, client_of, curator
) -> None:
    shown_page(form={"threshold": "0.8"})
    client = client_of(curator)

    preview = edited(client, repeated, {"search": DuplicateSearch.objects.get().pk, "which": "later"})

    assert "3 pairs of 3 change." in preview
    retired = Pair.objects.filter(status="retired").order_by("pk").values_list("external_id", flat=True)
    assert list(retired) == ["two", "three", "five"]
    entry = AuditEntry.objects.get(action="pairs_edited")
    assert entry.details["filter"] == {"duplicates": "later", "threshold": 0.8}

    client.post(f"/datasets/{repeated.slug}/edits/{entry.pk}/undo/")

    assert not Pair.objects.filter(status="retired").exists()


def test_one_likeness_or_chosen_pairs_can_be_set_aside(shown_page, repeated, client_of, curator) -> None:
    shown_page(form={"threshold": "0.8"})
    search, client = DuplicateSearch.objects.get(), client_of(curator)
    first = repeated.pairs.get(external_id="one")

    near = client.post(
        f"/datasets/{repeated.slug}/edits/", {"search": search.pk, "which": "later", "likeness": "near"}
    )
    edited(client, repeated, {"search": search.pk, "which": "selected", "pair": [first.pk]})

    assert "1 pair of 1 changes." in near.content.decode()
    assert list(Pair.objects.filter(status="retired")) == [first]


def test_what_an_older_search_found_is_marked_and_not_set_aside(
    shown_page, repeated, client_of, curator
) -> None:
    shown_page(form={"threshold": "0.8"})
    search = DuplicateSearch.objects.get()
    repeated.pairs.get(external_id="one").delete()

    shown = shown_page("?threshold=0.8")
    refused = client_of(curator).post(
        f"/datasets/{repeated.slug}/edits/", {"search": search.pk, "which": "later"}
    )

    assert "Search again before you exclude pairs" in shown
    assert "Pairs have changed since the search for duplicates." in refused.content.decode()
    shown_page(form={"threshold": "0.8"})
    assert not search_is_stale(DuplicateSearch.objects.get())


def test_many_pairs_are_left_to_a_worker_whose_result_the_page_shows(shown_page, later) -> None:
    waiting = shown_page(form={"threshold": "0.8"})

    assert "A worker searches for duplicates." in waiting
    assert later == [DuplicateSearch.objects.get().pk]
    assert search_carry_out(search_pk=later[0])
    assert not search_carry_out(search_pk=later[0])
    assert "2 groups with 5 pairs" in shown_page("?threshold=0.8")


def test_a_search_that_was_stopped_writes_nothing(repeated, later, monkeypatch) -> None:
    search = search_ask(dataset=repeated, against=[], threshold=0.8, by=None)
    found = duplicate_searches.duplicates_found

    def stopped_meanwhile(*given, **options):
        search_cancel(search=search)
        return found(*given, **options)

    monkeypatch.setattr(duplicate_searches, "duplicates_found", stopped_meanwhile)

    assert not search_carry_out(search_pk=search.pk)
    search.refresh_from_db()
    assert (search.state, search.found.count()) == (State.CANCELLED, 0)


def test_the_sweep_invites_for_what_nobody_has_begun(repeated, later) -> None:
    search = search_ask(dataset=repeated, against=[], threshold=0.8, by=None)

    searches_sweep()

    assert later == [search.pk, search.pk]


def test_an_error_nobody_foresaw_ends_the_search_with_a_sentence(repeated, later, monkeypatch) -> None:
    search = search_ask(dataset=repeated, against=[], threshold=0.8, by=None)

    def broken(*given, **options):
        raise RuntimeError("broken")

    monkeypatch.setattr(duplicate_searches, "duplicates_found", broken)

    assert not search_carry_out(search_pk=search.pk)
    search.refresh_from_db()
    assert search.state == State.FAILED
    assert "Search again." in search.message


def test_the_file_has_every_pair_and_is_safe_for_a_spreadsheet_by_choice(
    shown_page, repeated, client_of, curator
) -> None:
    shown_page(form={"threshold": "0.8"})
    client, address = client_of(curator), f"/datasets/{repeated.slug}/duplicates/duplicates.csv"

    def rows(query: str) -> list[dict[str, str]]:
        text = b"".join(client.get(address + query).streaming_content).decode()
        return list(csv.DictReader(io.StringIO(text)))

    assert [(row["group"], row["leaks"], row["id"]) for row in rows("?threshold=0.8")] == [
        ("1", "1", "one"), ("1", "1", "two"), ("1", "1", "three"), ("2", "0", "four"), ("2", "0", "five")
    ]  # fmt: skip
    assert rows("?threshold=0.8&part=near")[0]["sentence1"].startswith("=SUM")
    assert rows("?threshold=0.8&part=near&spreadsheet=1")[0]["sentence1"].startswith("'=SUM")


def test_a_dataset_that_one_may_not_read_is_neither_compared_nor_shown(
    repeated, other, client_of, stranger
) -> None:
    search = search_ask(dataset=repeated, against=[other], threshold=0.8, by=None)
    MembershipFactory(user=stranger, dataset=repeated, role="curator")
    client, address = client_of(stranger), f"/datasets/{repeated.slug}/duplicates/"

    assert "A cat sleeps!" not in client.get(f"{address}?against=theirs&threshold=0.8").content.decode()
    assert client.get(f"{address}duplicates.csv?against=theirs&threshold=0.8").status_code == 404
    assert client.get(f"{address}{search.pk}/state/").status_code == 404
    edit = {"search": search.pk, "which": "later"}
    assert client.post(f"/datasets/{repeated.slug}/edits/", edit).status_code == 404


def test_a_page_takes_a_constant_number_of_queries(
    shown_page, repeated, client_of, curator, django_assert_max_num_queries
) -> None:
    for number in range(15):
        for _copy in range(3):
            pair_add(repeated, f"sentence {number} of many", f"another one {number}")
    shown_page(form={"threshold": "1"})
    client = client_of(curator)
    client.get("/")  # the first page of a session notes its use

    with django_assert_max_num_queries(36):
        client.get(f"/datasets/{repeated.slug}/duplicates/?threshold=1")
