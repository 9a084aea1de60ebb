"""The page of a snapshot, what changed since another, and the snapshots of a pair."""

import csv
import io
from functools import partial

import pytest
from django.core.cache import cache

from curation.exchange.exporting import snapshot_create, snapshot_path
from curation.models import Pair, PairScore
from curation.views import snapshots
from tests.factories import DatasetFactory, PairFactory, SentenceFactory
from tests.markup import squeezed

pytestmark = pytest.mark.django_db


@pytest.fixture
def two_snapshots(dataset, fill):
    """Between the two, pair-0 went to dev, pair-1 got another score, pair-2 was rejected, and one pair joined."""
    fill(6)
    first = snapshot_create(dataset=dataset)
    dataset.pairs.filter(external_id="pair-0").update(split="dev")
    PairScore.objects.filter(pair__external_id="pair-1").update(value=4.5)
    dataset.pairs.filter(external_id="pair-2").update(status=Pair.Status.REJECTED)
    PairFactory(
        dataset=dataset, external_id="joined", a=SentenceFactory(dataset=dataset, text="=cmd"), split="train"
    )
    return first, snapshot_create(dataset=dataset)


@pytest.fixture
def ask(dataset, curator, client_of):
    client = client_of(curator)
    return lambda address: client.get(f"/datasets/{dataset.slug}/{address}")


def test_a_snapshot_says_what_it_holds(two_snapshots, ask) -> None:
    page = squeezed(ask("snapshots/1/").content.decode())

    assert two_snapshots[0].sha256 in page
    assert 'news<span class="soft">2</span>' in page
    assert 'train<span class="soft">3</span>' in page
    assert "gold" in page


def test_a_snapshot_can_keep_only_the_pairs_that_a_score_set_scores_and_says_so(
    dataset, fill, curator, client_of
) -> None:
    fill(4)
    PairScore.objects.filter(pair__external_id="pair-3").delete()
    client = client_of(curator)

    offered = client.get(f"/datasets/{dataset.slug}/snapshots/").content.decode()
    asked = {"scored": "gold", "generated_pairs": "all but rejected"}
    page = client.post(f"/datasets/{dataset.slug}/snapshots/", asked, follow=True).content.decode()

    assert "all pairs, also without a score" in offered
    made = dataset.snapshots.get()
    assert (made.rows, made.filter["scored"]) == (3, ["gold"])
    assert "scored by gold" in page


def leak_one(dataset) -> None:
    """pair-3, of test, gets the first sentence of pair-0, of train."""
    train, test = (dataset.pairs.get(external_id=f"pair-{number}") for number in (0, 3))
    test.a = train.a
    test.save()


def test_a_snapshot_says_what_its_splits_share(dataset, fill, ask, monkeypatch) -> None:
    fill(6)
    snapshot_create(dataset=dataset)
    leak_one(dataset)
    snapshot_create(dataset=dataset)

    sound, leaking = (squeezed(ask(f"snapshots/{number}/").content.decode()) for number in (1, 2))
    cache.clear()
    monkeypatch.setattr(snapshots, "leaks_of_snapshot", partial(snapshots.leaks_of_snapshot, most=5))
    uncounted = squeezed(ask("snapshots/2/").content.decode())

    assert "No split shares a sentence with another." in sound
    assert "1 of the 3 pairs of test (33 %) share a sentence with train." in leaking
    assert "this page does not count the sentences that its splits share" in uncounted
    assert f"publish_dataset {dataset.slug} --snapshot 2 --to FOLDER" in uncounted
    assert "share a sentence with train" not in uncounted


def test_a_snapshot_says_what_changed_since_another(two_snapshots, ask) -> None:
    page = squeezed(ask("snapshots/2/?since=1").content.decode())

    assert "Pairs: 1 added, 1 removed, 3 unchanged" in page
    assert 'train → dev<span class="soft">1</span>' in page
    assert "1 pair with another value in “gold”" in page
    assert "gold: 0.1 → 4.5" in page


