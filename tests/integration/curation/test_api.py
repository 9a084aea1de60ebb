"""The read API of datasets, pairs and scores."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from curation.datasets.services import score_set_publish
from tests.factories import DatasetFactory, PairFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def ask(dataset, curator, client_of):
    """`ask("pairs/?source=news")` gives the status and the JSON of an address in the dataset."""
    client = client_of(curator)

    def get(address: str = "") -> tuple[int, dict]:
        answer = client.get(f"/api/v1/datasets/{dataset.slug}/{address}")
        return answer.status_code, answer.json()

    return get


def test_the_list_holds_the_datasets_that_one_may_read(dataset, curator, client_of) -> None:
    DatasetFactory()

    answer = client_of(curator).get("/api/v1/datasets/").json()

    assert [row["slug"] for row in answer["results"]] == [dataset.slug]


def test_a_dataset_comes_with_its_facts(ask, fill, dataset) -> None:
    fill(3)

    _status, answer = ask()

    assert answer["slug"] == dataset.slug
    assert answer["facts"]["pairs"] == 3
    assert answer["facts"]["shr"] is None


@pytest.mark.parametrize("page", ["", "pairs/", "pairs/{pair}/", "score-sets/", "score-sets/{set}/scores/"])
def test_the_api_is_for_those_who_may_read(page, fill, dataset, client_of, request) -> None:
    gold = fill(1)
    address = f"/api/v1/datasets/{dataset.slug}/" + page.format(pair=dataset.pairs.get().pk, set=gold.pk)
    people = {"owner": 200, "curator": 200, "staff": 200, "annotator": 403, "stranger": 404}

    answers = {who: client_of(request.getfixturevalue(who)).get(address).status_code for who in people}

    assert answers == people


def test_pairs_come_with_their_sentences_and_the_score_that_was_asked_for(ask, fill) -> None:
    gold = fill(4)

    _status, answer = ask(f"pairs/?score_set={gold.pk}&order=-score&limit=2")

    assert answer["count"] == 4
    assert [(row["external_id"], row["score"]) for row in answer["results"]] == [
        ("pair-3", 0.3),
        ("pair-2", 0.2),
    ]
    assert answer["results"][0]["a"] == "Sentence a of pair 3."


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("source=captions", ["pair-1", "pair-4"]),
        ("split=test&source=captions", ["pair-1"]),
        ("search=of+pair+4.", ["pair-4"]),
        ("origin=generated", []),
    ],
)
def test_pairs_are_filtered_as_in_the_table(ask, fill, query: str, expected: list[str]) -> None:
    fill(6)

    _status, answer = ask(f"pairs/?{query}")

    assert [row["external_id"] for row in answer["results"]] == expected


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("low=1", "score_set"),
        ("score_set=x", "score_set"),
        ("sorce=news&limit=5", "sorce"),
        ("order=upwards", "order"),
        ("origin=dreamt", "origin"),
    ],
)
def test_a_filter_that_makes_no_sense_is_refused_by_name(ask, query: str, field: str) -> None:
    status, answer = ask(f"pairs/?{query}")

    assert status == 400
    assert list(answer) == [field]


def test_one_pair_comes_with_every_score(ask, fill, dataset) -> None:
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

    _status, answer = ask(f"pairs/{pair.pk}/")

    assert answer["scores"] == {"gold": 0.0, "people: 1": 0.625}


def test_a_pair_of_another_dataset_is_not_found(ask) -> None:
    status, _answer = ask(f"pairs/{PairFactory().pk}/")

    assert status == 404


@pytest.mark.parametrize("number", ["{other}", "0", "999999999999999999"])
def test_a_score_set_that_the_dataset_does_not_have_is_not_found(ask, fill, number) -> None:
    fill(1)
    other = fill(1, into=DatasetFactory())

    status, answer = ask(f"pairs/?score_set={number.format(other=other.pk)}")

    assert status == 404
    assert "detail" in answer


def test_a_number_that_no_row_could_have_is_refused_in_a_sentence(ask, fill) -> None:
    fill(1)

    status, answer = ask("pairs/?score_set=9223372036854775808")

    assert status == 400
    assert "score_set" in answer


def test_a_score_set_lists_its_scores(ask, fill) -> None:
    gold = fill(3)

    _status, answer = ask(f"score-sets/{gold.pk}/scores/")

    assert [row["value"] for row in answer["results"]] == [0.0, 0.1, 0.2]


def test_a_page_holds_at_most_a_thousand(ask, fill) -> None:
    fill(1001)

    _status, answer = ask("pairs/?limit=100000")

    assert len(answer["results"]) == 1000


@pytest.mark.parametrize("page", ["pairs/", "score-sets/{set}/scores/", "score-sets/"])
def test_a_page_of_the_api_asks_the_database_as_often_for_many(page: str, ask, fill) -> None:
    gold = fill(2)

    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            ask(page.format(set=gold.pk))
        return len(captured)

    few = queries()
    fill(90)

    assert queries() == few <= 8


@pytest.mark.parametrize("method", ["post", "put", "patch", "delete"])
def test_the_api_changes_nothing(method: str, dataset, owner, client_of) -> None:
    answer = getattr(client_of(owner), method)(f"/api/v1/datasets/{dataset.slug}/")

    assert answer.status_code == 405
