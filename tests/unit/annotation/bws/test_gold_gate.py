"""The gold gate: nobody is stopped by bad luck, and somebody who guesses is."""

import numpy as np
import pytest
from scipy.stats import binom, binomtest

from annotation.bws.annotators.gold_gate import (
    GateState,
    gate_proposed,
    gold_gate,
    gold_trials_right,
    golds_before_stop,
    share_bounds,
    tuples_before_stop,
)


def test_nobody_is_stopped_before_enough_golds() -> None:
    assert gold_gate(trials=18, right=0, minimum=10).state is GateState.WAITING


def test_somebody_who_is_wrong_throughout_is_stopped_at_the_minimum() -> None:
    assert gold_gate(trials=20, right=0, minimum=10).state is GateState.STOPPED


def test_a_rate_below_the_threshold_alone_stops_nobody() -> None:
    gate = gold_gate(trials=20, right=13, threshold=0.7)

    assert gate.rate == 0.65
    assert gate.upper > 0.7
    assert gate.state is GateState.KEPT


def test_before_the_first_gold_there_is_no_rate() -> None:
    gate = gold_gate(trials=0, right=0)

    assert gate.rate is None
    assert (gate.lower, gate.upper) == (0.0, 1.0)


@pytest.mark.parametrize(("right", "trials"), [(0, 20), (7, 20), (13, 20), (20, 20), (40, 60)])
def test_the_bounds_are_those_of_an_exact_binomial_test(right, trials) -> None:
    lower, upper = share_bounds(right, trials, 0.95)

    interval = binomtest(right, trials).proportion_ci(confidence_level=0.9, method="exact")
    assert (lower, upper) == pytest.approx((interval.low, interval.high))


@pytest.mark.parametrize("true_share", [0.7, 0.75, 0.85])
def test_a_person_at_or_above_the_threshold_is_stopped_with_at_most_one_chance_in_twenty(true_share) -> None:
    rights = np.arange(21)
    stopped = [gold_gate(trials=20, right=int(right)).state is GateState.STOPPED for right in rights]

    assert binom.pmf(rights, 20, true_share)[stopped].sum() <= 0.05


def test_a_person_who_guesses_is_stopped_almost_surely_within_twenty_golds() -> None:
    rights = np.arange(41)
    stopped = [gold_gate(trials=40, right=int(right)).state is GateState.STOPPED for right in rights]

    assert binom.pmf(rights, 40, 0.25)[stopped].sum() > 0.99


@pytest.mark.parametrize(("best", "worst", "right"), [(0, 3, 2), (0, 1, 1), (2, 3, 1), (3, 0, 0)])
def test_best_and_worst_are_two_trials(best, worst, right) -> None:
    assert gold_trials_right(best, worst, 0, 3) == right


def test_more_right_answers_than_trials_cannot_be() -> None:
    with pytest.raises(ValueError, match="5 right answers out of 4 trials"):
        gold_gate(trials=4, right=5)


@pytest.mark.parametrize(
    ("minimum", "threshold"), [(10, 0.7), (1, 0.7), (0, 0.7), (3, 0.2), (5, 0.05), (1, 1.0), (20, 0.5)]
)
def test_the_first_possible_stop_is_where_the_gate_stops_whoever_is_always_wrong(minimum, threshold) -> None:
    golds = golds_before_stop(minimum=minimum, threshold=threshold)

    def state(golds: int) -> GateState:
        return gold_gate(trials=2 * golds, right=0, minimum=minimum, threshold=threshold).state

    assert state(golds) is GateState.STOPPED
    assert all(state(fewer) is not GateState.STOPPED for fewer in range(1, golds))


def test_a_low_threshold_takes_more_wrong_answers_than_the_minimum() -> None:
    assert golds_before_stop(minimum=3, threshold=0.2) == 7  # 1 - .05 ** (1 / 14) is .193


def test_a_gate_that_asks_for_nothing_stops_nobody() -> None:
    assert golds_before_stop(minimum=1, threshold=0.0) is None
    assert tuples_before_stop(every=5, minimum=1, threshold=0.0) is None


def test_one_gold_in_fifteen_and_ten_answers_take_150_tuples() -> None:
    assert tuples_before_stop(every=15, minimum=10, threshold=0.7) == 150


@pytest.mark.parametrize("tuples", [25, 40, 60, 120, 150, 300, 1000])
def test_what_is_proposed_can_act_for_people_who_get_so_many_tuples(tuples) -> None:
    every, minimum = gate_proposed(tuples, threshold=0.7)

    assert tuples_before_stop(every=every, minimum=minimum, threshold=0.7) <= tuples


def test_a_large_campaign_keeps_the_usual_gate_and_a_tiny_one_has_none() -> None:
    assert gate_proposed(300, threshold=0.7) == (15, 10)
    assert gate_proposed(120, threshold=0.7) == (6, 10)
    assert gate_proposed(24, threshold=0.7) is None
    assert gate_proposed(1000, threshold=0.0) is None
