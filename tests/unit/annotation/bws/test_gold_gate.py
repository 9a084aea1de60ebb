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
    stop_probability,
    tuples_before_stop,
)


def test_nobody_is_stopped_before_enough_golds() -> None:
    assert gold_gate(trials=6, right=0, minimum=10).state is GateState.WAITING


def test_somebody_below_the_threshold_by_little_is_stopped_from_the_minimum_on() -> None:
    # The evidence for .45 is 10 ln(.45 / .70) + 10 ln(.55 / .30) = 1.64, below ln 20; the bound of 10 / 20 is .698.
    assert gold_gate(trials=20, right=10, minimum=10).state is GateState.STOPPED
    assert gold_gate(trials=20, right=10, minimum=11).state is GateState.WAITING


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


def test_a_gate_that_waits_for_more_than_a_thousand_golds_counts_as_one_that_never_stops() -> None:
    assert golds_before_stop(minimum=1000, threshold=0.2) == 1000
    assert golds_before_stop(minimum=1001, threshold=0.2) is None


def test_a_gate_that_asks_for_nothing_stops_nobody() -> None:
    assert golds_before_stop(minimum=1, threshold=0.0) is None
    assert tuples_before_stop(every=5, minimum=1, threshold=0.0) is None


@pytest.mark.parametrize(
    ("trials", "right", "stopped"),
    # Evidence for .45 against .70: right ln(.45 / .70) + wrong ln(.55 / .30), and ln 20 is 2.996.
    [
        (6, 0, False),  # 3.637, but of three golds only
        (8, 2, False),  # 2.753
        (8, 1, True),  # 3.801
        (10, 2, True),  # 3.965
        (10, 3, False),  # 2.917
    ],
)
def test_the_sequential_test_stops_where_the_answers_are_twenty_times_as_likely(
    trials, right, stopped
) -> None:
    gate = gold_gate(trials=trials, right=right, minimum=10, threshold=0.7)

    assert (gate.state is GateState.STOPPED) == stopped


def test_a_threshold_near_guessing_has_no_sequential_test() -> None:
    assert gold_gate(trials=18, right=0, minimum=10, threshold=0.3).state is GateState.WAITING


def test_a_threshold_of_one_lets_a_perfect_person_go_on() -> None:
    assert gold_gate(trials=200, right=200, threshold=1.0).state is GateState.KEPT
    assert gold_gate(trials=8, right=7, threshold=1.0).state is GateState.STOPPED


def test_the_probability_of_a_stop_agrees_with_a_hand_worked_case() -> None:
    # Of four golds, the gate stops with 0 or 1 of 8 trials right: (3/4)^8 + 8 (1/4) (3/4)^7.
    exact = stop_probability(0.25, golds=4, minimum=10, threshold=0.7)

    assert exact == pytest.approx(0.75**8 + 2 * 0.75**7)


def test_the_probability_of_a_stop_follows_the_correlation_of_best_and_worst() -> None:
    # Best and worst of a gold are both right or both wrong: 0 or 2 of 8 trials, and with 2 nobody is stopped.
    together = stop_probability(0.25, golds=4, minimum=10, threshold=0.7, correlation=1.0)

    assert together == pytest.approx(0.75**4)


THRESHOLDS = [0.6, 0.65, 0.7, 0.75, 0.8]


def stopped_by_bound_alone(rate: float, golds: int, threshold: float) -> float:
    """The chance to be stopped by the bound, at ten golds or later, with no sequential test."""
    going_on = np.ones(1)
    for trials in range(2, 2 * golds + 1, 2):
        going_on = np.convolve(going_on, binom.pmf(range(3), 2, rate))
        if trials >= 20:
            going_on[binom.cdf(range(trials + 1), trials, threshold) < 0.05] = 0
    return 1 - going_on.sum()


@pytest.mark.parametrize("threshold", THRESHOLDS)
def test_the_sequential_test_stops_hardly_anybody_whom_the_gate_should_keep(threshold) -> None:
    added = [
        stop_probability(rate, golds=60, minimum=10, threshold=threshold)
        - stopped_by_bound_alone(rate, 60, threshold)
        for rate in (threshold, threshold + 0.1)
    ]

    assert 0 <= added[0] < 0.0023
    assert 0 <= added[1] < 0.001


@pytest.mark.parametrize("threshold", THRESHOLDS)
def test_people_who_guess_are_stopped_before_the_bound_could_act(threshold) -> None:
    # The mean of the golds until the stop is the sum over g of the chance to go on after g golds.
    going_on = [
        1 - stop_probability(0.25, golds=golds, minimum=10, threshold=threshold) for golds in range(40)
    ]

    assert sum(going_on) < {0.6: 7.6, 0.65: 6.0, 0.7: 5.5, 0.75: 4.8, 0.8: 4.5}[threshold]


def test_one_gold_in_fifteen_takes_sixty_tuples() -> None:
    assert tuples_before_stop(every=15, minimum=10, threshold=0.7) == 60


@pytest.mark.parametrize("tuples", [20, 25, 40, 60, 120, 150, 300, 1000])
def test_what_is_proposed_can_act_for_people_who_get_so_many_tuples(tuples) -> None:
    every = gate_proposed(tuples, minimum=10, threshold=0.7)

    assert tuples_before_stop(every=every, minimum=10, threshold=0.7) <= tuples


def test_a_large_campaign_keeps_the_usual_gate_and_a_tiny_one_has_none() -> None:
    assert gate_proposed(120, minimum=10, threshold=0.7) == 15
    assert gate_proposed(60, minimum=10, threshold=0.7) == 7
    assert gate_proposed(24, minimum=10, threshold=0.7) == 6
    assert gate_proposed(19, minimum=10, threshold=0.7) is None
    assert gate_proposed(1000, minimum=10, threshold=0.0) is None
