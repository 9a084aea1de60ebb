"""The gold gate: when there are enough wrong answers to gold tuples to stop somebody.

Two tests act side by side. The sequential one stops clear cases after a few golds; the bound stops those who are below
the threshold by less, from a minimum of golds on.
"""

import math
from bisect import bisect_left
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import scipy

TRIALS_PER_GOLD = 2  # the best and the worst of a gold tuple are two trials
MOST_GOLDS = 1000  # a gate that stops nobody after so many wrong answers never stops anybody
# The sequential test: from how many golds on it acts, and how far below the threshold the share is that it
# compares with it. For a threshold of .70 that share is .45, about half-way to a guess among four items.
SEQUENTIAL_MINIMUM, SEQUENTIAL_STEP = 4, 0.25
# With a lower threshold, that share would be almost 0, and who guesses among four items is above it.
LOWEST_SEQUENTIAL_THRESHOLD = 0.3
SELDOMEST, OFTENEST = 15, 5  # one gold tuple in so many is proposed for a campaign: more gold takes more time


class GateState(StrEnum):
    """The result for one person: too few golds to decide, kept, or stopped."""

    WAITING = "waiting"
    KEPT = "kept"
    STOPPED = "stopped"


@dataclass(frozen=True)
class GoldGate:
    """rate: share of right trials, None before the first; lower, upper: bounds of the true share."""

    state: GateState
    rate: float | None
    lower: float
    upper: float


def gold_trials_right(
    best_slot: int | None, worst_slot: int | None, gold_best_slot: int, gold_worst_slot: int
) -> int:
    """How many of the two trials of a gold tuple are right."""
    return int(best_slot == gold_best_slot) + int(worst_slot == gold_worst_slot)


def gold_gate(
    *, trials: int, right: int, minimum: int = 10, threshold: float = 0.7, confidence: float = 0.95
) -> GoldGate:
    """Decide by gold answers: stopped if the bound of the true share or the sequential test says that it is too low.

    trials, right: two for each gold tuple, its best and its worst. minimum: golds (not trials) from which on somebody
    is stopped whose upper bound is below the threshold. The sequential test acts from 4 golds on. threshold: share of
    right trials, 0..1. confidence: of each bound by itself. For the chance that somebody is stopped at one of many
    looks, see `stop_probability`.
    """
    if not 0 <= right <= trials:
        raise ValueError(f"There cannot be {right} right answers out of {trials} trials.")
    lower, upper = share_bounds(right, trials, confidence)
    enough = trials >= TRIALS_PER_GOLD * minimum
    # The bound alone waits for `minimum` golds: of few trials it is wide, and the sequential test is made for few.
    state = GateState.KEPT if enough else GateState.WAITING
    if enough and upper < threshold:
        state = GateState.STOPPED
    elif trials >= TRIALS_PER_GOLD * SEQUENTIAL_MINIMUM and threshold > LOWEST_SEQUENTIAL_THRESHOLD:
        # Wald's (1945) test: are the answers 20 times as likely under a share of s = t - .25 as under the threshold t?
        # Nobody at or above t is ever stopped by it with a chance above 1 - confidence = 1/20.
        low, wrong = threshold - SEQUENTIAL_STEP, trials - right
        # right ln(low / t) + wrong ln((1 - low) / (1 - t)); infinite for a wrong answer where t is 1
        evidence = (
            scipy.special.xlogy(right, low / threshold)
            + scipy.special.xlogy(wrong, 1 - low)
            - scipy.special.xlogy(wrong, 1 - threshold)
        )
        # Stopped at log L >= log(1 / (1 - confidence)), 3.0 for 95 %.
        if evidence >= -math.log(1 - confidence):
            state = GateState.STOPPED
    return GoldGate(state, right / trials if trials else None, lower, upper)


TWO_SIDED = 0.975  # of each of two bounds: 95 % between them


