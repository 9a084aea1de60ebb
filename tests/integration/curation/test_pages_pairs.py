"""The pages of a dataset: its table of pairs, one pair, and what they cost."""

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from curation.datasets.services import score_set_publish
from curation.models import Pair, PairScore
from tests.factories import DatasetFactory, PairFactory, SentenceFactory
from tests.markup import squeezed

pytestmark = pytest.mark.django_db


@pytest.fixture
def table(dataset, curator, client_of):
    """The table of pairs under a query string: `table("search=dog")` gives its page and the ids of its rows."""

    def ask(query: str = "") -> tuple[str, list[str]]:
        page = client_of(curator).get(f"/datasets/{dataset.slug}/?{query}").content.decode()
        return page, re.findall(r'title="(pair-\d+)"', page)

    return ask


def test_an_empty_dataset_says_what_to_do(table) -> None:
    page, rows = table()

    assert "No pairs yet. Import a file Or sample" in " ".join(re.sub(r"<[^>]+>", " ", page).split())
    assert rows == []


def test_the_table_shows_fifty_pairs_and_the_way_to_the_next(table, fill) -> None:
    fill(51)

    page, rows = table()

    assert rows == [f"pair-{number}" for number in range(50)]
    assert "1 to 50 of 51" in page
    assert "page=2" in page


def test_pairs_that_fit_one_page_have_no_pages_to_turn(table, fill) -> None:
    fill(3)

    page, rows = table()

    assert len(rows) == 3
    assert 'class="pager"' not in page


def test_the_second_page_shows_the_rest(table, fill) -> None:
    fill(51)

    _page, rows = table("page=2")

    assert rows == ["pair-50"]


@pytest.mark.parametrize("number", ["999", "0", "-1", "x", "²", "9" * 30])
def test_a_page_that_does_not_exist_shows_one_that_does(table, fill, number: str) -> None:
    fill(3)

    _page, rows = table(f"page={number}")

    assert rows == ["pair-0", "pair-1", "pair-2"]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("search=of+pair+4.", ["pair-4"]),
        ("source=captions", ["pair-1", "pair-4"]),
        ("split=test", ["pair-1", "pair-3", "pair-5"]),
        ("source=captions&split=test", ["pair-1"]),
        ("low=0.2&high=0.3", ["pair-2", "pair-3"]),
        ("order=-score", ["pair-5", "pair-4", "pair-3", "pair-2", "pair-1", "pair-0"]),
        ("origin=generated", []),
        ("status=active&high=0", ["pair-0"]),
    ],
)
def test_the_address_filters_and_sorts(table, fill, query: str, expected: list[str]) -> None:
    fill(6)

    _page, rows = table(query)

    assert rows == expected


def test_a_value_that_makes_no_sense_is_named_and_leaves_nothing_out(table, fill) -> None:
    fill(2)

    page, rows = table("source=nowhere&low=much&score_set=77777&order=upwards")

    assert rows == ["pair-0", "pair-1"]
    assert "Enter a number." in page


def test_links_to_other_pages_keep_the_filters(table, fill) -> None:
    fill(160)

    page, _rows = table("source=captions&order=-score&search=Sentence")

    assert "?search=Sentence&amp;source=captions&amp;order=-score&amp;page=2" in page


def test_a_heading_sorts_up_and_then_down(table, fill) -> None:
    fill(2)

    once, _rows = table("order=score")

    assert "order=-score" in once
    assert 'aria-sort="ascending"' in once


def test_no_pair_that_fits_is_said_with_a_way_back(table, fill) -> None:
    fill(1)

    page, _rows = table("search=unicorn")

    assert "No pair matches these filters." in page
    assert "Show all pairs" in page


def test_scores_that_people_made_are_shown_before_those_of_a_file(table, fill, dataset) -> None:
    fill(1)
    pair = dataset.pairs.get()
    made = {
        "name": "people: 1",
        "kind": "human",
        "low": 0,
        "high": 1,
        "method": "counting",
        "parameters": {},
    }
    score_set_publish(dataset=dataset, scores=[(pair.pk, 0.625, 0.1, 8)], **made)

    page, _rows = table()

    assert "0.625" in page


def test_the_chart_comes_with_its_finding_and_its_n(table, fill) -> None:
    fill(60)

    page, _rows = table()

    assert "Most scores lie in 0–0.5 (17%), fewest in 1–1.5 (8%)." in page
    assert "n = 60 pairs" in page


def test_a_pair_shows_where_it_comes_from_and_every_score(fill, dataset, curator, client_of) -> None:
    fill(1)
    pair = dataset.pairs.get()
    made = {
        "name": "people: 1",
        "kind": "human",
        "low": 0,
        "high": 1,
        "method": "counting",
        "parameters": {},
    }
    score_set_publish(dataset=dataset, scores=[(pair.pk, 0.625, 0.1, 8)], campaign_ref=41, **made)

    page = client_of(curator).get(f"/datasets/{dataset.slug}/pairs/{pair.pk}/").content.decode()

    assert "Sentence a of pair 0." in page
    assert "gold" in page
    assert "0.625" in page
    assert "campaign 41" in page


