"""What each training pair counts for: by p_D, by p_y, by verdicts, by standard errors, or, as controls, by chance.

RISE weighs by p_D (equation 1, section 4) and compares with filtering and with random weights (section 5). Weights of a
mean below 1 also shrink the loss; shuffled and constant weights show what that alone does.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from mlworkers.science.encoders.plan import RATIO_BOUNDS, SYMBOLS, Normalise, Signal, Weighting

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


@dataclass(frozen=True)
class WeightedRows:
    """What weights are made from, of n pairs.

    numbers: of the pairs (n,), which decide between equal values. signals: of each signal that is known the values,
    (n,) in 0..1; of verdicts 1 for kept and 0 for rejected, NaN for pairs that nobody judged; standard errors on the
    scale of the targets. targets: what the pairs are trained to, (n,).
    """

    numbers: ArrayLike
    signals: Mapping[Signal, ArrayLike]
    targets: ArrayLike


def effective_size(weights: ArrayLike) -> float:
    """(Σw)² / Σw² (Kish 1965): so many rows of equal weight would give an estimate of the same variance.

    Raises ValueError where a weight is negative or not finite, or all are 0.
    """
    values = np.asarray(weights, dtype=np.float64)
    if not np.isfinite(values).all() or (values < 0).any():
        raise ValueError("A weight is negative or not a finite number.")
    largest = values.max(initial=0.0)  # 0 for no rows
    if largest == 0:
        raise ValueError("All weights are 0, so nothing would be trained on.")
    # The quotient does not change when all weights are multiplied by one number, so the largest may be 1.
    # Kish: the variance of Σ w x / Σ w is σ² Σ w² / (Σ w)², that of a plain mean of (Σ w)² / Σ w² values.
    scaled = values / largest  # squares of small numbers would vanish
    return float(scaled.sum() ** 2 / (scaled @ scaled))


def weigh(
    weighting: Weighting,
    rows: WeightedRows,
    *,
    share: float = 0.1,
    unjudged: float = HALF,
    normalise: Normalise = Normalise.NONE,
    seed: int = 0,
) -> RowWeights:
    """Weigh n training pairs.

    share: what a filter drops, int(share * n) pairs. unjudged: the weight of pairs without a verdict. Random weights
    are U(0, 1), drawn once for all epochs. A shuffle gives the weights of the weighting that it controls to other
    pairs, also where they are 0 because a filter drops the pair. Weights of `ratio` have the mean 1; the others have it
    if `normalise` says so. Raises WeightingError where there is no pair, a signal is missing or out of range, or every
    weight is 0.
    """
    numbers = np.asarray(rows.numbers, dtype=np.int64)
    if not numbers.size:
        raise WeightingError("There is no pair to weigh; choose a score set that has pairs of the split.")
    rng = np.random.default_rng([seed, _STREAM])
    weights = _weights(
        weighting.controlled or weighting, rows, numbers, share=share, unjudged=unjudged, rng=rng
    )
    if weighting.controlled:
        # A permutation keeps the distribution of the weights, and with it their mean and the effective size,
        # and removes every relation between a pair and its weight.
        weights = rng.permutation(weights)
    # The mean below is over the kept rows, so that a filter with MEAN1 still has the mean 1.
    places = np.flatnonzero(weights) if weighting.filters else np.arange(numbers.size)
    weights = weights[places]
    if not weights.any():
        raise WeightingError(
            f"All {weights.size} weights are 0, so nothing would be trained; check how the pairs were scored, or "
            "choose another weighting."
        )
    return RowWeights(places, weights / weights.mean() if normalise is Normalise.MEAN1 else weights)


def _weights(
    weighting: Weighting,
    rows: WeightedRows,
    numbers: Places,
    *,
    share: float,
    unjudged: float,
    rng: np.random.Generator,
) -> Weights:
    """One weight a pair, (n,); 0 for a pair that a filter drops."""
    # (n,) values of each signal that the weighting reads; of controls without a signal there are none.
    signals = [_checked(weighting, signal, rows, numbers) for signal in weighting.signals]
    match weighting:
        case Weighting.REALISM | Weighting.CONSISTENCY | Weighting.PRODUCT:
            # (signals, n) -> (n,): one signal is its own product.
            # The chance that the sentence is human and its label right, if the two are independent.
            weights: Weights = np.prod(signals, axis=0)
        case Weighting.FILTER | Weighting.FILTER_CONSISTENCY:
            # 0 for the lowest values, and the lower numbers where values are equal; 1 for the others. Rounded down:
            # a small share of few pairs drops none.
            weights = np.ones(numbers.size)  # RISE, section 5: the lowest 10 % are dropped
            # lexsort sorts by its last key first: by value, then by number. The order of the rows does not decide
            # which pairs are dropped.
            weights[np.lexsort((numbers, signals[0]))[: int(share * numbers.size)]] = 0
        case Weighting.RATIO:
            weights = density_ratios(signals[0])
        case Weighting.RANK:
            weights = ranks_within(signals[0], rows.targets)
        case Weighting.VERDICTS:
            # NaN is "nobody judged this pair", which is neither kept (1) nor rejected (0).
            weights = np.where(np.isnan(signals[0]), unjudged, signals[0])
        case Weighting.PRECISION:
            weights = precisions(signals[0], rows.targets)
        case Weighting.RANDOM:
            weights = rng.uniform(size=numbers.size)  # U(0, 1), mean 1/2, once for all epochs
        case Weighting.CONSTANT:
            weights = np.full(numbers.size, HALF)  # the mean of U(0, 1) without its spread
        case _:
            weights = np.ones(numbers.size)
    return weights


def density_ratios(probabilities: ArrayLike) -> Weights:
    """p / (1 - p), clipped to RATIO_BOUNDS and divided by its mean: (n,) in 0..1 -> (n,) with the mean 1.

    Where both classes of a calibrated classifier are equally frequent, p / (1 - p) is the density of human sentences by
    that of the machine's, so it is the importance weight (Grover et al. 2019, arXiv:1906.09531, who clip and
    self-normalise too).
    """
    values = np.asarray(probabilities, dtype=np.float64)
    low, high = RATIO_BOUNDS
    with np.errstate(divide="ignore"):
        # p = 1 gives 1/0 = inf, which the clip turns into the upper bound: no division needs an epsilon.
        ratios = np.clip(values / (1 - values), low, high)  # p / (1 - p): odds of being human
    # Divided by their mean, the ratios weigh rows against one another and keep the size of the loss.
    weights: Weights = ratios / ratios.mean()
    return weights


def precisions(errors: ArrayLike, scores: ArrayLike) -> Weights:
    """σ² / (σ² + s²) of each score t with the standard error s, (n,), (n,) -> (n,) in 0..1: how reliable it is alone.

    Let t = θ + e, with Var θ = σ² over the pairs and Var e = s² for this score, independent of each other. Then
    Var t = σ² + s², so that 1 / (σ² + s²) is the inverse variance by which weighted least squares weighs a score around
    the mean, and σ² times it is the share of the variance that is not error. An encoder that predicts θ up to a
    variance τ² < σ² would gain from more uneven weights, 1 / (τ² + s²); how far it will is not known beforehand.
    σ² is estimated by the variance of the scores minus the mean of s². Raises WeightingError where nothing is left.
    """
    variances = np.square(np.asarray(errors, dtype=np.float64))  # (n,)
    spread = float(np.var(np.asarray(scores, dtype=np.float64), ddof=1)) if variances.size > 1 else 0.0
    between = spread - float(variances.mean())  # σ²
    if not between > 0:
        raise WeightingError(
            "The standard errors explain the whole spread of the scores, so no score is more reliable than another; "
            "choose another weighting, or scores from more judgements."
        )
    weights: Weights = between / (between + variances)
    return weights


def ranks_within(values: ArrayLike, labels: ArrayLike) -> Weights:
    """The rank of each value among those of the same label, as a share: (rank - 1/2) / count, equal values sharing the
    mean of their ranks. (n,), (n,) -> (n,) in 0..1, with the mean 1/2 in each label.

    So no label has more weight than another. Raises WeightingError where labels are so many that ranks mean nothing.
    """
    signal, label = np.asarray(values, dtype=np.float64), np.asarray(labels, dtype=np.float64)
    distinct, places = np.unique(label, return_inverse=True)  # (labels,), (n,)
    # Labels then have fewer than two pairs on average, and the share of a single pair is (1 - 1/2) / 1 = 1/2,
    # whatever its value.
    if 2 * distinct.size > signal.size:
        raise WeightingError(
            f"The {signal.size} pairs have {distinct.size} different scores, so there is nothing to rank within one; "
            "choose target similarities as scores, or another weighting."
        )
    shares = np.empty(signal.size)
    for place in range(distinct.size):
        own = places == place
        # Ranks 1..m have the mean (m + 1) / 2, so (rank - 1/2) / m has the mean 1/2 for any m, ties included.
        shares[own] = (scipy.stats.rankdata(signal[own]) - 0.5) / np.count_nonzero(own)
    return shares


def _checked(weighting: Weighting, signal: Signal, rows: WeightedRows, numbers: Places) -> Weights:
    """The values of a signal, (n,). Those of verdicts may be NaN."""
    known = rows.signals.get(signal)
    if signal is Signal.VERDICTS:
        if known is None:
            raise WeightingError(
                "The snapshot does not say which pairs were kept; make a new one for the weighting "
                "“verdicts”."
            )
        return np.asarray(known, dtype=np.float64)
    if signal is Signal.ERRORS:
        return _errors_checked(known, numbers)
    symbol = SYMBOLS[signal]
    if known is None:
        raise WeightingError(f"The weighting “{weighting}” needs {symbol}; name a score set of {signal}.")
    values = np.asarray(known, dtype=np.float64)
    if values.shape != numbers.shape:
        raise WeightingError(
            f"{values.size} values of {symbol}, {numbers.size} pairs; give one for each pair."
        )
    # An unknown signal is not a weight of 0 or 1: the caller decides (`rows.training_rows`).
    missing = np.flatnonzero(np.isnan(values))
    if missing.size:
        raise WeightingError(
            f"{symbol} is missing for {missing.size} of {values.size} pairs, first pair {numbers[missing[0]]}; score "
            "the generated pairs again, leave such pairs out, or choose plain, random or constant."
        )
    outside = np.flatnonzero((values < 0) | (values > 1))
    if outside.size:
        wrong = outside[0]
        raise WeightingError(
            f"{symbol} of pair {numbers[wrong]} is {values[wrong]:g}; it must be within 0 and 1."
        )
    return values


def _errors_checked(known: ArrayLike | None, numbers: Places) -> Weights:
    """The standard errors, (n,), each a number and not negative."""
    if known is None:
        raise WeightingError(
            "The snapshot has no standard errors of these scores; choose scores from judgements or ratings and a new "
            "snapshot, or another weighting than “precision”."
        )
    values = np.asarray(known, dtype=np.float64)
    missing = np.flatnonzero(~(np.isfinite(values) & (values >= 0)))
    if missing.size:
        raise WeightingError(
            f"{missing.size} of {values.size} scores have no standard error, first that of pair {numbers[missing[0]]}; "
            "choose another weighting than “precision”."
        )
    return values
