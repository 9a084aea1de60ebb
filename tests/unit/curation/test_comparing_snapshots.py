"""What changed between two snapshots, on small files worked by hand."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from curation.files.comparing import (
    Change,
    Texts,
    holds_pair,
    snapshot_contents,
    snapshot_leaks,
    snapshots_compared,
    texts_of,
)
from curation.pairs.leaks import Leak


@pytest.fixture
def snapshot(tmp_path):
    """`snapshot("one", pair=[1, 2], split=["a", "b"])` writes a file with these columns and texts for each pair."""

    def write(name: str, **columns):
        pairs = columns["pair"]
        texts = {
            "id": [f"id-{pair}" for pair in pairs],
            "sentence1": [f"First of {pair}." for pair in pairs],
            "sentence2": [f"Second of {pair}." for pair in pairs],
        }
        named = {"source": ["news"] * len(pairs), "origin": ["imported"] * len(pairs), **columns}
        path = tmp_path / f"{name}.parquet"
        pq.write_table(pa.table({**texts, **named}), path)
        return path

    return write


def test_pairs_are_added_removed_rescored_and_moved(snapshot) -> None:
    one = snapshot(
        "one", pair=[1, 2, 3, 4], split=["train", "train", "test", "test"], gold=[0.1, 0.2, None, 0.4]
    )
    two = snapshot(
        "two", pair=[2, 3, 4, 5], split=["train", "train", "test", "test"], gold=[0.25, 0.3, 0.4, 0.5]
    )

    found = snapshots_compared(one, two)

    assert (found.added, found.removed, found.both, found.unchanged) == (1, 1, 3, 1)
    assert found.changed == {"split": 1, "gold": 2}
    assert found.moves == {("test", "train"): 1}
    assert found.changes == [
        Change(5, "added"),
        Change(1, "removed"),
        Change(3, "split", "test", "train"),
        Change(2, "gold", 0.2, 0.25),
        Change(3, "gold", None, 0.3),
    ]


def test_score_sets_come_and_go(snapshot) -> None:
    one = snapshot("one", pair=[1], split=["train"], gold=[0.1])
    two = snapshot("two", pair=[1], split=["train"], human=[0.1])

    found = snapshots_compared(one, two)

    assert (found.columns_added, found.columns_removed) == (["human"], ["gold"])
    assert found.changed == {}
    assert not found.same


def test_a_snapshot_is_the_same_as_itself_whatever_its_order(snapshot) -> None:
    one = snapshot("one", pair=[1, 2], split=["train", "test"], gold=[0.1, None])
    two = snapshot("two", pair=[2, 1], split=["test", "train"], gold=[None, 0.1])

    found = snapshots_compared(one, two)

    assert found.same
    assert found.unchanged == 2


def test_no_more_changes_are_listed_than_asked_for_and_all_are_counted(snapshot) -> None:
    one = snapshot("one", pair=[1, 2, 3], split=["a"] * 3)
    two = snapshot("two", pair=[3, 4, 5, 6], split=["b"] * 4)

    found = snapshots_compared(one, two, most=4)

    assert [change.what for change in found.changes] == ["added", "added", "added", "removed"]
    assert (found.added, found.removed, found.changed) == (3, 2, {"split": 1})


def test_texts_are_found_in_whichever_snapshot_holds_the_pair(snapshot) -> None:
    paths = [snapshot("one", pair=[1, 2]), snapshot("two", pair=[2, 3])]

    texts = texts_of(paths, [1, 3, 4])

    assert texts == {
        1: Texts("id-1", "First of 1.", "Second of 1."),
        3: Texts("id-3", "First of 3.", "Second of 3."),
    }


def test_a_snapshot_knows_whether_it_holds_a_pair(snapshot) -> None:
    path = snapshot("one", pair=[1, 2])

    assert holds_pair(path, 2)
    assert not holds_pair(path, 3)


def test_contents_are_counted_and_scores_described(snapshot) -> None:
    path = snapshot("one", pair=[1, 2, 3], split=["train", None, "train"], gold=[1.0, 3.0, None])

    contents = snapshot_contents(path)

    assert contents.splits == {"train": 2, "": 1}
    assert contents.sources == {"news": 3}
    (gold,) = contents.scores
    assert (gold.name, gold.count, gold.mean, gold.sd) == ("gold", 2, 2.0, 1.0)


def test_a_snapshot_knows_what_its_splits_share(snapshot) -> None:
    shared = {"sentence1": ["A dog runs.", "A DOG RUNS", "Rain."], "sentence2": ["x", "y", "z"]}

    assert snapshot_leaks(snapshot("one", pair=[1, 2, 3], split=["train", "test", None], **shared)) == [
        Leak("test", "train", 1, 1),
        Leak("train", "test", 1, 1),
    ]
    assert snapshot_leaks(snapshot("two", pair=[1, 2, 3], split=["train", "train", None], **shared)) == []
