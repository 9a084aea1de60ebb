"""Immutable Parquet files of pairs and scores."""

import hashlib
import json

import pyarrow.parquet as pq
import pytest
from django.db import IntegrityError

from curation.datasets.selectors import PairFilter
from curation.exchange.exporting import snapshot_create, snapshot_path
from curation.foundation.errors import UserError
from curation.models import Pair, PairScore, Snapshot
from tests.factories import PairFactory, ScoreSetFactory, SentenceFactory


@pytest.fixture
def pairs(dataset) -> list[Pair]:
    """Three pairs in a row: the first two share a sentence."""
    shared = SentenceFactory(dataset=dataset)
    made = [
        PairFactory(dataset=dataset, b=shared),
        PairFactory(dataset=dataset, a=shared),
        PairFactory(dataset=dataset),
    ]
    gold = ScoreSetFactory(dataset=dataset, name="gold")
    for number, pair in enumerate(made[:2]):
        PairScore.objects.create(score_set=gold, pair=pair, value=number + 0.25)
    return made


def test_a_snapshot_holds_pairs_sentences_and_scores(dataset, pairs, owner) -> None:
    snapshot = snapshot_create(dataset=dataset, by=owner)

    table = pq.read_table(snapshot_path(snapshot)).to_pydict()
    assert table["pair"] == [pair.pk for pair in pairs]
    assert table["id"] == [pair.external_id for pair in pairs]
    assert list(zip(table["a_id"], table["b_id"], strict=True)) == [(pair.a_id, pair.b_id) for pair in pairs]
    assert table["sentence1"] == [pair.a.text for pair in pairs]
    assert table["gold"] == [0.25, 1.25, None]
    assert (snapshot.rows, snapshot.created_by) == (3, owner)


def test_a_snapshot_has_the_standard_errors_of_the_scores_that_have_any(dataset, pairs) -> None:
    human = ScoreSetFactory(dataset=dataset, name="human")
    for number, pair in enumerate(pairs[:2]):
        error = 0.1 if number else None
        PairScore.objects.create(score_set=human, pair=pair, value=0.5, standard_error=error)

    path = snapshot_path(snapshot_create(dataset=dataset))

    table = pq.read_table(path)
    assert table["human"].to_pylist() == [0.5, 0.5, None]
    assert table["human: standard_error"].to_pylist() == [None, 0.1, None]
    about = json.loads(pq.read_schema(path).metadata[b"semblance"])["scores"]
    assert about["human"]["standard_error"] == "human: standard_error"
    assert set(about) == {"gold", "human"}
    assert "standard_error" not in about["gold"]
    assert "gold: standard_error" not in table.column_names


def test_pairs_that_share_a_sentence_are_one_component(dataset, pairs) -> None:
    table = pq.read_table(snapshot_path(snapshot_create(dataset=dataset)))

    assert table["component"].to_pylist() == [0, 0, 1]


def test_a_snapshot_says_what_it_is_about(dataset, pairs) -> None:
    snapshot = snapshot_create(dataset=dataset, filter=PairFilter(status="active", source=""))

    about = json.loads(pq.read_schema(snapshot_path(snapshot)).metadata[b"semblance"])
    gold = dataset.score_sets.get()
    assert about == {
        "dataset": dataset.slug,
        "filter": {"status": "active"},
        "licence": dataset.licence,
        "scores": {
            "gold": {
                "score_set": "gold",
                "kind": "reference",
                "low": 0.0,
                "high": 5.0,
                "method": gold.method,
                "judged_by": "",
                "campaign": None,
                "run": None,
                "files": [],
            }
        },
    }
    assert snapshot.filter == about["filter"]


def test_the_digest_is_the_files_and_the_file_cannot_be_written(dataset, pairs) -> None:
    snapshot = snapshot_create(dataset=dataset)

    path = snapshot_path(snapshot)
    assert hashlib.sha256(path.read_bytes()).hexdigest() == snapshot.sha256
    assert path.stat().st_mode & 0o222 == 0


def test_a_second_snapshot_gets_the_next_number_and_the_first_stays(dataset, pairs, home) -> None:
    first = snapshot_create(dataset=dataset)
    before = snapshot_path(first).read_bytes()
    PairFactory(dataset=dataset)

    second = snapshot_create(dataset=dataset)

    assert (first.number, second.number) == (1, 2)
    assert second.path == f"snapshots/{dataset.slug}/2.parquet"
    assert (second.rows, snapshot_path(first).read_bytes()) == (4, before)
    assert sorted(path.name for path in (home / "snapshots" / dataset.slug).iterdir()) == [
        "1.parquet",
        "2.parquet",
    ]


def test_the_same_rows_make_the_same_file(dataset, pairs) -> None:
    assert snapshot_create(dataset=dataset).sha256 == snapshot_create(dataset=dataset).sha256


def test_a_filter_chooses_the_pairs(dataset, pairs) -> None:
    Pair.objects.filter(pk=pairs[0].pk).update(source="news")
    Pair.objects.filter(pk=pairs[1].pk).update(status=Pair.Status.REJECTED)
    gold = pairs[0].scores.get().score_set_id

    def kept(filter_: PairFilter) -> list[int]:
        return pq.read_table(snapshot_path(snapshot_create(dataset=dataset, filter=filter_)))[
            "pair"
        ].to_pylist()

    assert kept(PairFilter()) == [pair.pk for pair in pairs]
    assert kept(PairFilter(status="active")) == [pairs[0].pk, pairs[2].pk]
    assert kept(PairFilter(source="news")) == [pairs[0].pk]
    assert kept(PairFilter(score_set=gold, low=1)) == [pairs[1].pk]


def test_nothing_to_keep_is_one_sentence_and_no_file(dataset, home) -> None:
    with pytest.raises(UserError, match="No pair matches the filter"):
        snapshot_create(dataset=dataset)

    assert not (home / "snapshots").exists()


def test_a_snapshot_that_is_stopped_leaves_nothing(dataset, pairs, home) -> None:
    def stop(done: int, total: int, message: str) -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        snapshot_create(dataset=dataset, report=stop)

    assert not Snapshot.objects.exists()
    assert list((home / "snapshots" / dataset.slug).iterdir()) == []


def test_the_database_holds_each_number_once(dataset, pairs) -> None:
    first = snapshot_create(dataset=dataset)

    with pytest.raises(IntegrityError):
        Snapshot.objects.create(dataset=dataset, number=first.number, rows=1, sha256="", path="")
