"""What a campaign would be without some of its people."""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from annotation.bws.judgements import IntArray, Judgements, Mask, grouped_order
from annotation.bws.reliability.correlation import spearman_of
from annotation.bws.reliability.split_half import TooFewJudgements, split_half_reliability
from annotation.bws.scores.scoring import counting_scores


@dataclass(frozen=True)
class LeavingOutResult:
    """What is left: people who judged, judgements that count, their reliability and how alike the scores rank.

    reliability: split-half Spearman, None if there is too little. rank: Spearman between the counting scores and those
    of the campaign as it is, None if nothing can be compared.
    """

    people: int
    judgements: int
    reliability: float | None
    rank: float | None


def counted_without(
    people: IntArray, tuples: IntArray, required: IntArray, excluded: Collection[int]
) -> Mask:
    """Which judgements (n,), in order of arrival, count if these people are excluded.

    people, tuples: (n,). required: (n,) how many judgements the tuple needs. Of each tuple the first `required` by the
    others count, so that extra judgements replace those that are lost.
    """
    kept = ~np.isin(people, list(excluded))
    number = np.unique(tuples, return_inverse=True)[1]
    order = grouped_order(number)  # by tuple, and in each by arrival
    before: IntArray = np.cumsum(kept[order]) - kept[order]  # kept ones before each, over all tuples
    starts = np.searchsorted(number[order], np.arange(number.max(initial=-1) + 1))
    rank = np.empty(len(kept), dtype=np.int64)  # kept ones before each within its tuple
    rank[order] = before - before[starts][number[order]]
    return kept & (rank < required)


def leaving_out_result(
    judged: Judgements, counted: Mask, now: Mask, *, trials: int, seed: int
) -> LeavingOutResult:
    """What changes if the judgements `counted` (n,) count instead of those that count `now` (n,)."""
    chosen = judged.only(counted)
    people = 0 if chosen.annotators is None else len(np.unique(chosen.annotators))
    try:
        reliability = split_half_reliability(chosen, trials=trials, seed=seed).spearman_mean
    except TooFewJudgements:
        reliability = None
    rank = spearman_of(counting_scores(chosen).values, counting_scores(judged.only(now)).values)
    return LeavingOutResult(people, len(chosen), reliability, None if np.isnan(rank) else rank)
