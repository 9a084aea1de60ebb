"""Bootstrap intervals of the figures on pairs: pairs are drawn with replacement. For Spearman's correlation each
resample is ranked by itself.

A resample is held as how often each pair was drawn, a row of `counts`. Its ranks then follow from running
sums over values that were sorted once, so that no resample needs sorting again.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from curation.statistics.correlation import Scores, paired

Counts = NDArray[np.float64]  # (resamples, pairs)
Integers = NDArray[np.int64]
_BLOCK = 1 << 20  # counts held at a time: 8 MB


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


@dataclass(frozen=True)
class Design:
    """How n pairs were drawn: at random within `strata` (n,), each standing for `weights` (n,) pairs of all."""

    weights: Scores
    strata: Integers


def bootstrap_interval(
    predicted: ArrayLike,
    human: ArrayLike,
    *,
    seed: int,
    resamples: int = 1000,
    level: float = 0.95,
    design: Design | None = None,
) -> Interval | None:
    """The percentile interval (Efron & Tibshirani 1993, section 13.3) of the correlation of two vectors (n,) over
    resamples of the n pairs. Returns None where one of the vectors is constant.

    With a design, pairs are drawn again within their strata and count as much as they stand for; a pair alone in its
    stratum is drawn with the next one. Raises ValueError
    where the vectors are unusable (as `correlation.paired`), resamples or level out of range.
    """
    if resamples < 1 or not 0 < level < 1:
        raise ValueError(f"{resamples} resamples at level {level}: give at least 1, and a level in 0..1.")
    first, second = paired(predicted, human)
    if np.ptp(first) == 0 or np.ptp(second) == 0:
        return None
    drawn = resampled_correlations(first, second, seed=seed, resamples=resamples, design=design)
    return percentile_interval(drawn, level=level)


def percentile_interval(drawn: ArrayLike, *, level: float = 0.95) -> Interval | None:
    """The percentile interval of a figure in each resample, (resamples,), NaN where it is undefined; None where it is
    undefined in all of them.
    """
    values = np.asarray(drawn, dtype=np.float64)
    defined = values[~np.isnan(values)]
    if not defined.size:
        return None
    # The (1 - level) / 2 and (1 + level) / 2 quantiles of the resamples in which the figure exists.
    low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(low), float(high), level, values.size, int(values.size - defined.size))


def weighted_spearman(predicted: ArrayLike, human: ArrayLike, weights: Scores) -> float | None:
    """Spearman's correlation of all pairs, where each of n stands for `weights` (n,) of them; None where undefined."""
    first, second = paired(predicted, human)
    if np.ptp(first) == 0 or np.ptp(second) == 0:
        return None
    # One resample (1, n), in which pair i is there weights_i times.
    return float(_correlations(np.atleast_2d(weights), _Ranks(first), _Ranks(second))[0])


def resampled_correlations(
    predicted: ArrayLike,
    human: ArrayLike,
    *,
    seed: int,
    resamples: int,
    design: Design | None = None,
    groups: Integers | None = None,
) -> Scores:
    """The correlation in each resample, (resamples,), NaN where it is undefined.

    The same seed and number of pairs draw the same resamples, so that two vectors can be compared pair by pair.
    groups: the number of each pair's group, (n,), from 0 without gaps; then whole groups are drawn, with all their
    pairs (the cluster bootstrap; Davison and Hinkley 1997, section 3.8).
    Raises ValueError where the vectors are unusable (as `correlation.paired`).
    """
    first, second = paired(predicted, human)
    if np.ptp(first) == 0 or np.ptp(second) == 0:
        return np.full(resamples, np.nan)
    sides = (_Ranks(first), _Ranks(second))
    if groups is not None:
        # Groups are drawn, and every pair of a group has the group's count; resamples differ in their number of pairs.
        of_groups = _draws(int(groups.max()) + 1, resamples, seed, width=groups.size)
        draws: Iterator[Counts] = (counts[:, groups] for counts in of_groups)  # (rows, groups) -> (rows, n)
    elif design is not None:
        draws = _draws_within(design, resamples, seed)
    else:
        draws = _draws(first.size, resamples, seed)
    # (resamples,), block by block, so that the counts (B, n) fit into memory.
    return np.concatenate([_correlations(counts, *sides) for counts in draws])


