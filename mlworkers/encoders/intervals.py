"""Bootstrap intervals of correlations: pairs are drawn with replacement, each resample is ranked by itself.

A resample is held as how often each pair was drawn, a row of `counts`. Its ranks then follow from running
sums over values that were sorted once, so that no resample needs sorting again.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import norm

from mlworkers.encoders.metrics import Scores, paired

Counts = NDArray[np.float64]  # (resamples, pairs)
_BLOCK = 1 << 20  # counts held at a time: 8 MB
_MOST_LEFT_OUT = 2_000  # more jackknife groups than this sharpen the acceleration no further


class Measure(StrEnum):
    SPEARMAN = "spearman"
    PEARSON = "pearson"


class Method(StrEnum):
    PERCENTILE = "percentile"
    BCA = "bca"


@dataclass(frozen=True)
class Interval:
    """low and high of a bootstrap interval at a level such as .95.

    undefined: resamples left out because one side was constant in them, so that no correlation exists.
    """

    low: float
    high: float
    level: float
    resamples: int
    undefined: int


def bootstrap_interval(
    predicted: ArrayLike,
    gold: ArrayLike,
    *,
    seed: int,
    measure: Measure = Measure.SPEARMAN,
    method: Method = Method.PERCENTILE,
    resamples: int = 1000,
    level: float = 0.95,
) -> Interval | None:
    """The interval of a correlation between two vectors (n,) over resamples of the n pairs.

    PERCENTILE: Efron & Tibshirani (1993), section 13.3. BCA: section 14.3, with the acceleration from at most
    2,000 jackknife groups. Returns None where one of the vectors is constant.
    Raises ValueError where the vectors are unusable (as `metrics.paired`), resamples or level out of range.
    """
    if resamples < 1 or not 0 < level < 1:
        raise ValueError(f"{resamples} resamples at level {level}: give at least 1, and a level in 0..1.")
    first, second = paired(predicted, gold)
    if np.ptp(first) == 0 or np.ptp(second) == 0:
        return None
    drawn = resampled_correlations(first, second, seed=seed, measure=measure, resamples=resamples)
    defined = drawn[~np.isnan(drawn)]
    if not defined.size:
        return None
    tails = np.array([(1 - level) / 2, (1 + level) / 2])
    if method is Method.BCA:
        tails = _corrected(tails, defined, _Correlation(first, second, measure))
    low, high = np.quantile(defined, tails)
    return Interval(float(low), float(high), level, resamples, int(drawn.size - defined.size))


def resampled_correlations(
    predicted: ArrayLike,
    gold: ArrayLike,
    *,
    seed: int,
    measure: Measure = Measure.SPEARMAN,
    resamples: int = 1000,
) -> Scores:
    """The correlation in each resample, (resamples,), NaN where it is undefined.

    The same seed and number of pairs draw the same resamples, so that two vectors can be compared pair by pair.
    Raises ValueError where the vectors are unusable (as `metrics.paired`).
    """
    first, second = paired(predicted, gold)
    if np.ptp(first) == 0 or np.ptp(second) == 0:
        return np.full(resamples, np.nan)
    statistic = _Correlation(first, second, measure)
    return np.concatenate([statistic(counts) for counts in _draws(first.size, resamples, seed)])


class _Side(Protocol):
    """What is correlated of one vector in each resample: counts (B, n) -> (n,) or (B, n)."""

    def __call__(self, counts: Counts) -> Scores: ...


class _Correlation:
    """The correlation of each resample: counts (B, n) -> (B,), NaN where it is undefined."""

    def __init__(self, first: Scores, second: Scores, measure: Measure) -> None:
        self.pairs = first.size
        side = _Ranks if measure is Measure.SPEARMAN else _Values
        self.sides: tuple[_Side, _Side] = (side(first), side(second))

    def __call__(self, counts: Counts) -> Scores:
        total = counts.sum(axis=1, keepdims=True)
        left, right = (self._centred(side(counts), counts, total) for side in self.sides)
        covariance = np.einsum("bn,bn,bn->b", counts, left, right)
        variances = [np.einsum("bn,bn,bn->b", counts, side, side) for side in (left, right)]
        # A constant resample leaves rounding noise, far below the variance of values that differ.
        undefined = np.minimum(*variances) < 1e-20
        scale = np.sqrt(np.where(undefined, 1.0, variances[0] * variances[1]))
        return np.where(undefined, np.nan, np.clip(covariance / scale, -1.0, 1.0))

    @staticmethod
    def _centred(values: Scores, counts: Counts, total: Counts) -> Scores:
        means = (values * counts).sum(axis=1, keepdims=True) / total
        centred: Scores = values - means
        return centred


class _Values:
    """The values, the same in every resample, moved and scaled to lie within -1..1 around their mean."""

    def __init__(self, values: Scores) -> None:
        scaled = values / np.abs(values).max()
        centred = scaled - scaled.mean()
        self.values: Scores = centred / np.abs(centred).max()

    def __call__(self, counts: Counts) -> Scores:
        return self.values


class _Ranks:
    """The ranks within each resample, equal values sharing the mean of theirs."""

    def __init__(self, values: Scores) -> None:
        distinct, self.group = np.unique(values, return_inverse=True)
        self.order = np.argsort(self.group, kind="stable")
        self.starts = np.searchsorted(self.group[self.order], np.arange(distinct.size))

    def __call__(self, counts: Counts) -> Scores:
        together = np.add.reduceat(counts[:, self.order], self.starts, axis=1)  # (B, n) -> (B, distinct)
        # c equal values above m lower ones hold the ranks m+1 .. m+c, whose mean is m + c - (c-1)/2.
        ranks: Scores = np.cumsum(together, axis=1) - (together - 1) / 2
        return ranks[:, self.group]


def _draws(pairs: int, resamples: int, seed: int) -> Iterator[Counts]:
    generator = np.random.default_rng(seed)
    for rows in _blocks(pairs, resamples):
        drawn = generator.integers(pairs, size=(rows.size, pairs))
        places = (drawn + pairs * np.arange(rows.size)[:, None]).ravel()
        yield np.bincount(places, minlength=rows.size * pairs).reshape(rows.size, pairs).astype(np.float64)


def _blocks(pairs: int, rows: int) -> Iterator[NDArray[np.int64]]:
    step = max(1, _BLOCK // pairs)
    for start in range(0, rows, step):
        yield np.arange(start, min(start + step, rows))


def _corrected(tails: Scores, drawn: Scores, statistic: _Correlation) -> Scores:
    """The tails moved for bias and skewness: equations 14.10, 14.14 (equal values count half) and 14.15."""
    whole = statistic(np.ones((1, statistic.pairs)))[0]
    below = (np.mean(drawn < whole) + np.mean(drawn <= whole)) / 2
    # Kept off 0 and 1, where the correction would be infinite.
    bias = norm.ppf(np.clip(below, 0.5 / drawn.size, 1 - 0.5 / drawn.size))
    shifted = bias + norm.ppf(tails)
    moved: Scores = norm.cdf(bias + shifted / (1 - _acceleration(statistic) * shifted))
    return moved


def _acceleration(statistic: _Correlation) -> float:
    groups = min(statistic.pairs, _MOST_LEFT_OUT)
    member = np.arange(statistic.pairs) % groups
    kept = ((member != rows[:, None]).astype(np.float64) for rows in _blocks(statistic.pairs, groups))
    left_out = np.concatenate([statistic(counts) for counts in kept])
    left_out = left_out[~np.isnan(left_out)]
    influence = left_out.mean() - left_out
    squares = np.sum(influence**2)
    # Where leaving a pair out changes nothing (a perfect correlation) there is no skewness to correct.
    return float(np.sum(influence**3) / (6 * squares**1.5)) if squares > 1e-20 else 0.0
