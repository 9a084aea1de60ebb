"""One metric of one encoder on n pairs: its value, what each pair contributes to it, and its value in each resample.

Commands, runs and comparisons all measure here. Of accuracy and F1, the threshold is fixed before: it was tuned on
other pairs, so the interval covers other pairs to measure on, and not other pairs to tune on.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike, NDArray

from curation.statistics.correlation import Scores, pearson, spearman
from curation.statistics.influence import pearson_by_pair, ratio_by_pair, spearman_by_pair
from curation.statistics.intervals import (
    Interval,
    percentile_interval,
    resampled_correlations,
    resampled_pearson,
    resampled_ratios,
)
from mlworkers.science.encoders.metrics import Threshold, labelled, tune_accuracy, tune_f1

# Thresholds just outside the cosines, so that a strict `cosine > threshold` takes none, or all, of any pairs.
_TAKES_NONE, _TAKES_ALL = 1.0, float(np.nextafter(-1.0, -2.0))


class Metric(StrEnum):
    """How cosines are compared with what people gave: correlations with scores, in -1..1, or hits of labels."""

    SPEARMAN = "spearman"  # Pearson's r of ranks
    PEARSON = "pearson"  # Σ (x - x̄)(y - ȳ) / √(Σ (x - x̄)² · Σ (y - ȳ)²)
    ACCURACY = "accuracy"  # (TP + TN) / n
    F1 = "f1"  # 2 TP / (2 TP + FP + FN)
    MATTHEWS = "matthews"  # -1..1, 0 for guessing (GLUE's metric of CoLA)

    @property
    def needs_labels(self) -> bool:
        return self in (Metric.ACCURACY, Metric.F1, Metric.MATTHEWS)


OfKept = Callable[[NDArray[np.bool_]], Scores | None]


@dataclass(frozen=True)
class Measured:
    """A metric of n pairs, with what its interval and its comparison with others need.

    value: None where it is undefined.
    by_pair: pseudo-values (n,), whose mean is the value; None where it is undefined.
    drawn: the value in each resample, (resamples,), NaN where it is undefined; empty where no interval was asked for.
    threshold: of accuracy and F1.
    of_kept: by_pair of those pairs alone that a mask (n,) keeps; None where it is not computed again.
    """

    metric: Metric
    pairs: int
    value: float | None
    by_pair: Scores | None
    drawn: Scores
    threshold: float | None = None
    of_kept: OfKept | None = None

    @property
    def interval(self) -> Interval | None:
        """The 95 % percentile interval over resampled pairs (Efron & Tibshirani 1993, section 13.3)."""
        return None if self.value is None or not self.drawn.size else percentile_interval(self.drawn)


def correlation_measured(
    metric: Metric, cosines: ArrayLike, human: ArrayLike, *, resamples: int, seed: int
) -> Measured:
    """Spearman's or Pearson's correlation of cosines (n,) with human scores (n,). resamples 0: no interval.

    Raises ValueError where the vectors are unusable (as `correlation.paired`), and for another metric.
    """
    if metric not in _CORRELATIONS:
        raise ValueError(f"{metric} is not a correlation.")
    of_all, by_pair, resampled = _CORRELATIONS[metric]
    # Ranks are made again in each.
    drawn = resampled(cosines, human, seed=seed, resamples=resamples) if resamples else np.empty(0)
    left, right = np.asarray(cosines), np.asarray(human)

    def of_kept(kept: NDArray[np.bool_]) -> Scores | None:
        return by_pair(left[kept], right[kept])

    return Measured(metric, left.size, of_all(left, right), by_pair(left, right), drawn, of_kept=of_kept)


def classification_measured(
    metric: Metric, cosines: ArrayLike, labels: ArrayLike, *, threshold: float, resamples: int, seed: int
) -> Measured:
    """Accuracy or F1 of `cosine > threshold` (strict) against labels of 0 and 1, (n,).

    Raises ValueError where the vectors are unusable (as `metrics.labelled`), for F1 where no label is 1, and for
    another metric.
    """
    values, positive = labelled(cosines, labels)
    taken = values > threshold  # (n,), strict
    return decisions_measured(metric, taken, positive, threshold=threshold, resamples=resamples, seed=seed)


def decisions_measured(
    metric: Metric,
    taken: ArrayLike,
    labels: ArrayLike,
    *,
    threshold: float | None = None,
    resamples: int,
    seed: int,
) -> Measured:
    """Accuracy, F1 or Matthews' correlation of decisions (n,) against labels (n,). Accuracy takes any classes, the
    others 0 and 1 alone.

    Matthews' correlation (1975) is Pearson's of the two vectors of 0 and 1; it is undefined where all decisions, or all
    labels, are one class.
    """
    decided, truth = np.asarray(taken), np.asarray(labels)
    if metric is Metric.MATTHEWS:
        # Of 0 and 1, Pearson's r is (TP · TN - FP · FN) / √((TP + FP) (TP + FN) (TN + FP) (TN + FN)).
        found = correlation_measured(
            Metric.PEARSON, decided.astype(float), truth.astype(float), resamples=resamples, seed=seed
        )
        return replace(found, metric=metric, threshold=threshold)
    if metric is Metric.ACCURACY:
        # Accuracy and F1 are both Σ above_i / Σ below_i over pairs, so that one bootstrap serves both.
        above, below = (decided == truth).astype(np.float64), np.ones(truth.size)
    elif metric is Metric.F1:
        if not (truth == 1).any():
            raise ValueError("No label is 1; F1 needs positive pairs.")
        taken_rows, positive = (decided == 1).astype(np.float64), (truth == 1).astype(np.float64)
        # F1 = 2 TP / (taken + positives): 2 t_i p_i and t_i + p_i summed over the pairs.
        above, below = 2 * taken_rows * positive, taken_rows + positive
    else:
        raise ValueError(f"{metric} needs scores, not labels.")
    # A resample with no positive pair and none taken has the F1 0 / 0: it is NaN, and outside the interval.
    drawn = resampled_ratios(above, below, seed=seed, resamples=resamples) if resamples else np.empty(0)
    value = float(above.sum() / below.sum())  # Σ above_i / Σ below_i

    def of_kept(kept: NDArray[np.bool_]) -> Scores | None:
        return ratio_by_pair(above[kept], below[kept])

    return Measured(metric, truth.size, value, ratio_by_pair(above, below), drawn, threshold, of_kept)


def threshold_tuned(metric: Metric, cosines: ArrayLike, labels: ArrayLike) -> float:
    """The threshold that is best for the metric on these pairs; of equally good ones the highest, and never one between
    equal cosines. It is finite, so that it has a place in JSON. Raises ValueError unless both labels occur.
    """
    found = _TUNED[metric](cosines, labels)
    # Clipping ±inf changes no decision, because every cosine lies in -1..1.
    return float(np.clip(found.value, _TAKES_ALL, _TAKES_NONE))


def mean_measured(parts: Sequence[Measured]) -> Measured:
    """The unweighted mean of one metric over parts that share no pairs, such as years or subsets.

    Resamples are drawn within each part. There are no pseudo-values: the pairs of unequal parts do not weigh the same,
    so the two-way analysis of a comparison does not hold for this mean. Raises ValueError without parts.
    """
    if not parts:
        raise ValueError("A mean over parts needs at least one part.")
    values = [part.value for part in parts]
    defined = [value for value in values if value is not None]  # one undefined part makes the mean undefined
    value = float(np.mean(defined)) if len(defined) == len(values) else None
    drawn = (
        # Parts of equal size and one seed draw the same places, and their chance does not average out: the seeds
        # must differ, or the order of the resamples (`suites.figures.resampled_apart`).
        # Resample r of the mean is the mean of resample r of each part, (parts, resamples) -> (resamples,).
        np.mean([part.drawn for part in parts], axis=0)
        if all(part.drawn.size for part in parts)
        else np.empty(0)
    )
    return Measured(parts[0].metric, sum(part.pairs for part in parts), value, None, drawn)


_Resampled = Callable[..., Scores]
_CORRELATIONS: dict[
    Metric,
    tuple[
        Callable[[ArrayLike, ArrayLike], float | None],
        Callable[[ArrayLike, ArrayLike], Scores | None],
        _Resampled,
    ],
] = {
    Metric.SPEARMAN: (spearman, spearman_by_pair, resampled_correlations),
    Metric.PEARSON: (pearson, pearson_by_pair, resampled_pearson),
}
_TUNED: dict[Metric, Callable[[ArrayLike, ArrayLike], Threshold]] = {
    Metric.ACCURACY: tune_accuracy,
    Metric.F1: tune_f1,
}
