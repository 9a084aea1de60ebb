"""How well an encoder's cosines agree with people: correlations, accuracy and F1, and the thresholds of the latter two.

A threshold is tuned by a sweep over every cut that it can make. A cut never falls between equal scores, because no
threshold could make it; taking every pair and taking none are cuts too.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rankdata

Scores = NDArray[np.float64]
Labels = NDArray[np.bool_]
Counts = NDArray[np.int64]


def pearson(predicted: ArrayLike, human: ArrayLike) -> float | None:
    """Pearson's product-moment correlation of two vectors (n,) and (n,).

    Returns a value in -1..1, or None where one of them is constant and the correlation undefined.
    Raises ValueError unless both hold the same number of finite values, at least two.
    """
    return _correlation(*paired(predicted, human))


def spearman(predicted: ArrayLike, human: ArrayLike) -> float | None:
    """Spearman's rank correlation: Pearson's of the ranks, equal values sharing the mean of their ranks.

    Arguments, result and errors as for `pearson`.
    """
    first, second = paired(predicted, human)
    return _correlation(rankdata(first), rankdata(second))


def accuracy(scores: ArrayLike, labels: ArrayLike, threshold: float) -> float:
    """The share of pairs, 0..1, that `score > threshold` (strict) classifies correctly."""
    values, positive = labelled(scores, labels)
    return float(np.mean((values > threshold) == positive))


def f1(scores: ArrayLike, labels: ArrayLike, threshold: float) -> float:
    """The harmonic mean of precision and recall of `score > threshold` (strict), 0..1.

    Raises ValueError where no label is 1: recall, and with it F1, is then undefined.
    """
    values, positive = labelled(scores, labels)
    if not positive.any():
        raise ValueError("No label is 1; F1 needs positive pairs.")
    taken = values > threshold
    return 2 * int((taken & positive).sum()) / int(taken.sum() + positive.sum())


def paired(predicted: ArrayLike, human: ArrayLike) -> tuple[Scores, Scores]:
    """Two vectors of equal length as float64; ValueError where they are not, are too short, or not finite."""
    first, second = _finite(predicted, "predicted"), _finite(human, "human")
    if first.shape != second.shape:
        raise ValueError(f"{first.size} predicted and {second.size} human scores; give one of each per pair.")
    if first.size < 2:
        raise ValueError(f"A correlation needs at least 2 pairs; there is {first.size}.")
    return first, second


def labelled(scores: ArrayLike, labels: ArrayLike) -> tuple[Scores, Labels]:
    """Scores (n,) float64 and labels (n,) bool; ValueError where they do not match or hold something else."""
    values, marks = _finite(scores, "predicted"), np.asarray(labels)
    if values.shape != marks.shape or not values.size:
        raise ValueError(f"{values.size} predicted scores, {marks.size} labels; give one of each per pair.")
    if not np.isin(marks, (0, 1)).all():
        raise ValueError("A label is neither 0 nor 1.")
    return values, marks.astype(bool)


def _finite(values: ArrayLike, name: str) -> Scores:
    vector = np.asarray(values, dtype=np.float64)
    if vector.ndim != 1:
        raise ValueError(f"The {name} scores must be one row of numbers; they have {vector.ndim} dimensions.")
    wrong = np.flatnonzero(~np.isfinite(vector))
    if wrong.size:
        raise ValueError(f"The {name} score of pair {wrong[0] + 1} is not a finite number.")
    return vector


def _correlation(first: Scores, second: Scores) -> float | None:
    if np.ptp(first) == 0 or np.ptp(second) == 0:
        return None
    left, right = _centred(first), _centred(second)
    # Rounding can carry a perfect correlation past 1.
    return float(np.clip(left @ right, -1.0, 1.0))


def _centred(values: Scores) -> Scores:
    # Scaled first: squares of very small or large values would leave the range of a float.
    scaled = values / np.abs(values).max()
    centred = scaled - scaled.mean()
    unit: Scores = centred / np.linalg.norm(centred)
    return unit


@dataclass(frozen=True)
class Threshold:
    """A pair is taken for positive where `score > value` (strict).

    value: infinite where the best is to take every pair (-inf) or none (inf).
    figure: the accuracy or F1, 0..1, that it reached on the pairs it was tuned on.
    """

    value: float
    figure: float


def tune_accuracy(scores: ArrayLike, labels: ArrayLike) -> Threshold:
    """The threshold of the highest accuracy; among equals the highest threshold.

    scores (n,), labels (n,) of 0 and 1. Raises ValueError unless both labels occur.
    """

    def accuracies(taken: Counts, right: Counts, positives: int, pairs: int) -> Scores:
        rejected_rightly = pairs - positives - (taken - right)
        return (right + rejected_rightly) / pairs

    return _best_cut(scores, labels, accuracies)


def tune_f1(scores: ArrayLike, labels: ArrayLike) -> Threshold:
    """The threshold of the highest F1; arguments, ties and errors as for `tune_accuracy`."""
    return _best_cut(scores, labels, lambda taken, right, positives, _pairs: 2 * right / (taken + positives))


def _best_cut(
    scores: ArrayLike, labels: ArrayLike, figures_of: Callable[[Counts, Counts, int, int], Scores]
) -> Threshold:
    """figures_of: from the pairs that each cut takes and the positives among them, (c,) each, and the positives and
    pairs of all, to the figure of each cut (c,).
    """
    values, positive = labelled(scores, labels)
    if positive.all() or not positive.any():
        raise ValueError(f"All {positive.size} labels are {int(positive[0])}; a threshold needs both.")
    order = np.argsort(-values, kind="stable")
    ordered = values[order]
    last = np.flatnonzero(ordered[:-1] > ordered[1:])  # the last of each group of equal scores but the lowest
    taken = np.concatenate(([0], last + 1, [values.size]))  # from none to all
    right = np.concatenate(([0], np.cumsum(positive[order])))[taken]
    upper, lower = ordered[last], ordered[last + 1]
    middle = lower + (upper - lower) / 2
    # Between neighbouring floats the middle rounds to one of them; the lower one still separates the two.
    cuts = np.concatenate(([np.inf], np.where(middle < upper, middle, lower), [-np.inf]))
    figures = figures_of(taken, right, int(positive.sum()), values.size)
    best = int(np.argmax(figures))
    return Threshold(float(cuts[best]), float(figures[best]))
