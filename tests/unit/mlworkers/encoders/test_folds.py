"""Folds: each pair is tested once, components stay together, and leakage is counted as one would by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlworkers.science.encoders.folds import (
    FoldsError,
    Protocol,
    folds_drawn,
    leaking_pairs,
    sentence_numbers,
)

pairs_drawn = st.integers(60, 120).flatmap(
    lambda n: st.tuples(*[st.lists(st.integers(0, 150), min_size=n, max_size=n)] * 2)
)


def drawn(protocol: Protocol, a, b, sources=(), *, count: int = 4, seed: int = 1):
    return folds_drawn(protocol, np.array(a), np.array(b), sources or [""] * len(a), count=count, seed=seed)


def leaks_by_hand(a, b, fold) -> list[bool]:
    """Whether a sentence of each pair stands in a pair of another fold, by looking at every other pair."""
    return [
        any(fold[other] != fold[one] and {a[one], b[one]} & {a[other], b[other]} for other in range(len(a)))
        for one in range(len(a))
    ]


@given(pairs_drawn)
def test_leakage_is_what_a_look_at_every_other_pair_finds(pairs) -> None:
    a, b = pairs

    folds = drawn(Protocol.RANDOM, a, b)

    assert folds.leaking.tolist() == leaks_by_hand(a, b, folds.fold.tolist())
    assert np.bincount(folds.fold).max() - np.bincount(folds.fold).min() <= 1


def test_components_leak_nothing_and_random_folds_do() -> None:
    a = np.repeat(np.arange(50), 2)  # each first sentence has two pairs
    b = np.arange(100) + 1000

    components, random = drawn(Protocol.COMPONENTS, a, b), drawn(Protocol.RANDOM, a, b)

    assert components.leakage == [0.0] * 4
    assert (components.fold[::2] == components.fold[1::2]).all()
    assert np.bincount(components.fold).tolist() == [26, 26, 24, 24]
    assert random.leaking.mean() > 0.5


def test_the_share_of_a_fold_that_leaks_is_counted_within_it() -> None:
    a, b = np.array([1, 1, 2, 3]), np.array([5, 6, 7, 8])

    assert leaking_pairs(a, b, np.array([0, 1, 0, 1])).tolist() == [True, True, False, False]


def test_each_source_is_a_fold_of_its_own() -> None:
    sources = ["news"] * 12 + [""] * 15 + ["captions"] * 11

    folds = drawn(Protocol.SOURCES, range(38), range(100, 138), sources)

    assert folds.names == ["captions", "news", "no source"]
    assert np.bincount(folds.fold).tolist() == [11, 12, 15]


def test_a_source_with_too_few_pairs_trains_every_fold_and_is_tested_in_none() -> None:
    sources = ["news"] * 12 + ["odd"] * 3 + ["captions"] * 11
    a = [*range(12), 0, 50, 51, *range(20, 31)]  # the first odd pair has a sentence of the first news pair

    folds = drawn(Protocol.SOURCES, a, range(100, 126), sources)

    assert folds.names == ["captions", "news"]
    assert folds.fold.tolist() == [1] * 12 + [-1] * 3 + [0] * 11
    assert (folds.tested.sum(), folds.untested) == (23, [("odd", 3)])
    assert np.flatnonzero(folds.leaking).tolist() == [0, 12], "what trains every fold is seen by each"
    assert folds.leakage == [0.0, 1 / 12]


def test_the_same_seed_draws_the_same_folds_and_another_one_others() -> None:
    a, b = range(100), range(100, 200)
    for protocol in (Protocol.RANDOM, Protocol.COMPONENTS):
        first, again, other = (drawn(protocol, a, b, seed=seed).fold.tolist() for seed in (1, 1, 2))
        assert first == again != other


@pytest.mark.parametrize(
    ("protocol", "sources", "says"),
    [
        (Protocol.SOURCES, ["news"] * 30, "have one source"),
        (Protocol.SOURCES, ["news"] * 28 + ["odd"] * 2, "Fewer than two sources have 10 pairs"),
        (Protocol.RANDOM, [], "would have 7 pairs"),
    ],
)
def test_what_cannot_be_divided_says_why(protocol, sources, says) -> None:
    with pytest.raises(FoldsError, match=says):
        drawn(protocol, range(30), range(30, 60), sources)


def test_one_component_of_most_pairs_leaves_a_fold_too_small() -> None:
    with pytest.raises(FoldsError, match="would have 1 pair, and each needs 10"):
        drawn(Protocol.COMPONENTS, [0] * 90 + [1, 2, 3], range(10, 103))


def test_near_copies_are_one_sentence() -> None:
    a, b = sentence_numbers(["A cat.", "a CAT", "A dog."], ["one", "two", "A cat!"])

    assert a[0] == a[1] == b[2] != a[2]
