"""What a campaign would be without some of its people."""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotation.bws.judgements import IntArray, Judgements, grouped_order
from annotation.bws.reliability.correlation import spearman
from annotation.bws.reliability.split_half import TooFewJudgements, split_half_reliability
from annotation.bws.scores.scoring import counting_scores

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Outcome:
    """What is left: people who judged, judgements that count, their reliability and how alike the scores rank.

    reliability: split-half Spearman, None where there is too little. rank: Spearman between the counting scores
    and those of the campaign as it is, None where nothing can be compared.
    """

    people: int
    judgements: int
    reliability: float | None
    rank: float | None


def counted_without(people: IntArray, tuples: IntArray, wanted: IntArray, excluded: Collection[int]) -> Mask:
    """Which judgements (n,), in order of arrival, count where these people are excluded.

    Of each tuple the first `wanted` by the others count, so that what was surplus takes the place of what is lost.
    """
    kept = ~np.isin(people, list(excluded))
    number = np.unique(tuples, return_inverse=True)[1]
    order = grouped_order(number)
    before: IntArray = np.cumsum(kept[order]) - kept[order]  # kept ones before each, over all tuples
    starts = np.searchsorted(number[order], np.arange(number.max(initial=-1) + 1))
    place = np.empty(len(kept), dtype=np.int64)
    place[order] = before - before[starts][number[order]]
    counted: Mask = kept & (place < wanted)
    return counted


def outcome_of(judged: Judgements, counted: Mask, now: Mask, *, trials: int, seed: int) -> Outcome:
    """What comes of counting the judgements `counted` (n,) in place of those that count `now` (n,)."""
    chosen = judged.only(counted)
    people = 0 if chosen.annotators is None else len(np.unique(chosen.annotators))
    return Outcome(people, len(chosen), _reliability(chosen, trials, seed), _rank(judged, counted, now))


def _reliability(judgements: Judgements, trials: int, seed: int) -> float | None:
    try:
        return split_half_reliability(judgements, trials=trials, seed=seed).spearman_mean
    except TooFewJudgements:
        return None


def _rank(judged: Judgements, counted: Mask, now: Mask) -> float | None:
    one, two = (counting_scores(judged.only(rows)).values for rows in (counted, now))
    seen = ~np.isnan(one) & ~np.isnan(two)
    found = float(spearman(one[None], two[None], seen[None])[0])
    return None if np.isnan(found) else found
