"""Agreement before and after the discussion of a norming session."""

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import binom

from annotation.bws.annotators.norming import NormingAnswers, norming_agreement


def answers(first, second=None) -> NormingAnswers:
    """first, second: (tuples, people, 2) slots; four pairs a tuple."""
    first = np.asarray(first)
    second = np.full_like(first, -1) if second is None else np.asarray(second)
    tuples, people = np.indices(first.shape[:2]).reshape(2, -1)
    sizes = np.full(len(tuples), 4)
    return NormingAnswers(tuples, people, first.reshape(-1, 2), second.reshape(-1, 2), sizes)


def test_agreement_by_hand_before_and_after() -> None:
    # Three people and one tuple: of three pairs of people one shares both choices, one the worst alone, one the worst.
    first = [[(0, 3), (0, 3), (1, 3)], [(0, 1), (2, 3), (2, 3)]]
    second = [[(0, 3), (0, 3), (0, 3)], [(0, 1), (2, 3), (2, 3)]]

    found = norming_agreement(answers(first, second))

    # First: tuple 0 has 1, 1/2, 1/2; tuple 1 has 0, 0, 1. Second: tuple 0 has 1, 1, 1.
    assert found.alone.value == found.before.value == pytest.approx((1 + 0.5 + 0.5 + 0 + 0 + 1) / 6)
    assert found.after.value == pytest.approx((3 + 1) / 6)
    assert found.change.value == pytest.approx(1 / 6)
    assert (found.people, found.again, found.chance) == (3, 3, 0.25)


def test_before_and_after_compare_the_same_answers_and_ties_are_left_out() -> None:
    first = [[(0, 3), (0, 3), (1, 2)], [(-1, -1), (0, 3), (0, 3)]]
    second = [[(0, 3), (0, 3), (-1, -1)], [(0, 3), (-1, -1), (-1, -1)]]

    found = norming_agreement(answers(first, second))

    assert found.alone.value == pytest.approx((1 + 0 + 0 + 1) / 4)
    assert (found.before.value, found.after.value, found.change.value) == (1, 1, 0)
    assert (found.people, found.again) == (3, 2)


def test_nobody_to_agree_with_is_no_figure() -> None:
    found = norming_agreement(answers([[(0, 1)], [(2, 1)]]))

    assert (found.people, found.alone, found.before, found.change) == (1, None, None, None)


def test_the_interval_is_the_wider_of_resampled_tuples_and_people() -> None:
    rng = np.random.default_rng(5)
    first = np.array([[rng.permutation(4)[:2] for _person in range(4)] for _tuple in range(6)])
    found = norming_agreement(answers(first), resamples=4000)

    alike = np.array(  # (tuples, pairs of people)
        [[np.mean(row[one] == row[two]) for one, two in combinations(range(4), 2)] for row in first]
    )
    by_tuple = alike[rng.integers(0, 6, (4000, 6))].mean(axis=(1, 2))
    drawn = rng.integers(0, 4, (4000, 4))
    by_person = []
    for people in drawn:
        pairs = [(a, b) for a, b in combinations(people, 2) if a != b]
        if pairs:
            by_person.append(np.mean([np.mean(first[:, a] == first[:, b]) for a, b in pairs]))
    widths = [np.diff(np.quantile(each, [0.025, 0.975]))[0] for each in (by_tuple, by_person)]

    assert found.alone.high - found.alone.low == pytest.approx(max(widths), abs=0.03)
    assert found.alone.low < found.alone.value < found.alone.high


def test_the_interval_of_the_change_is_one_of_paired_differences() -> None:
    rng = np.random.default_rng(6)
    first = np.array([[rng.permutation(4)[:2] for _person in range(2)] for _tuple in range(12)])
    second = first.copy()
    second[0, 1] = second[0, 0]  # one tuple of twelve is agreed on now

    found = norming_agreement(answers(first, second))

    assert found.change.low == 0
    # The tuple is drawn k of 12 times, and each time the difference of the mean is 1/12.
    assert found.change.high == pytest.approx(binom.ppf(0.975, 12, 1 / 12) / 12)
