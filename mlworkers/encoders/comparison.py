"""What several encoders' cosines of the same test pairs say of each other: means over seeds, and paired differences.

The interval of a mean comes from resampled pairs (Efron & Tibshirani 1993, section 13.3): it covers other pairs of the
same kind. The interval of a difference covers other pairs and other seeds (`differences.py`). Both encoders of a
difference are of the same seed and are measured on the same pairs, so it is not the gap between two intervals of means.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mlworkers.encoders.differences import Difference, difference_from, holm
from mlworkers.encoders.influence import spearman_by_pair
from mlworkers.encoders.intervals import resampled_correlations
from mlworkers.encoders.metrics import spearman

Resampled = NDArray[np.float64]
Table = NDArray[np.float64]  # (seeds, pairs)
Between = tuple[str, str]  # two kinds of encoder: the first minus the second
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
    (n - 1; None for one seed).
    """

    seeds: tuple[float, ...]
    mean: Spread
    sd: float | None


def compare(
    cosines: Mapping[str, Sequence[ArrayLike]], human: ArrayLike, *, resamples: int, seed: int
) -> dict[str, ComparedEncoder]:
    """cosines: of each kind of encoder, one vector (n,) for each of its seeds. human: scores (n,). resamples 0: no
    interval. Raises ValueError where a vector does not fit.
    """
    return {
        label: _compared(vectors, human, resamples=resamples, seed=seed) for label, vectors in cosines.items()
    }


def differences_of(
    cosines: Mapping[str, Sequence[ArrayLike]], human: ArrayLike, between: Sequence[Between]
) -> dict[Between, Difference]:
    """The differences between kinds of encoder, seed by seed, with p-values adjusted for all of them together.

    cosines and human: as for `compare`, the seeds of all kinds in the same order. A kind with one vector, such as a
    model that is not trained, is compared with each seed of the other. Raises ValueError for an unknown kind, or for
    kinds of different numbers of seeds.
    """
    asked = {label for pair in between for label in pair}
    if unknown := sorted(asked - set(cosines)):
        raise ValueError(
            f"There is no encoder “{unknown[0]}” to compare with; there are {', '.join(cosines)}."
        )
    tables = {label: _by_seed_and_pair(cosines[label], human) for label in asked}
    return _adjusted({pair: _difference(pair, tables) for pair in between})


def undefined(compared: Mapping[str, ComparedEncoder]) -> Iterator[str]:
    """A sentence for each kind of encoder without a correlation."""
    for label, one in compared.items():
        if one.mean.value is None:
            yield f"The encoder “{label}” gives every test pair the same cosine, so it has no correlation."


def _compared(
    vectors: Sequence[ArrayLike], human: ArrayLike, *, resamples: int, seed: int
) -> ComparedEncoder:
    # NaN where it is undefined, so that the mean then is too.
    seeds = np.array([spearman(vector, human) for vector in vectors], dtype=np.float64)
    drawn = np.empty(0)  # the mean over the seeds in each resample
    if resamples:
        by_seed = [resampled_correlations(each, human, resamples=resamples, seed=seed) for each in vectors]
        drawn = np.mean(by_seed, axis=0)
    sd = None if seeds.size < 2 or np.isnan(seeds).any() else float(seeds.std(ddof=1))
    return ComparedEncoder(tuple(seeds.tolist()), _spread(seeds.mean(), drawn), sd)


def _by_seed_and_pair(vectors: Sequence[ArrayLike], human: ArrayLike) -> Table | None:
    """The pseudo-values of each seed's correlation on each pair; None where one of the correlations is undefined."""
    rows = [spearman_by_pair(vector, human) for vector in vectors]
    defined = [row for row in rows if row is not None]
    return np.stack(defined) if len(defined) == len(rows) else None


def _difference(pair: Between, tables: Mapping[str, Table | None]) -> Difference:
    first, second = (tables[label] for label in pair)
    if first is None or second is None:
        return Difference()
    if len(first) != len(second) and 1 not in (len(first), len(second)):
        raise ValueError(
            f"“{pair[0]}” has {len(first)} seeds and “{pair[1]}” {len(second)}; they are compared seed by seed."
        )
    return difference_from(first - second)


def _adjusted(differences: Mapping[Between, Difference]) -> dict[Between, Difference]:
    tested = {pair: one.p for pair, one in differences.items() if one.p is not None}
    adjusted = dict(zip(tested, holm(list(tested.values())), strict=True))
    return {pair: replace(one, p_holm=adjusted.get(pair)) for pair, one in differences.items()}


def _spread(value: float, drawn: Resampled) -> Spread:
    if np.isnan(value):
        return Spread(None)
    defined = drawn[~np.isnan(drawn)]
    if not defined.size:
        return Spread(float(value))
    low, high = np.quantile(defined, _TAILS)
    return Spread(float(value), float(low), float(high))
