"""Which items a campaign can distinguish, and which it cannot: tests of pairs, and groups for display."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy

from annotation.bws.judgements import FloatArray, IntArray

# Of more items, a random million of their pairs are tested: the share of distinguishable ones is then within .001.
MOST_ITEMS_PAIRED = 3_000
PAIRS_DRAWN = 1_000_000  # the share of these has a standard error of at most .5 / sqrt(1e6) = .0005
LEVEL = 0.05

# The standard error (p,) of each difference between two items (p,), by their numbers.
DifferenceErrors = Callable[[IntArray, IntArray], FloatArray]


@dataclass(frozen=True)
class Distinction:
    """The shares, 0..1, of item pairs whose difference differs from 0; None for fewer than two items.

    distinguishable: at 95 %, each pair by itself. holm: with at most 5 % chance of any false one among all (Holm 1979).
    fdr: with at most 5 % of false ones among them, on the average (Benjamini and Hochberg 1995). All three are None
    without standard errors. tied: the share of pairs with equal scores. pairs: how many there are.
    pairs_tested: how many of them were tested, all or a random sample.
    """

    distinguishable: float | None
    distinguishable_holm: float | None
    distinguishable_fdr: float | None
    tied: float | None
    pairs: int
    pairs_tested: int


def pair_tests(
    scores: FloatArray, errors: DifferenceErrors | None, *, equal: FloatArray | None = None, seed: int = 1234
) -> Distinction:
    """Test each pair of items, by |difference| / standard error, against the normal distribution, two-sided.

    scores: (m,) without NaN. errors: of differences between them; None if there are none. equal: (m,) by which scores
    are tied, if not by `scores`. Up to 3,000 items all pairs are tested; of more items, a million random ones.
    """
    count = len(scores)
    pairs = count * (count - 1) // 2
    if not pairs:
        return Distinction(None, None, None, None, 0, 0)
    # Nine digits: equal counts give equal scores but for rounding
    alike = np.unique((scores if equal is None else equal).round(9), return_counts=True)[1]
    # Of c equal scores, c (c - 1) / 2 pairs are tied.
    tied = float((alike * (alike - 1)).sum() / 2 / pairs)
    if errors is None:
        return Distinction(None, None, None, tied, pairs, 0)
    if count <= MOST_ITEMS_PAIRED:
        left, right = np.triu_indices(count, 1)
    else:
        rng = np.random.default_rng(seed)
        left = rng.integers(0, count, PAIRS_DRAWN)
        right = (left + rng.integers(1, count, PAIRS_DRAWN)) % count  # another item, each equally likely
    # 1e-300: equal scores without an error have z = 0, and not 0 / 0.
    z = np.abs(scores[left] - scores[right]) / np.maximum(errors(left, right), 1e-300)
    p = np.sort(2 * scipy.special.ndtr(-z))  # two-sided: 2 Phi(-|z|)
    # The shares of the p-values (t,), a sample of those of all pairs, that Holm and Benjamini-Hochberg keep.
    below = np.arange(len(p)) / len(p)  # the share of all p-values that are smaller
    # Holm goes on to the first of `refused`, Benjamini and Hochberg to the last of `kept`.
    # Holm: the i-th of M p-values is kept as long as p <= level / (M - i + 1); here i - 1 = M below.
    refused = np.flatnonzero(p > LEVEL / np.maximum(pairs * (1 - below), 1))
    # Benjamini and Hochberg: the last with p <= level i / M.
    kept = np.flatnonzero(p <= LEVEL * (below + 1 / len(p)))
    holm = float((refused[0] if len(refused) else len(p)) / len(p))
    fdr = float((kept[-1] + 1 if len(kept) else 0) / len(p))
    return Distinction(float((p < LEVEL).mean()), holm, fdr, tied, pairs, len(p))


@dataclass(frozen=True, eq=False)
class TieGroups:
    """Runs of items that are not distinguishable, best first. Runs overlap, and none is within another.

    order: (m,) items from the best score down, of equal ones the most certain first. starts, ends: (g,) the first and
    the last rank of each run in it.
    """

    order: IntArray
    starts: IntArray
    ends: IntArray

    @property
    def memberships(self) -> tuple[IntArray, IntArray]:
        """The first and the last run, from 0, that hold each rank (m,) of the order; all between them do too."""
        ranks = np.arange(len(self.order))
        return np.searchsorted(self.ends, ranks), np.searchsorted(self.starts, ranks, side="right") - 1


def tie_groups(scores: FloatArray, errors: FloatArray, *, confidence: float = 0.95) -> TieGroups:
    """Group items whose scores (m,) do not differ by more than their standard errors (m,) explain.

    Two items are distinguishable if |difference| > z sqrt(SE^2 + SE^2), with z the normal quantile of the confidence,
    two-sided; errors are taken as independent, and nothing is corrected for the number of comparisons. In a run no two
    items are distinguishable. Items without a score or an error are left out.
    """
    known = np.flatnonzero(~np.isnan(scores) & ~np.isnan(errors))
    # Of equal scores the more certain one first, so that the runs do not depend on the order of the input.
    order = known[np.lexsort((errors[known], -scores[known]))]  # (m,)
    reach = _reach(scores[order], float(scipy.special.ndtri((1 + confidence) / 2)) * errors[order])  # (m,)
    # A run that starts at rank i ends before the first rank that any of its items is distinguishable from: the least
    # reach of i and of all ranks after it.
    ends = np.minimum.accumulate(reach[::-1])[::-1]
    # A run that ends where an earlier one ends is within that one.
    starts = np.flatnonzero(np.diff(ends, prepend=-1) > 0)
    return TieGroups(order, starts, ends[starts])


def _reach(scores: FloatArray, margins: FloatArray) -> IntArray:
    """For each rank of sorted scores (m,), the last one before the first that is distinguishable from it.

    margins: (m,) z times the standard errors. A million items leave no time to compare all pairs. So the ranks are the
    leaves of a binary tree, with node n above nodes 2 n and 2 n + 1, and the root 1. Each node knows the lowest score
    and the narrowest margin below it: if even an item with both would not be distinguishable from a rank, no leaf below
    the node is. All ranks look through the tree at once, from their right neighbour to the right.
    """
    count = len(scores)
    leaves = 1 << max(0, count - 1).bit_length()  # the next power of 2; leaf r is node leaves + r
    trees = []
    for values in (scores, margins):
        # The least value below each node (2 * leaves,), infinite if there is none; level by level, from the leaves up.
        tree = np.full(2 * leaves, np.inf)
        tree[leaves : leaves + count] = values
        first = leaves
        while first > 1:
            left, right = tree[first : 2 * first : 2], tree[first + 1 : 2 * first : 2]
            tree[first // 2 : first] = np.minimum(left, right)
            first //= 2
        trees.append(tree)
    lowest, narrowest = trees
    reach = np.full(count, count - 1)  # unless something is found: to the end
    looking = np.arange(count - 1)  # the ranks that still look
    node = _highest(leaves + looking + 1)  # and the node that each looks at
    while len(looking):
        apart = scores[looking] - lowest[node] > np.hypot(margins[looking], narrowest[node])
        # A leaf that is distinguishable ends the search of its rank.
        ended = apart & (node >= leaves)
        reach[looking[ended]] = node[ended] - leaves - 1
        # Go down to the left child where something may be, and otherwise on to what comes right of the node.
        node = np.where(apart, 2 * node, _highest(node + 1))
        goes_on = ~ended & (node > 1)  # the root comes after the last leaf
        looking, node = looking[goes_on], node[goes_on]
    return reach


def _highest(node: IntArray) -> IntArray:
    """The highest node that begins with the same leaf: go up as long as the node is a left child (even)."""
    return node // (node & -node)
