"""Weights of Eq. 3 chosen by dev pairs: the paper gives none. No model is asked again."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import ArrayLike

from curation.statistics.correlation import spearman
from mlworkers.science.contexts.pair_terms import PairContexts
from mlworkers.science.contexts.similarity import (
    FEWEST_CONTEXTS,
    TERMS,
    Weights,
    centred_similarity,
    combined,
)

STEPS = 10  # of a weight from 0 to 1
FEWEST_PAIRS = 10  # with fewer, the best weights are those of chance


@dataclass(frozen=True)
class Tuned:
    """The weights that agree best with the scores of dev pairs; equal is what equal weights give. Spearman's
    correlation of the centred similarities.
    """

    weights: Weights
    pairs: int
    spearman: float
    equal: float | None


def weights_tuned(
    found: Sequence[PairContexts], scores: ArrayLike, terms: Sequence[str], *, same: Sequence[bool]
) -> Tuned:
    """The best of the weights in steps of 0.1 with the sum 1, and of equal weights; equal ones where nothing is better.

    found, scores, same: of n dev pairs; their contexts, what people gave them, and whether both sentences have the same
    words. terms: which of Eq. 3 the models give. Raises ValueError where fewer than ten pairs have contexts, or their
    scores are all the same.
    """
    enough = [number for number, each in enumerate(found) if len(each.places) >= FEWEST_CONTEXTS]
    values = np.asarray(scores, dtype=np.float64)[enough]
    if len(enough) < FEWEST_PAIRS or np.ptp(values) == 0:
        raise ValueError(
            f"{len(enough)} dev pairs have at least {FEWEST_CONTEXTS} contexts; {FEWEST_PAIRS} with different scores "
            "are needed to choose weights by."
        )

    def agreement(weights: Weights) -> float | None:
        # 1 by definition for equal words.
        similar = [1.0 if same[number] else _similarity(found[number], weights) for number in enough]
        # (pairs, 2): similarity, human score.
        known = [(value, human) for value, human in zip(similar, values, strict=True) if value is not None]
        if len(known) < FEWEST_PAIRS:
            return None
        return spearman(*np.array(known).T)

    # The best value is chosen and reported on the same pairs, so it is optimistic for others.
    equal = equal_weights(terms)
    first = agreement(equal)
    best, best_value = equal, -np.inf if first is None else first
    for weights in grid(terms):
        value = agreement(weights)
        if value is not None and value > best_value:  # strictly: equal weights win ties
            best, best_value = weights, value
    if best_value == -np.inf:
        raise ValueError(
            "With no weights do the similarities of the dev pairs differ, so none can be chosen."
        )
    return Tuned(best, len(enough), float(best_value), first)


def _similarity(one: PairContexts, weights: Weights) -> float | None:
    rows = (combined(terms, weights) for terms in (one.first, one.second, one.background))  # (k,) each
    return centred_similarity(*rows)


def equal_weights(terms: Sequence[str]) -> Weights:
    return Weights(**{term: 1 / len(terms) if term in terms else 0.0 for term in TERMS})


def grid(terms: Sequence[str]) -> Iterator[Weights]:
    """All weights of some terms in steps of 0.1 whose sum is 1; the others are 0."""
    # For t terms C(10 + t - 1, t - 1) weights remain: 66 for three terms, 286 for four. Whole steps are
    # summed, because a sum of ten times 0.1 is not exactly 1 in binary.
    for steps in product(range(STEPS + 1), repeat=len(terms)):
        if sum(steps) == STEPS:
            given = dict(zip(terms, (step / STEPS for step in steps), strict=True))
            yield Weights(**{term: given.get(term, 0.0) for term in TERMS})
