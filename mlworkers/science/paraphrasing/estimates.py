"""Figures with 95 % intervals whose rows are connected: all rows of a source sentence are drawn as one."""

from math import sqrt

import numpy as np
import scipy
from numpy.typing import NDArray

from curation.pairs.keeping import wilson_interval
from curation.results.estimates import Estimate
from curation.statistics.intervals import percentile_interval, resampled_ratios

Reals = NDArray[np.float64]
Groups = NDArray[np.int64]


def ratio_estimated(above: Reals, below: Reals, *, resamples: int, seed: int) -> Estimate:
    """Σ above / Σ below of n rows, (n,) each, with its percentile interval over resampled rows."""
    if not len(above) or not below.sum():
        return Estimate(None)
    value = float(above.sum() / below.sum())
    if not resamples:
        return Estimate(value)
    # Both sums of a row are drawn together, so that what they have in common cancels in the ratio.
    return resampled_estimate(value, resampled_ratios(above, below, seed=seed, resamples=resamples))


def resampled_estimate(value: float, drawn: Reals) -> Estimate:
    """A figure and what it is in each resample, NaN where it is undefined, (resamples,)."""
    interval = percentile_interval(drawn)
    return Estimate(value, interval.low, interval.high) if interval else Estimate(value)


def wilson(share: float, n: float) -> Estimate:
    """A share of n independent rows with Wilson's 95 % interval. n may be an effective number, 1 or more."""
    return Estimate(share, *wilson_interval(share * n, n))


def share_of_groups(marks: NDArray[np.bool_], groups: Groups) -> Estimate:
    """The share of n marked rows that are connected by their group, (n,) each; groups from 0 without gaps.

    Wilson's interval for the effective number of rows, which follows from the variance between groups (design effect;
    Kish 1965). Nothing is drawn, so that a page can compute it.
    """
    n, share = len(marks), float(marks.mean())
    # Σ_i (m_i - p) within each group, (groups,): members of a group that err together do not cancel out.
    residuals = np.bincount(groups, weights=marks - share)
    number = len(residuals)
    # Linearised variance of a ratio mean: var(p) = G / (G - 1) · Σ_g r_g^2 / n^2, for G groups.
    variance = float((residuals**2).sum()) / n**2 * (number / max(number - 1, 1))
    # Of independent rows var(p) = p (1 - p) / n; the n that solves it for this variance is the effective
    # number. With no variance between groups it is undefined, and the number of groups is taken instead.
    effective = share * (1 - share) / variance if variance > 0 else float(number)
    # Negative correlation within groups would give more effective rows than rows; n is the upper bound.
    return wilson(share, max(1.0, min(effective, float(n))))


def mean_of_groups(values: Reals, groups: Groups) -> Estimate:
    """The mean of n values that are connected by their group, (n,) each, with Student's interval from the variance
    between groups (linearisation; Kish 1965). Without an interval where there is one group.
    """
    mean = float(values.mean())  # weighted by group size: every value counts once
    residuals = np.bincount(groups, weights=values - mean)
    number = len(residuals)
    if number < 2:
        return Estimate(mean)
    # se = sqrt(G / (G - 1) · Σ_g r_g^2) / n, with G - 1 degrees of freedom for Student's t.
    error = sqrt(float((residuals**2).sum()) * number / (number - 1)) / len(values)
    half = float(scipy.stats.t.ppf(0.975, number - 1)) * error
    return Estimate(mean, mean - half, mean + half)
