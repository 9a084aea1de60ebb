"""How far two score sets of the same pairs agree: over all pairs, within bins of the first, and pair by pair."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from curation.statistics.correlation import paired
from curation.statistics.histograms import bin_edges
from curation.statistics.influence import Correlation, pearson_within, spearman_within


@dataclass(frozen=True)
class Bin:
    """The pairs whose first score lies from low to high: a bin holds its lower edge, the last one both.

    mean, sd: of the second scores, on their own scale; None in an empty bin, sd also for a single pair.
    """

    low: float
    high: float
    spearman: Correlation
    mean: float | None
    sd: float | None

    @property
    def n(self) -> int:
        return self.spearman.n


@dataclass(frozen=True)
class Agreement:
    spearman: Correlation
    pearson: Correlation
    bins: Sequence[Bin]


def agreement_of(first: ArrayLike, second: ArrayLike, *, low: float, high: float, bins: int = 5) -> Agreement:
    """The agreement of two scores (n,) of each of n pairs, as the STR paper compares STS with STR.

    low, high: the scale of the first, which is cut into bins of equal width. Raises ValueError where the vectors are
    unusable, as `correlation.paired` does, and for a scale that does not rise or no bins.
    """
    left, right = paired(first, second)
    edges = bin_edges(low, high, bins)
    # As in `histogram`: a score on an edge belongs above it, and the end of the scale to the last bin.
    # Bin of x: floor((x - low) / width + 1e-9). The 1e-9 lifts scores that rounding left just below their edge.
    places = np.clip(np.floor((left - low) / ((high - low) / bins) + 1e-9).astype(np.int64), 0, bins - 1)
    # Spearman within each bin of the first score, as for the STS subset of STR-2021 (section 4). Of one pair, none.
    found = []
    for place in range(bins):
        one, other = left[places == place], right[places == place]
        found.append(
            Bin(
                low=edges[place],
                high=edges[place + 1],
                spearman=spearman_within(one, other) if one.size > 1 else Correlation(one.size),
                mean=float(other.mean()) if other.size else None,
                sd=float(other.std(ddof=1)) if other.size > 1 else None,
            )
        )
    return Agreement(spearman_within(left, right), pearson_within(left, right), found)


def rank_differences(first: ArrayLike, second: ArrayLike) -> NDArray[np.float64]:
    """How much higher each pair ranks by the second score than by the first, -1..1, shape (n,).

    A rank is the share of pairs below, equal ones counted as half: 0 is the lowest, 1 the highest. So scales and
    shapes of distributions do not matter, as in Spearman's correlation. Errors as for `correlation.paired`.
    """
    left, right = paired(first, second)
    # (average rank - 1/2) / n (n,): the share below, plus half of the share that is equal.
    ranks = [(scipy.stats.rankdata(side) - 0.5) / side.size for side in (left, right)]
    difference: NDArray[np.float64] = ranks[1] - ranks[0]  # (n,), at most 1 - 1/n
    return difference
