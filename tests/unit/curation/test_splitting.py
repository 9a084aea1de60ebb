"""Pairs that hang together by shared sentences."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from curation.pairs.splitting import pair_components

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
