"""The cycles of a large permutation."""

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from annotation.bws.judgements import IntArray

# Of so many elements, one starts a walk.
STRIDE = 64


def cycles(after: IntArray) -> IntArray:
    """Number the cycles of a permutation (n,): elements of one cycle, and only they, get one number (n,).

    Many walkers start at once and each goes on until it comes to where another one started; what remains
    is to see who follows whom. A single walker would wait for memory at every step.
    """
    starts = np.arange(0, len(after), STRIDE)
    walker = np.full(len(after), -1)
    walker[starts] = np.arange(len(starts))
    follower = np.empty_like(starts)
    walking, at = np.arange(len(starts)), after[starts]
    while len(walking):
        met = walker[at]
        arrived = met >= 0
        follower[walking[arrived]] = met[arrived]
        walking, at = walking[~arrived], at[~arrived]
        walker[at] = walking
        at = after[at]
    return _with_short_cycles(after, walker, _components(follower))


def _with_short_cycles(after: IntArray, walker: IntArray, cycle_of_walker: IntArray) -> IntArray:
    """Number also the cycles in which no walker started."""
    number = cycle_of_walker[walker]
    missed = np.flatnonzero(walker < 0)
    position = np.empty_like(after)
    position[missed] = np.arange(len(missed))
    number[missed] = len(cycle_of_walker) + _components(position[after[missed]])
    return number


def _components(after: IntArray) -> IntArray:
    size = len(after)
    steps = csr_array((np.ones(size, dtype=np.int8), after, np.arange(size + 1)), shape=(size, size))
    return connected_components(steps, directed=False)[1].astype(np.int64)
