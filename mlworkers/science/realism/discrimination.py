"""How well scores tell two classes of sentences apart: the area under the ROC curve, with its interval.

The classes are human and machine sentences for a classifier, and kept and rejected ones for the verdicts of people.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from mlworkers.science.encoders.metrics import labelled

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
_ROUNDING = 1e-12  # a variance below this is none: ten million sentences leave more than 1e-9


@dataclass(frozen=True)
class Auc:
    """The chance that a sentence of the first class (human, kept) scores above one of the second, ties counting half.

    low, high: its interval at a level.
    """

    value: float
    low: float
    high: float
    level: float


def auc(scores: ArrayLike, human: ArrayLike) -> float:
    """The area under the ROC curve, 0..1 (Mann and Whitney's U over the number of twos).

    Raises ValueError where a class is missing or a score is not finite.
    """
    people, machines = _split(scores, human)
    return float(_placements(people, machines)[0].mean())  # U / (m · k) for m human, k machine


def auc_interval(
    scores: ArrayLike, human: ArrayLike, groups: Integers | None = None, *, level: float = 0.95
) -> Auc:
    """The AUC with its interval, where sentences of a group are not independent witnesses.

    The interval is of other sentences under the same scores. It excludes what another training of the generator or of
    the classifiers would change.

    scores, human, groups: (n,) each; without groups, each sentence is its own. Variance: Obuchowski (1997), which
    without groups is DeLong, DeLong and Clarke-Pearson (1988), from midranks (Sun and Xu 2014). The interval is
    symmetric in log-odds, so that it stays within 0..1; where no sentence is out of order there is no variance to
    measure, and the bound is that of as many successes as the smaller class has groups.
    """
    people, machines = _split(scores, human)
    marks = np.asarray(human, dtype=bool)
    # (n,): the number of its group.
    of = np.arange(marks.size) if groups is None else np.unique(groups, return_inverse=True)[1]
    # (m,) and (k,): the structural components of DeLong's variance; both have the AUC as their mean.
    above, below = _placements(people, machines)
    value = float(above.mean())
    # Independent witnesses of the rarer class.
    fewest = min(np.unique(of[each]).size for each in (marks, ~marks))
    variance = _variance(above - value, below - value, of[marks], of[~marks])
    return _with_interval(value, variance, fewest, level)


def sampled_auc_interval(
    scores: ArrayLike, positive: ArrayLike, weights: Floats, strata: Integers, *, level: float = 0.95
) -> Auc:
    """The AUC of all sentences, from a sample that was drawn at random within strata.

    scores, positive, weights, strata: (n,) each. weights: how many sentences of its stratum each stands for.
    Variance: linearisation (Särndal, Swensson and Wretman 1992, section 5.5) of the weighted share of right orders,
    its terms summed within strata, without the correction for a finite population: the interval is of what this
    generator writes. With one stratum this is `auc_interval`, which is returned then. Raises ValueError as `auc`.
    """
    if np.unique(strata).size == 1:
        return auc_interval(scores, positive, level=level)
    value, terms = _weighted(scores, positive, weights)
    marks = np.asarray(positive, dtype=bool)
    fewest = int(min(marks.sum(), marks.size - marks.sum()))
    return _with_interval(value, _variance_of_total(terms, strata), fewest, level)


class Difference(NamedTuple):
    """The AUC of the scores after minus that before, of the same sentences, with its 95 % interval."""

    before: float
    after: float
    value: float
    low: float
    high: float


def auc_difference(
    before: ArrayLike, after: ArrayLike, positive: ArrayLike, weights: Floats, strata: Integers
) -> Difference:
    """Two scores of the same sentences compared; arguments as for `sampled_auc_interval`.

    Variance: of the difference of the linearised terms, so that what both scores have in common cancels; with one
    stratum and equal weights DeLong's for paired scores, times n/(n - 1).
    """
    # Terms of the same n sentences: their differences are linearised terms of the change.
    (first, of_first), (second, of_second) = (_weighted(each, positive, weights) for each in (before, after))
    reach = scipy.stats.norm.ppf(0.975) * np.sqrt(_variance_of_total(of_second - of_first, strata))
    change = second - first
    return Difference(first, second, change, float(change - reach), float(change + reach))


def _weighted(scores: ArrayLike, positive: ArrayLike, weights: Floats) -> tuple[float, Floats]:
    """The weighted AUC, and what each sentence adds to its deviation, (n,)."""
    kept, rejected = _split(scores, positive)
    marks = np.asarray(positive, dtype=bool)
    of_kept, of_rejected = weights[marks], weights[~marks]  # (k,), (r,)
    # (k, r): whether each two are in order; ties half.
    order = (kept[:, None] > rejected) + 0.5 * (kept[:, None] == rejected)
    # AUC = Σ_i Σ_j w_i w_j order_ij / (Σ_i w_i · Σ_j w_j), i kept and j rejected. Memory grows with k · r.
    above, below = order @ of_rejected / of_rejected.sum(), of_kept @ order / of_kept.sum()
    value = float(np.clip(of_kept @ above / of_kept.sum(), 0, 1))
    # Linearised: u_i = w_i (above_i - AUC) / Σ_i w_i for kept sentences, and with `below` for rejected ones.
    terms = np.empty(marks.size)
    terms[marks] = of_kept * (above - value) / of_kept.sum() * _unbiased(kept.size)
    terms[~marks] = of_rejected * (below - value) / of_rejected.sum() * _unbiased(rejected.size)
    return value, terms


def _unbiased(size: int) -> float:
    """A class's deviations are from its own mean: (size / (size - 1))^½, as in DeLong's variance."""
    return float(np.sqrt(size / max(size - 1, 1)))


def _variance_of_total(terms: Floats, strata: Integers) -> float:
    """Of the sum of terms (n,) drawn independently within strata. One alone in its stratum counts from 0."""
    of = np.unique(strata, return_inverse=True)[1]
    sizes = np.bincount(of)
    means = np.where(sizes > 1, np.bincount(of, weights=terms) / sizes, 0.0)  # (strata,)
    within = np.bincount(of, weights=(terms - means[of]) ** 2)
    # Σ_h n_h / (n_h - 1) · Σ_{i in h} (t_i - mean of h)²
    return float(within @ (sizes / np.maximum(sizes - 1, 1)))


def _with_interval(value: float, variance: float, fewest: int, level: float) -> Auc:
    """fewest: independent sentences of the smaller class."""
    if not 0 < value < 1:
        bound = ((1 - level) / 2) ** (1 / fewest)  # Clopper and Pearson's, for n of n
        return Auc(value, bound, 1.0, level) if value else Auc(value, 0.0, 1 - bound, level)
    # Where nothing varies, as with equal scores, the largest variance that an AUC can have: A (1 - A) / min(k, r)
    # (Birnbaum and Klose 1957).
    if variance < _ROUNDING:
        variance = value * (1 - value) / fewest
    # Delta method: d logit(A) / dA = 1 / (A (1 - A)), so the standard error is divided by A (1 - A).
    reach = scipy.stats.norm.ppf((1 + level) / 2) * np.sqrt(variance) / (value * (1 - value))
    low, high = scipy.special.expit(scipy.special.logit(value) + np.array([-reach, reach]))
    return Auc(value, float(low), float(high), level)


def _split(scores: ArrayLike, human: ArrayLike) -> tuple[Floats, Floats]:
    values, marks = labelled(scores, human)
    if marks.all() or not marks.any():
        raise ValueError("All sentences are of one class; an AUC needs both.")
    return values[marks], values[~marks]


def _placements(people: Floats, machines: Floats) -> tuple[Floats, Floats]:
    """Of each human sentence the share of machine ones below it, (m,); of each machine one that of human ones above.

    From ranks among all and among its own class: the difference counts the other class below, ties half.
    """
    # Midranks, O(n log n) instead of m · k comparisons.
    ranks = scipy.stats.rankdata(np.concatenate([people, machines]))
    above = (ranks[: people.size] - scipy.stats.rankdata(people)) / machines.size
    below = 1 - (ranks[people.size :] - scipy.stats.rankdata(machines)) / people.size
    return above, below


def _variance(above: Floats, below: Floats, of_people: Integers, of_machines: Integers) -> float:
    """Obuchowski's: deviations are summed within each group before they are squared."""
    count = int(max(of_people.max(), of_machines.max())) + 1
    # S_g, a class's deviations summed over group g; a group without the class has the sum 0.
    sums = [
        np.bincount(groups, weights=deviations, minlength=count)
        for groups, deviations in ((of_people, above), (of_machines, below))
    ]
    held = [np.unique(groups).size for groups in (of_people, of_machines)]
    both = np.unique(np.concatenate([of_people, of_machines])).size
    sizes = (above.size, below.size)
    # Per class: G / (G - 1) · Σ_g S_g² / n², with its G groups and n sentences.
    own = sum(
        number / max(number - 1, 1) * float(total @ total) / size**2
        for number, total, size in zip(held, sums, sizes, strict=True)
    )
    # The covariance of the classes within groups that hold both; 0 without groups.
    shared = both / max(both - 1, 1) * float(sums[0] @ sums[1]) / (sizes[0] * sizes[1])
    # By Cauchy and Schwarz this is at least 0; rounding could make it slightly negative.
    return max(own + 2 * shared, 0.0)
