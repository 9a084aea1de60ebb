"""Which tuples to ask for next: uncertain items, beside others that may be their equals.

Meant for what comes after a balanced design: counting and split-half reliability read the balanced part alone, because
here the items that an item meets depend on earlier answers.
"""

from collections import deque
from collections.abc import Iterator

import numpy as np

from annotation.bws.designs.design import DesignError
from annotation.bws.judgements import FloatArray, IntArray

# Chosen by trial (docs/experiments/adaptive_phase.py): with more items or a wider draw the same accuracy costs more.
SHARE = 0.5
WIDTH = 0.7


def adaptive_block(
    utilities: FloatArray,
    errors: FloatArray,
    *,
    size: int = 4,
    share: float = SHARE,
    seed: int,
    sentences: IntArray | None = None,
) -> IntArray:
    """Tuples (T, size) of the most uncertain items, each item in one of them.

    utilities, errors: (m,) of the items and how uncertain they are, on one scale: a MaxDiff fit, or for a start any
    scores. A `share` of the items is drawn, the more often the more others are within an error of theirs. They are put
    in the order of a draw from N(utility, (0.7 error)^2), as Thompson (1933) chooses, and neighbours are asked about
    together: a choice between equals tells most. sentences: (m, s) ids; items that share one are never in one tuple.
    The same arguments give the same tuples. Raises DesignError if no tuple can be made.
    """
    if size < 2 or len(utilities) < size:
        raise DesignError(
            f"Tuples of {size} need at least {max(size, 2)} items, and there are {len(utilities)}."
        )
    if not 0 < share <= 1:
        raise DesignError(f"The share of the items must be above 0 and at most 1, not {share:g}.")
    if errors.shape != utilities.shape or not np.isfinite([utilities, errors]).all() or errors.min() < 0:
        raise DesignError("Every item needs a utility and an error that are numbers, the error not below 0.")
    rng = np.random.default_rng(seed)
    within = items_within_error(utilities, errors)  # (m,), at least 1 each
    # Rounded down to whole tuples, and one at the least.
    number_drawn = max(size, round(len(utilities) * share) // size * size)
    # Of a few items, chance may draw those that share their sentences: then all of them are drawn.
    for number in (number_drawn, len(utilities)):
        # P(item drawn next) is in proportion to `within` among those that are left.
        drawn = rng.choice(len(utilities), size=number, replace=False, p=within / within.sum())
        # One draw from N(u, (0.7 SE)^2) of each item (number,): items that are surely apart seldom become neighbours.
        sampled = utilities[drawn] + WIDTH * errors[drawn] * rng.standard_normal(number)
        ordered = drawn[np.argsort(sampled, kind="stable")]
        tuples = np.array(list(_neighbours(ordered, size, sentences)), dtype=np.int64).reshape(-1, size)
        if len(tuples):
            # The order of a tuple's items would show their order by score.
            return rng.permuted(tuples, axis=1)
    raise DesignError(f"No {size} of the {len(utilities)} items can be in one tuple; they share sentences.")


def items_within_error(utilities: FloatArray, errors: FloatArray) -> IntArray:
    """How many items are within one error of each (m,), itself included: its rank may be wrong by so many."""
    ranked = np.sort(utilities)
    # Items in [u - SE, u + SE], by two binary searches: m log m in all, instead of m^2.
    above = np.searchsorted(ranked, utilities + errors, side="right")
    return above - np.searchsorted(ranked, utilities - errors, side="left")


def _neighbours(ordered: IntArray, size: int, sentences: IntArray | None) -> Iterator[list[int]]:
    """Cut the order into tuples; an item that shares a sentence with its tuple waits for the next."""
    waiting: deque[int] = deque()
    coming = deque(ordered.tolist())
    while coming or waiting:
        chosen: list[int] = []
        passed: list[int] = []
        while len(chosen) < size and (waiting or coming):
            item = waiting.popleft() if waiting else coming.popleft()
            # An item that shares a sentence with the tuple is passed over, and comes first in the next tuples.
            shares = sentences is not None and np.isin(sentences[item], sentences[chosen]).any()
            (passed if shares else chosen).append(item)
        # The rest of the order cannot fill a tuple: its items are left out of this block.
        if len(chosen) < size:
            return
        waiting.extendleft(reversed(passed))
        yield chosen
