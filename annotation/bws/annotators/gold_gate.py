"""The gold gate: when there are enough wrong answers to gold tuples to stop somebody."""

from bisect import bisect_left
from dataclasses import dataclass
from enum import StrEnum
from itertools import product

from scipy.special import betaincinv

TRIALS_PER_GOLD = 2  # the best and the worst of a gold tuple are two trials
MOST_GOLDS = 1000  # a gate that stops nobody after so many wrong answers never stops anybody
# What is proposed for a campaign: a gate with fewer gold answers stops good people more easily, and more gold takes
# more time.
PROPOSED_MINIMUMS = (10, 8, 6, 5)
SELDOMEST, OFTENEST = 15, 5


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


def gold_trials_right(best_slot: int, worst_slot: int, gold_best_slot: int, gold_worst_slot: int) -> int:
    """How many of the two trials of a gold tuple are right."""
    return int(best_slot == gold_best_slot) + int(worst_slot == gold_worst_slot)


def gold_gate(
    *, trials: int, right: int, minimum: int = 10, threshold: float = 0.7, confidence: float = 0.95
) -> GoldGate:
    """Decide by gold answers: stopped only if the upper bound of the true share is below the threshold.

    trials, right: two for each gold tuple, its best and its worst. minimum: golds (not trials) before
    anybody is stopped. threshold: share of right trials, 0..1. confidence: of each bound by itself. A person whose true
    share is the threshold is stopped with a chance of at most 1 - confidence at each look.
    """
    if not 0 <= right <= trials:
        raise ValueError(f"There cannot be {right} right answers out of {trials} trials.")
    lower, upper = share_bounds(right, trials, confidence)
    state = GateState.STOPPED if upper < threshold else GateState.KEPT
    if trials < TRIALS_PER_GOLD * minimum:
        state = GateState.WAITING
    return GoldGate(state, right / trials if trials else None, lower, upper)


def share_bounds(right: int, trials: int, confidence: float) -> tuple[float, float]:
    """Exact one-sided bounds of a share (Clopper and Pearson 1934), each with the given confidence."""
    lower = float(betaincinv(right, trials - right + 1, 1 - confidence)) if right else 0.0
    upper = float(betaincinv(right + 1, trials - right, confidence)) if right < trials else 1.0
    return lower, upper


def golds_before_stop(*, minimum: int, threshold: float) -> int | None:
    """After how many gold answers, all of them wrong, the gate first stops somebody; None if it never does.

    minimum, threshold: as of `gold_gate`, which is called: more wrong answers never help.
    """

    def stops(golds: int) -> bool:
        gate = gold_gate(trials=TRIALS_PER_GOLD * golds, right=0, minimum=minimum, threshold=threshold)
        return gate.state is GateState.STOPPED

    golds = bisect_left(range(MOST_GOLDS + 1), True, key=stops)
    return golds if golds <= MOST_GOLDS else None


def tuples_before_stop(*, every: int, minimum: int, threshold: float) -> int | None:
    """How many tuples somebody gets before the gate can stop them, if one in `every` is gold; None if it never can.

    The gold tuple has a random position within each `every` tuples, so that many are sure to hold enough golds.
    """
    golds = golds_before_stop(minimum=minimum, threshold=threshold)
    return None if golds is None else golds * every


def gate_proposed(tuples: float, *, threshold: float) -> tuple[int, int] | None:
    """One gold tuple in how many, and the minimum of gold answers, for people who get so many tuples each.

    The gate can then stop somebody within half of the work, or, if that takes too much gold, before its end. None if
    even the most frequent gold comes too late.
    """
    for share, minimum, every in product((0.5, 1.0), PROPOSED_MINIMUMS, range(SELDOMEST, OFTENEST - 1, -1)):
        needed = tuples_before_stop(every=every, minimum=minimum, threshold=threshold)
        if needed is not None and needed <= share * tuples:
            return every, minimum
    return None
