"""Intervals of any figure by leaving out one block of the data at a time (the grouped jackknife)."""

from collections.abc import Sequence

import numpy as np
import scipy

from curation.results.estimates import Estimate

BLOCKS = 20
LEVEL = 0.95
FEWEST_BLOCKS = 10  # below, an interval would say more about the blocks than about the figure


def jackknife_interval(value: float | None, left_out: Sequence[float | None]) -> Estimate:
    """The interval of a figure from its values with one block left out each.

    Its variance is (K - 1) / K times the sum of squares of the K values about their mean (Efron and Tibshirani 1993,
    equation 11.5, with blocks instead of cases); the interval uses Student's t with K - 1 degrees of freedom.
    """
    defined = np.array([each for each in left_out if each is not None], dtype=np.float64)  # (K,)
    blocks = len(left_out)
    if value is None or defined.size < blocks or blocks < FEWEST_BLOCKS:
        return Estimate(value)
    # Values without one block differ little: their sum of squares is not divided by K (K - 1), as for a mean.
    variance = (blocks - 1) / blocks * np.square(defined - defined.mean()).sum()
    half = float(scipy.stats.t.ppf((1 + LEVEL) / 2, blocks - 1) * np.sqrt(variance))
    return Estimate(value, value - half, value + half)
