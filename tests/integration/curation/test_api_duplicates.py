"""Searching for duplicates by a program."""

import pytest

from curation.models import DuplicateSearch, PairScore
from tests.factories import (
    DatasetFactory,
    MembershipFactory,
    PairFactory,
    ScoreSetFactory,
    SentenceFactory,
    UserFactory,
    program_of,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def program(dataset, owner):
    client = program_of(owner)

    def send(address: str, body: object = None):
        path = f"/api/v1/datasets/{dataset.slug}/duplicates/{address}"
        answer = (
            client.get(path) if body is None else client.post(path, body, content_type="application/json")
        )
        return answer.status_code, answer.json()

    return send


@pytest.fixture
def repeated(dataset):
    """The same two sentences three times, once swapped and in another split, and one pair of its own."""
    a, b = (SentenceFactory(dataset=dataset, text=text) for text in ("A dog runs.", "A cat sleeps."))
    pairs = [
        PairFactory(dataset=dataset, a=a, b=b, split="train"),
        PairFactory(dataset=dataset, a=a, b=b, split="train"),
        PairFactory(dataset=dataset, a=b, b=a, split="test"),
    ]
    PairFactory(dataset=dataset)
    return pairs


def test_a_search_says_what_it_found_with_the_pairs_of_each_group(program, repeated) -> None:
    status, search = program("", {})
    _status, groups = program(f"{search['id']}/groups/")

    assert (status, search["state"], search["threshold"], search["stale"]) == (201, "done", 0.8, False)
    [group] = groups["results"]
    assert (group["pairs"], group["leaks"], group["elsewhere"], group["more"]) == (3, True, False, 0)
    assert [member["id"] for member in group["members"]] == [pair.pk for pair in repeated]
    assert [member["split"] for member in group["members"]] == ["train", "train", "test"]
    assert (groups["count"], groups["next"]) == (1, None)
    assert program(f"{search['id']}/groups/?part=near")[1]["results"] == []
    assert program(f"{search['id']}/groups/?part=nothing")[0] == 400


def test_a_search_lists_equal_pairs_with_different_scores(program, repeated, dataset) -> None:
    by_people = ScoreSetFactory(dataset=dataset, name="people", kind="human")
    for pair, value in zip(repeated, (1, 1, 2), strict=True):
        PairScore.objects.create(score_set=by_people, pair=pair, value=value)

    _status, search = program("", {})

    [group] = search["scores_differ"]
    assert group["score_set"] == "people"
    assert [(score["id"], score["value"]) for score in group["scores"]] == [
        (pair.pk, value) for pair, value in zip(repeated, (1, 1, 2), strict=True)
    ]


def test_a_search_is_stale_once_pairs_changed(program, repeated, dataset) -> None:
    _status, search = program("", {"threshold": 1})
    PairFactory(dataset=dataset)

    assert program(f"{search['id']}/")[1]["stale"] is True


def test_groups_go_on_after_a_group(program, repeated, dataset) -> None:
    again = [SentenceFactory(dataset=dataset, text=text) for text in ("It rains.", "It pours.")]
    for _twice in range(2):
        PairFactory(dataset=dataset, a=again[0], b=again[1])
    _status, search = program("", {})

    _status, first = program(f"{search['id']}/groups/?limit=1")
    _status, second = program(f"{search['id']}/groups/?limit=1&after={first['results'][0]['group']}")

    assert "after=1" in first["next"]
    assert [page["results"][0]["pairs"] for page in (first, second)] == [3, 2]


def test_other_datasets_are_compared_by_their_short_names(program, repeated, owner) -> None:
    other = DatasetFactory()
    MembershipFactory(dataset=other, user=owner, role="curator")
    PairFactory(dataset=other, a__text="A dog runs.", b__text="A cat sleeps.")

    _status, search = program("", {"against": [other.slug]})

    assert search["against"] == [other.slug]
    [group] = program(f"{search['id']}/groups/?part=elsewhere")[1]["results"]
    assert {member["dataset"] for member in group["members"]} == {repeated[0].dataset.slug, other.slug}


@pytest.mark.parametrize(
    ("body", "name"),
    [
        ({"threshold": 0.1}, "threshold"),
        ({"threshold": [1]}, "threshold"),
        ({"against": "one"}, "against"),
        ({"against": [["one"]]}, "against"),
        ({"against": ["nowhere"]}, "against"),
        ({"other": 1}, "other"),
    ],
)
def test_what_cannot_be_searched_is_refused_by_its_name(program, body, name) -> None:
    status, answer = program("", body)

    assert (status, list(answer)) == (400, [name])
    assert not DuplicateSearch.objects.exists()


def test_a_dataset_that_one_may_not_read_is_not_compared(program, repeated) -> None:
    hidden = DatasetFactory()

    assert program("", {"against": [hidden.slug]})[0] == 400


def test_a_search_that_compares_a_dataset_of_others_is_not_found(program, repeated, dataset, owner) -> None:
    other = DatasetFactory()
    membership = MembershipFactory(dataset=other, user=owner, role="curator")
    _status, search = program("", {"against": [other.slug]})
    membership.delete()

    for address in ("", "groups/"):
        assert program(f"{search['id']}/{address}")[0] == 404
    assert program(f"{search['id']}/cancel/", {})[0] == 404


def test_strangers_find_nothing(repeated, dataset) -> None:
    client = program_of(UserFactory())

    assert client.post(f"/api/v1/datasets/{dataset.slug}/duplicates/", {}).status_code == 404