def resampled_pearson(predicted: ArrayLike, human: ArrayLike, *, seed: int, resamples: int) -> Scores:
    """Pearson's correlation in each resample, (resamples,), NaN where one side of it is constant.

    predicted, human: numbers (n,). Without design and groups, `resampled_correlations` draws the same resamples
    for the same seed.
    Raises ValueError where the vectors are unusable (as `correlation.paired`).
    """
    first, second = paired(predicted, human)
    if np.ptp(first) == 0 or np.ptp(second) == 0:
        return np.full(resamples, np.nan)
    # Standardised first: sums of squares then keep their digits whatever the scale and the mean are.
    sides = [(side - side.mean()) / side.std() for side in (first, second)]
    products = np.stack(
        [sides[0], sides[1], sides[0] ** 2, sides[1] ** 2, sides[0] * sides[1]], axis=1
    )  # (n, 5)
    # Means over each resample of x, y, x^2, y^2 and x y: one product (B, n) @ (n, 5).
    blocks = [counts @ products / first.size for counts in _draws(first.size, resamples, seed)]
    left, right, left_square, right_square, both = np.concatenate(blocks).T  # (resamples,) each
    variances = (left_square - left**2, right_square - right**2)  # E[x^2] - E[x]^2 of each resample
    # The full sample has variance 1, so 1e-12 is rounding.
    undefined = np.minimum(*variances) < 1e-12
    scale = np.sqrt(np.where(undefined, 1.0, variances[0] * variances[1]))
    # r = (E[x y] - E[x] E[y]) / sqrt(Var x Var y).
    return np.where(undefined, np.nan, np.clip((both - left * right) / scale, -1.0, 1.0))


def resampled_cosines(first: ArrayLike, second: ArrayLike, *, seed: int, resamples: int) -> Scores:
    """The cosine of two vectors (n,) in each resample of their entries, (resamples,), NaN where one of them is 0.

    Raises ValueError where the vectors are unusable (as `correlation.paired`).
    """
    left, right = paired(first, second)
    products = np.stack([left**2, right**2, left * right], axis=1)  # (n, 3)
    blocks = [counts @ products for counts in _draws(left.size, resamples, seed)]
    # cos = sum x y / sqrt(sum x^2 sum y^2), around 0 and not around the mean.
    left_square, right_square, both = np.concatenate(blocks).T  # (resamples,) each
    squares = left_square * right_square
    undefined = squares == 0
    cosines = both / np.sqrt(np.where(undefined, 1.0, squares))
    return np.where(undefined, np.nan, np.clip(cosines, -1.0, 1.0))


def resampled_ratios(above: ArrayLike, below: ArrayLike, *, seed: int, resamples: int) -> Scores:
    """The ratio Σ above / Σ below of each resample, (resamples,), NaN where nothing is below; above, below: (n,).

    Accuracy is the ratio with `below` 1 for every pair; F1 has 2 for a true positive above, and below, 1 for a pair
    that is taken and 1 for a positive pair.
    """
    both = np.stack([np.asarray(above, np.float64), np.asarray(below, np.float64)], axis=1)  # (n, 2)
    sums = resampled_sums(both, seed=seed, resamples=resamples)
    undefined = sums[:, 1] == 0
    return np.where(undefined, np.nan, sums[:, 0] / np.where(undefined, 1.0, sums[:, 1]))


def resampled_sums(columns: Scores, *, seed: int, resamples: int) -> Scores:
    """The sums of k columns (n, k) over the rows of each resample, (resamples, k); resamples are the same for all."""
    # Streams depend on the seed and the number of rows alone.
    return np.concatenate([counts @ columns for counts in _draws(len(columns), resamples, seed)])


