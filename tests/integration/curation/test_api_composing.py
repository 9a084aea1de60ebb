"""Composing pairs and drawing splits by a program, with the settings of the pages."""

import pytest
from django.test import Client

from curation.datasets import composing
from curation.models import AuditEntry, Composition, Pair
from tests.factories import DatasetFactory, MembershipFactory, program_of

pytestmark = pytest.mark.django_db

SENTENCES = "\n".join(
    f"{who} {does} the {what} in the {where} today"
    for who, does in (("Ann", "sees"), ("Ben", "paints"))
    for what in ("red boat", "small dog", "old clock")
    for where in ("garden", "harbour")
).encode()
SETTINGS = {"strategy": "overlap", "count": 4, "shortest": 3, "seed": 7}


@pytest.fixture
def ask(dataset, curator):
    """`ask("compose/preview/", count=3)` posts to an address of the dataset; the status and the JSON of the answer."""
    client = program_of(curator)

    def post(address: str, **body: object):
        path = f"/api/v1/datasets/{dataset.slug}/{address}"
        answer = client.post(path, body, content_type="application/json")
        return answer.status_code, answer.json()

    post.client = client
    return post


@pytest.fixture
def pool(ask, dataset) -> dict:
    path = f"/api/v1/datasets/{dataset.slug}/compose/sentences/?filename=stories.txt&kind=lines"
    return ask.client.post(path, SENTENCES, content_type="text/plain").json()


def test_sentences_are_sent_into_the_pool(pool, ask, dataset) -> None:
    assert (pool["rows"], pool["added"], pool["rejected"]) == (12, 12, 0)

    facts = ask.client.get(f"/api/v1/datasets/{dataset.slug}/compose/").json()

    assert facts["sources"] == [{"source": "stories", "sentences": 12}]


def test_what_a_preview_shows_is_added_and_taken_back(pool, ask, dataset, curator) -> None:
    _status, shown = ask("compose/preview/", **SETTINGS)
    assert not Pair.objects.exists()

    status, made = ask("compose/", **SETTINGS, state=shown["state"])

    assert (status, shown["pairs"], made["pairs"]) == (201, 4, 4)
    assert sum(bar["pairs"] for bar in shown["dice"]) == 4
    assert set(dataset.pairs.values_list("origin", "source")) == {("sampled", "stories")}
    assert AuditEntry.objects.filter(by=curator, via="token", action="pairs_composed").exists()
    texts = {frozenset((pair.a.text, pair.b.text)) for pair in dataset.pairs.select_related("a", "b")}
    assert {frozenset((each["a"], each["b"])) for each in shown["examples"]} == texts

    _status, undone = ask(f"compose/{made['id']}/undo/")

    assert undone["undone_at"]
    assert not Pair.objects.exists()


def test_nothing_is_added_where_the_pool_has_changed_since_the_preview(pool, ask) -> None:
    ask("compose/", **SETTINGS)

    status, answer = ask("compose/", **SETTINGS, state="another")

    assert status == 400
    assert "have changed since the preview" in answer["detail"]


@pytest.mark.parametrize(
    ("body", "field", "sentence"),
    [
        ({"count": 5_001}, "count", "less than or equal to 5000"),
        ({"strategy": "guess"}, "strategy", "not one of the available choices"),
        ({"low": 80}, "detail", "from 0.8 to below 0.75 holds nothing"),
        ({"lo": 80}, "lo", "no such parameter"),
    ],
)
def test_settings_that_make_no_sense_are_refused_by_name(pool, ask, body, field, sentence) -> None:
    status, answer = ask("compose/preview/", **body)

    assert status == 400
    assert sentence in str(answer[field])


def test_a_pool_too_large_for_a_request_is_refused(pool, ask, monkeypatch) -> None:
    monkeypatch.setattr(composing, "MOST_ON_A_PAGE", 11)

    status, answer = ask("compose/preview/", **SETTINGS)

    assert status == 400
    assert "semblance sample_pairs" in answer["detail"]


def test_the_pool_is_emptied(pool, ask) -> None:
    assert ask("compose/sentences/clear/")[1]["sentences"] == 0


def test_splits_are_shown_drawn_and_undone(ask, fill, dataset) -> None:
    fill(20)
    wanted = {"train": 50, "dev": 0, "test": 50, "replace": "yes"}

    _status, shown = ask("splits/preview/", **wanted)
    status, change = ask("splits/", **wanted, state=shown["state"])

    assert (status, change["pairs"]) == (201, shown["changed"])
    found = ask.client.get(f"/api/v1/datasets/{dataset.slug}/splits/").json()
    assert {row["split"]: row["pairs"] for row in found["splits"]} == {
        row["split"]: row["pairs"] for row in shown["splits"]
    }
    assert found["leaks"] == []

    ask(f"splits/{change['id']}/undo/")

    assert dataset.pairs.filter(split="test").count() == 10


def test_shares_that_do_not_add_up_are_refused(ask) -> None:
    status, answer = ask("splits/preview/", train=50)

    assert status == 400
    assert "add up to 70" in answer["detail"][0]


READS = ["compose/", "splits/"]
CHANGES = ["compose/", "compose/preview/", "compose/sentences/?filename=x.txt&kind=lines", "compose/sentences/clear/",
           "compose/{composition}/undo/", "splits/", "splits/preview/", "splits/{change}/undo/"]  # fmt: skip


def test_sampling_and_splits_are_for_those_who_may_curate(pool, ask, dataset, fill, request) -> None:
    fill(4)
    _status, composition = ask("compose/", **SETTINGS)
    _status, change = ask("splits/", replace="yes")
    numbers = {"composition": composition["id"], "change": change["id"]}
    clients = {}
    for who in ("annotator", "stranger", "staff"):
        clients[who] = Client()
        clients[who].force_login(request.getfixturevalue(who))

    for path in CHANGES:
        address = f"/api/v1/datasets/{dataset.slug}/{path.format(**numbers)}"
        answers = {
            who: client.post(address, {}, content_type="application/json").status_code
            for who, client in clients.items()
        }
        assert answers == {"annotator": 403, "stranger": 404, "staff": 403}, path
    for path in READS:
        address = f"/api/v1/datasets/{dataset.slug}/{path}"
        assert clients["annotator"].get(address).status_code == 403
        assert clients["stranger"].get(address).status_code == 404
    assert Composition.objects.filter(undone_at=None).exists()


def test_what_is_in_another_dataset_is_not_found(pool, ask, curator, fill) -> None:
    fill(4)
    _status, composition = ask("compose/", **SETTINGS)
    _status, change = ask("splits/", replace="yes")
    other = DatasetFactory()
    MembershipFactory(dataset=other, user=curator, role="owner")

    for path in (f"compose/{composition['id']}/undo/", f"splits/{change['id']}/undo/"):
        assert ask.client.post(f"/api/v1/datasets/{other.slug}/{path}").status_code == 404
