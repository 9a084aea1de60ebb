"""Which items a campaign has told apart, and which it has not."""

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from annotation.bws.judgements import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Groups:
    """Runs of items that are not distinguishable, best first; runs overlap, and none lies within another.

    order: (m,) items from the best score down, of equal ones the surest first. starts, ends: (g,) the
    first and the last place of each run in it.
    """

    order: IntArray
    starts: IntArray
    ends: IntArray

    @property
    def memberships(self) -> tuple[IntArray, IntArray]:
        """The first and the last run, from 0, that hold each place (m,) of the order; all between them do too."""
        places = np.arange(len(self.order))
        return np.searchsorted(self.ends, places), np.searchsorted(self.starts, places, side="right") - 1

    @property
    def told_apart(self) -> float:
        """The share of all pairs of items that stand in no run together; NaN for fewer than two items."""
        count = len(self.order)
        together = (self.ends[self.memberships[1]] - np.arange(count)).sum()
        return 1 - float(together) / (count * (count - 1) / 2) if count > 1 else float("nan")


def indistinguishable(scores: FloatArray, errors: FloatArray, *, confidence: float = 0.95) -> Groups:
    """Group items whose scores (m,) do not differ by more than their standard errors (m,) explain.

    Two items are told apart where their difference exceeds the normal quantile of the confidence,
    two-sided, times the error of the difference, taking errors as independent; no correction is made for
    the number of comparisons. In a run no two items are told apart. Items without a score or an error are
    left out.
    """
    known = np.flatnonzero(~np.isnan(scores) & ~np.isnan(errors))
    # Of equal scores the surer one first, so that the runs do not depend on the order of the input.
    order = known[np.lexsort((errors[known], -scores[known]))]
    reach = _reach(scores[order], float(ndtri((1 + confidence) / 2)) * errors[order])
    # A run ends where any of its items is told apart from the next.
    ends = np.minimum.accumulate(reach[::-1])[::-1]
    starts = np.flatnonzero(np.diff(ends, prepend=-1) > 0)
    return Groups(order, starts, ends[starts])


def _reach(scores: FloatArray, margins: FloatArray) -> IntArray:
    """For each place of sorted scores (m,), the last one before the first that is told apart from it.

    A million items leave no time to compare all pairs. Places stand in a binary tree, node n above 2 n and 2 n + 1,
    whose nodes know the lowest score and the narrowest margin below them; every place looks to the right and
    enters a node only where these two would be told apart from it.
    """
    count = len(scores)
    leaves = 1 << max(0, count - 1).bit_length()
    lowest, narrowest = (_least_below(leaves, values) for values in (scores, margins))
    reach = np.full(count, count - 1)
    looking = np.arange(count - 1)
    node = _highest(leaves + looking + 1)
    while len(looking):
        apart = scores[looking] - lowest[node] > np.hypot(margins[looking], narrowest[node])
        found = apart & (node >= leaves)
        reach[looking[found]] = node[found] - leaves - 1
        node = np.where(apart, 2 * node, _highest(node + 1))
        goes_on = ~found & (node > 1)  # the root comes after the last leaf
        looking, node = looking[goes_on], node[goes_on]
    return reach


def _least_below(leaves: int, values: FloatArray) -> FloatArray:
    """The least value below each node (2 * leaves,) of a tree with these leaves, infinite where there is none."""
    tree = np.full(2 * leaves, np.inf)
    tree[leaves : leaves + len(values)] = values
    while leaves > 1:
        tree[leaves // 2 : leaves] = np.minimum(
            tree[leaves : 2 * leaves : 2], tree[leaves + 1 : 2 * leaves : 2]
        )
        leaves //= 2
    return tree


def _highest(node: IntArray) -> IntArray:
    """The highest node that begins with the same leaf as this one."""
    found: IntArray = node // (node & -node)
    return found
