"""Random halves of judgements, many at once, and the counting scores of each half."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from annotation.bws.grouping import grouped_order
from annotation.bws.judgements import FloatArray, IntArray, Judgements

Halves = NDArray[np.bool_]  # (n, B): whether each of n judgements is in the first half, for B trials
Counts = NDArray[np.float32] | NDArray[np.float64]
DrawHalves = Callable[[int, np.random.Generator], Halves]


def halves_of_groups(group: IntArray) -> DrawHalves:
    """Split the judgements of each group (n,) in half; of an odd number, the odd one goes to either side.

    A judgement alone in its group goes to one half at random. Drawn by going through the judgements of all
    groups
    in step: each is taken with the chance that its group still needs it (selection sampling, Fan et al.
    1962).
    """
    sizes = np.bincount(group)
    by_size = np.argsort(-sizes, kind="stable")
    starts = (np.cumsum(sizes) - sizes)[by_size]
    order, sizes = grouped_order(group), sizes[by_size]

    def draw(trials: int, rng: np.random.Generator) -> Halves:
        first = np.empty((len(group), trials), dtype=np.bool_)
        wanted = _half_of(sizes, trials, rng)
        for step in range(int(sizes.max(initial=0))):
            longer = int(np.searchsorted(-sizes, -step))  # groups with more judgements than `step`
            left = (sizes[:longer] - step).astype(np.float32)
            chance = rng.random((longer, trials), dtype=np.float32) * left[:, None]
            taken = chance < wanted[:longer]
            wanted[:longer] -= taken
            first[order[starts[:longer] + step]] = taken
        return first

    return draw


def halves_of_units(unit: IntArray) -> DrawHalves:
    """Split the units (n,) in half, tuples or annotators: all judgements of a unit go to the same side."""
    count = int(unit.max(initial=-1)) + 1

    def draw(trials: int, rng: np.random.Generator) -> Halves:
        wanted = _half_of(np.full(trials, count), 1, rng)
        sides = rng.permuted(np.arange(count) < wanted, axis=1)  # (B, units)
        halves: Halves = sides.T[unit]
        return halves

    return draw


def _half_of(sizes: IntArray, trials: int, rng: np.random.Generator) -> IntArray:
    """Half of each size (g,) for each trial: (g, B); an odd one more or less with equal chance."""
    extra = rng.integers(0, 2, size=(len(sizes), trials), dtype=np.int8)
    return sizes[:, None] // 2 + extra * (sizes[:, None] % 2)


class HalfScores:
    """Counts both halves of the same judgements in many trials at once."""

    def __init__(self, judgements: Judgements) -> None:
        n, k = judgements.items.shape
        rows = np.arange(n)
        signs = np.repeat(np.array([1, -1], dtype=np.float32), n)
        chosen = np.concatenate([judgements.best, judgements.worst])
        shape = (judgements.item_count, n)
        self._net = csr_array((signs, (chosen, np.tile(rows, 2))), shape=shape)
        ones = np.ones(n * k, dtype=np.float32)
        self._appearances = csr_array((ones, (judgements.items.ravel(), np.repeat(rows, k))), shape=shape)
        self._net_total: FloatArray = np.asarray(self._net.sum(axis=1))
        self._appearances_total: FloatArray = np.asarray(self._appearances.sum(axis=1))

    def count(self, first: Halves, weights: IntArray | None = None) -> tuple[FloatArray, FloatArray, Halves]:
        """Signed counting scores (B, m) of either half, and which items the first half saw (B, m).

        An item that the second half did not see scores 0 in it, as in the script. weights: (n, B) how often
        each judgement counts in each trial, once unless told otherwise.
        """
        chosen = first.astype(np.float32)
        net_total: Counts
        appearances_total: Counts
        if weights is None:
            net_total, appearances_total = self._net_total, self._appearances_total
        else:
            every = weights.astype(np.float32)
            chosen *= every
            net_total, appearances_total = (self._net @ every).T, (self._appearances @ every).T
        net, appearances = (self._net @ chosen).T, (self._appearances @ chosen).T
        one = _ratio(net, appearances)
        two = _ratio(net_total - net, appearances_total - appearances)
        return one, two, appearances > 0


def _ratio(net: Counts, appearances: Counts) -> FloatArray:
    # Whole numbers in single precision are exact to 2**24; the quotient needs double, so that ties stay
    # ties.
    ratio: FloatArray = net.astype(np.float64) / np.maximum(appearances, 1)
    return ratio
