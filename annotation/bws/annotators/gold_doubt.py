"""Gold tuples that good annotators miss: their answer may be wrong, or a matter of taste."""

from dataclasses import dataclass

import numpy as np

from annotation.bws.annotators.gold_gate import TRIALS_PER_GOLD, share_bounds
from annotation.bws.judgements import IntArray

UNANSWERED = -1
FEWEST_OTHERS = 3  # gold tuples that somebody answered beside this one; of fewer, nobody can be called good
FEWEST_GOOD = 3  # people; fewer could agree by chance


@dataclass(frozen=True)
class GoldDoubt:
    """gold: its column. good: people who answered it and do well on the others; right of `trials`: theirs on it.

    upper: one-sided bound of the share that such people get right.
    """

    gold: int
    good: int
    trials: int
    right: int
    upper: float


def golds_doubted(right: IntArray, *, threshold: float, confidence: float = 0.95) -> list[GoldDoubt]:
    """The gold tuples on which people who do well on all others are surely below the threshold; worst first.

    right: (people, golds) right trials of each answer, 0 to 2, or -1 where a person did not answer that tuple.
    threshold: share of right trials that the campaign requires, 0..1. A tuple is doubted if the exact upper bound
    (Clopper and Pearson 1934) of the share of its good annotators is below the threshold: the rule that stops a
    person, turned on the tuple. Best and worst are taken for independent, as the gate does.
    """
    found = []
    answered = right != UNANSWERED
    for gold in range(right.shape[1]):
        # (people,) of right trials on the other gold tuples, NaN where somebody answered too few of them.
        others = answered.copy()
        others[:, gold] = False
        number = others.sum(axis=1)
        # Share of right trials on the other golds; NaN >= threshold is false, so who answered few is left out.
        shares = np.where(others, right, 0).sum(axis=1) / np.maximum(1, TRIALS_PER_GOLD * number)
        good = answered[:, gold] & (np.where(number >= FEWEST_OTHERS, shares, np.nan) >= threshold)

        people, hits = int(good.sum()), int(right[good, gold].sum())
        if people < FEWEST_GOOD:
            continue
        trials = TRIALS_PER_GOLD * people  # two trials for each good person
        upper = share_bounds(hits, trials, confidence)[1]
        if upper < threshold:
            found.append(GoldDoubt(gold, people, trials, hits, upper))
    return sorted(found, key=lambda doubt: (doubt.upper, doubt.gold))
