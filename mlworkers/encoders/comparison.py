"""What several encoders' cosines of the same test pairs say of each other: means over seeds, and paired differences.

Intervals come from resampled pairs (Efron & Tibshirani 1993, section 13.3). In each resample all encoders see the same
pairs, and an encoder is the mean of its seeds; so a difference's interval is narrower than two intervals side by side.
It covers other pairs of the same kind. `sd` says how much another seed would change.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mlworkers.encoders.intervals import resampled_correlations
from mlworkers.encoders.metrics import spearman

Resampled = NDArray[np.float64]
_TAILS = (0.025, 0.975)


@dataclass(frozen=True)
class Spread:
    """A value with the ends of its 95 % percentile interval; None where it is undefined or was not asked for."""

    value: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class ComparedEncoder:
    """One kind of encoder on the test pairs.

    seeds: Spearman's correlation of each seed, NaN where it is undefined; mean: theirs, sd: their standard deviation
    (n - 1; None for one seed); difference: of the mean from that of the reference, None of the reference itself.
    """

    seeds: tuple[float, ...]
    mean: Spread
    sd: float | None
    difference: Spread | None


def compare(
    cosines: Mapping[str, Sequence[ArrayLike]], human: ArrayLike, *, reference: str, resamples: int, seed: int
) -> dict[str, ComparedEncoder]:
    """cosines: of each kind of encoder, one vector (n,) for each of its seeds. human: scores (n,). resamples 0: none.

    Raises ValueError where a vector does not fit, or the reference is not among the kinds.
    """
    if reference not in cosines:
        raise ValueError(
            f"There is no encoder “{reference}” to compare with; there are {', '.join(cosines)}."
        )
    # Of each kind: Spearman's of each seed, NaN where it is undefined, so that their mean then is too.
    seeds = {
        label: np.array([spearman(vector, human) for vector in vectors], dtype=np.float64)
        for label, vectors in cosines.items()
    }
    # Of each kind: the mean over its seeds in each resample, (resamples,).
    drawn = dict.fromkeys(cosines, np.empty(0))
    if resamples:
        for label, vectors in cosines.items():
            by_seed = [
                resampled_correlations(each, human, resamples=resamples, seed=seed) for each in vectors
            ]
            drawn[label] = np.mean(by_seed, axis=0)
    return {
        label: ComparedEncoder(
            seeds=tuple(own.tolist()),
            mean=_spread(own.mean(), drawn[label]),
            sd=None if own.size < 2 or np.isnan(own).any() else float(own.std(ddof=1)),
            difference=None
            if label == reference
            else _spread(own.mean() - seeds[reference].mean(), drawn[label] - drawn[reference]),
        )
        for label, own in seeds.items()
    }


def undefined(compared: Mapping[str, ComparedEncoder]) -> Iterator[str]:
    """A sentence for each kind of encoder without a correlation."""
    for label, one in compared.items():
        if one.mean.value is None:
            yield f"The encoder “{label}” gives every test pair the same cosine, so it has no correlation."


def _spread(value: float, drawn: Resampled) -> Spread:
    if np.isnan(value):
        return Spread(None)
    defined = drawn[~np.isnan(drawn)]
    if not defined.size:
        return Spread(float(value))
    low, high = np.quantile(defined, _TAILS)
    return Spread(float(value), float(low), float(high))
