"""Which items a campaign has told apart, and which it has not."""

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from annotation.bws.judgements import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Groups:
    """Runs of items that are not distinguishable, best first; runs overlap, and none lies within another.

    order: (m,) items from the best score down. starts, ends: (g,) the first and the last place of each
    run in it.
    """

    order: IntArray
    starts: IntArray
    ends: IntArray


def indistinguishable(scores: FloatArray, errors: FloatArray, *, confidence: float = 0.95) -> Groups:
    """Group items whose scores (m,) do not differ by more than their standard errors (m,) explain.

    Two items are told apart where their difference exceeds the normal quantile of the confidence,
    two-sided, times the error of the difference, taking errors as independent; no correction is made for
    the number of comparisons. In a run no two items are told apart. Items without a score or an error are
    left out.
    """
    known = np.flatnonzero(~np.isnan(scores) & ~np.isnan(errors))
    order = known[np.argsort(-scores[known], kind="stable")]
    reach = _reach(scores[order], float(ndtri((1 + confidence) / 2)) * errors[order])
    # A run ends where any of its items is told apart from the next.
    ends = np.minimum.accumulate(reach[::-1])[::-1]
    starts = np.flatnonzero(np.diff(ends, prepend=-1) > 0)
    return Groups(order, starts, ends[starts])


def _reach(scores: FloatArray, margins: FloatArray) -> IntArray:
    """For each place of sorted scores (m,), the last one before the first that is told apart from it."""
    reach = np.full(len(scores), len(scores) - 1)
    looking, distance = np.arange(len(scores) - 1), 1
    while len(looking):
        other = looking + distance
        apart = scores[looking] - scores[other] > np.hypot(margins[looking], margins[other])
        reach[looking[apart]] = other[apart] - 1
        looking, distance = looking[~apart], distance + 1
        looking = looking[looking + distance < len(scores)]
    return reach
