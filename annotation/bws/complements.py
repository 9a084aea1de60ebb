"""Designs told by what they leave out.

Where few other tuples are possible, swaps hardly find one that is not there already; what is left out has room. Items
that are balanced in the one are balanced in the other.
"""

from itertools import combinations

import numpy as np

from annotation.bws.judgements import IntArray


def items_left_out(tuples: IntArray, item_count: int) -> IntArray:
    """The items that each tuple (T, k) does not hold: (T, m - k)."""
    outside = np.ones((len(tuples), item_count), dtype=np.bool_)
    np.put_along_axis(outside, tuples, values=False, axis=1)
    return np.nonzero(outside)[1].reshape(len(tuples), -1).astype(np.int64)


def tuples_left_out(tuples: IntArray, item_count: int) -> IntArray:
    """All tuples of k of m items that are not among tuples (T, k): (m over k - T, k)."""
    asked = {tuple(row) for row in np.sort(tuples, axis=1).tolist()}
    every = combinations(range(item_count), tuples.shape[1])
    return np.array([row for row in every if row not in asked], dtype=np.int64)
