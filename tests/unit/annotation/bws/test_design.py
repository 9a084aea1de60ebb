"""Designs: balanced, without needless repeats, connected, the same for the same seed."""

from collections import Counter
from itertools import combinations, pairwise
from math import comb

import networkx as nx
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from annotation.bws.designs.certificate import certify, fewest_repeated_meetings
from annotation.bws.designs.design import Design, DesignError, design_tuples, tuple_count
from annotation.bws.designs.swapping import SwapPools, SwapSearch


def meetings_of(design: Design) -> Counter[frozenset[int]]:
    rows = design.tuples.tolist()
    return Counter(frozenset(pair) for row in rows for pair in combinations(row, 2))


def appearances_of(design: Design) -> Counter[int]:
    return Counter(design.tuples.ravel().tolist())


def spread(counts: list[int]) -> int:
    return max(counts) - min(counts)


@st.composite
def sizes(draw: st.DrawFn) -> tuple[int, int, float]:
    """A number of items, a tuple size and a factor for which enough different tuples exist."""
    size = draw(st.integers(2, 5))
    items = draw(st.integers(size, 36))
    factor = draw(st.floats(0.1, 2.5))
    assume(1 <= tuple_count(items, factor) <= comb(items, size) // 2)
    return items, size, factor


@pytest.mark.exhaustive
@given(sizes(), st.integers(0, 2**32))
@settings(max_examples=16, deadline=None)
def test_a_design_of_any_size_is_balanced_repeats_nothing_and_has_a_true_certificate(
    given_sizes, seed
) -> None:
    items, size, factor = given_sizes

    design = design_tuples(items, size=size, factor=factor, seed=seed)

    assert design.tuples.shape == (tuple_count(items, factor), size)
    every_item_appears_equally_often_and_at_every_place_equally_often(design, items)
    no_item_stands_twice_in_a_tuple_and_no_tuple_twice(design)
    the_certificate_says_what_an_independent_count_says(design, items)


def every_item_appears_equally_often_and_at_every_place_equally_often(design: Design, items: int) -> None:
    appearances = appearances_of(design)
    assert spread([appearances[item] for item in range(items)]) <= 1
    for item in range(items):
        assert spread((design.tuples == item).sum(axis=0).tolist()) <= 1


def no_item_stands_twice_in_a_tuple_and_no_tuple_twice(design: Design) -> None:
    tuples = [frozenset(row) for row in design.tuples.tolist()]
    assert all(len(row) == design.tuples.shape[1] for row in tuples)
    assert len(set(tuples)) == len(tuples)


def the_certificate_says_what_an_independent_count_says(design: Design, items: int) -> None:
    certificate, meetings = design.certificate, meetings_of(design)
    graph = nx.Graph(tuple(pair) for pair in meetings)
    graph.add_nodes_from(range(items))
    assert certificate.repeated_pairs == sum(times > 1 for times in meetings.values())
    assert certificate.repeated_meetings == sum(times - 1 for times in meetings.values())
    assert certificate.components == nx.number_connected_components(graph)
    assert certificate.appearances == {
        str(times): number
        for times, number in Counter(appearances_of(design)[i] for i in range(items)).items()
    }
    assert sum(certificate.meetings.values()) == comb(items, 2)
    assert sum(int(times) * pairs for times, pairs in certificate.meetings.items()) == meetings.total()


@pytest.mark.parametrize("items", [40, 41, 55, 100, 500])
def test_from_forty_items_on_no_two_items_meet_twice(items) -> None:
    design = design_tuples(items, size=4, factor=2, seed=7)

    assert max(meetings_of(design).values()) == 1
    assert set(appearances_of(design).values()) == {8}


@pytest.mark.parametrize("items", [6, 8, 12, 20])
def test_where_items_must_meet_again_the_repeats_reach_the_lower_bound(items) -> None:
    design = design_tuples(items, size=4, factor=2, seed=3)

    needless = meetings_of(design).total() - comb(items, 2)
    assert design.certificate.repeated_meetings == needless
    assert design.certificate.fewest_repeated_meetings == needless


def test_a_design_can_use_every_tuple_there_is() -> None:
    design = design_tuples(7, size=3, factor=5)

    assert {frozenset(row) for row in design.tuples.tolist()} == set(
        map(frozenset, combinations(range(7), 3))
    )


def test_nearly_all_tuples_are_found_by_the_few_that_are_left_out_where_swaps_do_not_find_them(
    monkeypatch,
) -> None:
    monkeypatch.setattr("annotation.bws.designs.swapping.EFFORT", 0)

    design = design_tuples(7, size=3, factor=34 / 7, seed=3)

    assert len({frozenset(row) for row in design.tuples.tolist()}) == 34  # of 35


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("items", "size", "tuples"), [(7, 3, 34), (10, 8, 45), (10, 8, 44), (12, 10, 60), (11, 10, 7), (6, 6, 1)]
)
def test_a_design_is_found_where_hardly_any_other_tuple_is_left(items, size, tuples) -> None:
    design = design_tuples(items, size=size, factor=tuples / items, seed=3)

    rows = [frozenset(row) for row in design.tuples.tolist()]
    assert len(set(rows)) == len(rows) == tuples
    assert {len(row) for row in rows} == {size}
    assert spread([appearances_of(design)[item] for item in range(items)]) <= 1
    for item in range(items):
        assert spread([int((design.tuples[:, place] == item).sum()) for place in range(size)]) <= 1


