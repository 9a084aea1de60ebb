"""Position bias: Pearson's chi-square against equal counts."""

import numpy as np
import pytest
from scipy.stats import chisquare

from annotation.bws.annotators.position_bias import position_bias


def test_it_is_scipys_test_of_equal_counts() -> None:
    places = np.random.default_rng(0).choice(4, p=[0.4, 0.2, 0.2, 0.2], size=300)

    bias = position_bias(places, 4)

    expected = chisquare(np.bincount(places, minlength=4))
    assert bias.counts == tuple(np.bincount(places, minlength=4).tolist())
    assert (bias.chi_square, bias.p) == pytest.approx((expected.statistic, expected.pvalue))


def test_somebody_without_bias_is_rarely_accused() -> None:
    rng = np.random.default_rng(1)

    accused = np.mean([position_bias(rng.integers(0, 4, 200), 4).p < 0.05 for _ in range(2000)])

    assert accused == pytest.approx(0.05, abs=0.015)


def test_no_choices_accuse_nobody() -> None:
    bias = position_bias(np.array([], dtype=np.int64), 4)

    assert (bias.counts, bias.chi_square, bias.p) == ((0, 0, 0, 0), 0.0, 1.0)


def test_ties_choose_no_position_and_short_tuples_have_fewer_by_hand() -> None:
    # Four tuples of two items and two of four; the last is a tie. Expected: 2.25, 2.25, .25, .25 of five choices.
    bias = position_bias(np.array([0, 0, 0, 1, 3, -1]), np.array([2, 2, 2, 2, 4, 4]))

    pairs = 4 * (np.eye(2) / 2 - 1 / 4)
    covariance = np.zeros((4, 4))
    covariance[:2, :2] = pairs
    covariance += np.eye(4) / 4 - 1 / 16
    away = np.array([3, 1, 0, 1]) - [2.25, 2.25, 0.25, 0.25]
    # (O - E)^T V^+ (O - E), by least squares instead of a pseudo-inverse.
    assert bias.counts == (3, 1, 0, 1)
    assert bias.chi_square == pytest.approx(away @ np.linalg.lstsq(covariance, away, rcond=None)[0])
