"""Sorting by group, fast: designs of a million items sort eight million slots several times."""

import numpy as np

from annotation.bws.judgements import IntArray


def grouped_order(groups: IntArray) -> IntArray:
    """The order (n,) that puts equal numbers (n,), all at least 0, side by side and keeps them as they stood.

    The same as a stable argsort. Number and position are sorted as one number, which numpy does several
    times faster than it sorts positions by number.
    """
    count = max(1, len(groups))
    order: IntArray = np.sort(groups * count + np.arange(len(groups))) % count
    return order
