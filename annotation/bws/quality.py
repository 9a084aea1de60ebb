"""The gold gate: when wrong answers to known questions say enough to stop somebody."""

from dataclasses import dataclass
from enum import StrEnum

from scipy.special import betaincinv

TRIALS_PER_GOLD = 2  # the best and the worst of a gold tuple are two trials


class GateState(StrEnum):
    """Where somebody stands: too few golds to say, kept, or stopped."""

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
    """Decide by gold answers: stopped only where the upper bound of the true share is below the threshold.

    trials, right: two for each gold tuple, its best and its worst. minimum: golds (not trials) before
    anybody is stopped. threshold: share of right trials, 0..1. confidence: of each bound by itself. A
    person whose true share is the threshold is stopped with a chance of at most 1 - confidence at each
    look.
    """
    if not 0 <= right <= trials:
        raise ValueError(f"{right} right answers out of {trials} trials cannot be.")
    lower, upper = share_bounds(right, trials, confidence)
    if trials < TRIALS_PER_GOLD * minimum:
        state = GateState.WAITING
    else:
        state = GateState.STOPPED if upper < threshold else GateState.KEPT
    return GoldGate(state, right / trials if trials else None, lower, upper)


def share_bounds(right: int, trials: int, confidence: float) -> tuple[float, float]:
    """Exact one-sided bounds of a share (Clopper and Pearson 1934), each with the given confidence."""
    lower = float(betaincinv(right, trials - right + 1, 1 - confidence)) if right else 0.0
    upper = float(betaincinv(right + 1, trials - right, confidence)) if right < trials else 1.0
    return lower, upper
