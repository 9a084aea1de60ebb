"""What the verdicts of people say about p_D: whether it ranks, and how far it can decide instead of people.

Sentences that were chosen in different ways are never put together: every figure is of one sample, and a sample that
was drawn within strata counts each sentence for as many as it stands for.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from curation.pairs.keeping import Z_95, wilson_interval
from curation.results.estimates import Estimate
from curation.statistics.intervals import Design, bootstrap_interval, weighted_spearman
from mlworkers.science.realism.discrimination import Auc, sampled_auc_interval

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Marks = NDArray[np.bool_]
# Kept and rejected sentences, for an AUC: with fewer its interval does not hold (log of experiments, H-10).
FEWEST_EACH = 10
FEWEST_IN_BIN = 10
HALF_WIDTH = 0.05  # of an AUC's interval, for the number of verdicts that are still needed
_NEAR_CERTAIN = 1e-3  # p_D nearer to 0 or 1 counts as this: its log-odds would outweigh all others
_RESAMPLES, _SEED = 1000, 13


@dataclass(frozen=True)
class Sample:
    """n blind verdicts on sentences that were drawn at random within strata.

    p_d, kept, stratum: (n,). sizes: how many sentences each stratum has; None where one stratum is all there is.
    Raises ValueError where a stratum has no size or fewer sentences than verdicts.
    """

    p_d: Floats
    kept: Marks
    stratum: Integers
    sizes: Mapping[int, int]

    def __post_init__(self) -> None:
        for stratum, judged in zip(*np.unique(self.stratum, return_counts=True), strict=True):
            size = self.sizes.get(int(stratum), 0)
            if size < judged:
                raise ValueError(f"Stratum {stratum} has {size} sentences and {judged} decisions.")

    @property
    def n(self) -> int:
        return int(self.kept.size)

    @property
    def kept_n(self) -> int:
        return int(self.kept.sum())

    @property
    def rejected_n(self) -> int:
        return self.n - self.kept_n

    @property
    def weights(self) -> Floats:
        """Of how many sentences each is one, in relation to the mean, (n,)."""
        _, of, judged = np.unique(self.stratum, return_inverse=True, return_counts=True)
        sizes = np.array([self.sizes[int(stratum)] for stratum in np.unique(self.stratum)], dtype=np.float64)
        each = (sizes / judged)[of]  # (n,): N_h / n_h, the inverse of the chance to be drawn
        weights: Floats = each / each.mean() if each.size else each
        return weights

    @property
    def missing_share(self) -> float:
        """The share of the sentences whose stratum has no verdict, 0..1: the figures say nothing about them."""
        total = sum(self.sizes.values())
        held = sum(self.sizes[int(stratum)] for stratum in np.unique(self.stratum))
        return 1 - held / total if total else 0.0


def sample_of(
    p_d: ArrayLike,
    kept: ArrayLike,
    *,
    stratum: ArrayLike | None = None,
    sizes: Mapping[int, int] | None = None,
) -> Sample:
    """A sample from plain sequences; without strata, one stratum of whatever size."""
    marks = np.asarray(kept, dtype=bool)
    if stratum is None or sizes is None:
        return Sample(
            np.asarray(p_d, dtype=np.float64), marks, np.zeros(marks.size, dtype=np.int64), {0: marks.size}
        )
    return Sample(np.asarray(p_d, dtype=np.float64), marks, np.asarray(stratum, dtype=np.int64), dict(sizes))


@dataclass(frozen=True)
class RankFigures:
    """Whether p_D ranks kept above rejected sentences. None where it cannot be estimated."""

    auc: Auc | None
    spearman: Estimate | None
    slope: Estimate | None
    intercept: Estimate | None


class Bin(NamedTuple):
    """Sentences with p_D from `low` to `high`, their mean p_D, and how many of those judged were kept."""

    low: float
    high: float
    mean_p_d: float
    kept: int
    n: int
    share: Estimate


def rank_figures(sample: Sample) -> RankFigures:
    """The AUC, Spearman's correlation and the calibration line of a sample, with 95 % intervals.

    None for all of them with fewer than FEWEST_EACH kept or rejected sentences, or where p_D is constant.
    """
    if min(sample.kept_n, sample.rejected_n) < FEWEST_EACH or np.ptp(sample.p_d) == 0:
        return RankFigures(None, None, None, None)
    weights = sample.weights
    area = sampled_auc_interval(sample.p_d, sample.kept, weights, sample.stratum)
    intercept, slope = calibration_line(sample) or (None, None)
    marks = sample.kept.astype(np.float64)  # 0 or 1: Spearman's with only two ranks
    value = weighted_spearman(sample.p_d, marks, weights)
    design = Design(weights, sample.stratum)
    reach = bootstrap_interval(sample.p_d, marks, seed=_SEED, resamples=_RESAMPLES, design=design)
    spearman = None if value is None or reach is None else Estimate(value, reach.low, reach.high)
    return RankFigures(area, spearman, slope, intercept)


def calibration_line(sample: Sample) -> tuple[Estimate, Estimate] | None:
    """Intercept and slope of the log-odds of being kept on those of p_D (Cox 1958), with 95 % intervals.

    p_D is not a probability of being kept: it supposes as many human as machine sentences, and rejecting is not taking
    for a machine's. Both change the intercept. The slope is about the rest: 1 where a difference in the log-odds of
    p_D is the same difference in those of being kept, 0 where p_D says nothing. Variance: the sandwich of the
    weighted score, summed within strata, each term divided by 1 - leverage (HC3; MacKinnon and White 1985).
    Returns None where p_D separates kept from rejected sentences, so that no line is likeliest.
    """
    x = scipy.special.logit(np.clip(sample.p_d, _NEAR_CERTAIN, 1 - _NEAR_CERTAIN))  # (n,)
    columns, weights = np.column_stack([np.ones_like(x), x]), sample.weights
    line = np.zeros(2)  # intercept and slope
    for _step in range(100):
        share = scipy.special.expit(columns @ line)
        # X'WX, W = w p (1 - p).
        information = columns.T @ (columns * (weights * share * (1 - share))[:, None])
        if np.linalg.cond(information) > 1e12:  # all shares at 0 or 1, or p_D constant
            return None
        # Newton: (X'WX)⁻¹ X'w(y - p).
        step = np.linalg.solve(information, columns.T @ (weights * (sample.kept - share)))
        line = line + np.clip(step, -5, 5)  # log-odds: a longer step would overshoot
        if np.abs(step).max() < 1e-10:
            break
    else:
        return None
    bread = np.linalg.inv(information)
    # (n,): w p (1 - p) x'(X'WX)⁻¹x.
    leverage = np.einsum("ni,ij,nj->n", columns, bread, columns) * weights * share * (1 - share)
    # (n, 2), HC3.
    terms = columns * (weights * (sample.kept - share) / np.maximum(1 - leverage, 1e-6))[:, None]
    meat = np.zeros((2, 2))
    for stratum in np.unique(sample.stratum):
        own = terms[sample.stratum == stratum]
        centred = own - own.mean(axis=0) if len(own) > 1 else own
        # n_h / (n_h - 1) · Σ_i (t_i - mean)(t_i - mean)'. One alone in its stratum counts from 0.
        meat += len(own) / max(len(own) - 1, 1) * centred.T @ centred
    reach = Z_95 * np.sqrt(np.diag(bread @ meat @ bread))  # variance: (X'WX)⁻¹ meat (X'WX)⁻¹
    intercept, slope = (
        Estimate(float(value), float(value - by), float(value + by))
        for value, by in zip(line, reach, strict=True)
    )
    return intercept, slope


def kept_bins(sample: Sample, *, most: int = 10) -> list[Bin]:
    """The kept share in bins of p_D, (at most `most`), each with its 95 % interval.

    A stratified sample has its strata as bins, so that all sentences of a bin weigh the same; another is cut into
    equal parts of at least FEWEST_IN_BIN sentences. Sentences of equal p_D stay in one bin, so that others may hold
    fewer. Returns no bins for a sample without sentences.
    """
    if not sample.n:
        return []
    if len(sample.sizes) > 1:
        parts = [np.flatnonzero(sample.stratum == stratum) for stratum in np.unique(sample.stratum)]
        parts.sort(key=lambda own: float(sample.p_d[own].mean()))
    else:
        order = np.argsort(sample.p_d, kind="stable")
        count = max(1, min(most, sample.n // FEWEST_IN_BIN))
        ordered = sample.p_d[order]
        # Each cut goes back to the first sentence of its p_D, so equal ones stay together. The first is 0.
        cuts = sorted({int(np.searchsorted(ordered, ordered[sample.n * at // count])) for at in range(count)})
        parts = [part for part in np.split(order, cuts[1:]) if part.size]
    return [_bin(sample, own) for own in parts if own.size]


def _bin(sample: Sample, own: Integers) -> Bin:
    p_d, kept = sample.p_d[own], int(sample.kept[own].sum())
    share = Estimate(kept / own.size, *wilson_interval(kept, own.size))
    return Bin(float(p_d.min()), float(p_d.max()), float(p_d.mean()), kept, int(own.size), share)


class Needed(NamedTuple):
    """How many more verdicts an answer takes, about. for_any: until there is an AUC; for_width: until its interval
    reaches HALF_WIDTH to either side. None where no verdict so far says how often sentences are kept or rejected.
    """

    for_any: int | None
    for_width: int | None


def verdicts_needed(kept: int, rejected: int, area: Auc | None = None) -> Needed:
    """About how many more verdicts of the same sample are needed, if they come out as those so far.

    The variance of an AUC falls with the number of verdicts, so that half the width takes four times as many.
    """
    n, rarer = kept + rejected, min(kept, rejected)
    if area is None:
        # The rarer verdict comes with share rarer / n.
        return Needed(max(0, math.ceil(FEWEST_EACH * n / rarer) - n) if rarer else None, None)
    half = (area.high - area.low) / 2
    return Needed(0, max(0, math.ceil(n * ((half / HALF_WIDTH) ** 2 - 1))))  # half-width ∝ 1/√n