class _Ranks:
    """The ranks within each resample, equal values sharing the mean of theirs."""

    def __init__(self, values: Scores) -> None:
        distinct, self.group = np.unique(values, return_inverse=True)
        # Cost: values are sorted once; each resample then costs n additions and not n log n comparisons.
        self.order = np.argsort(self.group, kind="stable")
        self.starts = np.searchsorted(self.group[self.order], np.arange(distinct.size))

    def __call__(self, counts: Counts) -> Scores:
        together = np.add.reduceat(counts[:, self.order], self.starts, axis=1)  # (B, n) -> (B, distinct)
        # c equal values above m lower ones hold the ranks m+1 .. m+c, whose mean is m + c - (c-1)/2.
        ranks: Scores = np.cumsum(together, axis=1) - (together - 1) / 2
        return ranks[:, self.group]


def _correlations(counts: Counts, *sides: _Ranks) -> Scores:
    """Spearman's correlation in each resample: counts (B, n) -> (B,), NaN where it is undefined."""
    total = counts.sum(axis=1, keepdims=True)  # pairs of each resample, or what they stand for
    ranks = [side(counts) for side in sides]
    # Ranks less their weighted mean, so that the products below are centred.
    left, right = (each - (each * counts).sum(axis=1, keepdims=True) / total for each in ranks)
    # sum c x y, sum c x^2 and sum c y^2: the divisor is the same in all three and cancels.
    covariance = np.einsum("bn,bn,bn->b", counts, left, right)
    variances = [np.einsum("bn,bn,bn->b", counts, side, side) for side in (left, right)]
    # A constant resample leaves rounding noise, about total^3 ε^2 = total^3 5e-32. Values that differ have at least
    # total^3 c / 4, with c the share of the rarer one.
    undefined = np.minimum(*variances) < 1e-24 * total[:, 0] ** 3
    scale = np.sqrt(np.where(undefined, 1.0, variances[0] * variances[1]))
    return np.where(undefined, np.nan, np.clip(covariance / scale, -1.0, 1.0))


def _draws(pairs: int, resamples: int, seed: int, *, width: int = 0) -> Iterator[Counts]:
    """Blocks of resamples, (rows, pairs) each, that together hold so many. width: counts that a row will become."""
    generator = np.random.default_rng(seed)
    step = max(1, _BLOCK // max(pairs, width))
    for start in range(0, resamples, step):
        rows = min(step, resamples - start)
        drawn = generator.integers(pairs, size=(rows, pairs))  # the pair at each place of each resample
        # Pair i of resample b is the number b * pairs + i, so one count serves all resamples of the block.
        places = (drawn + pairs * np.arange(rows)[:, None]).ravel()  # in the counts, resample after resample
        yield np.bincount(places, minlength=rows * pairs).reshape(rows, pairs).astype(np.float64)


def _draws_within(design: Design, resamples: int, seed: int) -> Iterator[Counts]:
    """As `_draws`, but of each stratum one pair fewer is drawn than it has, and pairs count by their weight.

    n_h draws among n_h pairs would vary by (n_h - 1)/n_h of what a sample does: half of it with two pairs a stratum.
    So n_h - 1 are drawn, and each counts n_h/(n_h - 1) of its weight (Rao and Wu 1988).
    """
    generator, pairs = np.random.default_rng(seed), design.strata.size
    members = _drawn_together(design.strata)
    step = max(1, _BLOCK // pairs)
    for start in range(0, resamples, step):
        rows = min(step, resamples - start)
        counts = np.empty((rows, pairs))
        for own in members:
            # Draws with replacement among the n_h pairs of the stratum: multinomial counts (rows, n_h).
            draws = max(own.size - 1, 1)
            drawn = generator.multinomial(draws, np.full(own.size, 1 / own.size), size=rows)
            counts[:, own] = drawn * (own.size / draws)
        yield counts * design.weights


def _drawn_together(strata: Integers) -> list[Integers]:
    """The places of the pairs of each stratum, ascending strata. A pair alone in its stratum would never vary, so it
    joins the next stratum, and at the end the one before (collapsed strata; Cochran 1977, section 5A.12).
    """
    groups: list[Integers] = []
    for stratum in np.unique(strata):
        own = np.flatnonzero(strata == stratum)
        if groups and groups[-1].size == 1:
            groups[-1] = np.concatenate([groups[-1], own])
        else:
            groups.append(own)
    if len(groups) > 1 and groups[-1].size == 1:
        groups[-2:] = [np.concatenate(groups[-2:])]
    return groups
