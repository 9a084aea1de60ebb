"""Pearson's and Spearman's correlation of two vectors of scores."""

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

Scores = NDArray[np.float64]


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
    # Average ranks from 1 (n,).
    return _correlation(scipy.stats.rankdata(first), scipy.stats.rankdata(second))


def paired(predicted: ArrayLike, human: ArrayLike) -> tuple[Scores, Scores]:
    """Two vectors of equal length as float64; ValueError where they are not, are too short, or not finite."""
    first, second = finite(predicted, "predicted"), finite(human, "human")
    if first.shape != second.shape:
        raise ValueError(f"{first.size} predicted and {second.size} human scores; give one of each per pair.")
    if first.size < 2:
        raise ValueError(f"A correlation needs at least 2 pairs; there is {first.size}.")
    return first, second


def _correlation(first: Scores, second: Scores) -> float | None:
    if np.ptp(first) == 0 or np.ptp(second) == 0:
        return None
    # r = (x - mean) . (y - mean) / (|x - mean| |y - mean|): a product of two vectors of length 1.
    left, right = _centred(first), _centred(second)
    # Rounding can carry a perfect correlation past 1.
    return float(np.clip(left @ right, -1.0, 1.0))


def _centred(values: Scores) -> Scores:
    # Scaled first: squares of very small or large values would leave the range of a float.
    scaled = values / np.abs(values).max()  # in -1..1; a correlation does not change with the scale
    centred = scaled - scaled.mean()
    unit: Scores = centred / np.linalg.norm(centred)
    return unit


def finite(values: ArrayLike, name: str) -> Scores:
    """A vector (n,) as float64; ValueError, which uses the name, where it is none or not finite."""
    vector = np.asarray(values, dtype=np.float64)
    if vector.ndim != 1:
        raise ValueError(f"The {name} scores must be one row of numbers; they have {vector.ndim} dimensions.")
    wrong = np.flatnonzero(~np.isfinite(vector))
    if wrong.size:
        raise ValueError(f"The {name} score of pair {wrong[0] + 1} is not a finite number.")
    return vector
