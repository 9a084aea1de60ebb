"""The order of samples: random, equal from every stratum, and with others mixed in."""

from collections import Counter

import numpy as np
import pytest
from scipy.stats import chisquare

from curation.pairs.sample_order import mixed, random_keys, random_order, stratified_order, stratum_sizes

NUMBERS = np.arange(1_000, 1_100, dtype=np.int64)


def test_the_keys_are_those_of_splitmix64() -> None:
    """The first outputs for seed 0 of the reference generator, which mixes 1, 2, 3 times its constant."""
    (start,) = np.random.SeedSequence(0).generate_state(1, np.uint64)
    shift = -int(start) * pow(0x9E3779B97F4A7C15, -1, 2**64)
    numbers = np.array([(number + shift) % 2**64 for number in (1, 2, 3)], dtype=np.uint64).view(np.int64)

    keys = random_keys(numbers, seed=0)

    assert keys.tolist() == [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]


def test_every_number_is_equally_likely_to_be_drawn() -> None:
    drawn = Counter(number for seed in range(2_000) for number in random_order(NUMBERS, most=10, seed=seed))

    counts = [drawn[number] for number in NUMBERS.tolist()]

    # 200 expected of each; draws without replacement vary less than independent ones, so the test is lenient.
    assert chisquare(counts).pvalue > 0.001
    assert min(counts) > 140


def test_the_order_does_not_follow_the_numbers() -> None:
    places = [random_order(NUMBERS, most=100, seed=seed).index(1_000) for seed in range(500)]

    assert np.mean(places) == pytest.approx(49.5, abs=4)  # standard error 1.3


def test_a_longer_order_continues_a_shorter_one_and_new_numbers_do_not_shuffle_it() -> None:
    order = random_order(NUMBERS, most=100, seed=5)

    assert random_order(NUMBERS, most=7, seed=5) == order[:7]
    more = random_order(np.arange(900, 1_200, dtype=np.int64), most=300, seed=5)
    assert [number for number in more if number in order] == order


def test_strata_are_tenths_by_value_and_each_turn_takes_one_of_each() -> None:
    values = np.linspace(1, 0, 100)  # falling: the last ten numbers are the first stratum

    order = stratified_order(NUMBERS, values, most=100, seed=3)

    assert sorted(number for number, _ in order) == NUMBERS.tolist()
    turns = [order[start : start + 10] for start in range(0, 100, 10)]
    assert all(sorted(stratum for _, stratum in turn) == list(range(1, 11)) for turn in turns)
    assert {number for number, stratum in order if stratum == 1} == set(range(1_090, 1_100))
    assert len({turn[0][1] for turn in turns}) > 3  # which stratum comes first in a turn tells nothing


@pytest.mark.exhaustive
def test_a_stratified_sample_takes_every_number_equally_often() -> None:
    values = np.repeat([0.0, 0.5], [90, 10])  # equal values are cut by number
    drawn = Counter(
        number for seed in range(2_000) for number, _ in stratified_order(NUMBERS, values, most=10, seed=seed)
    )

    assert chisquare([drawn[number] for number in NUMBERS.tolist()]).pvalue > 0.001


def test_fewer_numbers_than_strata_leave_strata_empty() -> None:
    order = stratified_order(NUMBERS[:3], np.array([0.3, 0.1, 0.2]), most=10, seed=0)

    assert sorted(order) == [(1_000, 3), (1_001, 1), (1_002, 2)]
    assert stratified_order(NUMBERS[:0], np.array([]), most=10, seed=0) == []


def test_one_in_ten_is_mixed_in_at_changing_places_and_both_keep_their_order() -> None:
    machine, human = list(range(95)), [f"h{number}" for number in range(50)]

    order = mixed(machine, human, every=10, seed=1)

    assert [item for item in order if isinstance(item, int)] == machine
    assert [item for item in order if isinstance(item, str)] == human[:10]  # of 95, ten whole blocks of nine
    places = [order.index(name) % 10 for name in human[:10]]
    assert len(set(places)) > 3
    assert mixed(machine[:40], human, every=10, seed=1) == order[:44]


def test_where_few_are_left_to_mix_in_the_others_go_on() -> None:
    assert mixed([1, 2, 3, 4], ["a"], every=2, seed=0)[2:] == [2, 3, 4]
    assert mixed([1, 2], [], every=10, seed=0) == [1, 2]


def test_the_sizes_of_strata_are_those_of_the_order() -> None:
    order = stratified_order(np.arange(43), np.linspace(0, 1, 43), most=43, seed=1)

    assert Counter(stratum for _number, stratum in order) == stratum_sizes(43)
