"""Which tuples to ask for next: items that the judgements leave in doubt, beside others that may be their equals.

Meant for what comes after a balanced design: counting and split-half reliability read the balanced part alone, since
whom an item meets here depends on what was answered before.
"""

from collections import deque
from collections.abc import Iterator

import numpy as np

from annotation.bws.designs.design import DesignError
from annotation.bws.judgements import FloatArray, IntArray

# Found by trial (docs/experiments/adaptive_phase.py): of more items or a wider draw the same accuracy costs more.
SHARE = 0.5
WIDTH = 0.7


def adaptive_deck(
    utilities: FloatArray,
    errors: FloatArray,
    *,
    size: int = 4,
    share: float = SHARE,
    seed: int,
    sentences: IntArray | None = None,
) -> IntArray:
    """Tuples (T, size) of the items in doubt, each of them once.

    utilities, errors: (m,) of the items and how unsure they are, on one scale: a MaxDiff fit, or for a start any
    scores. A `share` of the items is drawn, the more often the more others lie within an error of theirs; they are
    put in the order of a draw from N(utility, (0.7 error)^2), as Thompson (1933) chooses, and neighbours are asked
    about together: a choice between equals tells most. sentences: (m, s) ids; items that share one stand apart.
    The same arguments give the same tuples. Raises DesignError where no tuple can be made.
    """
    _check(utilities, errors, size, share)
    rng = np.random.default_rng(seed)
    doubt = in_doubt(utilities, errors)
    wanted = max(size, round(len(utilities) * share) // size * size)
    # Of a few items, chance may draw such as share their sentences: then all of them are drawn.
    for number in (wanted, len(utilities)):
        drawn = rng.choice(len(utilities), size=number, replace=False, p=doubt / doubt.sum())
        shown = utilities[drawn] + WIDTH * errors[drawn] * rng.standard_normal(number)
        ordered = drawn[np.argsort(shown, kind="stable")]
        tuples = np.array(list(_neighbours(ordered, size, sentences)), dtype=np.int64).reshape(-1, size)
        if len(tuples):
            return rng.permuted(tuples, axis=1)
    raise DesignError(f"No {size} of the {len(utilities)} items can stand together; they share sentences.")


def in_doubt(utilities: FloatArray, errors: FloatArray) -> IntArray:
    """How many items lie within one error of each (m,), itself included: by so many its rank may be wrong."""
    ranked = np.sort(utilities)
    above = np.searchsorted(ranked, utilities + errors, side="right")
    within: IntArray = above - np.searchsorted(ranked, utilities - errors, side="left")
    return within


def _check(utilities: FloatArray, errors: FloatArray, size: int, share: float) -> None:
    if size < 2 or len(utilities) < size:
        raise DesignError(
            f"Tuples of {size} need at least {max(size, 2)} items, and there are {len(utilities)}."
        )
    if not 0 < share <= 1:
        raise DesignError(f"A share of the items lies above 0 and at most at 1, not at {share:g}.")
    if errors.shape != utilities.shape or not np.isfinite([utilities, errors]).all() or errors.min() < 0:
        raise DesignError("Every item needs a utility and an error that are numbers, the error not below 0.")


def _neighbours(ordered: IntArray, size: int, sentences: IntArray | None) -> Iterator[list[int]]:
    """Cut the order into tuples; an item that shares a sentence with its tuple waits for the next."""
    waiting: deque[int] = deque()
    coming = deque(int(item) for item in ordered)
    while coming or waiting:
        chosen: list[int] = []
        passed: list[int] = []
        while len(chosen) < size and (waiting or coming):
            item = waiting.popleft() if waiting else coming.popleft()
            (passed if _shares(item, chosen, sentences) else chosen).append(item)
        if len(chosen) < size:
            return
        waiting = deque(passed)
        yield chosen


def _shares(item: int, chosen: list[int], sentences: IntArray | None) -> bool:
    return sentences is not None and bool(np.isin(sentences[item], sentences[chosen]).any())
