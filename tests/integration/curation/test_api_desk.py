"""Bulk pairs, pages that go on after a row, edits, snapshots and the log, by a program."""

import pytest
from django.test import Client

from curation.models import Pair
from tests.factories import DatasetFactory, MembershipFactory, PairFactory, ScoreSetFactory, program_of

pytestmark = pytest.mark.django_db

PAIRS = [
    {"a": "A dog runs.", "b": "A cat sleeps.", "score": 1.5, "split": "test"},
    {"a": "It rains.", "b": "It pours.", "score": 4},
]


@pytest.fixture
def ask(dataset, owner):
    """`ask("pairs/")` gets an address of the dataset, `ask("edits/", field=…)` posts to it: the status and the JSON."""
    client = program_of(owner)

    def send(address: str, **body: object):
        path = f"/api/v1/datasets/{dataset.slug}/{address}"
        answer = client.post(path, body, content_type="application/json") if body else client.get(path)
        return answer.status_code, answer.json()

    return send


def test_pairs_are_added_and_updated_without_a_file(ask, dataset) -> None:
    _status, first = ask("pairs/", pairs=PAIRS, score_set="people", low=0, high=5)
    _status, again = ask("pairs/", pairs=[{**PAIRS[0], "score": 2}, PAIRS[1]], score_set="people")

    assert (first["added"], first["scores_added"]) == (2, 2)
    assert (again["added"], again["updated"], again["unchanged"]) == (0, 1, 1)
    assert [pair.split for pair in dataset.pairs.order_by("pk")] == ["test", ""]
    scores = dataset.score_sets.get(name="people", low=0, high=5).scores.order_by("pair")
    assert [score.value for score in scores] == [2, 4]


@pytest.mark.parametrize(("strict", "status", "kept"), [({}, 200, 2), ({"rejected_rows": "nothing"}, 400, 0)])
def test_the_good_pairs_are_kept_or_none_as_was_asked(ask, dataset, strict, status, kept) -> None:
    answered, answer = ask("pairs/", pairs=[*PAIRS, {"a": "Alone.", "b": ""}], **strict)

    assert answered == status
    assert dataset.pairs.count() == kept
    assert strict or [row["line"] for row in answer["rejections"]] == [3]


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ({"pairs": []}, "1 to 5,000 pairs"),
        ({"pairs": [{"a": "x", "b": "y"}] * 5_001}, "1 to 5,000 pairs"),
        ({"pairs": [{"a": "x"}]}, "required"),
        ({"pairs": PAIRS, "low": 1}, "both ends"),
    ],
)
def test_pairs_that_cannot_be_read_are_refused(ask, body, sentence) -> None:
    status, answer = ask("pairs/", **body)

    assert status == 400
    assert sentence in str(answer)
    assert not Pair.objects.exists()


@pytest.mark.parametrize("order", ["pk", "-pk", "source", "-external_id", "score", "-score"])
def test_pages_that_go_on_after_a_row_hold_every_pair_once(ask, fill, dataset, order) -> None:
    gold = fill(7)
    PairFactory.create_batch(2, dataset=dataset)  # without a score
    _status, whole = ask(f"pairs/?order={order}&score_set={gold.pk}")

    seen, address = [], f"pairs/?order={order}&score_set={gold.pk}&limit=2"
    counts = []
    while address:
        _status, page = ask(address)
        seen += [row["id"] for row in page["results"]]
        counts.append(page["count"])
        address = (page["next"] or "").split(f"{dataset.slug}/")[-1]

    assert seen == [row["id"] for row in whole["results"]]
    assert len(set(seen)) == 9
    assert counts == [9, None, None, None, None]


def test_scores_go_on_after_a_row(ask, fill, dataset) -> None:
    gold = fill(5)

    _status, first = ask(f"score-sets/{gold.pk}/scores/?limit=3")
    _status, second = ask(first["next"].split(f"{dataset.slug}/")[-1])

    seen = [row["pair"] for row in (*first["results"], *second["results"])]
    assert seen == list(dataset.pairs.order_by("pk").values_list("pk", flat=True))
    assert second["next"] is None


@pytest.mark.parametrize("address", ["pairs/?after=1&offset=1", "imports/?after=x", "pairs/?after=x"])
def test_a_page_that_cannot_be_found_is_refused(ask, address) -> None:
    assert ask(address)[0] == 400


def test_a_page_does_not_go_on_after_a_pair_of_another_dataset(ask) -> None:
    assert ask(f"pairs/?after={PairFactory().pk}")[0] == 404


