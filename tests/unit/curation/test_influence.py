"""Each pair's part in Spearman's correlation."""

import numpy as np
import pytest
from scipy.stats import pearsonr, spearmanr

from curation.statistics.influence import pearson_by_pair, ratio_by_pair, spearman_by_pair
from curation.statistics.intervals import resampled_correlations

GENERATOR = np.random.default_rng(3)
GOLD = GENERATOR.integers(0, 6, size=300).astype(float)  # with ties
COSINES = np.round(GOLD + 2 * GENERATOR.normal(size=GOLD.size), 1)  # with ties too


def test_the_mean_of_the_pseudo_values_is_the_correlation() -> None:
    assert spearman_by_pair(COSINES, GOLD).mean() == pytest.approx(
        spearmanr(COSINES, GOLD).statistic, abs=1e-12
    )


def test_they_are_those_of_leaving_pairs_out_one_at_a_time() -> None:
    whole, pairs = spearmanr(COSINES, GOLD).statistic, GOLD.size
    without = [spearmanr(np.delete(COSINES, row), np.delete(GOLD, row)).statistic for row in range(pairs)]
    jackknife = pairs * whole - (pairs - 1) * np.array(without)

    assert spearman_by_pair(COSINES, GOLD) == pytest.approx(jackknife, abs=0.03)


def test_they_are_the_slopes_of_a_weighted_correlation() -> None:
    def weighted(weights: np.ndarray) -> float:
        shares = [
            np.array([weights[values < one].sum() + weights[values == one].sum() / 2 for one in values])
            for values in (COSINES, GOLD)
        ]
        covariance = np.cov(*shares, aweights=weights)
        return float(covariance[0, 1] / np.sqrt(covariance[0, 0] * covariance[1, 1]))

    equal = np.full(GOLD.size, 1 / GOLD.size)
    for row in (0, 17, 250):
        step = 1e-6
        more = (1 - step) * equal
        more[row] += step
        slope = (weighted(more) - weighted(equal)) / step

        assert spearman_by_pair(COSINES, GOLD)[row] - spearmanr(COSINES, GOLD).statistic == pytest.approx(
            slope, abs=1e-4
        )


def test_their_variance_is_that_of_resampled_pairs() -> None:
    variance = spearman_by_pair(COSINES, GOLD).var(ddof=1) / GOLD.size
    resampled = resampled_correlations(COSINES, GOLD, resamples=2000, seed=1).var()

    assert np.sqrt(variance) == pytest.approx(np.sqrt(resampled), rel=0.05)


def test_a_constant_side_has_none() -> None:
    assert spearman_by_pair(np.ones(5), np.arange(5)) is None
    assert spearman_by_pair(np.arange(5), np.ones(5)) is None


def test_vectors_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="3 predicted and 2 human scores"):
        spearman_by_pair([1, 2, 3], [1, 2])


def test_the_pseudo_values_of_pearson_are_those_of_leaving_pairs_out_one_at_a_time() -> None:
    whole, pairs = pearsonr(COSINES, GOLD).statistic, GOLD.size
    without = [pearsonr(np.delete(COSINES, row), np.delete(GOLD, row)).statistic for row in range(pairs)]
    jackknife = pairs * whole - (pairs - 1) * np.array(without)

    found = pearson_by_pair(COSINES, GOLD)

    assert found.mean() == pytest.approx(whole, abs=1e-12)
    assert found == pytest.approx(jackknife, abs=0.06)
    assert pearson_by_pair(COSINES, np.ones(GOLD.size)) is None


def test_the_pseudo_values_of_a_ratio_by_hand() -> None:
    # F1 of three pairs: a true positive, a false positive, a false negative, so 2 / (2 + 2) = 1/2.
    found = ratio_by_pair([2, 0, 0], [2, 1, 1])

    # mean(below) = 4/3; the influences are (2 - 1) / (4/3), (0 - 1/2) / (4/3) twice.
    assert found == pytest.approx([0.5 + 0.75, 0.5 - 0.375, 0.5 - 0.375])
    assert ratio_by_pair([0, 0], [0, 0]) is None
