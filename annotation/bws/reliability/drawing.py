"""Random halves and random parts of judgements, for many trials at once."""

from collections.abc import Callable

import numpy as np

from annotation.bws.judgements import IntArray, Mask, grouped_order, ranks_within

# (n, B): whether each of n judgements is in the first half, for B trials.
DrawHalves = Callable[[int, np.random.Generator], Mask]


def halves_of_groups(group: IntArray) -> DrawHalves:
    """Split the judgements of each group (n,) in half; of an odd number, the odd one goes to either side.

    A judgement alone in its group goes to one half at random. Drawn by going through the judgements of all groups in
    step: each is taken with the chance that its group still needs it (selection sampling, Fan et al. 1962).
    """
    sizes = np.bincount(group)  # n of each group (g,)
    by_size = np.argsort(-sizes, kind="stable")
    starts = (np.cumsum(sizes) - sizes)[by_size]
    # Sorted by size, the groups that still have a judgement at a step are the first ones, a slice.
    order, sizes = grouped_order(group), sizes[by_size]  # the largest groups first

    def draw(trials: int, rng: np.random.Generator) -> Mask:
        first = np.empty((len(group), trials), dtype=np.bool_)
        needed = _half_of(sizes, trials, rng)  # (g, B): how many more of each group the first half needs
        for step in range(int(sizes.max(initial=0))):
            longer = int(np.searchsorted(-sizes, -step))  # groups with more judgements than `step`
            left = (sizes[:longer] - step).astype(np.float32)
            chance = rng.random((longer, trials), dtype=np.float32) * left[:, None]
            taken = chance < needed[:longer]  # with probability needed / left
            needed[:longer] -= taken
            first[order[starts[:longer] + step]] = taken
        return first

    return draw


def halves_of_units(unit: IntArray) -> DrawHalves:
    """Split the units (n,) in half, tuples or annotators: all judgements of a unit go to the same side.

    unit: (n,) the number of each judgement's unit, from 0. Of an odd number of units, the odd one goes to either side.
    """
    count = int(unit.max(initial=-1)) + 1  # units

    def draw(trials: int, rng: np.random.Generator) -> Mask:
        needed = _half_of(np.full(trials, count), 1, rng)
        sides = rng.permuted(np.arange(count) < needed, axis=1)  # (B, units)
        return sides.T[unit]

    return draw


def _half_of(sizes: IntArray, trials: int, rng: np.random.Generator) -> IntArray:
    """Half of each size (g,) for each trial: (g, B); an odd one more or less with equal chance."""
    extra = rng.integers(0, 2, size=(len(sizes), trials), dtype=np.int8)
    # floor(n / 2), plus 0 or 1 for an odd n (g, B).
    return sizes[:, None] // 2 + extra * (sizes[:, None] % 2)


def random_ranks(tuples: IntArray, count: int, rng: np.random.Generator) -> IntArray:
    """The place from 0 of each judgement (n, B) in a random order of its tuple's judgements, in B trials.

    The first few of each tuple are a random choice of so many of its judgements.
    """
    order = grouped_order(tuples)
    # The number of the tuple keeps tuples apart; the random part orders the judgements of each.
    shuffled = order[np.argsort(tuples[order] + rng.random((count, len(tuples))), axis=1)]  # (B, n)
    rank = np.empty((count, len(tuples)), dtype=np.int64)
    np.put_along_axis(rank, shuffled, ranks_within(np.bincount(tuples))[None], axis=1)
    return rank.T
