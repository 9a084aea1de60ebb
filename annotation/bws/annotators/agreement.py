"""How each annotator agrees with the others and with themselves, and which tuples people answer differently."""

from dataclasses import dataclass

import numpy as np

from annotation.bws.judgements import FloatArray, IntArray, Judgements, summed, tuple_numbers
from annotation.bws.scores.scoring import counts


@dataclass(frozen=True, eq=False)
class Agreement:
    """annotators: (a,) their numbers, ascending. compared: (a,) comparisons behind each share (a,), NaN for none."""

    annotators: IntArray
    compared: IntArray
    shares: FloatArray


def agreement_with_others(judgements: Judgements) -> Agreement:
    """The share of each annotator's implied comparisons that the others' scores confirm; 1/2 is guessing.

    A judgement of k items implies 2 k - 3 comparisons: the best over all others, all others over the
    worst. Each is held against counting scores of everybody else's judgements, never the annotator's own
    (Hollis 2018 calls the share compliance). Items that score alike confirm half; items that nobody else
    judged are left out.
    """
    people, number = _annotators(judgements)
    others = _scores_by_others(judgements, number)  # (n, k)
    is_best = judgements.items == judgements.best[:, None]
    is_worst = judgements.items == judgements.worst[:, None]
    rows = np.arange(len(judgements))
    best, worst = others[rows, is_best.argmax(axis=1)], others[rows, is_worst.argmax(axis=1)]
    over = np.where(is_best, np.nan, best[:, None] - others)
    under = np.where(is_best | is_worst, np.nan, others - worst[:, None])
    differences = np.hstack([over, under])
    # Best and worst alike say nothing about an order.
    differences[judgements.best == judgements.worst] = np.nan
    compared = summed(number, (~np.isnan(differences)).sum(axis=1), len(people))
    confirmed = summed(number, (np.sign(np.nan_to_num(differences, nan=-1)) + 1).sum(axis=1) / 2, len(people))
    return _agreement(people, compared, confirmed)


def self_consistency(judgements: Judgements) -> Agreement:
    """The share of choices that annotators repeat when the same items are put to them again.

    Best and worst of each repeated tuple are two comparisons with the same person's judgement before it.
    """
    people, number = _annotators(judgements)
    tuples = tuple_numbers(judgements.items)
    order = np.lexsort((tuples, number))  # stable: judgements of one tuple stay in their order
    again = (np.diff(number[order]) == 0) & (np.diff(tuples[order]) == 0)
    earlier, later = order[:-1][again], order[1:][again]
    same_best = judgements.best[earlier] == judgements.best[later]
    same_worst = judgements.worst[earlier] == judgements.worst[later]
    compared = summed(number[later], np.full(len(later), 2), len(people))
    return _agreement(people, compared, summed(number[later], same_best * 1.0 + same_worst, len(people)))


def _annotators(judgements: Judgements) -> tuple[IntArray, IntArray]:
    """The annotators (a,), and which of them made each judgement (n,)."""
    if judgements.annotators is None:
        raise ValueError("The judgements do not say who made them; name the column of annotators.")
    people, number = np.unique(judgements.annotators, return_inverse=True)
    return people, number


def _agreement(people: IntArray, compared: FloatArray, confirmed: FloatArray) -> Agreement:
    shares = np.where(compared > 0, confirmed / np.maximum(compared, 1), np.nan)
    return Agreement(people, compared.astype(np.int64), shares)


def _scores_by_others(judgements: Judgements, number: IntArray) -> FloatArray:
    """Counting scores of each judgement's items (n, k) without the judgements of its annotator; NaN where unseen."""
    appearances, best, worst = counts(judgements)
    # One cell for each annotator and item that met.
    cells, cell = np.unique(number[:, None] * judgements.item_count + judgements.items, return_inverse=True)
    cell = cell.reshape(judgements.items.shape)
    own = np.bincount(cell.ravel(), minlength=len(cells))
    own_best, own_worst = (
        np.bincount(np.searchsorted(cells, number * judgements.item_count + chosen), minlength=len(cells))
        for chosen in (judgements.best, judgements.worst)
    )
    items = cells % judgements.item_count
    left, net = appearances[items] - own, (best - worst)[items] - own_best + own_worst
    with np.errstate(invalid="ignore", divide="ignore"):
        scores = np.where(left > 0, net / left, np.nan)
    return scores[cell]


@dataclass(frozen=True, eq=False)
class TupleAgreement:
    """tuples: (t,) their numbers, ascending. judgements: (t,) of each. shares: (t,) NaN where nothing is compared."""

    tuples: IntArray
    judgements: IntArray
    shares: FloatArray


def tuple_agreement(tuples: IntArray, best: IntArray, worst: IntArray, size: int) -> TupleAgreement:
    """The share of comparisons that two judgements of the same tuple decide alike; 1/2 is guessing.

    tuples: (n,) which tuple was judged. best, worst: (n,) the design's slots, from 0 to size - 1. A judgement decides
    2 k - 3 comparisons of slots; only those that both of two judgements decide are compared, and each two
    judgements of a tuple are.
    """
    known, number = np.unique(tuples, return_inverse=True)
    over = np.zeros((len(known), size, size))  # over[t, a, b]: how many judgements put slot a above slot b
    for slot in range(size):
        _add(over, number, best, slot)
        # The best is above the worst already.
        middle = (best != slot) & (worst != slot)
        np.add.at(over, (number[middle], slot, worst[middle]), 1)
    above = over[:, *np.triu_indices(size, 1)]
    below = over.transpose(0, 2, 1)[:, *np.triu_indices(size, 1)]
    alike = (above * (above - 1) + below * (below - 1)).sum(axis=1) / 2
    different = (above * below).sum(axis=1)
    compared = alike + different
    shares = np.where(compared > 0, alike / np.maximum(compared, 1), np.nan)
    return TupleAgreement(known, np.bincount(number, minlength=len(known)), shares)


def _add(over: FloatArray, number: IntArray, best: IntArray, slot: int) -> None:
    """Put the best of each judgement above `slot`, where that is another."""
    other = best != slot
    np.add.at(over, (number[other], best[other], slot), 1)
