"""Figures of a cross-validation: per fold, over all pairs, and per source.

The mean over folds is what papers print. The correlation over all pairs (each scored by the model that was not trained
on it) is another figure, because the cosines of different models are ranked together.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from curation.statistics.correlation import Scores
from mlworkers.encoders.folds import NO_SOURCE, Folds
from mlworkers.encoders.measuring import Measured, Metric, correlation_measured, mean_measured

FEWEST_PAIRS = 3  # two always correlate perfectly


@dataclass(frozen=True)
class Estimate:
    """Spearman's correlation and its 95 % interval over resampled pairs; None where it is undefined."""

    value: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class MethodFigures:
    """Of a method under a protocol. mean: of the folds' correlations. pooled: over all pairs. by_fold, by_source: by
    their names. unseen: over the pairs that share no sentence with training.
    """

    method: str
    mean: Estimate
    pooled: Estimate
    unseen: Estimate
    by_fold: Mapping[str, Estimate]
    by_source: Mapping[str, Estimate]


@dataclass(frozen=True)
class SourceFacts:
    """A source's pairs, and the mean and standard deviation of their scores (n - 1), on the scale 0..1."""

    source: str
    pairs: int
    mean: float
    deviation: float


def sources_described(sources: Sequence[str], scores: Scores) -> list[SourceFacts]:
    """Of n pairs, by source, the largest first. A narrow range of scores lowers correlations (STR paper, note 13)."""
    names = np.array([source or NO_SOURCE for source in sources])
    facts = []
    for name in np.unique(names).tolist():
        own = scores[names == name]
        deviation = float(own.std(ddof=1)) if own.size > 1 else 0.0
        facts.append(SourceFacts(name, int(own.size), float(own.mean()), deviation))
    return sorted(facts, key=lambda one: (-one.pairs, one.source))


def method_figures(
    method: str,
    predicted: Scores,
    scores: Scores,
    folds: Folds,
    sources: Sequence[str],
    *,
    resamples: int,
    seed: int,
) -> MethodFigures:
    """predicted: of n pairs, each from the model of the fold that tests it, (n,). scores: (n,). resamples 0: none."""

    def measured(chosen: NDArray[np.bool_]) -> Measured | None:
        if np.count_nonzero(chosen) < FEWEST_PAIRS:
            return None
        return correlation_measured(
            Metric.SPEARMAN, predicted[chosen], scores[chosen], resamples=resamples, seed=seed
        )

    parts = [measured(folds.fold == number) for number in range(len(folds))]
    whole = [part for part in parts if part is not None]
    names = np.array([source or NO_SOURCE for source in sources])
    return MethodFigures(
        method,
        _estimate(mean_measured(whole)) if len(whole) == len(parts) else Estimate(None),
        _estimate(measured(np.ones(scores.size, dtype=bool))),
        _estimate(measured(~folds.leaking)),
        {name: _estimate(part) for name, part in zip(folds.names, parts, strict=True)},
        {name: _estimate(measured(names == name)) for name in np.unique(names).tolist()},
    )


def _estimate(measured: Measured | None) -> Estimate:
    if measured is None:
        return Estimate(None)
    interval = measured.interval
    if interval is None:
        return Estimate(measured.value)
    return Estimate(measured.value, interval.low, interval.high)