def share_bounds(right: int, trials: int, confidence: float) -> tuple[float, float]:
    # The lower bound p has P(X >= right | p) = 1 - confidence: a quantile of Beta(right, trials - right + 1).
    """Exact one-sided bounds of a share (Clopper and Pearson 1934), each with the given confidence."""
    lower = float(scipy.special.betaincinv(right, trials - right + 1, 1 - confidence)) if right else 0.0
    # The upper bound has P(X <= right | p) = 1 - confidence: a quantile of Beta(right + 1, trials - right).
    upper = float(scipy.special.betaincinv(right + 1, trials - right, confidence)) if right < trials else 1.0
    return lower, upper


def stop_probability(
    rate: float, *, golds: int, minimum: int, threshold: float, correlation: float = 0.0
) -> float:
    """The exact probability that the gate stops somebody at one of their first `golds` gold answers.

    rate: their true share of right trials, 0..1. correlation: of the best and the worst of one gold tuple, 0..1; at 0
    they are independent. Who guesses among k items has the rate 1 / k and the correlation 1 / (k - 1)^2.
    minimum, threshold: as of `gold_gate`, which is called.
    """
    both = rate**2 + correlation * rate * (1 - rate)  # P(both right) = p^2 + rho p (1 - p)
    chances = np.array(
        [1 - 2 * rate + both, 2 * (rate - both), both]
    )  # of 0, 1 and 2 right trials of one gold
    going_on = np.ones(1)  # (2 g + 1,) after g golds: the chance to have r right trials and not to be stopped
    for answered in range(1, golds + 1):
        # The number of right trials after one gold more is a sum of independent numbers: a convolution (2 g + 1,).
        going_on = np.convolve(going_on, chances)
        # Stopped here, so gone from the sum.
        going_on[: _rights_stopped(answered, minimum=minimum, threshold=threshold)] = 0
    return float(1 - going_on.sum())


def _rights_stopped(golds: int, *, minimum: int, threshold: float) -> int:
    """With fewer right trials than this, the gate stops somebody after so many golds: more are never worse."""
    trials = TRIALS_PER_GOLD * golds

    def goes_on(right: int) -> bool:
        gate = gold_gate(trials=trials, right=right, minimum=minimum, threshold=threshold)
        return gate.state is not GateState.STOPPED

    # Right trials are in order, so log2(2 g + 1) looks find the limit.
    return bisect_left(range(trials + 1), True, key=goes_on)


def golds_before_stop(*, minimum: int, threshold: float) -> int | None:
    """After how many gold answers, all of them wrong, the gate first stops somebody; None if it never does.

    minimum, threshold: as of `gold_gate`, which is called: more wrong answers never help.
    """

    def stops(golds: int) -> bool:
        return _rights_stopped(golds, minimum=minimum, threshold=threshold) > 0

    # The gate is asked about log2(1000) = 10 numbers of golds.
    golds = bisect_left(range(MOST_GOLDS + 1), True, key=stops)
    return golds if golds <= MOST_GOLDS else None


def tuples_before_stop(*, every: int, minimum: int, threshold: float) -> int | None:
    """How many tuples somebody gets before the gate can stop them, if one in `every` is gold; None if it never can.

    The gold tuple has a random position within each `every` tuples, so that many are sure to hold enough golds.
    """
    golds = golds_before_stop(minimum=minimum, threshold=threshold)
    return None if golds is None else golds * every


def gate_proposed(tuples: float, *, minimum: int, threshold: float) -> int | None:
    """One gold tuple in how many, for people who get so many tuples each.

    The gate can then stop somebody within half of the work, or, if that takes too much gold, before its end. None if
    even the most frequent gold comes too late.
    """
    golds = golds_before_stop(minimum=minimum, threshold=threshold)
    if not golds:
        return None
    for share in (0.5, 1.0):
        # Golds that are due after `every` tuples each: golds * every <= share * tuples.
        every = min(SELDOMEST, int(share * tuples / golds))
        if every >= OFTENEST:
            return every
    return None