def test_tuples_of_all_items_but_one_leave_out_each_of_them_once() -> None:
    design = design_tuples(6, size=5, factor=1)

    assert sorted(set(range(6)).difference(row).pop() for row in design.tuples.tolist()) == list(range(6))


@pytest.mark.parametrize("factor", [0.35, 0.4, 0.5, 1.0, 2.0])
def test_all_items_are_joined_wherever_the_tuples_are_enough_for_it(factor) -> None:
    design = design_tuples(200, size=4, factor=factor, seed=11)

    assert design.certificate.components == 1


def test_the_certificate_counts_the_parts_that_too_few_tuples_leave() -> None:
    design = design_tuples(40, size=4, factor=0.25)

    assert design.certificate.components == 10


def test_a_campaign_that_stops_after_any_deck_is_balanced() -> None:
    design = design_tuples(60, size=4, factor=2, seed=5)

    decks = [Counter(deck.ravel().tolist()) for deck in design.tuples.reshape(8, 15, 4)]

    assert all(set(deck.values()) == {1} and len(deck) == 60 for deck in decks)


def test_the_same_seed_gives_the_same_design_and_another_seed_another() -> None:
    first, again, other = (design_tuples(50, seed=seed) for seed in (1, 1, 2))

    assert np.array_equal(first.tuples, again.tuples)
    assert first.certificate == again.certificate
    assert not np.array_equal(first.tuples, other.tuples)


@pytest.mark.exhaustive
@given(st.integers(0, 2**32))
@settings(max_examples=10, deadline=None)
def test_pairs_that_share_a_sentence_are_never_judged_together(seed) -> None:
    rng = np.random.default_rng(seed)
    sentences = rng.integers(0, 60, size=(50, 2))

    design = design_tuples(50, sentences=sentences, seed=seed)

    for row in design.tuples.tolist():
        assert all(not set(sentences[a]) & set(sentences[b]) for a, b in combinations(row, 2))
    assert design.certificate.shared_sentences == 0


@pytest.mark.exhaustive
def test_mirrored_pairs_are_never_judged_together() -> None:
    sentences = np.array([(2 * i, 2 * i + 1) for i in range(12)] + [(2 * i + 1, 2 * i) for i in range(12)])

    design = design_tuples(24, sentences=sentences)

    assert not any({i, i + 12} <= set(row) for row in design.tuples.tolist() for i in range(12))


@pytest.mark.parametrize(("imported", "generated", "size", "factor"), [(30, 10, 4, 2), (40, 10, 5, 0.4)])
def test_every_tuple_gets_an_even_mix_of_strata(imported, generated, size, factor) -> None:
    strata = np.repeat([0, 1], [imported, generated])

    design = design_tuples(len(strata), strata=strata, size=size, factor=factor)

    assert set(strata[design.tuples].sum(axis=1).tolist()) == {1}
    assert set(appearances_of(design).values()) == {factor * size}


