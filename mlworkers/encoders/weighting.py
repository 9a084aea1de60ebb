"""What each training pair counts for: by how real its sentence sounds (p_D), or, as controls, by chance.

RISE weighs by p_D (equation 1, section 4) and compares with filtering and with random weights (section 5). Weights of a
mean below 1 also shrink the loss; shuffled and constant weights show what that alone does.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mlworkers.encoders.plan import Normalise, Weighting

Weights = NDArray[np.float64]
Places = NDArray[np.int64]
HALF = 0.5  # the mean of random weights
_STREAM = 7  # apart from the order of pairs, which draws from the same seed


class WeightingError(ValueError):
    """The pairs cannot be weighed so."""


@dataclass(frozen=True)
class RowWeights:
    """places: of the rows that are kept, in their order, (m,); weights: what each counts for, (m,), 0 or more."""

    places: Places
    weights: Weights


def effective_size(weights: ArrayLike) -> float:
    """(Σw)² / Σw² (Kish 1965): so many rows of equal weight would give an estimate of the same variance.

    Raises ValueError where a weight is negative or not finite, or all are 0.
    """
    values = np.asarray(weights, dtype=np.float64)
    if not np.isfinite(values).all() or (values < 0).any():
        raise ValueError("A weight is negative or not a finite number.")
    largest = values.max(initial=0.0)
    if largest == 0:
        raise ValueError("All weights are 0, so nothing would be trained on.")
    scaled = values / largest  # squares of small numbers would vanish
    return float(scaled.sum() ** 2 / (scaled @ scaled))


def weigh(
    weighting: Weighting,
    *,
    pairs: ArrayLike,
    realism: ArrayLike | None,
    share: float = 0.1,
    normalise: Normalise = Normalise.NONE,
    seed: int = 0,
) -> RowWeights:
    """Weigh n training pairs.

    pairs: their numbers (n,), which decide between equal p_D. realism: p_D of each, (n,) in 0..1, where the weighting
    needs it. share: what `filter` drops, int(share * n) pairs. Random weights are U(0, 1), drawn once for all epochs.
    Raises WeightingError where there is no pair, p_D is missing or out of range, or every weight is 0.
    """
    numbers = np.asarray(pairs, dtype=np.int64)
    if not numbers.size:
        raise WeightingError("There is no pair to weigh; choose a score set that has pairs of the split.")
    values = _checked(weighting, realism, numbers)
    places = np.arange(numbers.size)
    if weighting is Weighting.FILTER:
        # By p_D, and by the pair's number where p_D is equal. Rounded down: a small share of few pairs drops none.
        places = np.sort(np.lexsort((numbers, values))[int(share * values.size) :])
    weights = _weights(weighting, values, places.size, np.random.default_rng([seed, _STREAM]))
    if not weights.any():
        raise WeightingError(
            f"All {weights.size} weights are 0, so nothing would be trained; check how p_D was scored, or choose "
            "another weighting."
        )
    return RowWeights(places, weights / weights.mean() if normalise is Normalise.MEAN1 else weights)


def _weights(weighting: Weighting, realism: Weights, count: int, rng: np.random.Generator) -> Weights:
    match weighting:
        case Weighting.REALISM:
            return realism
        case Weighting.SHUFFLE:
            return rng.permutation(realism)
        case Weighting.RANDOM:
            return rng.uniform(size=count)
        case Weighting.CONSTANT:
            return np.full(count, HALF)
        case _:
            return np.ones(count)


def _checked(weighting: Weighting, realism: ArrayLike | None, numbers: Places) -> Weights:
    if not weighting.needs_realism:
        return np.ones(numbers.size)
    if realism is None:
        raise WeightingError(f"The weighting “{weighting}” needs p_D; name a score set of realism.")
    values = np.asarray(realism, dtype=np.float64)
    if values.shape != numbers.shape:
        raise WeightingError(f"{values.size} values of p_D, {numbers.size} pairs; give one for each pair.")
    missing = np.flatnonzero(np.isnan(values))
    if missing.size:
        raise WeightingError(
            f"p_D is missing for {missing.size} of {values.size} pairs, first pair {numbers[missing[0]]}; score the "
            "realism of the generated pairs again, leave such pairs out, or choose plain, random or constant."
        )
    outside = np.flatnonzero((values < 0) | (values > 1))
    if outside.size:
        wrong = outside[0]
        raise WeightingError(f"p_D of pair {numbers[wrong]} is {values[wrong]:g}; it must be within 0 and 1.")
    return values
