"""Whether two kinds of trained encoder differ by more than the noise of their test pairs and of their training seeds.

A difference is measured on a table: seed s's difference on pair i, from the pseudo-values of the two correlations.
Pairs and seeds are both samples, so the table has two crossed random effects, and what is left is their interaction:

    difference of seed s on pair i = mean + pair i + seed s + interaction

The mean squares of a two-way analysis of variance estimate the three variances (Searle, Casella & McCulloch 1992,
chapter 4), and Satterthwaite's degrees of freedom (Satterthwaite 1946) make the interval one of Student's t. A row
compares two encoders of the same seed, so that what a seed does to both alike cancels. docs/experiments/false_alarms.py
measures how often the interval excludes 0 where there is no difference. A figure of one kind of encoder gets its
interval from its table of pseudo-values in the same way (`cross_validation.py`).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike

LEVEL = 0.95


@dataclass(frozen=True)
class Difference:
    """A difference of two means over seeds, its 95 % interval over pairs and seeds, and how the seeds differ.

    sd: the standard deviation (n - 1) of the differences of single seeds, None for one seed.
    degrees: of freedom of t.
    p: two-sided, None for one seed, whose interval is over pairs alone.
    p_holm: p adjusted for all differences that are looked at together.
    turned_by: of how many test pairs less the difference would not be there (`comparison.py`); None where its interval
    includes 0, and where none were found.
    Everything is None where one of the correlations is undefined.
    """

    value: float | None = None
    low: float | None = None
    high: float | None = None
    sd: float | None = None
    standard_error: float | None = None
    degrees: float | None = None
    p: float | None = None
    p_holm: float | None = None
    turned_by: int | None = None


@dataclass(frozen=True)
class _Variance:
    value: float
    degrees: float


def difference_from(table: ArrayLike) -> Difference:
    """The difference that a table (seeds, pairs) of differences shows; with one row, its interval is over pairs alone.

    Raises ValueError for a table that is not two-dimensional, or has fewer than two pairs.
    """
    values = np.asarray(table, dtype=np.float64)
    if values.ndim != 2 or not values.shape[0] or values.shape[1] < 2:
        raise ValueError(
            f"A difference needs a table of seeds and at least 2 pairs; this one is {values.shape}."
        )
    # One seed says nothing of other seeds: its variance is s² / n over the pairs, with n - 1 degrees of
    # freedom.
    seeds, mean = values.shape[0], float(values.mean())
    variance = (
        _over_pairs_and_seeds(values)
        if seeds > 1
        else _Variance(float(values[0].var(ddof=1)) / values.size, values.size - 1)
    )
    error = float(np.sqrt(variance.value))
    # The interval is mean ± t · error, with the (1 + 0.95) / 2 = 97.5 % quantile of Student's t.
    # Where the seeds differ much, the degrees are near S - 1: t is 12.7 with two seeds and 2.8 with five.
    reach = float(scipy.stats.t.ppf((1 + LEVEL) / 2, variance.degrees)) * error
    return Difference(
        value=mean,
        low=mean - reach,
        high=mean + reach,
        # (S, P) -> (S,): the difference of each seed over all pairs.
        sd=float(values.mean(axis=1).std(ddof=1)) if seeds > 1 else None,
        standard_error=error,
        degrees=variance.degrees,  # not a whole number, by Satterthwaite
        p=_two_sided(mean, error, variance.degrees) if seeds > 1 else None,
    )


def holm(p_values: Sequence[float]) -> list[float]:
    """The p-values adjusted so that the chance of any false alarm among them is bounded (Holm 1979), in their order."""
    adjusted, largest = [0.0] * len(p_values), 0.0
    for tested, place in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        # The k-th smallest of m p-values, k from 0, is multiplied by m - k. The running maximum keeps a
        # larger p-value from being adjusted to less than a smaller one.
        # Step-down: no more tests than are left.
        largest = max(largest, min(1.0, (len(p_values) - tested) * p_values[place]))
        adjusted[place] = largest
    return adjusted


def _over_pairs_and_seeds(table: np.ndarray) -> _Variance:
    """The variance of the mean of a table (seeds, pairs) over other seeds and other pairs.

    Each mean square over the number of cells is a share of it: the seeds' holds seeds and interaction, the pairs' holds
    pairs and interaction. The interaction is counted once, and the variance of the pairs is not negative. The seeds'
    part keeps its interaction even where the seeds' own variance comes out negative: with few seeds that happens
    by chance, and cutting it off there makes intervals too wide where seeds and pairs only interact.
    """
    seeds, pairs = table.shape
    # (S, 1), (1, P) and (): with kept dimensions they broadcast against the (S, P) table.
    by_seed, by_pair, mean = (
        table.mean(axis=1, keepdims=True),
        table.mean(axis=0, keepdims=True),
        table.mean(),
    )
    # Residuals of the additive model, (seeds, pairs): the interaction, for there is one value in each cell.
    rest = table - by_seed - by_pair + mean  # x_sp - x_s. - x_.p + x_..
    # With S seeds and P pairs the mean squares are MS_seeds = P · var(by_seed), MS_pairs = S · var(by_pair)
    # and MS_rest = Σ rest² / ((S - 1)(P - 1)). Each is divided by the S P cells. Their expectations are then
    # σ²_seed / S + σ²_rest / (S P), σ²_pair / P + σ²_rest / (S P) and σ²_rest / (S P).
    of_seeds = float(by_seed.var(ddof=1)) / seeds
    of_pairs = float(by_pair.var(ddof=1)) / pairs
    of_rest = float((rest * rest).sum()) / ((seeds - 1) * (pairs - 1)) / (seeds * pairs)
    # The pairs' own variance would be 0 or negative, and the seeds' mean square is all that remains.
    if of_pairs <= of_rest:
        return _Variance(of_seeds, seeds - 1)
    # The target σ²_seed / S + σ²_pair / P + σ²_rest / (S P) is the sum of the first two minus the third.
    value = of_seeds + of_pairs - of_rest
    # Satterthwaite: (Σ a_k)² / Σ (a_k² / degrees_k) for a sum of independent mean squares a_k.
    squares = of_seeds**2 / (seeds - 1) + of_pairs**2 / (pairs - 1) + of_rest**2 / ((seeds - 1) * (pairs - 1))
    return _Variance(value, value**2 / squares)


def _two_sided(value: float, error: float, degrees: float) -> float:
    if error == 0:  # encoders that are equal on every pair, or differ by the same on all
        return 1.0 if value == 0 else 0.0
    return float(2 * scipy.stats.t.sf(abs(value) / error, degrees))  # sf, not 1 - cdf: small p keep digits
