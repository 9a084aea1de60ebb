"""How often the gold gate stops people of a given true share, and how soon: exact, nothing is simulated.

The first table is that of the guide, for the usual gate. The second compares the gate with one that has only the bound,
as it was before the sequential test was added.

    python docs/experiments/gold_gate.py
"""

from itertools import pairwise
from unittest.mock import patch

from annotation.bws.annotators import gold_gate
from annotation.bws.annotators.gold_gate import stop_probability

GOLDS = (5, 10, 20, 60)
PEOPLE = ((0.25, 1 / 9), (0.45, 0), (0.6, 0), (0.65, 0), (0.7, 0), (0.7, 0.3), (0.75, 0), (0.8, 0), (0.85, 0))
THRESHOLDS = (0.6, 0.65, 0.7, 0.75, 0.8)
NEVER = 10_000  # golds before the sequential test acts


def stopped(rate: float, golds: int, threshold: float, correlation: float = 0.0) -> float:
    return stop_probability(rate, golds=golds, minimum=10, threshold=threshold, correlation=correlation)


def mean_golds(rate: float, threshold: float) -> float:
    """Golds until the stop, of those who are stopped within 60."""
    within = [stopped(rate, golds, threshold) for golds in range(61)]
    later = sum(golds * (now - before) for golds, (before, now) in enumerate(pairwise(within), start=1))
    return later / within[-1]


def main() -> None:
    print(f"stopped within {GOLDS} golds, threshold .70, minimum 10")
    for rate, correlation in PEOPLE:
        shares = [f"{stopped(rate, golds, 0.7, correlation):.4f}" for golds in GOLDS]
        print(f"  share {rate:.2f}, correlation of best and worst {correlation:.2f}:", *shares)
    print(
        "the bound alone, and with the sequential test: golds until who guesses is stopped; stopped within 60 golds"
    )
    for threshold in THRESHOLDS:
        both = _figures(threshold)
        with patch.object(gold_gate, "SEQUENTIAL_MINIMUM", NEVER):
            alone = _figures(threshold)
        print(f"  threshold {threshold:.2f}: {alone}; {both}")


def _figures(threshold: float) -> str:
    at, above = (stopped(rate, 60, threshold) for rate in (threshold, threshold + 0.1))
    return f"{mean_golds(0.25, threshold):.2f} golds, {at:.4f} at the threshold, {above:.4f} at .10 above"


if __name__ == "__main__":
    main()