def test_next_and_previous_stay_within_the_filter(fill, dataset, curator, client_of) -> None:
    fill(9)
    before, here, after = (dataset.pairs.get(external_id=f"pair-{number}").pk for number in (1, 4, 7))

    page = client_of(curator).get(f"/datasets/{dataset.slug}/pairs/{here}/?source=captions").content.decode()

    page = squeezed(page)
    assert f'rel="prev" href="/datasets/{dataset.slug}/pairs/{before}/?source=captions&amp;"' in page
    assert f'rel="next" href="/datasets/{dataset.slug}/pairs/{after}/?source=captions&amp;"' in page


def test_a_pair_names_the_others_with_the_same_sentences(fill, dataset, curator, client_of) -> None:
    fill(1)
    pair = dataset.pairs.get()
    PairFactory(dataset=dataset, a=pair.b, b=pair.a, external_id="mirrored")

    page = client_of(curator).get(f"/datasets/{dataset.slug}/pairs/{pair.pk}/").content.decode()

    assert "The same two sentences also occur in" in page
    assert "mirrored" in page


def queries(client, address: str) -> int:
    client.get(address)  # whatever is cached is cached now
    with CaptureQueriesContext(connection) as captured:
        assert client.get(address).status_code == 200
    return len(captured)


@pytest.mark.parametrize(
    "page",
    [
        "",
        "?source=news&order=-score",
        "pairs/{pair}/",
        "pairs/{pair}/?source=news&order=score",
        "snapshots/",
        "export/",
    ],
)
def test_a_page_asks_the_database_as_often_for_500_pairs_as_for_5(
    page: str, fill, dataset, curator, client_of
) -> None:
    fill(5)
    address = f"/datasets/{dataset.slug}/" + page.format(pair=dataset.pairs.first().pk)
    few = queries(client_of(curator), address)
    fill(495)

    many = queries(client_of(curator), address)

    assert many == few <= 25


def test_the_list_of_datasets_asks_as_often_for_many_as_for_one(fill, staff, client_of) -> None:
    fill(5)
    few = queries(client_of(staff), "/datasets/")
    for dataset in DatasetFactory.create_batch(10):
        fill(2, into=dataset)

    many = queries(client_of(staff), "/datasets/")

    assert many == few


HOSTILE = "<script>alert(1)</script>"


def test_what_people_write_stays_text_on_every_page(dataset, owner, client_of) -> None:
    dataset.name = dataset.description = f"Name {HOSTILE}"
    dataset.save()
    sentences = [SentenceFactory(dataset=dataset, text=f"{side} {HOSTILE}") for side in "ab"]
    pair = PairFactory(
        dataset=dataset,
        a=sentences[0],
        b=sentences[1],
        external_id=HOSTILE,
        source=HOSTILE,
        subset=HOSTILE,
        split=HOSTILE[:20],
    )
    made = {"name": HOSTILE, "kind": "reference", "low": 0, "high": 1, "method": HOSTILE, "parameters": {}}
    score_set_publish(dataset=dataset, scores=[(pair.pk, 0.5, None, None)], **made)
    client = client_of(owner)
    names = [
        "",
        "?search=" + HOSTILE,
        f"pairs/{pair.pk}/",
        "export/",
        "snapshots/",
        "settings/",
        "members/",
        "import/",
    ]

    pages = [client.get(f"/datasets/{dataset.slug}/{name}").content.decode() for name in names]

    assert [name for name, page in zip(names, pages, strict=True) if HOSTILE in page] == []
    assert "&lt;script&gt;" in pages[0]


def test_a_pair_without_a_score_is_shown_without_one(dataset, fill, table) -> None:
    fill(2)
    PairScore.objects.filter(pair=Pair.objects.get(external_id="pair-1")).delete()

    _page, rows = table("order=score")

    assert rows == ["pair-0", "pair-1"]


def test_htmx_gets_the_table_alone(table, fill, dataset, curator, client_of) -> None:
    fill(2)

    answer = client_of(curator).get(f"/datasets/{dataset.slug}/?source=news", headers={"HX-Request": "true"})

    assert answer.content.decode().strip().startswith('<div id="pairs"')
    assert "pair-0" in answer.content.decode()
    assert "HX-Request" in answer["Vary"]


def test_going_back_gets_the_whole_page(fill, dataset, curator, client_of) -> None:
    fill(2)
    asked = {"HX-Request": "true", "HX-History-Restore-Request": "true"}

    answer = client_of(curator).get(f"/datasets/{dataset.slug}/", headers=asked)

    assert "<html" in answer.content.decode()


def test_the_chart_follows_the_scores_that_are_added(table, fill) -> None:
    fill(5)
    table()
    fill(55)

    page, _rows = table()

    assert "n = 60 pairs" in page
