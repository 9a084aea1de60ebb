"""A search over settings: the grid, the trials that are drawn from it, and which of them is best.

The highest of many figures is too high on average: each contains chance, and the highest has had more of it than the
others (Cawley & Talbot 2010, JMLR 11). So the choice is made on dev pairs, and one other figure is measured afterwards.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

_STREAM = 23  # apart from what else is drawn from the same seed


@dataclass(frozen=True)
class Trial:
    """One combination of settings. temperature: of p_D; 0 for p_D as it was published."""

    temperature: float
    learning_rate: float
    epochs: int
    batch_size: int


def grid_of(
    temperatures: Sequence[float],
    learning_rates: Sequence[float],
    epochs: Sequence[int],
    batch_sizes: Sequence[int],
) -> list[Trial]:
    """Every combination, the last setting changing first."""
    return [Trial(*values) for values in product(temperatures, learning_rates, epochs, batch_sizes)]


def trials_drawn(grid: Sequence[Trial], most: int, *, seed: int) -> list[Trial]:
    """So many of the grid at random (0: all), each at most once, in the grid's order."""
    if not most or most >= len(grid):
        return list(grid)
    # Random search, without replacement.
    places = np.random.default_rng([seed, _STREAM]).choice(len(grid), size=most, replace=False)
    return [grid[place] for place in sorted(places.tolist())]


def best_of(figures: Sequence[float | None]) -> int:
    """The place of the highest figure, the first of equal ones; None is a trial without a figure.

    Raises ValueError where no trial has one.
    """
    # Of equal figures, the tuple with the smallest place is the largest.
    known = [(figure, -place) for place, figure in enumerate(figures) if figure is not None]
    if not known:
        raise ValueError("No trial has a figure, so there is nothing to choose from.")
    return -max(known)[1]
