"""Replication across tuples: how near scores are to those of other people who judged other tuples.

The usual split-half reliability gives both halves the same tuples, and so hides how much an item's score depends on
which items it met. Here each half has its own tuples.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from annotation.bws.judgements import FloatArray, Judgements, tuple_numbers
from annotation.bws.reliability.correlation import spearman_of
from annotation.bws.reliability.drawing import halves_of_units, random_ranks
from annotation.bws.scores.refitting import MaxDiffSettings
from annotation.bws.scores.scoring import counting_scores

MOST_TRIALS = 10_000
ScoringMethod = Callable[[Judgements], FloatArray]  # NaN for an item that never appeared


def compared_methods(settings: MaxDiffSettings) -> dict[str, ScoringMethod]:
    """Counting, and MaxDiff with the settings that a fit of all judgements found."""
    return {"counting": counting_values, "maxdiff": settings.utilities}


def counting_values(judgements: Judgements) -> FloatArray:
    return counting_scores(judgements, with_errors=False).values


@dataclass(frozen=True)
class Replication:
    """Spearman between scores from different tuples, mean and standard deviation over the trials.

    judgements: how many the scores of one half are computed from, the mean over the trials.
    """

    judgements_per_tuple: int
    judgements: int
    trials: int
    spearman_mean: float
    spearman_sd: float


def replication(
    judgements: Judgements,
    method: ScoringMethod,
    *,
    judgements_per_tuple: int,
    trials: int = 10,
    seed: int = 1234,
) -> Replication:
    """Correlate scores from a few judgements of each tuple of one half with scores from all of the other half.

    The tuples are split at random; of one half so many random judgements of each tuple are kept, and both halves are
    scored by the same method. Items that only one half saw are dropped.
    Raises ValueError if there are fewer than two tuples or fewer than one judgement of each is asked for.
    """
    tuples = tuple_numbers(judgements.items)
    if trials > MOST_TRIALS:
        raise ValueError(f"At most {MOST_TRIALS:,} trials are possible, not {trials:,}.")
    if judgements_per_tuple < 1 or trials < 1:
        raise ValueError(
            f"At least 1 judgement and 1 trial are needed, not {judgements_per_tuple} and {trials}."
        )
    if len(tuples) == 0 or tuples.max() == 0:
        raise ValueError("Two halves need at least two different tuples.")
    rng = np.random.default_rng(seed)
    # In the stream of `seed`, the halves and the choices of judgements alternate.
    draw, correlations, kept = halves_of_units(tuples), [], []
    for _ in range(trials):
        first = draw(1, rng)[:, 0]  # (n,): in the half that is cut down
        # The first few of a random order of each tuple's judgements.
        few = first & (random_ranks(tuples, 1, rng)[:, 0] < judgements_per_tuple)
        # Spearman over the items that both halves saw.
        correlations.append(spearman_of(method(judgements.only(few)), method(judgements.only(~first))))
        kept.append(few.sum())
    mean, sd = float(np.mean(correlations)), float(np.std(correlations))
    return Replication(judgements_per_tuple, round(np.mean(kept)), trials, mean, sd)
