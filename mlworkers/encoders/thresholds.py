"""The cosine above which a pair counts as a paraphrase, tuned on pairs that people labelled.

Tuning is by a sweep over every cut that a threshold can make. A cut never falls between equal scores, because
no threshold could make it; taking every pair and taking none are cuts too.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mlworkers.encoders.metrics import Scores, labelled


@dataclass(frozen=True)
class Threshold:
    """A pair is taken for positive where `score > value` (strict).

    value: infinite where the best is to take every pair (-inf) or none (inf).
    figure: the accuracy or F1, 0..1, that it reached on the pairs it was tuned on.
    """

    value: float
    figure: float


@dataclass(frozen=True)
class _Cuts:
    """Every cut, from taking none to taking all: (c,) each."""

    values: Scores
    taken: NDArray[np.int64]
    right: NDArray[np.int64]  # positives among the taken
    positives: int
    pairs: int


def tune_accuracy(scores: ArrayLike, labels: ArrayLike) -> Threshold:
    """The threshold of the highest accuracy; among equals the highest threshold.

    scores (n,), labels (n,) of 0 and 1. Raises ValueError unless both labels occur.
    """
    cuts = _cuts(scores, labels)
    rejected_rightly = cuts.pairs - cuts.positives - (cuts.taken - cuts.right)
    return _best(cuts, (cuts.right + rejected_rightly) / cuts.pairs)


def tune_f1(scores: ArrayLike, labels: ArrayLike) -> Threshold:
    """The threshold of the highest F1; arguments, ties and errors as for `tune_accuracy`."""
    cuts = _cuts(scores, labels)
    return _best(cuts, 2 * cuts.right / (cuts.taken + cuts.positives))


def _cuts(scores: ArrayLike, labels: ArrayLike) -> _Cuts:
    values, positive = labelled(scores, labels)
    if positive.all() or not positive.any():
        raise ValueError(f"All {positive.size} labels are {int(positive[0])}; a threshold needs both.")
    order = np.argsort(-values, kind="stable")
    ordered = values[order]
    last = np.flatnonzero(ordered[:-1] > ordered[1:])  # the last of each group of equal scores but the lowest
    taken = np.concatenate(([0], last + 1, [values.size]))
    right = np.concatenate(([0], np.cumsum(positive[order])))[taken]
    cuts = np.concatenate(([np.inf], _between(ordered[last], ordered[last + 1]), [-np.inf]))
    return _Cuts(cuts, taken, right, int(positive.sum()), values.size)


def _between(upper: Scores, lower: Scores) -> Scores:
    middle = lower + (upper - lower) / 2
    # Between neighbouring floats the middle rounds to one of them; the lower one still separates the two.
    separating: Scores = np.where(middle < upper, middle, lower)
    return separating


def _best(cuts: _Cuts, figures: Scores) -> Threshold:
    place = int(np.argmax(figures))
    return Threshold(float(cuts.values[place]), float(figures[place]))
