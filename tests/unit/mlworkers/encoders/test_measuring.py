"""One metric on n pairs: against scipy and scikit-learn, and resamples against drawing them one by one."""

import numpy as np
import pytest
from scipy.stats import pearsonr, spearmanr
from sklearn.metrics import accuracy_score, f1_score

from mlworkers.science.encoders.measuring import (
    Metric,
    classification_measured,
    correlation_measured,
    decisions_measured,
    mean_measured,
    threshold_tuned,
)

GENERATOR = np.random.default_rng(11)
GOLD = GENERATOR.integers(0, 6, size=90).astype(float)
COSINES = np.tanh((GOLD - 2 + GENERATOR.normal(size=90)) / 3)
LABELS = (GOLD > 2).astype(int)


def one_by_one(statistic, *columns) -> np.ndarray:
    """A bootstrap written out; the draws are those of a generator of the same seed."""
    rows = np.random.default_rng(4).integers(90, size=(200, 90))
    return np.array([statistic(*(column[row] for column in columns)) for row in rows])


@pytest.mark.parametrize(
    ("metric", "statistic"),
    [
        (Metric.SPEARMAN, lambda a, b: spearmanr(a, b).statistic),
        (Metric.PEARSON, lambda a, b: pearsonr(a, b).statistic),
    ],
)
def test_correlations_and_their_resamples_are_scipy_s(metric, statistic) -> None:
    found = correlation_measured(metric, COSINES, GOLD, resamples=200, seed=4)

    assert found.value == pytest.approx(statistic(COSINES, GOLD))
    assert found.by_pair.mean() == pytest.approx(found.value)
    assert found.drawn == pytest.approx(one_by_one(statistic, COSINES, GOLD))


@pytest.mark.parametrize(("metric", "statistic"), [(Metric.ACCURACY, accuracy_score), (Metric.F1, f1_score)])
def test_accuracy_and_f1_and_their_resamples_are_scikit_learn_s(metric, statistic) -> None:
    found = classification_measured(metric, COSINES, LABELS, threshold=0.1, resamples=200, seed=4)

    assert found.value == pytest.approx(statistic(LABELS, COSINES > 0.1))
    assert found.by_pair.mean() == pytest.approx(found.value)
    assert found.drawn == pytest.approx(one_by_one(statistic, LABELS, COSINES > 0.1))
    assert (found.interval.low, found.interval.high) == pytest.approx(
        tuple(np.quantile(found.drawn, [0.025, 0.975]))
    )


@pytest.mark.parametrize("metric", [Metric.ACCURACY, Metric.F1, Metric.PEARSON])
def test_the_variance_of_pseudo_values_is_that_of_resampled_pairs(metric) -> None:
    if metric is Metric.PEARSON:
        found = correlation_measured(metric, COSINES, GOLD, resamples=4_000, seed=2)
    else:
        found = classification_measured(metric, COSINES, LABELS, threshold=0.1, resamples=4_000, seed=2)

    assert found.by_pair.std(ddof=1) / np.sqrt(90) == pytest.approx(found.drawn.std(), rel=0.08)


def test_accuracy_takes_several_classes() -> None:
    found = decisions_measured(Metric.ACCURACY, [0, 1, 2, 2], [0, 1, 1, 2], resamples=0, seed=1)

    assert (found.value, found.interval) == (0.75, None)


def test_a_threshold_never_splits_equal_cosines_and_is_the_highest_of_equally_good_ones() -> None:
    # .5 is a positive and a negative pair. Taking .9 alone and taking .9 and both .5 are right three times of four.
    found = threshold_tuned(Metric.ACCURACY, [0.9, 0.5, 0.5, 0.1], [1, 1, 0, 0])

    assert found == pytest.approx(0.7)


def test_a_mean_over_parts_is_unweighted_and_resampled_within_each() -> None:
    parts = [
        correlation_measured(Metric.SPEARMAN, COSINES[rows], GOLD[rows], resamples=300, seed=seed)
        for seed, rows in enumerate((slice(0, 60), slice(60, 90)))
    ]

    found = mean_measured(parts)

    assert found.value == pytest.approx((parts[0].value + parts[1].value) / 2)
    assert found.pairs == 90
    assert found.drawn.std() == pytest.approx(np.hypot(*(part.drawn.std() for part in parts)) / 2, rel=0.15)


def test_a_mean_with_an_undefined_part_is_undefined() -> None:
    flat = correlation_measured(Metric.SPEARMAN, [0.5, 0.5, 0.5], [1, 2, 3], resamples=10, seed=1)
    other = correlation_measured(Metric.SPEARMAN, [0.1, 0.2, 0.3], [1, 2, 3], resamples=10, seed=1)

    assert (mean_measured([flat, other]).value, mean_measured([flat, other]).interval) == (None, None)


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (
            lambda: correlation_measured(Metric.F1, COSINES, GOLD, resamples=0, seed=1),
            "f1 is not a correlation",
        ),
        (
            lambda: decisions_measured(Metric.PEARSON, LABELS, LABELS, resamples=0, seed=1),
            "pearson needs scores, not labels",
        ),
        (
            lambda: decisions_measured(Metric.F1, [1, 0], [0, 0], resamples=0, seed=1),
            "No label is 1; F1 needs positive pairs",
        ),
        (lambda: mean_measured([]), "needs at least one part"),
    ],
)
def test_what_does_not_fit_is_refused(call, reason) -> None:
    with pytest.raises(ValueError, match=reason):
        call()
