"""Agreement of two score sets: against scipy, tables worked by hand, and in coverage."""

import numpy as np
import pytest
from scipy import stats

from curation.statistics.agreement import agreement_of, rank_differences
from curation.statistics.influence import pearson_within, spearman_within


def test_correlations_are_those_of_scipy_within_their_intervals() -> None:
    rng = np.random.default_rng(3)
    first = rng.normal(size=200)
    second = first + rng.normal(size=200)

    spearman, pearson = spearman_within(first, second), pearson_within(first, second)

    assert spearman.value == pytest.approx(stats.spearmanr(first, second).statistic)
    assert pearson.value == pytest.approx(stats.pearsonr(first, second).statistic)
    # Of normal scores Fisher's own interval is right; this one does not assume them normal, and comes close.
    fisher = stats.pearsonr(first, second).confidence_interval()
    assert (pearson.low, pearson.high) == pytest.approx((fisher.low, fisher.high), abs=0.02)


def test_the_interval_covers_what_it_claims_to() -> None:
    rng = np.random.default_rng(5)
    true = 6 / np.pi * np.arcsin(0.25)  # Spearman's of a normal distribution with r = .5

    def held() -> bool:
        first, second = rng.multivariate_normal([0, 0], [[1, 0.5], [0.5, 1]], 40).T
        found = spearman_within(first, second)
        return found.low <= true <= found.high

    assert 0.92 <= np.mean([held() for _ in range(600)]) <= 0.98


@pytest.mark.parametrize(("first", "second"), [([1, 2], [3, 1]), ([1, 1, 1], [1, 2, 3])])
def test_too_few_pairs_and_constant_scores_have_no_correlation(first, second) -> None:
    assert spearman_within(first, second).value is None


def test_equal_orders_correlate_perfectly_without_an_interval_beyond_one() -> None:
    found = spearman_within([1, 2, 3, 4], [10, 20, 40, 80])

    assert (found.value, found.low, found.high) == (1.0, 1.0, 1.0)


def test_pairs_fall_into_bins_of_the_first_score_whose_edges_belong_above() -> None:
    first, second = [0.0, 0.9, 1.0, 1.0, 4.0, 5.0], [1, 2, 3, 5, 8, 10]

    found = agreement_of(first, second, low=0, high=5, bins=5)

    assert [each.n for each in found.bins] == [2, 2, 0, 0, 2]  # 1.0 belongs to 1–2, and 5.0 to the last
    assert [each.mean for each in found.bins] == [1.5, 4.0, None, None, 9.0]
    assert found.bins[1].sd == pytest.approx(np.sqrt(2))


def test_a_rank_difference_says_how_much_higher_a_pair_ranks_by_the_second() -> None:
    first, second = (
        [1, 2, 3, 4],
        [9, 1, 1, 0],
    )  # ranks by first .125 .375 .625 .875; by second .875 .5 .5 .125

    assert rank_differences(first, second) == pytest.approx([0.75, 0.125, -0.125, -0.75])
