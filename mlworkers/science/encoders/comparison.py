"""What several encoders' cosines of the same test pairs say of each other: means over seeds, and paired differences.

The interval of a mean comes from resampled pairs (Efron & Tibshirani 1993, section 13.3): it covers other pairs of the
same kind. The interval of a difference covers other pairs and other seeds (`differences.py`). Both encoders of a
difference are of the same seed and are measured on the same pairs, so it is not the gap between two intervals of means.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from curation.statistics.intervals import percentile_interval
from curation.statistics.turning import turning
from mlworkers.science.encoders.differences import Difference, difference_from, holm
from mlworkers.science.encoders.measuring import Measured

MOST_CELLS = 1_000_000  # that trying smaller sets of test pairs may take: a second
Table = NDArray[np.float64]  # (seeds, pairs)
Key = TypeVar("Key")
Between = tuple[str, str]  # two kinds of encoder: the first minus the second


@dataclass(frozen=True)
class Spread:
    """A value with the ends of its 95 % percentile interval; None where it is undefined or was not asked for."""

    value: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class ComparedEncoder:
    """One kind of encoder on the test pairs.

    seeds: the figure of each seed, such as Spearman's correlation, NaN where it is undefined; mean: theirs, sd:
    their standard deviation (n - 1; None for one seed).
    """

    seeds: tuple[float, ...]
    mean: Spread
    sd: float | None


def compare(measured: Mapping[str, Sequence[Measured]]) -> dict[str, ComparedEncoder]:
    """measured: of each kind of encoder, one metric of each of its seeds, on the same resamples of the same pairs."""
    return {label: _compared(seeds) for label, seeds in measured.items()}


def differences_of(
    measured: Mapping[str, Sequence[Measured]], between: Sequence[Between]
) -> dict[Between, Difference]:
    """The differences between kinds of encoder, seed by seed. `adjusted` adds the p-values that consider all of them.

    measured: as for `compare`, the seeds of all kinds in the same order. A kind with one figure, such as that of a
    model that is not trained, is compared with each seed of the other. A figure without pseudo-values has no
    difference. Raises ValueError for an unknown kind, or for kinds of different numbers of seeds.
    """
    asked = {label for pair in between for label in pair}
    if unknown := sorted(asked - set(measured)):
        raise ValueError(
            f"There is no encoder “{unknown[0]}” to compare with; there are {', '.join(measured)}."
        )
    # (seeds, pairs): the pseudo-values of each seed's figure on each pair; None where one of the figures has none.
    tables: dict[str, Table | None] = {}
    for label in asked:
        defined = [one.by_pair for one in measured[label] if one.by_pair is not None]
        # (n,) for each seed -> (seeds, n). Pseudo-values of a figure have the figure as their mean.
        tables[label] = np.stack(defined) if len(defined) == len(measured[label]) else None
    differences = {}
    for pair in between:
        first, second = (tables[label] for label in pair)
        if first is None or second is None:
            differences[pair] = Difference()
            continue
        if len(first) != len(second) and 1 not in (len(first), len(second)):
            raise ValueError(
                f"“{pair[0]}” has {len(first)} seeds and “{pair[1]}” {len(second)}; they are compared seed by seed."
            )
        # (seeds, pairs) - (seeds, pairs). A table of one row is subtracted from each row of the other, so that
        # the mean of row s is the figure of seed s minus that of the other kind.
        found = difference_from(first - second)
        differences[pair] = replace(found, turned_by=_turned_by(found, *(measured[label] for label in pair)))
    return differences


@dataclass(frozen=True)
class _Better:
    """That encoders of one kind are better than those of another on the test pairs: the margin is the difference of the
    means over their seeds.
    """

    better: Sequence[Measured]
    worse: Sequence[Measured]

    @property
    def cells(self) -> int:
        # A correlation of few pairs takes as long as one of a thousand.
        return (self.better[0].pairs + 1_000) * (len(self.better) + len(self.worse))

    def margins(self, kept: NDArray[np.bool_]) -> Table:
        # The mean of a figure's pseudo-values is the figure.
        return np.array([self._by_pair(column).mean() for column in kept.T])

    def influences(self, kept: NDArray[np.bool_]) -> Table:
        # With pseudo-values d (n,), whose mean is the difference D, it is about D - (d_i - D) / (n - 1) without pair i.
        by_pair = self._by_pair(kept)
        change = np.zeros(len(kept))
        change[kept] = (by_pair.mean() - by_pair) / max(1, kept.sum() - 1)
        return change

    def _by_pair(self, kept: NDArray[np.bool_]) -> Table:
        """The difference's pseudo-values of the pairs that are kept; NaN where one of the figures has none."""
        of_kinds = []
        for kind in (self.better, self.worse):
            found = [by_pair for each in kind if each.of_kept and (by_pair := each.of_kept(kept)) is not None]
            if len(found) < len(kind):
                return np.array([np.nan])
            of_kinds.append(np.mean(found, axis=0))
        return np.asarray(of_kinds[0] - of_kinds[1])


def _turned_by(found: Difference, first: Sequence[Measured], second: Sequence[Measured]) -> int | None:
    """The fewest test pairs without which a difference whose interval excludes 0 would not be there, or enough of them.

    A kind with one figure stands for all seeds of the other, as in the difference.
    """
    if found.low is None or found.high is None or found.low <= 0 <= found.high:
        return None
    if any(each.of_kept is None for each in (*first, *second)):
        return None
    claim = _Better(first, second) if found.low > 0 else _Better(second, first)
    return turning(claim, np.arange(first[0].pairs), most_cells=MOST_CELLS).number


def adjusted(differences: Mapping[Key, Difference]) -> dict[Key, Difference]:
    """The differences with p-values adjusted for all of them together (Holm 1979)."""
    # Differences without a p, as those of one seed, do not count among the tests.
    tested = {key: one.p for key, one in differences.items() if one.p is not None}
    p_values = dict(zip(tested, holm(list(tested.values())), strict=True))
    return {key: replace(one, p_holm=p_values.get(key)) for key, one in differences.items()}


def undefined(compared: Mapping[str, ComparedEncoder]) -> Iterator[str]:
    """A sentence for each kind of encoder without a correlation."""
    for label, one in compared.items():
        if one.mean.value is None:
            yield f"The encoder “{label}” gives every test pair the same cosine, so it has no correlation."


def _compared(measured: Sequence[Measured]) -> ComparedEncoder:
    # NaN where it is undefined, so that the mean then is too.
    seeds = np.array([one.value for one in measured], dtype=np.float64)  # (seeds,)
    sd = None if seeds.size < 2 or np.isnan(seeds).any() else float(seeds.std(ddof=1))
    if np.isnan(seeds).any():
        return ComparedEncoder(tuple(seeds.tolist()), Spread(None), sd)
    # The mean over the seeds in each resample; all seeds are measured on the same ones.
    # (seeds, resamples) -> (resamples,): noise of the pairs that all seeds share stays in the mean.
    # Over other pairs, with these seeds.
    interval = percentile_interval(np.mean([one.drawn for one in measured], axis=0))
    low, high = (interval.low, interval.high) if interval else (None, None)
    return ComparedEncoder(tuple(seeds.tolist()), Spread(float(seeds.mean()), low, high), sd)
