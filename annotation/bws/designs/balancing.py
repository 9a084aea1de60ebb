"""Balanced positions: within its tuples, every item has each position equally often (one more or less).

A design is a bipartite graph, tuples on one side and items on the other, with an edge for each slot. To give every slot
of a tuple another position, and an item each position equally often, is to colour the edges of that graph. An item is
first cut into parts of at most k slots each; then a colouring exists in which no two edges of a tuple or of a part have
the same colour (Koenig 1916). It is found by halving the graph along its cycles as long as k is even, and by taking out
one perfect matching if k is odd.
"""

import numpy as np
import scipy
from numpy.typing import NDArray

from annotation.bws.judgements import IntArray, grouped_order, ranks_within

STRIDE = 64  # of so many elements of a permutation, one starts a walk


def balanced_positions(tuples: IntArray, item_count: int) -> IntArray:
    """Reorder rows of tuples (T, k) so that every item has each position equally often, give or take one.

    No row may hold an item twice.
    """
    size = tuples.shape[1]
    # Slot s is an edge from tuple s // k to a part of its item; its colour is its position 0 .. k - 1.
    slots = np.arange(tuples.size)
    positions = np.empty_like(slots)

    # Cut every item's slots into parts of at most `size` slots, and number the parts from 0: (T k,).
    items = tuples.ravel()
    appearances = np.bincount(items, minlength=item_count)  # r of each item (m,)
    parts_of_item = -(-appearances // size)  # ceil(r / k)
    first_part = np.cumsum(parts_of_item) - parts_of_item
    parts = np.empty(len(items), dtype=np.int64)
    # Of an item's appearances, the first `size` are its first part, the next `size` its second, ...
    # Each part then has at most k edges, so k colours are enough, and an item's counts differ by 1 at most.
    parts[grouped_order(items)] = np.repeat(first_part, appearances) + ranks_within(appearances) // size
    _colour(positions, slots, slots // size, parts, range(size))

    balanced = np.empty_like(tuples)
    balanced[slots // size, positions] = tuples.ravel()
    return balanced


def _colour(positions: IntArray, slots: IntArray, tuples: IntArray, parts: IntArray, colours: range) -> None:
    """Write the positions `colours` of `slots`: of these each tuple has as many slots, each part at most as many.

    tuples, parts: (slots,) the two ends of each edge.
    """
    # Cost: every level of halving reads each slot once, so T k log k, and one matching at each odd level.
    if len(colours) == 1:
        positions[slots] = colours[0]
    elif len(colours) % 2:
        # Invented tuples fill parts up to `degree` edges: a regular graph, which has a perfect matching (Koenig 1916).
        # Choose one edge of each tuple so that every part of full `degree` gives one and no part gives two.
        degree = len(colours)
        rows = np.unique(tuples, return_inverse=True)[1]
        columns = np.unique(parts, return_inverse=True)[1]
        # `missing` has each part as often as it lacks edges.
        missing = np.repeat(np.arange(columns.max() + 1), degree - np.bincount(columns))
        # An invented tuple takes `degree` of the missing edges; parts * degree - tuples * degree of them are missing.
        filled_rows = np.concatenate([rows, rows.max() + 1 + np.arange(len(missing)) // degree])
        filled_columns = np.concatenate([columns, missing])
        graph = scipy.sparse.csr_array(
            (np.ones(len(filled_rows), dtype=np.int8), (filled_rows, filled_columns))
        )
        chosen = scipy.sparse.csgraph.maximum_bipartite_matching(
            graph, perm_type="column"
        )  # the part of each tuple
        first: NDArray[np.bool_] = chosen[rows] == columns

        positions[slots[first]] = colours[0]
        _colour(positions, slots[~first], tuples[~first], parts[~first], colours[1:])
    else:
        # Choose half of each tuple's edges so that each part loses half of its edges, one more or less.
        order = grouped_order(parts)
        ordered = parts[order]
        starts = np.flatnonzero(np.diff(ordered, prepend=-1))
        ends = np.append(starts[1:], len(order))
        # Pairs at tuples and pairs at parts together chain the edges into cycles of even length.
        # Pair the edges of each part. If one is left over, it is paired with one that is left over elsewhere.
        left_over = ends[(ends - starts) % 2 == 1] - 1
        order = np.concatenate([np.delete(order, left_over), order[left_over]]).reshape(-1, 2)
        at_part = np.empty(len(parts), dtype=np.int64)
        at_part[order] = order[:, ::-1]
        # One step of a walk: to the partner within the tuple, and on to that one's partner at its part.
        walk = cycles(at_part.reshape(-1, 2)[:, ::-1].ravel())
        mirror = walk.reshape(-1, 2)[:, ::-1].ravel()
        # A walk visits one edge of every pair, its mirror image the other one; either of the two is a half.
        left, middle = (walk < mirror), len(colours) // 2

        for side, half in ((left, colours[:middle]), (~left, colours[middle:])):
            _colour(positions, slots[side], tuples[side], parts[side], half)


def cycles(after: IntArray) -> IntArray:
    """Number the cycles of a permutation (n,): elements of one cycle, and only they, get one number (n,).

    Many walkers start at once and each goes on until it comes to where another one started. Then only who follows whom
    is left to find. A single walker would wait for memory at every step.
    """
    starts = np.arange(0, len(after), STRIDE)  # one walker for every 64 elements
    walker = np.full(len(after), -1)  # (n,): who came by, -1 for nobody
    walker[starts] = np.arange(len(starts))  # walker w stands at starts[w]
    follower = np.empty_like(starts)  # whom each walker met
    walking, at = np.arange(len(starts)), after[starts]
    while len(walking):
        met = walker[at]
        arrived = met >= 0
        follower[walking[arrived]] = met[arrived]
        walking, at = walking[~arrived], at[~arrived]
        # Where nobody came by, the walker leaves its number, and goes on by one step.
        walker[at] = walking
        at = after[at]
    # Walkers that follow each other are on one cycle.
    cycle_of_walker = _components(follower)
    number: IntArray = cycle_of_walker[walker]
    # Short cycles in which no walker started have their own numbers.
    missed = np.flatnonzero(walker < 0)
    position = np.empty_like(after)
    position[missed] = np.arange(len(missed))
    number[missed] = len(cycle_of_walker) + _components(position[after[missed]])
    return number


def _components(after: IntArray) -> IntArray:
    size = len(after)
    # A graph with one edge from each element to the next; its components are the cycles.
    steps = scipy.sparse.csr_array(
        (np.ones(size, dtype=np.int8), after, np.arange(size + 1)), shape=(size, size)
    )
    return scipy.sparse.csgraph.connected_components(steps, directed=False)[1].astype(np.int64)
