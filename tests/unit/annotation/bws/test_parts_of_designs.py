"""What designs are made of: groups, cycles, places, meetings, connections."""

from collections import Counter
from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.bws.designs.balancing import balanced_positions, cycles
from annotation.bws.designs.certificate import (
    comparison_components,
    duplicate_tuples,
    least_excess,
    meeting_excess,
    meeting_keys,
    repeated,
)
from annotation.bws.designs.swapping import SwapPools, SwapSearch, connect
from annotation.bws.judgements import grouped_order


def dealt(items: int, size: int, tuples: int, seed: int = 0) -> np.ndarray:
    """Tuples without an item twice, from shuffled decks; a few of them may be missing."""
    rng = np.random.default_rng(seed)
    decks = np.concatenate([rng.permutation(items) for _ in range(-(-tuples * size // items))])
    rows = decks[: tuples * size].reshape(tuples, size)
    return rows[[len(set(row)) == size for row in rows.tolist()]]


@given(st.lists(st.integers(0, 9), max_size=60))
def test_grouping_is_a_stable_sort(groups) -> None:
    numbers = np.array(groups, dtype=np.int64)

    assert np.array_equal(grouped_order(numbers), np.argsort(numbers, kind="stable"))


@pytest.mark.parametrize("size", [0, 1, 2, 63, 64, 65, 500, 3000])
def test_cycles_are_those_of_the_graph(size) -> None:
    after = np.random.default_rng(size).permutation(size)

    number = cycles(after)

    graph = nx.DiGraph()
    graph.add_nodes_from(range(size))
    graph.add_edges_from(enumerate(after.tolist()))
    found = {frozenset(np.flatnonzero(number == cycle).tolist()) for cycle in set(number.tolist())}
    assert found == set(map(frozenset, nx.weakly_connected_components(graph)))


def test_many_short_cycles_have_numbers_of_their_own() -> None:
    after = np.arange(1000) ^ 1

    assert Counter(Counter(cycles(after).tolist()).values()) == {2: 500}


@pytest.mark.parametrize("size", [2, 3, 4, 5, 6, 7, 8])
@pytest.mark.parametrize("items", [11, 24, 40])
def test_places_are_balanced_and_rows_keep_their_items(items, size) -> None:
    tuples = dealt(items, size, 3 * items, seed=size)

    balanced = balanced_positions(tuples, items)

    assert np.array_equal(np.sort(balanced, axis=1), np.sort(tuples, axis=1))
    counts = np.stack([np.bincount(place, minlength=items) for place in balanced.T])
    assert (counts.max(axis=0) - counts.min(axis=0)).max() <= 1


def test_places_are_balanced_for_items_that_appear_unequally_often() -> None:
    tuples = np.array([[0, 1, 2], [0, 3, 4], [0, 5, 6], [0, 7, 8], [0, 1, 3], [2, 5, 8], [0, 4, 7]])

    balanced = balanced_positions(tuples, 9)

    counts = np.stack([np.bincount(place, minlength=9) for place in balanced.T])
    assert counts[:, 0].tolist() == [2, 2, 2]
    assert (counts.max(axis=0) - counts.min(axis=0)).max() <= 1


def test_meetings_are_counted_as_pairs_in_python() -> None:
    tuples = np.random.default_rng(1).integers(0, 12, size=(40, 4))

    keys = meeting_keys(tuples, 12)

    met = Counter(tuple(sorted(pair)) for row in tuples.tolist() for pair in combinations(row, 2))
    assert Counter((int(key) // 12, int(key) % 12) for key in keys.ravel()) == met
    assert repeated(keys).sum() == sum(times for times in met.values() if times > 1)
    assert meeting_excess(tuples, 12) == sum(times * (times - 1) // 2 for times in met.values())


def test_one_pair_that_meets_twice_is_found_in_both_of_its_tuples() -> None:
    tuples = np.array([[0, 1, 2], [1, 3, 0], [2, 3, 4]])  # of all pairs, 0 and 1 alone are twice together

    found = repeated(meeting_keys(tuples, 5))

    # A row for the positions 1 and 2, 1 and 3, 2 and 3; a column for each tuple.
    assert found.tolist() == [[True, False, False], [False, True, False], [False, False, False]]


def test_a_search_knows_that_it_is_done_where_every_pair_has_to_meet_again() -> None:
    # Ten triples of six items are 30 meetings of 15 pairs: at best every pair meets twice, once more than once.
    search = SwapSearch(dealt(6, 3, 10), np.arange(6)[:, None], np.random.default_rng(0))

    done = search.improve(SwapPools(np.zeros(30, dtype=np.int64)))

    assert done
    assert set(Counter(meeting_keys(search.tuples, 6).ravel().tolist()).values()) == {2}


@given(st.integers(0, 60), st.integers(1, 20))
def test_the_least_excess_is_that_of_the_most_even_spread(meetings, pairs) -> None:
    even = np.bincount(np.arange(meetings) % pairs, minlength=pairs)

    assert least_excess(meetings, pairs) == sum(times * (times - 1) // 2 for times in even.tolist())


def test_duplicate_tuples_are_counted_in_any_order() -> None:
    assert duplicate_tuples(np.array([[0, 1, 2], [2, 1, 0], [1, 2, 3], [0, 2, 1]])) == 2


def test_parts_of_a_design_are_those_of_the_comparison_graph() -> None:
    tuples = np.array([[0, 1, 2], [2, 3, 4], [5, 6, 7]])

    parts, part_of_item = comparison_components(tuples, 9)

    assert parts == 3
    assert [set(np.flatnonzero(part_of_item == part).tolist()) for part in range(3)] == [
        {0, 1, 2, 3, 4},
        {5, 6, 7},
        {8},
    ]


def test_parts_are_joined_without_changing_how_often_items_appear() -> None:
    rng = np.random.default_rng(0)
    left = np.array(list(combinations(range(6), 3)))[::2]
    tuples = np.vstack([left, left + 6])
    search = SwapSearch(tuples, np.arange(12)[:, None], rng)

    connect(search, SwapPools(np.zeros(tuples.size, dtype=np.int64)))

    assert comparison_components(search.tuples, 12)[0] == 1
    assert np.array_equal(np.bincount(search.tuples.ravel()), np.bincount(tuples.ravel()))


def test_parts_are_joined_by_tuples_that_just_suffice() -> None:
    # Three triples have room for a tree of seven items; as they are, 0 and 1 meet twice and 4, 5, 6 stand apart.
    tuples = np.array([[0, 1, 2], [0, 1, 3], [4, 5, 6]])
    search = SwapSearch(tuples, np.arange(7)[:, None], np.random.default_rng(0))

    connect(search, SwapPools(np.zeros(tuples.size, dtype=np.int64)))

    assert comparison_components(search.tuples, 7)[0] == 1


def test_what_a_swap_is_said_to_save_is_what_it_saves() -> None:
    rng = np.random.default_rng(2)
    tuples = dealt(14, 4, 28, seed=3)
    search = SwapSearch(tuples, np.arange(14)[:, None], rng)
    ours, theirs = rng.integers(0, tuples.size, size=(2, 300))
    allowed = [
        a // 4 != b // 4 and search.slots[a] != search.slots[b] for a, b in zip(ours, theirs, strict=True)
    ]

    gains = search.gain(ours, theirs)

    for a, b, gain in zip(ours[allowed], theirs[allowed], gains[allowed], strict=True):
        before = search.energy()
        search.swap(np.array([a]), np.array([b]))
        after = search.energy()
        search.swap(np.array([a]), np.array([b]))
        # Exact wherever the swap breaks no rule; a broken rule is dear, and by how much does not matter.
        assert before - after == gain or (before - after < -40 and gain < -40)


def test_a_design_of_too_few_tuples_to_join_all_items_is_left_as_it_is() -> None:
    # Four triples join nine items at most. A swap could take an item of the first two, which share two, to another.
    tuples = np.array([[0, 1, 2], [0, 1, 3], [4, 5, 6], [7, 8, 9]])
    search = SwapSearch(tuples, np.arange(10)[:, None], np.random.default_rng(0))

    connect(search, SwapPools(np.zeros(tuples.size, dtype=np.int64)))

    assert np.array_equal(search.tuples, tuples)


def test_a_repair_that_no_swap_helps_leaves_the_tuples_as_they_are() -> None:
    tuples = np.arange(8).reshape(2, 4)
    search = SwapSearch(
        tuples, np.zeros((8, 1), dtype=np.int64), np.random.default_rng(0)
    )  # all share a sentence

    search.repair(SwapPools(np.zeros(8, dtype=np.int64)))

    assert np.array_equal(search.tuples, tuples)


def test_a_search_that_cannot_reach_its_goal_reports_every_round_to_the_last(monkeypatch) -> None:
    monkeypatch.setattr("annotation.bws.designs.swapping.EFFORT", 0)  # as few rounds as there can be
    reported: list[tuple[int, int]] = []
    # All items share a sentence, so that every tuple breaks a rule whatever is swapped.
    search = SwapSearch(
        dealt(12, 4, 6),
        np.zeros((12, 1), dtype=np.int64),
        np.random.default_rng(0),
        report=lambda done, total: reported.append((done, total)),
    )

    done = search.improve(SwapPools(np.zeros(search.slots.size, dtype=np.int64)))

    total = reported[0][1]
    assert not done
    assert reported == [(number, total) for number in range(1, total + 1)]
