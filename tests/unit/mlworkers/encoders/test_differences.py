"""Differences over pairs and seeds."""

import numpy as np
import pytest
from scipy.stats import t as student

from docs.experiments.false_alarms import Regime, trial
from docs.experiments.false_alarms_labels import REGIMES as LABEL_REGIMES
from docs.experiments.false_alarms_labels import Setting
from docs.experiments.false_alarms_labels import trial as label_trial
from mlworkers.science.encoders.differences import difference_from, holm


def test_the_variance_of_a_small_table_by_hand() -> None:
    # 3 seeds on 2 pairs. Seeds' means 2, 3, 7; pairs' means 3, 5; mean 4. What is left: 0, 0, 0 and its negative, so
    # nothing: mean squares of seeds 2 * (4 + 1 + 9) / 2 = 14, of pairs 3 * (1 + 1) / 1 = 6, of the rest 0.
    found = difference_from([[1, 3], [2, 4], [6, 8]])

    assert found.value == 4
    assert found.standard_error == pytest.approx(np.sqrt((14 + 6) / 6))
    assert found.degrees == pytest.approx(20**2 / (14**2 / 2 + 6**2 / 1))
    assert found.sd == pytest.approx(np.sqrt(7))
    assert found.p == pytest.approx(2 * student.sf(4 / found.standard_error, found.degrees))
    reach = student.ppf(0.975, found.degrees) * found.standard_error
    assert (found.low, found.high) == pytest.approx((4 - reach, 4 + reach))


def test_what_pairs_and_seeds_do_together_is_counted_once() -> None:
    # Seeds' means 2, 4, 6; pairs' means 1, 7; mean 4. Rests: +1, -1 / -3, 3 / 2, -2 and so a sum of squares of 28.
    # Mean squares: seeds 2 * 8 / 2 = 8, pairs 3 * 18 / 1 = 54, rest 28 / 2 = 14.
    found = difference_from([[0, 4], [-2, 10], [5, 7]])

    assert found.standard_error == pytest.approx(np.sqrt((8 + 54 - 14) / 6))
    assert found.degrees == pytest.approx(48**2 / (8**2 / 2 + 54**2 / 1 + 14**2 / 2))


def test_a_variance_of_pairs_below_nothing_counts_as_nothing() -> None:
    # Pairs' means are both 2, so that all that is left is seeds' means 1, 2, 3: variance 1 / 3 with 2 degrees.
    found = difference_from([[0, 2], [4, 0], [2, 4]])

    assert found.standard_error == pytest.approx(np.sqrt(1 / 3))
    assert found.degrees == 2


def test_where_pairs_say_nothing_the_interval_is_student_s_over_seeds() -> None:
    by_seed = np.array([0.01, 0.03, 0.02, 0.05, 0.04])

    found = difference_from(np.repeat(by_seed[:, None], 50, axis=1))

    low, high = student.interval(0.95, 4, loc=by_seed.mean(), scale=by_seed.std(ddof=1) / np.sqrt(5))
    assert (found.low, found.high) == pytest.approx((low, high))


def test_with_one_seed_the_interval_is_over_pairs_and_nothing_is_tested() -> None:
    row = np.random.default_rng(2).normal(0.1, 1, size=80)

    found = difference_from([row])

    low, high = student.interval(0.95, 79, loc=row.mean(), scale=row.std(ddof=1) / np.sqrt(80))
    assert (found.low, found.high) == pytest.approx((low, high))
    assert (found.sd, found.p) == (None, None)


def test_encoders_that_are_equal_differ_in_nothing() -> None:
    found = difference_from(np.zeros((3, 7)))

    assert (found.value, found.low, found.high, found.sd, found.p) == (0, 0, 0, 0, 1)


@pytest.mark.parametrize("table", [[1.0, 2.0], [[1.0]], np.empty((0, 4))])
def test_a_table_without_seeds_or_pairs_is_refused(table) -> None:
    with pytest.raises(ValueError, match="needs a table of seeds and at least 2 pairs"):
        difference_from(table)


@pytest.mark.parametrize(
    ("p_values", "adjusted"),
    [
        # Sorted .01, .02, .03, .04 times 4, 3, 2, 1 is .04, .06, .06, .04; none below the one before it.
        ([0.03, 0.01, 0.04, 0.02], [0.06, 0.04, 0.06, 0.06]),
        ([0.6, 0.5], [1.0, 1.0]),
        ([0.02], [0.02]),
        ([], []),
    ],
)
def test_p_values_are_adjusted_step_by_step(p_values, adjusted) -> None:
    assert holm(p_values) == pytest.approx(adjusted)


# Of 200 pairs, so that it is fast: luck is larger than in the full simulation, because noise of pairs is.
SMALL = {
    "seeds": Regime(luck=0.02, weighting=0.0, encoder=0.05),
    "between": Regime(luck=0.014, weighting=0.17, encoder=0.05),
    "pairs": Regime(luck=0.0003, weighting=0.3, encoder=0.05),
}


# With 300 trials the standard error of a rate of 5 % is 1.3 points: the bounds are 3 to 4 of them away. A bootstrap of
# the seeds alone has about 16 % where seeds dominate, and an interval over pairs alone more than half.
@pytest.mark.parametrize("regime", list(SMALL))
@pytest.mark.exhaustive
def test_equal_weightings_are_called_different_in_about_one_trial_of_twenty(regime: str) -> None:
    trials = [
        trial(number, regime=SMALL[regime], seeds=5, pairs=200, advantage=0.0)[0] for number in range(300)
    ]

    assert 0.01 < np.mean(trials) < 0.1


@pytest.mark.parametrize("regime", ["seeds", "pairs", "interaction"])
@pytest.mark.exhaustive
def test_equal_weightings_seldom_differ_in_accuracy_and_f1(regime: str) -> None:
    small = Setting(pairs=300, dev=200, positive=0.4)
    trials = [label_trial(number, setting=small, regime=LABEL_REGIMES[regime]) for number in range(200)]

    assert (np.mean(trials, axis=0) < 0.125).all()


def test_a_true_difference_is_mostly_found_where_noise_is_small() -> None:
    little = Regime(luck=0.004, weighting=0.0, encoder=0.05)

    trials = [trial(number, regime=little, seeds=10, pairs=200, advantage=0.015)[0] for number in range(60)]

    assert np.mean(trials) > 0.85
