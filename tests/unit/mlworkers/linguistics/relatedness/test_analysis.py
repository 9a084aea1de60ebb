"""Partial correlations and the regression, against scipy, scikit-learn and residuals of their own."""

import numpy as np
import pytest
from scipy.stats import linregress, pearsonr, rankdata, spearmanr
from sklearn.linear_model import LinearRegression

from mlworkers.science.linguistics.relatedness.analysis import (
    partial_spearman,
    regression_fit,
    relatedness_analysis,
)
from mlworkers.science.linguistics.relatedness.features import Feature
from mlworkers.science.linguistics.relatedness.names import DICE

DRAWS = {"resamples": 200, "seed": 3}


@pytest.fixture
def variables():
    """Dice, a feature that goes with it, and scores that go with both."""
    rng = np.random.default_rng(5)
    dice = rng.uniform(size=300)
    feature = dice + rng.normal(scale=0.4, size=300)
    scores = np.round(dice + 0.5 * feature + rng.normal(scale=0.3, size=300), 1)  # with ties
    return dice, feature, scores


def test_the_partial_correlation_is_that_of_what_the_ranks_of_dice_leave(variables) -> None:
    dice, feature, scores = variables
    ranks = rankdata(dice)

    def left(values):
        fit = linregress(ranks, rankdata(values))
        return rankdata(values) - fit.intercept - fit.slope * ranks

    found = partial_spearman(feature, scores, dice, **DRAWS)

    assert found.value == pytest.approx(pearsonr(left(feature), left(scores)).statistic, abs=1e-12)
    assert found.low < found.value < found.high


def test_a_copy_of_dice_adds_nothing_that_could_be_measured(variables) -> None:
    dice, _feature, scores = variables

    assert partial_spearman(dice * 2, scores, dice, **DRAWS).value is None


def test_coefficients_are_those_of_least_squares_on_standardised_columns(variables) -> None:
    dice, feature, scores = variables
    columns = np.stack([dice, feature], axis=1)
    standardised = (columns - columns.mean(axis=0)) / columns.std(axis=0)
    target = (scores - scores.mean()) / scores.std()
    reference = LinearRegression().fit(standardised, target)

    found = regression_fit(columns, scores, [DICE, "feature"], **DRAWS)

    assert [one.estimate.value for one in found.coefficients] == pytest.approx(reference.coef_.tolist())
    assert found.explained.value == pytest.approx(reference.score(standardised, target))
    assert found.by_overlap.value == pytest.approx(linregress(dice, scores).rvalue ** 2)
    of_others = LinearRegression().fit(columns[:, :1], feature).score(columns[:, :1], feature)
    assert found.coefficients[1].inflation == pytest.approx(1 / (1 - of_others))


def test_the_interval_of_a_coefficient_is_as_wide_as_its_standard_error_says(variables) -> None:
    dice, _feature, scores = variables
    fit = linregress(rankdata(dice), scores)
    spread = np.std(rankdata(dice)) / np.std(scores)

    found = regression_fit(rankdata(dice)[:, None], scores, [DICE], resamples=1000, seed=3)

    width = found.coefficients[0].estimate.high - found.coefficients[0].estimate.low
    # One feature: β is a correlation, whose sampling error is (1 - r²)/√n; the slope's error alone is larger.
    assert width == pytest.approx(2 * 1.96 * fit.stderr * spread * np.sqrt(1 - fit.rvalue**2), rel=0.15)


def test_features_that_are_sums_of_others_have_no_regression(variables) -> None:
    dice, feature, scores = variables

    assert regression_fit(np.stack([dice, feature, dice + feature], axis=1), scores, "abc", **DRAWS) is None


def test_each_feature_has_its_own_pairs_and_the_main_ones_the_common_pairs(variables) -> None:
    dice, feature, scores = variables
    some, fewer = feature.copy(), feature.copy()
    some[:100], fewer[250:] = np.nan, np.nan
    features = [Feature(DICE, dice), Feature("all words", some), Feature("NOUN", fewer, without_vector=2)]

    found = relatedness_analysis(features, scores, **DRAWS)

    overlap, words, nouns = found.features
    assert (overlap.pairs, words.pairs, nouns.pairs, found.common_pairs) == (300, 200, 250, 200)
    assert words.own.value == pytest.approx(spearmanr(some[100:], scores[100:]).statistic)
    assert words.overlap.value == pytest.approx(spearmanr(dice[100:], scores[100:]).statistic)
    assert overlap.common.value == words.overlap.value
    assert (overlap.partial, nouns.common) == (None, None)
    assert [one.name for one in found.regression.coefficients] == [DICE, "all words"]
