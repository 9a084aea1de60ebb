"""What an encoder's cosines are worth: agreement with human scores, and with human labels."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from mlworkers.encoders.intervals import Interval, bootstrap_interval
from mlworkers.encoders.metrics import accuracy, f1, pearson, spearman, tune_accuracy, tune_f1

# Thresholds just outside the cosines, so that a strict `cosine > threshold` takes none, or all, of any pairs.
_TAKES_NONE, _TAKES_ALL = 1.0, float(np.nextafter(-1.0, -2.0))


@dataclass(frozen=True)
class Agreement:
    """How cosines agree with human scores of the same pairs.

    Correlations are in -1..1, or None where all cosines are equal. interval: of Spearman's, over resampled
    pairs; None where it is undefined or was not asked for. warnings: sentences for people.
    """

    pairs: int
    pearson: float | None
    spearman: float | None
    interval: Interval | None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Classification:
    """How `cosine > threshold` agrees with human labels, 0..1; `tuned_on` other pairs set the thresholds."""

    pairs: int
    accuracy: float
    f1: float
    accuracy_threshold: float
    f1_threshold: float
    tuned_on: int


def measure_agreement(cosines: ArrayLike, human: ArrayLike, *, resamples: int, seed: int) -> Agreement:
    """Pearson, Spearman and its bootstrap interval (resamples 0: none) of cosines (n,) and scores (n,).

    Raises ValueError for fewer than three pairs (two always correlate perfectly), for scores that are all
    equal, and for scores that are not finite.
    """
    predicted, scores = np.asarray(cosines, dtype=np.float64), np.asarray(human, dtype=np.float64)
    if scores.size < 3:
        raise ValueError(f"{scores.size} pairs with a score are too few; a correlation needs at least 3.")
    if np.ptp(scores) == 0:
        raise ValueError(f"All {scores.size} scores are {scores[0]:g}; a correlation needs different ones.")
    interval = bootstrap_interval(predicted, scores, resamples=resamples, seed=seed) if resamples else None
    return Agreement(
        pairs=scores.size,
        pearson=pearson(predicted, scores),
        spearman=spearman(predicted, scores),
        interval=interval,
        warnings=tuple(_warnings(predicted, interval)),
    )


def measure_classification(
    cosines: ArrayLike, labels: ArrayLike, *, tuning_cosines: ArrayLike, tuning_labels: ArrayLike
) -> Classification:
    """Accuracy and F1 of `cosine > threshold`, each with the threshold that is best for it on tuning pairs.

    The tuning pairs are labelled by people too, and are not those measured: a threshold tuned on what it is
    measured on flatters the encoder. Raises ValueError unless both labels occur on either side.
    """
    marks = np.asarray(labels)
    if marks.size == 0 or np.ptp(marks) == 0:
        raise ValueError(f"All {marks.size} labels are equal; accuracy and F1 need pairs of both labels.")
    # An infinite threshold has no place in JSON.
    for_accuracy, for_f1 = (
        float(np.clip(tune(tuning_cosines, tuning_labels).value, _TAKES_ALL, _TAKES_NONE))
        for tune in (tune_accuracy, tune_f1)
    )
    return Classification(
        pairs=marks.size,
        accuracy=accuracy(cosines, marks, for_accuracy),
        f1=f1(cosines, marks, for_f1),
        accuracy_threshold=for_accuracy,
        f1_threshold=for_f1,
        tuned_on=np.size(tuning_labels),
    )


def _warnings(predicted: ArrayLike, interval: Interval | None) -> Iterator[str]:
    if np.ptp(predicted) == 0:
        yield "The encoder gives every pair the same cosine, so there is no correlation."
    if interval is not None and interval.undefined:
        yield f"The interval leaves out {interval.undefined} constant ones of {interval.resamples} resamples."
