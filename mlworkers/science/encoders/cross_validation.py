"""Figures of a cross-validation: per fold, over all pairs, and per source; on all pairs and on the unseen ones alone.

The mean over folds is what papers print: of Spearman's correlation, and for argument facets (AFS; Misra et al. 2016)
of Pearson's beside it. The correlation over all pairs (each scored by the model that was not trained
on it) is another figure, because the cosines of different models are ranked together.

A method that was trained once, or not at all, has intervals over resampled pairs. One that was trained with several
seeds has the mean over its seeds, with the interval over pairs and seeds of `differences.py`: a row of its table is the
pseudo-values of one seed, whose fold models are its own.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from curation.results.estimates import Estimate
from curation.statistics.correlation import Scores
from mlworkers.science.encoders.differences import difference_from
from mlworkers.science.encoders.folds import NO_SOURCE, Folds
from mlworkers.science.encoders.measuring import Measured, Metric, correlation_measured, mean_measured

FEWEST_PAIRS = 3  # two always correlate perfectly


@dataclass(frozen=True)
class Figures:
    """Spearman's correlations of one method.

    mean: of the folds'.
    mean_pearson: of the folds' correlations of Pearson.
    pooled: over all pairs at once.
    by_fold, by_source: by their names.
    """

    mean: Estimate
    mean_pearson: Estimate
    pooled: Estimate
    by_fold: Mapping[str, Estimate]
    by_source: Mapping[str, Estimate]


@dataclass(frozen=True)
class MethodFigures(Figures):
    """Of a method under a protocol, on all pairs. unseen: the same figures on the pairs without a sentence that was
    trained on; None where every pair is unseen, so that they are the same.
    """

    method: str
    unseen: Figures | None = None


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
        deviation = float(own.std(ddof=1)) if own.size > 1 else 0.0  # 0 for one pair, whose spread is unknown
        facts.append(SourceFacts(name, int(own.size), float(own.mean()), deviation))
    return sorted(facts, key=lambda one: (-one.pairs, one.source))


def method_figures(
    method: str,
    predicted: NDArray[np.float64],
    scores: Scores,
    folds: Folds,
    sources: Sequence[str],
    *,
    unseen: NDArray[np.bool_],
    resamples: int,
    seed: int,
) -> MethodFigures:
    """predicted: of each seed, one where nothing was trained, and n pairs, each from the model of the fold that tests
    it, (seeds, n). scores: (n,). unseen: the pairs without a sentence that was trained on, (n,). resamples: for the
    intervals of one seed; 0: none. seed: of the resamples.
    """
    names = np.array([source or NO_SOURCE for source in sources])

    def figures(chosen: NDArray[np.bool_]) -> Figures:
        def measured(
            part: NDArray[np.bool_], metric: Metric = Metric.SPEARMAN, *, fold: int = 0
        ) -> "_OfSeeds":
            # (n,) bool: the pairs of a fold or of a source, or only the unseen ones among them.
            pairs = chosen & part
            count = int(np.count_nonzero(pairs))  # n_k
            if count < FEWEST_PAIRS:
                return _OfSeeds(count)
            # With several seeds the interval comes from pseudo-values, so resampling would cost time for
            # nothing.
            drawn = resamples if len(predicted) == 1 else 0
            of_seeds = [
                correlation_measured(metric, one[pairs], scores[pairs], resamples=drawn, seed=seed + fold)
                for one in predicted
            ]
            return _OfSeeds(count, of_seeds)

        tested = [folds.fold == number for number in range(len(folds))]
        # The seed differs from fold to fold. With one seed, folds of equal size would take the same places, and where
        # pairs stand in the order of their scores, the interval of their mean would be too wide.
        # Spearman's correlation of each fold, of each seed.
        parts = [measured(part, fold=number) for number, part in enumerate(tested, start=1)]
        return Figures(
            mean=_mean(parts),  # STR paper, section 6: the average over the folds
            mean_pearson=_mean(
                [measured(part, Metric.PEARSON, fold=number) for number, part in enumerate(tested, start=1)]
            ),
            pooled=measured(folds.tested).estimate,  # cosines of different models in one ranking
            by_fold={name: part.estimate for name, part in zip(folds.names, parts, strict=True)},
            by_source={name: measured(names == name).estimate for name in np.unique(names).tolist()},
        )

    of_all = figures(folds.tested)
    return MethodFigures(
        of_all.mean,
        of_all.mean_pearson,
        of_all.pooled,
        of_all.by_fold,
        of_all.by_source,
        method,
        None if unseen[folds.tested].all() else figures(unseen & folds.tested),
    )


@dataclass(frozen=True)
class _OfSeeds:
    """A figure of each seed on the same pairs; none where these are too few."""

    pairs: int
    seeds: Sequence[Measured] = ()

    @property
    def estimate(self) -> Estimate:
        if len(self.seeds) == 1:
            return _resampled(self.seeds[0])
        return _over_seeds(self.pairs, [one.by_pair for one in self.seeds])


def _mean(parts: Sequence[_OfSeeds]) -> Estimate:
    """The unweighted mean over folds; undefined where it is in one of them."""
    pairs = sum(part.pairs for part in parts)  # Σ n_k
    if not all(part.seeds for part in parts):
        return Estimate(n=pairs)
    # Transposed from folds × seeds to seeds × folds: the mean over folds is taken within a seed.
    of_seeds = list(zip(*(part.seeds for part in parts), strict=True))  # of each seed, its folds
    if len(of_seeds) == 1:
        return _resampled(mean_measured(of_seeds[0]))
    return _over_seeds(pairs, [_mean_by_pair(folds) for folds in of_seeds])


def _resampled(measured: Measured) -> Estimate:
    interval = measured.interval
    low, high = (interval.low, interval.high) if interval else (None, None)
    return Estimate(measured.value, low, high, n=measured.pairs)


def _over_seeds(pairs: int, by_pair: Sequence[Scores | None]) -> Estimate:
    """by_pair: of each seed, the pseudo-values of its figure; None where it is undefined."""
    rows = [one for one in by_pair if one is not None]  # (n,) for each seed
    if not rows or len(rows) < len(by_pair):
        return Estimate(n=pairs)
    # A (seeds, pairs) table; an interval of t does not know that a correlation ends at -1 and 1.
    # The table has figures instead of differences; the variance of its mean is estimated in the same way.
    found = difference_from(np.stack(rows))
    low, high = (None if end is None else float(np.clip(end, -1.0, 1.0)) for end in (found.low, found.high))
    return Estimate(found.value, low, high, n=pairs, sd=found.sd)


def _mean_by_pair(parts: Sequence[Measured]) -> Scores | None:
    """Pseudo-values of the unweighted mean over K parts of n_k pairs each, Σ n_k = n: their mean is that mean.

    Each pair's deviation from the value of its part is scaled by √(n (n - 1) / (n_k (n_k - 1))) / K, so that the
    variance of a mean of n such values, s² / n, is that of a mean over parts, Σ s_k² / n_k / K². None where a part has
    none.
    """
    n = sum(part.pairs for part in parts)
    values = [part.value for part in parts if part.value is not None]  # r_k of each part
    if len(values) < len(parts):
        return None
    # The pseudo-values of part k have its value as their mean, so the deviations add up to 0 in each part and
    # the mean over all n is the mean over parts.
    mean = float(np.mean(values))
    rows = []
    for part, value in zip(parts, values, strict=True):
        if part.by_pair is None:
            return None
        # The squared deviations of part k add up to (n_k - 1) s_k². Scaled, the parts together give
        # s² / n = Σ_k scale_k² (n_k - 1) s_k² / (n (n - 1)) = Σ_k s_k² / n_k / K².
        scale = np.sqrt(n * (n - 1) / (part.pairs * (part.pairs - 1))) / len(parts)
        rows.append(mean + scale * (part.by_pair - value))
    pseudo_values: Scores = np.concatenate(rows)
    return pseudo_values
