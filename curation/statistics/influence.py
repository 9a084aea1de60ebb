"""What each pair contributes to a figure: the pseudo-values of the infinitesimal jackknife.

A pair's influence is the derivative of the figure, such as a correlation, when the pair gets a little more weight
and all others a little less (Efron & Tibshirani 1993, chapter 22). Of Spearman's correlation the ranks follow the
weights too. A pair's pseudo-value is the figure plus its influence: the mean of the pseudo-values is the figure, and
their variance over n estimates the variance of the figure over other pairs of the same kind. Nothing is drawn at
random.

Accuracy and F1 are smooth in the weights of the pairs as long as the threshold does not move, so the same holds for
them where other pairs than those measured set the threshold.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from curation.statistics.correlation import Scores, paired


def spearman_by_pair(predicted: ArrayLike, human: ArrayLike) -> Scores | None:
    """The pseudo-values (n,) of n pairs, whose mean is Spearman's correlation of two vectors (n,).

    Returns None where one of the vectors is constant. Raises ValueError where they are unusable, as
    `correlation.paired` does.
    """
    first, second = paired(predicted, human)
    if np.ptp(first) == 0 or np.ptp(second) == 0:
        return None
    left, right = _Side.of(first), _Side.of(second)
    # With F, G the shares below x and y: rho = (mean F G - 1/4) / sqrt(Var F Var G), since both means are 1/2.
    covariance = float((left.shares * right.shares).mean()) - 0.25
    scale = np.sqrt(left.variance * right.variance)
    # d(mean F G) by the weight of pair i: F_i G_i, and what i lifts of F and of G in all pairs (n,).
    of_covariance = left.shares * right.shares + left.lifted(right.shares) + right.lifted(left.shares)
    # d log s, s^2 = Var F Var G, is (d Var F / Var F + d Var G / Var G) / 2; d Var F = F_i^2 + 2 lifted(F) + constant.
    of_scale = (
        sum((side.shares**2 + 2 * side.lifted(side.shares)) / side.variance for side in (left, right)) / 2
    )
    # d(c / s) = (dc - c d log s) / s, up to a constant, which the centring below takes off.
    influence = (of_covariance - covariance * of_scale) / scale
    pseudo_values: Scores = influence - influence.mean() + covariance / scale
    return pseudo_values


def pearson_by_pair(predicted: ArrayLike, human: ArrayLike) -> Scores | None:
    """The same of Pearson's correlation r: the influence of a pair is xy − r (x² + y²) / 2, with x and y its
    standardised values (Devlin, Gnanadesikan and Kettenring 1975). Result and errors as for `spearman_by_pair`.
    """
    first, second = paired(predicted, human)
    if np.ptp(first) == 0 or np.ptp(second) == 0:
        return None
    # x and y with mean 0 and sd 1 (divisor n).
    left, right = ((side - side.mean()) / side.std() for side in (first, second))
    correlation = float((left * right).mean())  # r = mean of x y
    pseudo_values: Scores = correlation + left * right - correlation * (left**2 + right**2) / 2
    return pseudo_values


def ratio_by_pair(above: ArrayLike, below: ArrayLike) -> Scores | None:
    """The same of a ratio Σ above / Σ below of sums over n pairs, (n,) each: accuracy and F1 (`intervals`).

    The influence of a pair on the ratio R is (above − R · below) / mean(below). None where nothing is below.
    """
    over, under = np.asarray(above, np.float64), np.asarray(below, np.float64)
    if not under.sum():
        return None
    ratio = over.sum() / under.sum()
    # R + (above - R below) / mean(below) (n,); the influences sum to 0, so the mean is R.
    pseudo_values: Scores = ratio + (over - ratio * under) / under.mean()
    return pseudo_values


@dataclass(frozen=True)
class _Side:
    """One vector's ranks as shares of values: below each value (n,), equal ones counted as half. Their mean is 1/2."""

    shares: Scores
    group: NDArray[np.int64]  # the place of each value among the distinct ones, in rising order
    variance: float

    @classmethod
    def of(cls, values: Scores) -> "_Side":
        _distinct, group, counts = np.unique(values, return_inverse=True, return_counts=True)
        # Of c equal values above m lower ones: (m + c / 2) / n.
        shares = ((np.cumsum(counts) - counts / 2) / values.size)[group]
        return cls(shares, group, float((shares * shares).mean()) - 0.25)  # mean F^2 - (1/2)^2

    def lifted(self, figures: Scores) -> Scores:
        """How the mean of figures (n,) times shares grows with the weight of each value, which lifts the shares of the
        values above it, and by half those equal to it: (n,).
        """
        sums = np.bincount(self.group, weights=figures)  # sum of the figures of each distinct value
        # Figures of all greater values, and half of those of the equal ones (its own value included).
        above: Scores = figures.sum() - np.cumsum(sums) + sums / 2
        return above[self.group] / figures.size


@dataclass(frozen=True)
class Correlation:
    """A correlation of n pairs with its interval; None where it is undefined: below 3 pairs, or a constant side."""

    n: int
    value: float | None = None
    low: float | None = None
    high: float | None = None


def spearman_within(first: ArrayLike, second: ArrayLike, *, level: float = 0.95) -> Correlation:
    """Spearman's correlation of two vectors (n,) with its interval over other pairs of the same kind.

    The standard error comes from the pseudo-values. The interval is symmetric after Fisher's z transformation, with
    Student's t of n - 1 degrees of freedom: it covers 93 to 98 % from 10 pairs on (docs/experiments/
    correlation_coverage.py). Raises ValueError where the vectors are unusable, as `correlation.paired` does.
    """
    return _within(spearman_by_pair, first, second, level)


def pearson_within(first: ArrayLike, second: ArrayLike, *, level: float = 0.95) -> Correlation:
    """Pearson's correlation; arguments, result and errors as for `spearman_within`."""
    return _within(pearson_by_pair, first, second, level)


def _within(
    by_pair: Callable[[ArrayLike, ArrayLike], Scores | None],
    first: ArrayLike,
    second: ArrayLike,
    level: float,
) -> Correlation:
    n = np.asarray(first).size
    pseudo_values = by_pair(first, second) if n >= 3 else None
    if pseudo_values is None:
        return Correlation(n)
    # The mean of the pseudo-values is r itself; rounding may carry it past 1.
    value = float(np.clip(pseudo_values.mean(), -1.0, 1.0))
    # At r = 1 or -1 all pseudo-values are equal, and z is infinite.
    if 1 - value**2 < 1e-12:
        return Correlation(n, value, value, value)
    error = float(pseudo_values.std(ddof=1)) / np.sqrt(n)  # SE(r) = sd of pseudo-values / sqrt(n)
    # The derivative of artanh r is 1 / (1 - r²).
    half = float(scipy.stats.t.ppf((1 + level) / 2, n - 1)) * error / (1 - value**2)
    # Symmetric on z = artanh r: SE(z) = SE(r) / (1 - r^2), t_{n-1} standard errors to either side.
    low, high = np.tanh(np.arctanh(value) - half), np.tanh(np.arctanh(value) + half)
    return Correlation(n, value, float(low), float(high))
