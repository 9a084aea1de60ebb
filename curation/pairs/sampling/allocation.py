"""How many pairs to draw from each stratum."""

from collections.abc import Sequence

import numpy as np

from curation.pairs.word_tables import Integers, Reals


def allocation(weights: Sequence[float] | Reals, total: int, available: Sequence[int] | Integers) -> Integers:
    """Divide `total` in proportion to the weights, never more than what is available, by the largest remainder.

    What a stratum cannot give is divided among the others. Returns k whole numbers, whose sum is the total, or less
    where too little is available. Of equal remainders the earlier stratum comes first.
    Raises ValueError for weights that are negative, or a total below 0.
    """
    # Of each stratum (k,): weight, and most pairs that it can give.
    weight = np.asarray(weights, dtype=np.float64)
    limit = np.asarray(available, dtype=np.int64)
    if total < 0 or (weight < 0).any():
        raise ValueError("a total and weights of 0 or more are needed")
    given = np.zeros(len(weight), dtype=np.int64)
    while (left := total - int(given.sum())) > 0:
        open_ = (given < limit) & (weight > 0)  # strata that can take more
        if not open_.any():
            break
        # Exact share of what is left to divide: left * w / (sum of open weights).
        share = np.where(open_, weight, 0.0) / weight[open_].sum() * left
        more = np.floor(share).astype(np.int64)
        remainder = np.where(open_, share - more, -1.0)  # closed strata never get a remainder
        for stratum in np.argsort(-remainder, kind="stable")[: left - int(more.sum())]:
            more[stratum] += 1
        # Above a limit the excess goes round again; each round gives all that is left or closes a stratum.
        given = np.minimum(given + more, limit)
    return given


def exponential_weights(strata: int, growth: float) -> Reals:
    """1, growth, growth², …: each stratum gives `growth` times as many pairs as the one before it.

    The STR paper draws “exponentially increasing” numbers from low to high overlap and states no base (appendix A).
    """
    # The logarithms first: with many strata and a large base, the powers themselves would overflow.
    exponents = np.arange(strata) * np.log(growth)  # log growth^i = i log growth
    # Relative to the largest weight, which becomes 1: only ratios count in `allocation`.
    weights: Reals = np.exp(exponents - exponents.max(initial=0.0))
    return weights
