"""Gold tuples that good annotators miss are found, and no others."""

import numpy as np
import pytest
from scipy.stats import binomtest

from annotation.bws.annotators.gold_doubt import golds_doubted


def answers(people: int, golds: int, right: int = 2) -> np.ndarray:
    return np.full((people, golds), right)


def test_a_gold_tuple_that_three_good_people_miss_is_doubted_with_the_exact_bound() -> None:
    right = answers(3, 5)
    right[:, 2] = 0

    (doubt,) = golds_doubted(right, threshold=0.7)

    assert (doubt.gold, doubt.good, doubt.trials, doubt.right) == (2, 3, 6, 0)
    exact = binomtest(0, 6, alternative="less").proportion_ci(0.95, method="exact").high
    assert doubt.upper == pytest.approx(exact)


def test_half_right_by_three_people_is_no_reason_yet_and_by_twelve_it_is() -> None:
    # The bound of 3 of 6 is .847; that of 12 of 24 is .677, below .7.
    few, many = answers(3, 5), answers(12, 5)
    few[:, 2] = many[:, 2] = 1

    assert golds_doubted(few, threshold=0.7) == []
    assert [doubt.gold for doubt in golds_doubted(many, threshold=0.7)] == [2]


def test_people_who_do_badly_everywhere_cast_no_doubt() -> None:
    right = answers(6, 5, right=0)

    assert golds_doubted(right, threshold=0.7) == []


def test_who_answered_fewer_than_three_others_is_not_taken_for_good() -> None:
    right = answers(4, 3)
    right[:, 0] = 0

    assert golds_doubted(right, threshold=0.7) == []


def test_a_tuple_that_nobody_answered_and_an_answer_that_is_missing_count_for_nothing() -> None:
    right = answers(4, 6)
    right[:, 0], right[0, 1], right[1:, 1] = -1, -1, 0

    (doubt,) = golds_doubted(right, threshold=0.7)

    assert (doubt.gold, doubt.good) == (1, 3)


def test_no_answers_at_all_are_no_doubt() -> None:
    assert golds_doubted(np.empty((0, 0), dtype=int), threshold=0.7) == []


def test_the_worst_comes_first() -> None:
    right = answers(6, 9)
    right[:, 4], right[:, 7] = 1, 0
    right[0, 4] = right[1, 4] = 0

    assert [doubt.gold for doubt in golds_doubted(right, threshold=0.8)] == [7, 4]


def test_gold_tuples_that_people_were_not_asked_do_not_count_against_them() -> None:
    right = answers(3, 20)
    right[:, 4:] = -1
    right[:, 0] = 0

    (doubt,) = golds_doubted(right, threshold=0.7)

    assert (doubt.gold, doubt.good) == (0, 3)
