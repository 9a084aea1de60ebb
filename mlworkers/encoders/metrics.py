"""How well an encoder's cosines agree with people: correlations, accuracy and F1."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rankdata

Scores = NDArray[np.float64]
Labels = NDArray[np.bool_]


def pearson(predicted: ArrayLike, gold: ArrayLike) -> float | None:
    """Pearson's product-moment correlation of two vectors (n,) and (n,).

    Returns a value in -1..1, or None where one of them is constant and the correlation undefined.
    Raises ValueError unless both hold the same number of finite values, at least two.
    """
    return _correlation(*paired(predicted, gold))


def spearman(predicted: ArrayLike, gold: ArrayLike) -> float | None:
    """Spearman's rank correlation: Pearson's of the ranks, equal values sharing the mean of their ranks.

    Arguments, result and errors as for `pearson`.
    """
    first, second = paired(predicted, gold)
    return _correlation(rankdata(first), rankdata(second))


def accuracy(scores: ArrayLike, labels: ArrayLike, threshold: float) -> float:
    """The share of pairs, 0..1, that are rightly told apart by `score > threshold` (strict)."""
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


def paired(predicted: ArrayLike, gold: ArrayLike) -> tuple[Scores, Scores]:
    """Two vectors of equal length as float64; ValueError where they are not, are too short, or not finite."""
    first, second = _finite(predicted, "predicted"), _finite(gold, "gold")
    if first.shape != second.shape:
        raise ValueError(f"{first.size} predicted and {second.size} gold scores; give one of each per pair.")
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
