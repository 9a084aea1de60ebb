"""How reliability grows with the judgements, and how many more a campaign needs."""

import math
from collections.abc import Iterator
from contextlib import suppress

import numpy as np

from annotation.bws.judgements import Judgements
from annotation.bws.reliability.split_half import Reliability, TooFewJudgements, split_half_reliability


def reliability_curve(
    judgements: Judgements, *, points: int = 8, trials: int = 100, seed: int = 1234
) -> Iterator[Reliability]:
    """The reliability after each of `points` equal shares of the judgements, in their order.

    Shares too small for a reliability that means something have no point.
    """
    for count in np.unique(np.linspace(0, len(judgements), points + 1).round().astype(int))[1:]:
        with suppress(TooFewJudgements):
            yield split_half_reliability(judgements.only(np.arange(count)), trials=trials, seed=seed)


def judgements_for(target: float, *, judgements: int, spearman: float) -> int | None:
    """How many judgements would bring a reliability of `spearman` to the target, by Spearman and Brown's formula.

    None if halves that do not agree promise nothing. Raises ValueError for a target outside 0..1.
    """
    if not 0 < target < 1:
        raise ValueError(f"The target of the reliability must be between 0 and 1, not {target:g}.")
    if spearman <= 0:
        return None
    if spearman >= 1:
        return judgements
    return math.ceil(judgements * target * (1 - spearman) / (spearman * (1 - target)))