def test_strata_of_uneven_sizes_keep_appearances_within_one() -> None:
    strata = np.repeat([0, 1, 2], [23, 14, 9])

    design = design_tuples(46, strata=strata, factor=1.7, seed=4)

    assert spread(list(appearances_of(design).values())) <= 1


def test_too_many_pairs_with_one_sentence_are_named() -> None:
    sentences = np.array([(0, i + 1) for i in range(10)] + [(2 * i + 20, 2 * i + 21) for i in range(10)])

    with pytest.raises(DesignError, match="10 of 20 items share one sentence, item 1 among them") as caught:
        design_tuples(20, sentences=sentences)

    assert caught.value.items == tuple(range(10))


def test_of_pairs_that_cannot_be_kept_apart_two_that_share_a_sentence_are_named() -> None:
    # A ring of five: of any three, two stand side by side and share a sentence.
    sentences = np.array([(item, (item + 1) % 5) for item in range(5)])

    with pytest.raises(DesignError, match="share a sentence never meet: items") as caught:
        design_tuples(5, size=3, factor=0.2, sentences=sentences)

    one, other = caught.value.items
    assert set(sentences[one]) & set(sentences[other])


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"item_count": 3}, "Tuples of 4 need at least 4 items, and there are 3"),
        ({"item_count": 10, "size": 1}, "at least 2 items, not 1"),
        ({"item_count": 10, "factor": 0.01}, "10 items make no tuple"),
        ({"item_count": 10, "factor": float("nan")}, "a number above 0 and at most 1e\\+12, not nan"),
        ({"item_count": 50, "factor": 1e308}, r"at most 1e\+12"),
        ({"item_count": 5, "factor": 2}, "5 items make only 5 different tuples of 4"),
    ],
)
def test_a_design_that_cannot_be_says_why(arguments, reason) -> None:
    with pytest.raises(DesignError, match=reason):
        design_tuples(**arguments)


@given(st.lists(st.integers(0, 30), min_size=2, max_size=40), st.integers(2, 6))
def test_the_bound_on_repeats_never_exceeds_what_a_random_design_has(appearances, size) -> None:
    items = len(appearances)
    rng = np.random.default_rng(0)
    slots = rng.permutation(np.repeat(np.arange(items), appearances))
    rows = slots[: len(slots) // size * size].reshape(-1, size)
    rows = rows[[len(set(row)) == size for row in rows.tolist()]]
    met = Counter(frozenset(pair) for row in rows.tolist() for pair in combinations(row, 2))

    bound = fewest_repeated_meetings(np.bincount(rows.ravel(), minlength=items) * (size - 1))

    assert bound <= sum(times - 1 for times in met.values())


def test_tuples_are_counted_as_the_scripts_of_the_field_count_them() -> None:
    counts = [tuple_count(5, factor) for factor in (0.5, 1.5, 2)]

    assert counts == [3, 8, 10]
    assert all(a <= b for a, b in pairwise(counts))


def test_the_certificate_of_tuples_of_several_sizes_counts_what_is_there() -> None:
    tuples = np.array([[0, 1, 2, 3], [0, 1, 4, -1], [5, 6, -1, -1]])

    certificate = certify(tuples, 7, factor=3 / 7, seed=0, algorithm="imported")

    assert certificate.appearances == {"1": 5, "2": 2}
    assert certificate.meetings == {
        "0": 12,
        "1": 8,
        "2": 1,
    }  # six meetings, three and one; 0 and 1 meet twice
    assert (certificate.repeated_pairs, certificate.components) == (1, 2)
    assert certificate.fewest_repeated_meetings == 0
    assert (certificate.min_place, certificate.max_place) == (0, 2)  # items 0 and 1 keep their positions


def test_an_item_that_is_in_a_tuple_twice_is_swapped_where_every_pair_meets_again() -> None:
    rng = np.random.default_rng(1)
    dealt = rng.permutation(np.repeat(np.arange(30), 20)).reshape(-1, 5)  # many tuples hold an item twice
    search = SwapSearch(dealt, np.arange(30)[:, None], rng)

    search.repair(SwapPools(np.zeros(600, dtype=np.int64)))

    assert all(len(set(row)) == 5 for row in search.tuples.tolist())
    assert (np.bincount(search.tuples.ravel()) == 20).all()
