"""Which items of a design meet in a tuple, and how often."""

from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from annotation.bws.judgements import IntArray


def meeting_keys(tuples: IntArray, item_count: int) -> IntArray:
    """One number for every two items of a tuple: (T, k) -> (k (k - 1) / 2, T).

    The number is lower item * item_count + higher item, so equal numbers are repeated meetings.
    """
    columns = combinations(tuples.T, 2)
    return np.stack([np.minimum(a, b) * item_count + np.maximum(a, b) for a, b in columns])


def repeated_keys(keys: IntArray) -> tuple[IntArray, IntArray]:
    """The keys that occur more than once, and how often each does."""
    ordered = np.sort(keys, axis=None)
    again = ordered[1:] == ordered[:-1]
    repeated, extra = np.unique(ordered[1:][again], return_counts=True)
    return repeated, extra + 1


def repeated(keys: IntArray) -> NDArray[np.bool_]:
    """Whether each of the keys is one that occurs more than once: an array of their shape."""
    again = repeated_keys(keys)[0]
    if len(again) == 0:
        return np.zeros(keys.shape, dtype=np.bool_)
    # The last bits alone exclude most keys, so only the others are searched for.
    ends = np.zeros(1 << 16, dtype=np.bool_)
    ends[again & 0xFFFF] = True
    is_repeated: NDArray[np.bool_] = ends[keys & 0xFFFF]
    likely = keys[is_repeated]
    is_repeated[is_repeated] = again[np.minimum(np.searchsorted(again, likely), len(again) - 1)] == likely
    return is_repeated


def meeting_excess(tuples: IntArray, item_count: int) -> int:
    """The sum of c (c - 1) / 2 over all pairs of items, c their meetings.

    Of all ways to spread the same number of meetings over the pairs, the most even one has the least sum.
    """
    times = repeated_keys(meeting_keys(tuples, item_count))[1]
    return int((times * (times - 1) // 2).sum())


def least_excess(meetings: int, pairs: int) -> int:
    """What `meeting_excess` cannot go below: `meetings` spread over `pairs` of items as evenly as can be."""
    each, more = divmod(meetings, pairs)
    return pairs * each * (each - 1) // 2 + more * each


def fewest_repeated_meetings(appearances: IntArray, size: int) -> int:
    """A lower bound on meetings beyond the first of each pair of items, for tuples of `size`.

    An item that appears r times meets r (size - 1) items, and there are only m - 1 others to meet.
    """
    beyond = appearances * (size - 1) - (len(appearances) - 1)
    # Every repeated meeting is counted from both of its items.
    return int(-(-np.maximum(beyond, 0).sum() // 2))


def duplicate_tuples(tuples: IntArray) -> int:
    """How many tuples hold the same items as an earlier one."""
    return len(tuples) - len(np.unique(np.sort(tuples, axis=1), axis=0))


def comparison_components(tuples: IntArray, item_count: int) -> tuple[int, IntArray]:
    """The parts into which the design falls: items are joined if they are in one tuple.

    Returns the number of parts and the part of each item (m,). Items of different parts cannot be compared.
    """
    count, size = tuples.shape
    rows = np.arange(0, count * size + 1, size)
    nodes = item_count + count
    # Each tuple is a node beside the items: k edges instead of k (k - 1) / 2.
    starts = np.concatenate([np.zeros(item_count, dtype=np.int64), rows])
    edges = csr_array((np.ones(count * size, dtype=np.int8), tuples.ravel(), starts), shape=(nodes, nodes))
    parts, labels = connected_components(edges, directed=False)
    return int(parts), labels[:item_count].astype(np.int64)


def clashing_meetings(tuples: IntArray, marks: IntArray) -> NDArray[np.bool_]:
    """Where two items of a tuple (T, k) share a mark (m, s): (k (k - 1) / 2, T) as in `meeting_keys`."""
    columns = combinations(tuples.T, 2)
    return np.stack([(marks[a][:, :, None] == marks[b][:, None, :]).any(axis=(1, 2)) for a, b in columns])
