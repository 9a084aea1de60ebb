"""How well an encoder's cosines agree with labels: accuracy and F1, and the thresholds of both.

A threshold is tuned by a sweep over every cut that it can make. A cut never falls between equal scores, because no
threshold could make it; taking every pair and taking none are cuts too.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from curation.statistics.correlation import Scores, finite

Labels = NDArray[np.bool_]
Counts = NDArray[np.int64]


def accuracy(scores: ArrayLike, labels: ArrayLike, threshold: float) -> float:
    """The share of pairs, 0..1, that `score > threshold` (strict) classifies correctly."""
    values, positive = labelled(scores, labels)
    return float(np.mean((values > threshold) == positive))  # (TP + TN) / n


def f1(scores: ArrayLike, labels: ArrayLike, threshold: float) -> float:
    """The harmonic mean of precision and recall of `score > threshold` (strict), 0..1.

    Raises ValueError where no label is 1: recall, and with it F1, is then undefined.
    """
    values, positive = labelled(scores, labels)
    if not positive.any():
        raise ValueError("No label is 1; F1 needs positive pairs.")
    taken = values > threshold
    # F1 = 2 P R / (P + R) with P = TP / taken and R = TP / positives is 2 TP / (taken + positives). This form
    # also holds where no pair is taken: it is 0, and P would be 0 / 0.
    return 2 * int((taken & positive).sum()) / int(taken.sum() + positive.sum())


def labelled(scores: ArrayLike, labels: ArrayLike) -> tuple[Scores, Labels]:
    """Scores (n,) float64 and labels (n,) bool; ValueError where they do not match or hold something else."""
    values, marks = finite(scores, "predicted"), np.asarray(labels)
    if values.shape != marks.shape or not values.size:
        raise ValueError(f"{values.size} predicted scores, {marks.size} labels; give one of each per pair.")
    if not np.isin(marks, (0, 1)).all():  # booleans count as 0 and 1
        raise ValueError("A label is neither 0 nor 1.")
    return values, marks.astype(bool)


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
        # True negatives are all negatives without the false positives: (pairs - positives) - (taken - TP).
        rejected_rightly = pairs - positives - (taken - right)
        return (right + rejected_rightly) / pairs

    # Taking none and taking all are cuts too, so the figure is at least the share of the larger class.
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
    # The sweep costs one sort: a cut that takes the t highest scores has as true positives the positive
    # labels among the first t, a cumulative sum.
    order = np.argsort(-values, kind="stable")  # falling; O(n log n)
    ordered = values[order]
    # Cuts lie only between unequal scores: c = 2 + the number of such places.
    last = np.flatnonzero(ordered[:-1] > ordered[1:])  # the last of each group of equal scores but the lowest
    taken = np.concatenate(([0], last + 1, [values.size]))  # from none to all
    right = np.concatenate(([0], np.cumsum(positive[order])))[taken]
    # (upper + lower) / 2 could overflow for large scores; lower + half the gap cannot unless the gap does.
    upper, lower = ordered[last], ordered[last + 1]
    middle = lower + (upper - lower) / 2
    # Between neighbouring floats the middle rounds to one of them; the lower one still separates the two.
    cuts = np.concatenate(([np.inf], np.where(middle < upper, middle, lower), [-np.inf]))
    figures = figures_of(taken, right, int(positive.sum()), values.size)  # (c,)
    # argmax takes the first maximum, and cuts descend: that is the highest threshold.
    best = int(np.argmax(figures))
    return Threshold(float(cuts[best]), float(figures[best]))