def test_pairs_are_edited_after_a_preview_and_given_back(ask, fill, dataset) -> None:
    fill(6)
    asked = {"field": "split", "value": "dev", "filter": {"source": "news"}}

    _status, shown = ask("edits/preview/", **asked)
    assert dataset.pairs.filter(split="dev").count() == 0
    status, made = ask("edits/", **asked, state=shown["state"])

    assert (status, shown["changed"], made["pairs"], made["via"]) == (201, 2, 2, "token")
    assert dataset.pairs.filter(split="dev").count() == 2
    assert ask(f"edits/{made['id']}/undo/", undo=True)[1]["undone_at"]
    assert dataset.pairs.filter(split="dev").count() == 0
    assert ask("edits/")[1]["results"][0]["id"] == made["id"]


def test_an_edit_reaches_no_pair_of_another_dataset(ask, fill) -> None:
    fill(1)
    other = PairFactory(split="train")

    status, answer = ask("edits/", field="split", value="dev", pairs=[other.pk])
    foreign = ScoreSetFactory().pk
    filtered = ask("edits/preview/", field="split", value="dev", filter={"score_set": foreign, "low": 0})

    assert (status, "nothing to apply" in answer["detail"]) == (400, True)
    assert filtered[0] == 404
    other.refresh_from_db()
    assert other.split == "train"


@pytest.mark.parametrize(
    "body",
    [{"field": "split", "value": "dev"}, {"field": "split", "value": "dev", "pairs": [1], "filter": {}}],
)
def test_an_edit_says_which_pairs_are_meant(ask, body) -> None:
    status, answer = ask("edits/preview/", **body)

    assert status == 400
    assert "Give the numbers of pairs, or a filter." in answer["pairs"][0]


def test_snapshots_are_made_compared_and_fetched(ask, fill, dataset, owner) -> None:
    fill(3)
    _status, first = ask("snapshots/", split="train")
    ask("edits/", field="split", value="train", filter={})
    _status, second = ask("snapshots/", split="train")

    _status, difference = ask("snapshots/2/since/1/")

    assert [(one["number"], one["rows"]) for one in (first, second)] == [(1, 2), (2, 3)]
    assert (difference["added"], difference["both"]) == (1, 2)
    assert [change["id"] for change in difference["changes"]] == ["pair-1"]
    assert ask("snapshots/1/")[1]["sha256"] == first["sha256"]
    assert ask("snapshots/1/")[1]["leaks"] == []
    file = program_of(owner).get(f"/api/v1/datasets/{dataset.slug}/snapshots/1/pairs.parquet")
    assert b"".join(file.streaming_content).startswith(b"PAR1")


def test_the_log_says_what_a_program_did(ask, fill, owner) -> None:
    fill(2)
    ask("edits/", field="split", value="dev", filter={})
    ask("snapshots/", split="dev")

    _status, found = ask("log/?action=pairs_edited&via=token&by=owner")
    _status, page = ask("log/?limit=1")

    (entry,) = found["results"]
    assert (entry["by"], entry["pairs"], entry["token"]) == ("owner", 2, owner.api_tokens.get().beginning)
    assert "after=" in page["next"]
    assert ask("log/?by=nobody")[0] == 400


ADDRESSES = {
    ("get", "edits/"): (403, 404, 200), ("post", "edits/"): (403, 404, 400),
    ("post", "edits/preview/"): (403, 404, 400), ("get", "snapshots/"): (403, 404, 200),
    ("post", "snapshots/"): (403, 404, 400), ("get", "export/"): (403, 404, 200),
    ("get", "log/"): (403, 404, 403), ("post", "pairs/"): (403, 404, 400),
}  # fmt: skip


def test_who_may_do_what(dataset, request) -> None:
    clients = {}
    for who in ("annotator", "stranger", "curator"):
        clients[who] = Client()
        clients[who].force_login(request.getfixturevalue(who))

    def status(client: Client, method: str, path: str) -> int:
        address = f"/api/v1/datasets/{dataset.slug}/{path}"
        body = b"{}" if method == "post" else b""
        answer = client.generic(method.upper(), address, body, "application/json")
        for (
            close
        ) in answer._resource_closers:  # without the signal of close(), which would close the database
            close()
        return answer.status_code

    answers = {each: tuple(status(client, *each) for client in clients.values()) for each in ADDRESSES}

    assert answers == ADDRESSES


def test_what_is_in_another_dataset_is_not_found(ask, fill, owner) -> None:
    fill(2)
    ask("snapshots/", split="train")
    _status, edit = ask("edits/", field="split", value="dev", filter={})
    other = DatasetFactory()
    MembershipFactory(dataset=other, user=owner, role="owner")
    client = program_of(owner)

    assert client.post(f"/api/v1/datasets/{other.slug}/edits/{edit['id']}/undo/").status_code == 404
    assert client.get(f"/api/v1/datasets/{other.slug}/snapshots/1/").status_code == 404
    assert client.get(f"/api/v1/datasets/{other.slug}/snapshots/1/pairs.parquet").status_code == 404
