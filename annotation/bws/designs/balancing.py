"""Balanced places: within its tuples, every item stands at each place equally often (one more or less).

A design is a bipartite graph, tuples on one side and items on the other, an edge for each slot. To give
every slot of a tuple another place, and an item each place equally often, is to colour the edges of that
graph. An item is first cut into parts of at most k slots each; then a colouring in which no two edges of
a tuple or of a part look alike exists (Koenig 1916). It is found by halving the graph along its cycles as
long as k is even, and by taking out one perfect matching where it is odd.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, maximum_bipartite_matching

from annotation.bws.judgements import IntArray, grouped_order


def balanced_places(tuples: IntArray, item_count: int) -> IntArray:
    """Reorder rows of tuples (T, k) so that every item stands at each place equally often, give or take one.

    No row may hold an item twice.
    """
    count, size = tuples.shape
    slots = np.arange(count * size)
    parts = _parts(tuples.ravel(), item_count, size)
    places = np.empty(count * size, dtype=np.int64)
    _colour(places, slots, slots // size, parts, range(size))
    balanced = np.empty_like(tuples)
    balanced[slots // size, places] = tuples.ravel()
    return balanced


def _parts(items: IntArray, item_count: int, size: int) -> IntArray:
    """Cut every item's slots into parts of at most `size` slots, and number the parts from 0."""
    order = grouped_order(items)
    appearances = np.bincount(items, minlength=item_count)
    rank = np.arange(len(items)) - np.repeat(np.cumsum(appearances) - appearances, appearances)
    parts_of_item = -(-appearances // size)
    first_part = np.cumsum(parts_of_item) - parts_of_item
    parts = np.empty(len(items), dtype=np.int64)
    parts[order] = np.repeat(first_part, appearances) + rank // size
    return parts


def _colour(places: IntArray, slots: IntArray, tuples: IntArray, parts: IntArray, colours: range) -> None:
    """Give `slots` the places `colours`: of these each tuple has as many slots, each part at most as many."""
    if len(colours) == 1:
        places[slots] = colours[0]
    elif len(colours) % 2:
        first = _matching(tuples, parts, len(colours))
        places[slots[first]] = colours[0]
        _colour(places, slots[~first], tuples[~first], parts[~first], colours[1:])
    else:
        middle = len(colours) // 2
        left = _half(parts)
        for side, half in ((left, colours[:middle]), (~left, colours[middle:])):
            _colour(places, slots[side], tuples[side], parts[side], half)


def _half(parts: IntArray) -> NDArray[np.bool_]:
    """Choose half of each tuple's edges so that each part loses half of its own, one more or less.

    The edges of a tuple stand side by side and are paired as they stand; they are paired again at their
    parts. A walk that crosses first the one pair and then the other sees edges of one side only: so every
    walk lies on one side, and its mirror, the walk through the edges it crossed, on the other.
    """
    at_part = _partners(parts)
    walk = cycles(at_part.reshape(-1, 2)[:, ::-1].ravel())
    mirror = walk.reshape(-1, 2)[:, ::-1].ravel()
    side: NDArray[np.bool_] = walk < mirror
    return side


def _partners(parts: IntArray) -> IntArray:
    """Pair the edges of each part; where one is left over, it is paired with one left over elsewhere."""
    order = grouped_order(parts)
    ordered = parts[order]
    starts = np.flatnonzero(np.diff(ordered, prepend=-1))
    ends = np.append(starts[1:], len(order))
    left_over = ends[(ends - starts) % 2 == 1] - 1
    order = np.concatenate([np.delete(order, left_over), order[left_over]]).reshape(-1, 2)
    partners = np.empty(len(parts), dtype=np.int64)
    partners[order] = order[:, ::-1]
    return partners


def _matching(tuples: IntArray, parts: IntArray, degree: int) -> NDArray[np.bool_]:
    """Choose one edge of each tuple so that every part of full `degree` gives one and no part gives two.

    Tuples that do not exist fill the parts up to `degree`: a graph in which every node has the same degree
    has a perfect matching.
    """
    rows = np.unique(tuples, return_inverse=True)[1]
    columns = np.unique(parts, return_inverse=True)[1]
    missing = np.repeat(np.arange(columns.max() + 1), degree - np.bincount(columns))
    filled_rows = np.concatenate([rows, rows.max() + 1 + np.arange(len(missing)) // degree])
    filled_columns = np.concatenate([columns, missing])
    ones = np.ones(len(filled_rows), dtype=np.int8)
    graph = csr_array((ones, (filled_rows, filled_columns)))
    chosen = maximum_bipartite_matching(graph, perm_type="column")
    matched: NDArray[np.bool_] = chosen[rows] == columns
    return matched


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
