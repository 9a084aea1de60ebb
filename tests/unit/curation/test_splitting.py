"""Pairs that hang together by shared sentences."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.pairs.splitting import SplitError, pair_components, splits_drawn

edges = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=40)


def groups_by_merging(pairs: list[tuple[int, int]]) -> list[set[int]]:
    """The groups of sentences that hang together, found the slow way."""
    groups: list[set[int]] = []
    for pair in pairs:
        touched = [group for group in groups if group & set(pair)]
        groups = [group for group in groups if not group & set(pair)]
        groups.append(set(pair).union(*touched))
    return groups


def test_pairs_that_share_a_sentence_hang_together() -> None:
    a, b = np.array([10, 30, 20, 50]), np.array([20, 40, 60, 50])

    assert pair_components(a, b).tolist() == [0, 1, 0, 2]


def test_no_pairs_have_no_components() -> None:
    nothing = np.zeros(0, dtype=np.int64)

    assert pair_components(nothing, nothing).tolist() == []


@given(edges)
def test_components_are_those_of_the_graph_of_sentences(pairs: list[tuple[int, int]]) -> None:
    a, b = (
        (np.array(side, dtype=np.int64) for side in zip(*pairs, strict=True))
        if pairs
        else (np.zeros(0, int),) * 2
    )

    found = pair_components(a, b)

    groups = groups_by_merging(pairs)
    expected = [
        next(number for number, group in enumerate(groups) if left in group) for left, _right in pairs
    ]
    assert len(set(zip(found.tolist(), expected, strict=True))) == len(set(expected))


@given(edges)
def test_components_are_numbered_as_they_first_appear(pairs: list[tuple[int, int]]) -> None:
    a, b = (
        (np.array(side, dtype=np.int64) for side in zip(*pairs, strict=True))
        if pairs
        else (np.zeros(0, int),) * 2
    )

    found = pair_components(a, b).tolist()

    assert list(dict.fromkeys(found)) == list(range(len(set(found))))


SHARES = {"train": 0.8, "dev": 0.1, "test": 0.1}


def some_pairs(number: int, *, sentences: int, seed: int) -> tuple[list[str], np.ndarray]:
    rng = np.random.default_rng(seed)
    a, b = rng.integers(sentences, size=(2, number))
    return [f"pair {place}" for place in range(number)], pair_components(a, b)


def test_no_component_is_in_two_splits_and_no_split_exceeds_its_share_by_a_component() -> None:
    names, components = some_pairs(1000, sentences=3000, seed=1)

    splits = np.array(splits_drawn(components, names, SHARES, seed=1))

    assert all(len(set(splits[components == one])) == 1 for one in set(components))
    largest = np.bincount(components).max()
    assert all((splits == name).sum() - share * 1000 < largest for name, share in SHARES.items())


def test_the_order_of_the_pairs_changes_no_split() -> None:
    names, components = some_pairs(200, sentences=400, seed=2)
    order = np.random.default_rng(3).permutation(200)

    splits = splits_drawn(components, names, SHARES, seed=5)
    shuffled = splits_drawn(components[order], [names[place] for place in order], SHARES, seed=5)

    assert dict(zip(names, splits, strict=True)) == dict(
        zip([names[place] for place in order], shuffled, strict=True)
    )


def test_another_seed_draws_other_splits() -> None:
    names, components = some_pairs(200, sentences=4000, seed=4)

    assert splits_drawn(components, names, SHARES, seed=1) != splits_drawn(components, names, SHARES, seed=2)


@pytest.mark.parametrize(
    "shares", [{}, {"train": 0.5}, {"train": 1.0, "test": 0.0}, {"train": 1.2, "test": -0.2}]
)
def test_shares_that_do_not_add_up_are_refused(shares: dict[str, float]) -> None:
    with pytest.raises(SplitError, match="their sum must be 1"):
        splits_drawn(np.array([0]), ["a"], shares, seed=1)
