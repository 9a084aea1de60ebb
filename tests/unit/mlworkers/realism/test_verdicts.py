"""What verdicts say about p_D: ranks, the calibration line, bins, thresholds."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.special import expit, logit
from scipy.stats import spearmanr
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from curation.pairs.keeping import Z_95, wilson_interval
from curation.statistics.intervals import weighted_spearman
from mlworkers.science.realism.discrimination import Auc, auc_difference, auc_interval, sampled_auc_interval
from mlworkers.science.realism.thresholds import cut_at, weighted_share
from mlworkers.science.realism.verdicts import (
    FEWEST_EACH,
    Sample,
    calibration_line,
    kept_bins,
    rank_figures,
    sample_of,
    verdicts_needed,
)


def judged(seed: int, n: int = 200, slope: float = 1.0) -> Sample:
    rng = np.random.default_rng(seed)
    p_d = rng.beta(2, 2, n)
    return sample_of(p_d, rng.random(n) < expit(slope * logit(p_d) + 0.5))


def in_strata(seed: int, each: int = 30) -> Sample:
    """Equally many verdicts of four strata of p_D that hold very different numbers of sentences."""
    rng = np.random.default_rng(seed)
    stratum = np.repeat(np.arange(4), each)
    p_d = (stratum + rng.random(stratum.size)) / 4
    kept = rng.random(stratum.size) < expit(logit(np.clip(p_d, 0.01, 0.99)))
    return sample_of(p_d, kept, stratum=stratum, sizes={0: 2000, 1: 900, 2: 300, 3: 100})


def test_a_weighted_auc_is_that_of_scikit_learn() -> None:
    sample = in_strata(1)

    found = sampled_auc_interval(sample.p_d, sample.kept, sample.weights, sample.stratum)

    assert found.value == pytest.approx(roc_auc_score(sample.kept, sample.p_d, sample_weight=sample.weights))
    assert found.low < found.value < found.high


def test_the_auc_of_one_stratum_is_the_unweighted_one() -> None:
    sample = judged(2)

    assert rank_figures(sample).auc == auc_interval(sample.p_d, sample.kept)


def test_strata_in_proportion_to_their_size_give_almost_the_interval_of_a_random_sample() -> None:
    sample = judged(3, 400)
    blocks = np.arange(sample.n) % 2  # strata that say nothing about p_D or verdicts

    by_strata = sampled_auc_interval(sample.p_d, sample.kept, np.ones(sample.n), blocks)
    plain = auc_interval(sample.p_d, sample.kept)

    assert by_strata.value == pytest.approx(plain.value)
    assert by_strata.low == pytest.approx(plain.low, abs=0.003)
    assert by_strata.high == pytest.approx(plain.high, abs=0.003)


def test_a_weighted_rank_correlation_is_that_of_repeated_rows() -> None:
    rng = np.random.default_rng(4)
    left, right, weights = rng.integers(0, 6, 30), rng.integers(0, 2, 30), rng.integers(1, 5, 30)

    found = weighted_spearman(left, right, weights.astype(np.float64))

    repeated = spearmanr(np.repeat(left, weights), np.repeat(right, weights)).statistic
    assert found == pytest.approx(repeated)


def test_the_rank_correlation_of_a_plain_sample_is_that_of_scipy_within_its_interval() -> None:
    sample = judged(6)

    found = rank_figures(sample).spearman

    assert found is not None
    assert found.value == pytest.approx(spearmanr(sample.p_d, sample.kept).statistic)
    assert found.low < found.value < found.high


@pytest.mark.exhaustive
def test_the_interval_of_the_rank_correlation_holds_the_true_one_in_strata_too() -> None:
    rng = np.random.default_rng(0)
    own = np.repeat(np.arange(4), [200_000, 90_000, 30_000, 10_000])
    p_d = (own + rng.random(own.size)) / 4
    true = spearmanr(p_d, rng.random(own.size) < expit(logit(np.clip(p_d, 0.01, 0.99)))).statistic

    found = [rank_figures(in_strata(seed)).spearman for seed in range(60)]

    held = np.mean([one is not None and one.low <= true <= one.high for one in found])
    assert held >= 0.88


def test_too_few_rejected_sentences_give_no_figure() -> None:
    few = sample_of(np.linspace(0, 1, 100), np.arange(100) >= FEWEST_EACH - 1)
    enough = sample_of(np.linspace(0, 1, 100), np.arange(100) >= FEWEST_EACH)

    assert rank_figures(few).auc is None
    assert rank_figures(enough).auc is not None


def test_the_calibration_line_is_that_of_scikit_learn() -> None:
    sample = in_strata(5)
    x = logit(np.clip(sample.p_d, 1e-3, 1 - 1e-3))[:, None]

    intercept, slope = calibration_line(sample)

    model = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000).fit(
        x, sample.kept, sample_weight=sample.weights
    )
    assert slope.value == pytest.approx(model.coef_[0, 0], abs=1e-4)
    assert intercept.value == pytest.approx(model.intercept_[0], abs=1e-4)


def test_the_slope_of_two_values_of_p_d_worked_by_hand() -> None:
    # 40 sentences of p_D .25, 10 kept; 40 of .75, 30 kept: log-odds -log 3 and log 3, those of p_D too, so slope 1.
    # A saturated line has leverage 1/40; its variance is that of both log-odds, 1/(40·3/16) each, times (40/39)²;
    # and 80/79 for one stratum. Slope = difference / (2 log 3).
    sample = sample_of(np.repeat([0.25, 0.75], 40), np.r_[np.arange(40) < 10, np.arange(40) < 30])

    intercept, slope = calibration_line(sample)

    reach = Z_95 * np.sqrt(2 / 7.5 * (40 / 39) ** 2 * 80 / 79) / (2 * np.log(3))
    assert slope.value == pytest.approx(1.0)
    assert intercept.value == pytest.approx(0.0, abs=1e-9)
    assert (slope.low, slope.high) == pytest.approx((1 - reach, 1 + reach))


def test_what_is_alike_within_every_stratum_leaves_the_line_without_a_variance() -> None:
    # The same 80 sentences in strata of two, which have the same p_D and the same verdict: nothing varies within them.
    kept = np.r_[np.arange(40) < 10, np.arange(40) < 30]
    sample = sample_of(
        np.repeat([0.25, 0.75], 40), kept, stratum=np.arange(80) // 2, sizes=dict.fromkeys(range(40), 2)
    )

    _intercept, slope = calibration_line(sample)

    assert (slope.value, slope.low, slope.high) == pytest.approx((1, 1, 1))


def test_there_is_no_line_where_p_d_separates_the_verdicts() -> None:
    assert calibration_line(sample_of(np.linspace(0.1, 0.9, 40), np.arange(40) >= 20)) is None


def test_bins_hold_about_equal_numbers_and_never_part_equal_p_d() -> None:
    p_d = np.r_[np.full(5, 0.1), np.full(15, 0.2), np.linspace(0.3, 0.9, 20)]
    kept = np.arange(40) % 4 > 0

    found = kept_bins(sample_of(p_d, kept))

    assert [each.n for each in found] == [5, 15, 10, 10]
    assert (found[1].low, found[1].high) == (0.2, 0.2)
    assert tuple(found[0].share) == (3 / 5, *wilson_interval(3, 5))  # the first and the fifth are rejected


def test_a_sample_without_sentences_has_no_bins_and_no_figures() -> None:
    empty = sample_of([], [])

    assert kept_bins(empty) == []
    assert rank_figures(empty).auc is None


def test_the_bins_of_a_stratified_sample_are_its_strata() -> None:
    found = kept_bins(in_strata(6))

    assert [each.n for each in found] == [30, 30, 30, 30]
    assert all(low.high <= high.low for low, high in pairwise(found))


def test_a_stratum_with_more_verdicts_than_sentences_is_refused() -> None:
    with pytest.raises(ValueError, match="Stratum 1 has 1 sentences and 2 decisions"):
        sample_of([0.1, 0.2, 0.3], [True, False, True], stratum=[0, 1, 1], sizes={0: 5, 1: 1})


def test_strata_without_verdicts_are_counted() -> None:
    sample = sample_of([0.1, 0.2], [True, False], stratum=[0, 0], sizes={0: 30, 1: 10})

    assert sample.missing_share == pytest.approx(0.25)


def test_what_a_threshold_decides_worked_by_hand() -> None:
    sample = sample_of([0.1, 0.3, 0.5, 0.7, 0.9], [False, False, True, False, True])

    found = cut_at(sample, [0.6, 0.1, 0.2, 0.5], 0.5)

    assert (found.threshold, found.above, found.below) == (0.5, 2, 2)
    assert (found.judged_above, found.judged_below) == (3, 2)
    assert tuple(found.kept_above) == pytest.approx((2 / 3, *wilson_interval(2, 3)))
    assert tuple(found.rejected_below) == pytest.approx((1.0, *wilson_interval(2, 2)))


def test_a_share_of_a_stratified_sample_counts_each_sentence_for_its_stratum() -> None:
    # One of two of a stratum of 10, and two of two of one of 30: .5 · 10/40 + 1 · 30/40.
    sample = sample_of([0.1] * 4, [True, False, True, True], stratum=[0, 0, 1, 1], sizes={0: 10, 1: 30})

    found = weighted_share(sample.kept, sample.weights)

    # Weights 1, 1, 3, 3: 8² / 20 = 3.2 verdicts of equal weight.
    assert tuple(found) == pytest.approx((0.875, *wilson_interval(0.875 * 3.2, 3.2)))


def test_sentences_of_equal_p_d_are_on_one_side_of_a_threshold() -> None:
    found = cut_at(judged(7), [0.1, 0.4, 0.4, 0.4, 0.9], 0.6)

    assert (found.threshold, found.below, found.above) == (0.4, 1, 4)
    assert (found.share_below, found.share_above) == (0.2, 0.8)


def test_a_share_of_nearly_all_sentences_keeps_the_highest() -> None:
    found = cut_at(judged(7), [0.1, 0.4, 0.9], 0.99999999)

    assert (found.threshold, found.below, found.above) == (0.9, 2, 1)


@pytest.mark.parametrize(("p_d", "share"), [([], 0.5), ([0.5], 1.0), ([0.5], -0.1)])
def test_a_threshold_needs_sentences_and_a_share(p_d, share) -> None:
    with pytest.raises(ValueError, match="give sentences and a share"):
        cut_at(judged(7), p_d, share)


def test_how_many_more_verdicts_are_needed() -> None:
    assert verdicts_needed(0, 30).for_any is None
    # 5 of 50 rejected: 100 verdicts would have 10.
    assert verdicts_needed(45, 5).for_any == 50
    assert verdicts_needed(40, 40).for_any == 0  # enough of both, though there is no AUC yet
    # Half the width of ±.1 takes four times as many verdicts.
    assert verdicts_needed(80, 20, Auc(0.7, 0.6, 0.8, 0.95)).for_width == pytest.approx(300, abs=1)
    assert verdicts_needed(80, 20, Auc(0.7, 0.68, 0.72, 0.95)).for_width == 0


def test_the_difference_of_two_aucs_worked_by_hand() -> None:
    # Kept, then rejected: before (.9 .2 | .5 .1) has the placements 1, .5 | .5, 1; after (.9 .6 | .5 .1) all 1.
    # Deviations before: .25, -.25 | -.25, .25, and 0 after; each of two, so each term is deviation / 2 · √2.
    before, after, kept = [0.9, 0.2, 0.5, 0.1], [0.9, 0.6, 0.5, 0.1], np.array([True, True, False, False])

    found = auc_difference(before, after, kept, np.ones(4), np.zeros(4, dtype=np.int64))

    reach = Z_95 * np.sqrt(4 / 3 * 4 * (0.25 / 2) ** 2 * 2)
    assert (found.before, found.after, found.value) == (0.75, 1.0, 0.25)
    assert (found.low, found.high) == pytest.approx((0.25 - reach, 0.25 + reach))


def test_scores_that_order_alike_do_not_differ() -> None:
    sample = judged(8)

    found = auc_difference(sample.p_d, logit(sample.p_d), sample.kept, sample.weights, sample.stratum)

    assert (found.value, found.low, found.high) == (0, 0, 0)
