"""The highest correlation that scores of a known reliability allow.

Classical test theory takes an observed score for a true score plus an error that has nothing to do with the true score,
with other errors or with the model. The reliability is the share of the observed variance that is true. A model that
knew every true score would then correlate with the observed ones at the square root of the reliability (Spearman 1904).
Where people agree on a bias that the model shares, a model can exceed this ceiling.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt
from typing import Any


@dataclass(frozen=True)
class Ceiling:
    """value: the root of the reliability, with its 95 % interval where the reliability has one.

    source: what the reliability is, in words.
    """

    reliability: float
    source: str
    low: float | None = None
    high: float | None = None

    @property
    def value(self) -> float:
        # For x = t + e with e independent of t, corr(t, x) = var t / (sd t · sd x) = sd t / sd x, and the
        # reliability is var t / var x.
        return sqrt(self.reliability)  # of 0.81, for example, 0.9


def ceiling_of(parameters: Mapping[str, Any], *, method: str) -> Ceiling | None:
    """The ceiling that a score set's own parameters say; None where they say no reliability above 0.

    MaxDiff scores have a marginal reliability. Other scores have the split-half reliability, which is that of half the
    judgements and is stepped up to all of them (Spearman–Brown: 2r / (1 + r)).
    """
    marginal = parameters.get("marginal_reliability")
    halves = parameters.get("reliability")
    # The marginal reliability is that of all judgements already, so it is not stepped up.
    if method.startswith("maxdiff") and marginal is not None and _is_share(marginal):
        low, high = (_root(parameters.get(f"marginal_reliability_{end}")) for end in ("low", "high"))
        return Ceiling(float(marginal), "marginal reliability of the MaxDiff scores", low, high)
    if isinstance(halves, Mapping) and _is_share(halves.get("spearman_mean")):
        # Both maps, 2r / (1 + r) and the root, rise with r, so they carry the ends of r's interval to those
        # of the ceiling's. A negative lower end becomes 0.
        ends = (halves.get(f"spearman_{end}") for end in ("low", "high"))
        low, high = (None if end is None else _root(_stepped_up(max(0.0, float(end)))) for end in ends)
        stepped_up = _stepped_up(float(halves["spearman_mean"]))
        return Ceiling(stepped_up, "split-half reliability, stepped up by Spearman–Brown", low, high)
    return None


def _stepped_up(half: float) -> float:
    return 2 * half / (1 + half)  # Spearman–Brown for twice the length


def _root(reliability: float | None) -> float | None:
    return None if reliability is None else sqrt(max(0.0, reliability))


def _is_share(value: object) -> bool:
    return isinstance(value, int | float) and 0 < value <= 1
