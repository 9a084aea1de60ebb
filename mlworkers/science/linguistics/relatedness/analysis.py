"""How features of pairs go together with the scores that people gave them.

Features are defined on different pairs, so their own correlations cannot be compared. Each is therefore also shown with
the correlation of Dice on the same pairs, with its partial correlation given Dice, and, for the main features, on the
pairs that have all of them. Intervals are percentile intervals over resampled pairs.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from curation.files.progress import Report, silent
from curation.results.estimates import Estimate
from curation.statistics.correlation import Scores, spearman
from curation.statistics.intervals import percentile_interval, resampled_correlations
from mlworkers.science.linguistics.relatedness.features import FEWEST_PAIRS, Feature
from mlworkers.science.linguistics.relatedness.names import DICE, MAIN

_SMALLEST = 1e-12  # of 1 - r²: below, a correlation is 1 but for rounding


@dataclass(frozen=True)
class FeatureFigures:
    """Of one feature. own: Spearman with the scores on the `pairs` that have it; overlap: Dice's on the same pairs;
    partial: own, given Dice; common: on the pairs that have every main feature, None of a feature that is none.
    """

    question: str
    name: str
    pairs: int
    without_vector: int
    own: Estimate
    overlap: Estimate
    partial: Estimate | None
    common: Estimate | None


@dataclass(frozen=True)
class Coefficient:
    """A standardised coefficient: standard deviations of the score for one of the feature, the others being equal.

    inflation: the variance inflation factor, 1 where the feature does not correlate with the others.
    """

    name: str
    estimate: Estimate
    inflation: float


@dataclass(frozen=True)
class Regression:
    """Of the scores on all main features, by least squares. explained: R²; by_overlap: R² of Dice alone."""

    coefficients: Sequence[Coefficient]
    explained: Estimate
    by_overlap: Estimate


@dataclass(frozen=True)
class Relatedness:
    pairs: int
    common_pairs: int
    features: Sequence[FeatureFigures]
    regression: Regression | None


def relatedness_analysis(
    features: Sequence[Feature], scores: Scores, *, resamples: int, seed: int, report: Report = silent
) -> Relatedness:
    """features: of the same n pairs, Dice among them; scores: (n,), finite."""
    main = [feature for feature in features if feature.name in MAIN]
    common = np.logical_and.reduce([feature.defined for feature in main])
    shared = common if common.sum() >= FEWEST_PAIRS else None
    overlap = next(feature for feature in features if feature.name == DICE).values
    figures = []
    for number, feature in enumerate(features):
        report(number, len(features), "Computing correlations and their intervals")
        own, is_dice = feature.defined, feature.name == DICE
        values, dice, human = feature.values[own], overlap[own], scores[own]
        in_common = None
        if shared is not None and feature.name in MAIN:
            in_common = _spearman(feature.values[shared], scores[shared], resamples=resamples, seed=seed)
        of_feature = FeatureFigures(
            feature.question,
            feature.name,
            int(own.sum()),
            feature.without_vector,
            _spearman(values, human, resamples=resamples, seed=seed),
            _spearman(dice, human, resamples=resamples, seed=seed),
            None if is_dice else partial_spearman(values, human, dice, resamples=resamples, seed=seed),
            in_common,
        )
        figures.append(of_feature)
    regression = None
    if shared is not None and len(main) > 1:
        columns = np.stack([feature.values[shared] for feature in main], axis=1)
        names = [feature.name for feature in main]
        regression = regression_fit(columns, scores[shared], names, resamples=resamples, seed=seed)
    return Relatedness(scores.size, int(common.sum()), figures, regression)


def _spearman(values: Scores, scores: Scores, *, resamples: int, seed: int) -> Estimate:
    return _estimate(
        spearman(values, scores), resampled_correlations(values, scores, seed=seed, resamples=resamples)
    )


def partial_spearman(values: Scores, scores: Scores, given: Scores, *, resamples: int, seed: int) -> Estimate:
    """Spearman's partial correlation of values and scores given a third variable, (n,) each.

    It is (r_xy - r_xz r_yz) / √((1 - r_xz²)(1 - r_yz²)), where each r is a rank correlation (Kendall and Gibbons 1990,
    chapter 8): the correlation of what a linear regression on the ranks of the third leaves of both ranks.
    """
    sides = ((values, scores), (values, given), (scores, given))
    all_pairs = [spearman(one, other) for one, other in sides]
    # The same seed draws the same resamples for the three.
    drawn = [resampled_correlations(one, other, seed=seed, resamples=resamples) for one, other in sides]
    if any(value is None for value in all_pairs):
        return Estimate(None)
    value = float(_partial(*(np.array([one], dtype=np.float64) for one in all_pairs))[0])
    return _estimate(None if np.isnan(value) else value, _partial(*drawn))


def _partial(between: Scores, first: Scores, second: Scores) -> Scores:
    left = (1 - first**2) * (1 - second**2)
    defined = left > _SMALLEST
    ratio = (between - first * second) / np.sqrt(np.where(defined, left, 1.0))
    return np.where(defined, np.clip(ratio, -1.0, 1.0), np.nan)


def regression_fit(
    columns: Scores, scores: Scores, names: Sequence[str], *, resamples: int, seed: int
) -> Regression | None:
    """Standardised coefficients of scores (n,) on features (n, p), of which Dice is the first.

    They follow from correlations alone: β = R⁻¹ r, R² = r·β, and the inflation of feature k is (R⁻¹)_kk. Returns None
    where a feature or the scores are constant, or a feature is a sum of others.
    """
    joined = np.column_stack([columns, scores])
    of_all = _solved(joined)
    if of_all is None:
        return None
    beta, explained, by_overlap, inflation = of_all
    rng = np.random.default_rng([seed, 6])
    found = (_solved(joined[rng.integers(len(joined), size=len(joined))]) for _draw in range(resamples))
    drawn = [one for one in found if one is not None]
    betas = np.array([one[0] for one in drawn]).reshape(len(drawn), len(names))
    coefficients = [
        Coefficient(name, _estimate(float(beta[k]), betas[:, k]), float(inflation[k]))
        for k, name in enumerate(names)
    ]
    return Regression(
        coefficients,
        _estimate(explained, np.array([one[1] for one in drawn])),
        _estimate(by_overlap, np.array([one[2] for one in drawn])),
    )


def _solved(joined: Scores) -> tuple[Scores, float, float, Scores] | None:
    """β, R², R² of the first feature alone, and inflations, from features with the scores as last column."""
    if (np.ptp(joined, axis=0) == 0).any():
        return None
    correlations: Scores = np.asarray(np.corrcoef(joined, rowvar=False), dtype=np.float64)
    between, with_scores = correlations[:-1, :-1], correlations[:-1, -1]
    if np.linalg.cond(between) > 1 / _SMALLEST:
        return None
    inverse = np.linalg.inv(between)
    beta = inverse @ with_scores
    return beta, float(with_scores @ beta), float(with_scores[0] ** 2), np.diag(inverse)


def _estimate(value: float | None, drawn: Scores) -> Estimate:
    interval = percentile_interval(drawn) if value is not None and drawn.size else None
    return Estimate(value) if interval is None else Estimate(value, interval.low, interval.high)
