"""How near scores come to those of other people judging other tuples: what counting and models are
compared by.

The usual split-half reliability gives both halves the same tuples, and so hides what an item's score owes
to whom it met. Here each half has tuples of its own.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from annotation.bws.judgements import IntArray, Judgements, tuple_numbers
from annotation.bws.reliability.correlation import spearman
from annotation.bws.reliability.split_half import halves_of_units
from annotation.bws.scores.scoring import Scores

MOST_TRIALS = 10_000
Scored = Callable[[Judgements], Scores]


@dataclass(frozen=True)
class Stability:
    """Spearman between scores from different tuples, mean and standard deviation over the trials.

    judgements: how many the scores of one half rest on, the mean over the trials.
    """

    judgements_per_tuple: int
    judgements: int
    trials: int
    spearman_mean: float
    spearman_sd: float


def stability(
    judgements: Judgements, scored: Scored, *, judgements_per_tuple: int, trials: int = 10, seed: int = 1234
) -> Stability:
    """Correlate scores from a few judgements of each tuple of one half with scores from all of the other half.

    The tuples are split at random; of one half so many random judgements of each tuple are kept, and both
    halves are scored by the same method. Items that only one half saw are dropped.
    Raises ValueError where there are fewer than two tuples or fewer than one judgement of each is asked
    for.
    """
    tuples = tuple_numbers(judgements.items)
    if trials > MOST_TRIALS:
        raise ValueError(f"At most {MOST_TRIALS:,} trials can be asked for, not {trials:,}.")
    if judgements_per_tuple < 1 or trials < 1:
        raise ValueError(f"Needs at least 1 judgement and 1 trial, not {judgements_per_tuple} and {trials}.")
    if len(tuples) == 0 or tuples.max() == 0:
        raise ValueError("Two halves need at least two different tuples.")
    rng = np.random.default_rng(seed)
    draw, found, kept = halves_of_units(tuples), [], []
    for _ in range(trials):
        first = draw(1, rng)[:, 0]
        few = np.flatnonzero(first)[_some_of_each(tuples[first], judgements_per_tuple, rng)]
        one, two = scored(judgements.only(few)).values, scored(judgements.only(~first)).values
        seen = ~np.isnan(one) & ~np.isnan(two)
        found.append(spearman(one[None], two[None], seen[None])[0])
        kept.append(len(few))
    return Stability(
        judgements_per_tuple, round(np.mean(kept)), trials, float(np.mean(found)), float(np.std(found))
    )


def _some_of_each(tuples: IntArray, number: int, rng: np.random.Generator) -> IntArray:
    """The rows of `number` random judgements of each tuple."""
    shuffled = rng.permutation(len(tuples))
    order = shuffled[np.argsort(tuples[shuffled], kind="stable")]
    sizes = np.bincount(tuples)
    rank = np.arange(len(order)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return order[rank < number]