def test_the_file_of_changes_has_every_one_with_its_sentences(two_snapshots, ask) -> None:
    plain, safe = (
        list(csv.DictReader(io.StringIO(b"".join(ask(f"snapshots/2/since/1.csv{end}")).decode())))
        for end in ("", "?spreadsheet=1")
    )

    assert {(row["id"], row["what"], row["before"], row["after"]) for row in plain} == {
        ("joined", "added", "", ""),
        ("pair-2", "removed", "", ""),
        ("pair-0", "split", "train", "dev"),
        ("pair-1", "gold", "0.1", "4.5"),
    }
    assert plain[0]["sentence1"] == "=cmd"
    assert safe[0]["sentence1"] == "'=cmd"


def test_a_snapshot_is_compared_with_a_newer_one_too_on_the_page_in_the_file_and_by_the_api(
    two_snapshots, dataset, ask, curator, client_of
) -> None:
    page = squeezed(ask("snapshots/1/?since=2").content.decode())
    rows = list(csv.DictReader(io.StringIO(b"".join(ask("snapshots/1/since/2.csv")).decode())))
    answer = client_of(curator).get(f"/api/v1/datasets/{dataset.slug}/snapshots/1/since/2/").json()

    assert "From snapshot 2 to snapshot 1" in page
    assert "Snapshot 2 is the newer one, so what it added is listed as removed." in page
    assert 'dev → train<span class="soft">1</span>' in page
    assert ("joined", "removed") in {(row["id"], row["what"]) for row in rows}
    assert (answer["added"], answer["removed"], answer["moves"]) == (
        1,
        1,
        [{"before": "dev", "after": "train", "pairs": 1}],
    )


def test_the_snapshot_before_is_proposed_and_every_other_one_offered(two_snapshots, dataset, ask) -> None:
    snapshot_create(dataset=dataset)

    second = squeezed(ask("snapshots/2/").content.decode())

    assert '<option value="3">Snapshot 3</option>' in second
    assert '<option value="1" selected>Snapshot 1</option>' in second
    assert '<option value="2"' not in second


def test_the_only_snapshot_has_nothing_to_be_compared_with(dataset, fill, ask) -> None:
    fill(2)
    snapshot_create(dataset=dataset)

    page = squeezed(ask("snapshots/1/").content.decode())

    assert "The dataset has no other snapshot." in page
    assert "<option" not in page


@pytest.mark.parametrize("since", ["1", "9", "word", "9" * 40])
def test_a_snapshot_says_that_the_address_names_no_other_one(two_snapshots, ask, since) -> None:
    page = squeezed(ask(f"snapshots/1/?since={since}").content.decode())

    assert f"changes from snapshot {since} to snapshot 1, but this dataset has no such other" in page
    assert "Pairs: " not in page


@pytest.mark.parametrize(
    "address",
    ["snapshots/9/", "snapshots/1/since/9.csv", "snapshots/1/since/1.csv", "snapshots/9/pairs.parquet"],
)
def test_a_snapshot_that_is_not_there_is_not_found(two_snapshots, ask, address) -> None:
    assert ask(address).status_code == 404


@pytest.mark.parametrize("damage", [lambda path: path.unlink(), lambda path: path.write_bytes(b"PAR1")])
def test_a_file_that_is_gone_or_damaged_is_said_in_one_sentence(two_snapshots, ask, damage) -> None:
    path = snapshot_path(two_snapshots[0])
    path.chmod(0o644)
    damage(path)

    answer = ask("snapshots/1/")

    assert answer.status_code == 400
    assert "new" in answer.content.decode()


def test_a_pair_names_the_snapshots_that_hold_it(two_snapshots, dataset, ask) -> None:
    both, first, second = (dataset.pairs.get(external_id=name).pk for name in ("pair-0", "pair-2", "joined"))

    found = [ask(f"pairs/{pair}/snapshots/").content.decode() for pair in (both, first, second)]

    assert [("Snapshot 1" in page, "Snapshot 2" in page) for page in found] == [
        (True, True),
        (True, False),
        (False, True),
    ]


def test_snapshots_of_another_dataset_stay_hidden(two_snapshots, dataset, stranger, client_of) -> None:
    other = DatasetFactory()
    pair = dataset.pairs.first().pk
    addresses = ["snapshots/1/", "snapshots/2/since/1.csv", f"pairs/{pair}/snapshots/"]

    answers = [client_of(stranger).get(f"/datasets/{dataset.slug}/{address}") for address in addresses]
    elsewhere = [client_of(stranger).get(f"/datasets/{other.slug}/{address}") for address in addresses]

    assert {answer.status_code for answer in answers + elsewhere} == {404}
