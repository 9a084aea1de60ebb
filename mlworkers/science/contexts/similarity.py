"""How similar two sentences are by the contexts that they fit (Sun et al. 2022, section 3.3).

A sentence's vector has one entry for each context: Eq. 3, the weighted sum of four terms. The terms are kept apart, so
that weights can be changed without a model: Table 9 of the paper drops terms, and nothing has to be scored again.

Raw cosine (Eq. 4) is squeezed near 1, because all entries are mean log-probabilities with a common negative mean. The
repair is ours: from each context's entry the mean of a background sample of sentences is subtracted, and the rows are
z-scored. The cosine of z-scored rows is Pearson's correlation across contexts.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from curation.statistics.correlation import Scores, pearson
from curation.statistics.intervals import (
    Interval,
    percentile_interval,
    resampled_cosines,
    resampled_pearson,
)

Terms = NDArray[np.float64]  # (…, 4): the terms of Eq. 3 in the order of TERMS, in nats
TERMS = ("discriminative", "sentence", "left", "right")
FEWEST_CONTEXTS = 3  # across two, every correlation is 1 or -1


@dataclass(frozen=True)
class Weights:
    """λ1 to λ4 of Eq. 3, of log p(y = 1 | s, c) and of the mean log-probabilities of a token of the sentence, of what
    is before it and of what is after it. The paper gives no values.
    """

    discriminative: float = 0.25
    sentence: float = 0.25
    left: float = 0.25
    right: float = 0.25

    def without(self, *terms: str) -> "Weights":
        return replace(self, **dict.fromkeys(terms, 0.0))

    @property
    def vector(self) -> NDArray[np.float64]:
        return np.array([getattr(self, term) for term in TERMS], dtype=np.float64)

    def as_dict(self) -> dict[str, float]:
        return asdict(self)


# What Table 9 leaves out, by the number of its λ; nothing in the first. Its Spearman on STSb is beside each.
ABLATIONS: Mapping[str, tuple[str, ...]] = {
    "": (),  # 78.47
    "λ1": ("discriminative",),  # 77.97
    "λ3": ("left",),  # 77.36
    "λ4": ("right",),  # 77.01
    "λ3, λ4": ("left", "right"),  # 76.50
}


def combined(terms: Terms, weights: Weights) -> NDArray[np.float64]:
    """S(s, c) of Eq. 3 from its terms (…, 4), in nats, (…,). A term of weight 0 may be NaN: no model gave it.

    Raises ValueError where a term is missing whose weight is not 0, or where all weights are 0.
    """
    # A term of weight 0 must be taken out before the product: 0 · NaN is NaN.
    counted = weights.vector != 0
    if not counted.any():
        raise ValueError("All weights of the terms are 0; give at least one term a weight.")
    used = terms[..., counted]
    missing = np.isnan(used).any(axis=tuple(range(used.ndim - 1)))
    if missing.any():
        term = np.array(TERMS)[counted][missing][0]
        raise ValueError(f"The term “{term}” is missing; set its weight to 0.")
    summed: NDArray[np.float64] = used @ weights.vector[counted]  # Σ_j λ_j term_j
    return summed


def raw_cosine(first: ArrayLike, second: ArrayLike) -> float | None:
    """Eq. 4 of two vectors (k,), in -1..1; None where one of them is 0."""
    left, right = (np.asarray(side, dtype=np.float64) for side in (first, second))
    # cos(v1, v2) = v1 · v2 / (|v1| |v2|). Rounding may exceed 1 by some bits, hence the clipping.
    lengths = np.linalg.norm(left) * np.linalg.norm(right)
    return float(np.clip(left @ right / lengths, -1.0, 1.0)) if lengths else None


def centred_similarity(first: ArrayLike, second: ArrayLike, background: ArrayLike) -> float | None:
    """Pearson's correlation across contexts of two vectors (k,), after subtracting what the contexts give a background
    sample of sentences on average (k,); None where a row is constant then.
    """
    return pearson(*_centred(first, second, background))


def parts_of_contexts(first: ArrayLike, second: ArrayLike, background: ArrayLike) -> Scores | None:
    """What each of k contexts adds to the centred similarity, (k,), which is their sum; None where it is undefined."""
    rows = _centred(first, second, background)
    if any(np.ptp(row) == 0 for row in rows):  # a standard deviation of 0
        return None
    # Pearson's r = (1 / k) Σ_c z1_c · z2_c for z-scores by the standard deviation with divisor k, so that the
    # summands are what each context adds.
    left, right = ((row - row.mean()) / row.std() for row in rows)
    parts: Scores = left * right / left.size
    return parts


def _centred(first: ArrayLike, second: ArrayLike, background: ArrayLike) -> tuple[Scores, Scores]:
    # S(s, c) - mean over background s' of S(s', c): what a context gives every sentence cancels out. What a
    # sentence has in every context is taken off later, by the mean of its row in Pearson's correlation.
    left, right, mean = (np.asarray(side, dtype=np.float64) for side in (first, second, background))
    return left - mean, right - mean


@dataclass(frozen=True)
class PairSimilarity:
    """Both similarities of a pair, with the intervals over its contexts; None where one is undefined."""

    contexts: int
    raw: float | None = None
    centred: float | None = None
    raw_interval: Interval | None = None
    centred_interval: Interval | None = None


def pair_similarity(
    first: Terms,
    second: Terms,
    background: Terms,
    weights: Weights,
    *,
    same: bool = False,
    seed: int = 0,
    resamples: int = 1000,
) -> PairSimilarity:
    """The similarities of a pair by k contexts: terms of the first and the second sentence, and the means of the terms
    of background sentences, (k, 4) each.

    same: both sentences have the same words; the similarities are 1 by definition. Otherwise nothing is defined with
    fewer than three contexts. The intervals are 95 % percentile intervals over contexts drawn with replacement: they
    leave out what other models, and another background sample, would give.
    """
    contexts = len(first)
    if same:
        return PairSimilarity(contexts, raw=1.0, centred=1.0)
    if contexts < FEWEST_CONTEXTS:
        return PairSimilarity(contexts)
    # Eq. 3 is linear in its terms, so the weighted sum of the means is the mean of the weighted sums: the
    # background needs no more than its mean of each term, (k, 4) -> (k,).
    left, right, mean = (combined(terms, weights) for terms in (first, second, background))  # nats, (k,) each
    rows = _centred(left, right, mean)
    return PairSimilarity(
        contexts,
        raw=raw_cosine(left, right),
        centred=centred_similarity(left, right, mean),
        # One context is one resampled unit; the two entries of a context stay together.
        raw_interval=percentile_interval(resampled_cosines(left, right, seed=seed, resamples=resamples)),
        centred_interval=percentile_interval(resampled_pearson(*rows, seed=seed, resamples=resamples)),
    )
