"""What an encoder's cosines are worth: agreement with human scores, and with human labels."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from curation.statistics.intervals import Interval
from mlworkers.science.encoders.measuring import (
    Metric,
    classification_measured,
    correlation_measured,
    threshold_tuned,
)


@dataclass(frozen=True)
class Agreement:
    """How cosines agree with human scores of the same pairs.

    Correlations are in -1..1, or None where all cosines are equal. interval: of Spearman's, over resampled
    pairs, pearson_interval: of Pearson's; None where it is undefined or was not asked for. warnings: sentences for
    people.
    """

    pairs: int
    pearson: float | None
    spearman: float | None
    interval: Interval | None
    pearson_interval: Interval | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Classification:
    """How `cosine > threshold` agrees with human labels, 0..1; `tuned_on` other pairs set the thresholds.

    The intervals are over resampled pairs with the thresholds as they are; None where they were not asked for.
    """

    pairs: int
    accuracy: float
    f1: float
    accuracy_threshold: float
    f1_threshold: float
    tuned_on: int
    accuracy_interval: Interval | None = None
    f1_interval: Interval | None = None


def measure_agreement(cosines: ArrayLike, human: ArrayLike, *, resamples: int, seed: int) -> Agreement:
    """Pearson, Spearman and its bootstrap interval (resamples 0: none) of cosines (n,) and scores (n,).

    Raises ValueError for fewer than three pairs (two always correlate perfectly), for scores that are all
    equal, and for scores that are not finite.
    """
    # (n,) each.
    predicted, scores = np.asarray(cosines, dtype=np.float64), np.asarray(human, dtype=np.float64)
    if scores.size < 3:
        raise ValueError(f"{scores.size} pairs with a score are too few; a correlation needs at least 3.")
    if np.ptp(scores) == 0:
        raise ValueError(f"All {scores.size} scores are {scores[0]:g}; a correlation needs different ones.")
    # One seed for both: Spearman's and Pearson's correlations are computed on the same resamples.
    by_rank, by_value = (
        correlation_measured(metric, predicted, scores, resamples=resamples, seed=seed)
        for metric in (Metric.SPEARMAN, Metric.PEARSON)
    )
    return Agreement(
        pairs=scores.size,
        pearson=by_value.value,
        spearman=by_rank.value,
        interval=by_rank.interval,
        pearson_interval=by_value.interval,
        warnings=tuple(_warnings(predicted, by_rank.interval)),
    )


def measure_classification(
    cosines: ArrayLike,
    labels: ArrayLike,
    *,
    tuning_cosines: ArrayLike,
    tuning_labels: ArrayLike,
    resamples: int = 0,
    seed: int = 0,
) -> Classification:
    """Accuracy and F1 of `cosine > threshold`, each with the threshold that is best for it on tuning pairs.

    The tuning pairs are labelled by people too, and are not those measured: a threshold tuned on what it is
    measured on flatters the encoder. resamples 0: no intervals. Raises ValueError unless both labels occur on either
    side.
    """
    marks = np.asarray(labels)
    if marks.size == 0 or np.ptp(marks) == 0:
        raise ValueError(f"All {marks.size} labels are equal; accuracy and F1 need pairs of both labels.")
    accuracy, f1 = (
        classification_measured(
            metric,
            cosines,
            marks,
            # Two thresholds: one for each metric.
            threshold=threshold_tuned(metric, tuning_cosines, tuning_labels),
            resamples=resamples,
            seed=seed,
        )
        for metric in (Metric.ACCURACY, Metric.F1)
    )
    return Classification(
        pairs=marks.size,
        accuracy=accuracy.value or 0.0,  # never None: both labels occur
        f1=f1.value or 0.0,
        accuracy_threshold=accuracy.threshold or 0.0,
        f1_threshold=f1.threshold or 0.0,
        tuned_on=np.size(tuning_labels),
        accuracy_interval=accuracy.interval,
        f1_interval=f1.interval,
    )


def _warnings(predicted: ArrayLike, interval: Interval | None) -> Iterator[str]:
    if np.ptp(predicted) == 0:
        yield "The encoder gives every pair the same cosine, so there is no correlation."
    if interval is not None and interval.undefined:  # a resample with one value alone has no correlation
        yield f"The interval leaves out {interval.undefined} constant ones of {interval.resamples} resamples."
