"""How each annotator agrees with the others and with themselves, and which tuples people answer differently."""

from dataclasses import dataclass

import numpy as np

from annotation.bws.judgements import FloatArray, IntArray, Judgements, summed, tuple_numbers
from annotation.bws.scores.counting import counts


@dataclass(frozen=True, eq=False)
class Agreement:
    """annotators: (a,) their numbers, ascending. compared: (a,) comparisons behind each share (a,), NaN for none.

    errors: (a,) standard errors of the shares over judgements (of a ratio, by linearisation), whose comparisons are not
    independent; infinite where there is one judgement or none. judgements: (a,) that something was compared in.
    """

    annotators: IntArray
    compared: IntArray
    shares: FloatArray
    errors: FloatArray
    judgements: IntArray


def leave_one_out_agreement(judgements: Judgements) -> Agreement:
    """The share of each annotator's implied comparisons that the others' scores confirm; 1/2 is guessing.

    A judgement of k items implies 2 k - 3 comparisons: the best over all others, all others over the worst. Each is
    compared with counting scores of everybody else's judgements (the compliance of Hollis 2018).

    Items that have equal scores confirm half; items that nobody else judged are left out.
    """
    people, number = np.unique(judgements.people, return_inverse=True)  # (a,), (n,)

    # Counting scores of each judgement's items (n, k) without its annotator's judgements; NaN if nobody else did.
    # NaN also where a tuple has no item.
    appearances, best, worst = counts(judgements)
    m, ordered = judgements.item_count, ~judgements.ties
    row, position = np.nonzero(judgements.items >= 0)
    # One cell for each annotator and item that met: (c,) cells, and the cell of each item of each judgement.
    cells, cell = np.unique(number[row] * m + judgements.items[row, position], return_inverse=True)
    own = np.bincount(cell, minlength=len(cells))  # how often the annotator met the item (c,)
    own_best, own_worst = (
        np.bincount(np.searchsorted(cells, number[ordered] * m + chosen[ordered]), minlength=len(cells))
        for chosen in (judgements.best, judgements.worst)
    )
    items = cells % m
    # Everybody's appearances and (best - worst), less the annotator's part (c,).
    left, net = appearances[items] - own, (best - worst)[items] - own_best + own_worst
    others = np.full(judgements.items.shape, np.nan)
    with np.errstate(invalid="ignore", divide="ignore"):
        others[row, position] = np.where(left > 0, net / left, np.nan)[cell]

    is_best = judgements.items == judgements.best[:, None]  # (n, k)
    is_worst = judgements.items == judgements.worst[:, None]
    rows = np.arange(len(judgements))
    best, worst = others[rows, is_best.argmax(axis=1)], others[rows, is_worst.argmax(axis=1)]  # (n,)
    # How far the others put the best above each item, and each item above the worst; NaN is no comparison.
    over = np.where(is_best, np.nan, best[:, None] - others)
    under = np.where(is_best | is_worst, np.nan, others - worst[:, None])
    differences = np.hstack([over, under])  # (n, 2 k)
    # A judgement whose best is its worst contains no order, and neither does a tie.
    differences[judgements.best == judgements.worst] = np.nan
    compared = (~np.isnan(differences)).sum(axis=1)  # (n,)
    # A sign of 1, 0 or -1 confirms 1, 1/2 or nothing.
    confirmed = (np.sign(np.nan_to_num(differences, nan=-1)) + 1).sum(axis=1) / 2
    return _agreement(people, number, compared, confirmed)


def intra_annotator_agreement(judgements: Judgements) -> Agreement:
    """The share of choices that annotators repeat when the same items are put to them again.

    Best and worst of each repeated tuple are two comparisons with the same person's judgement before it; a tie repeats
    a tie.
    """
    people, number = np.unique(judgements.people, return_inverse=True)
    tuples = tuple_numbers(judgements.items)  # (n,) numbers of sets of items
    order = np.lexsort((tuples, number))  # stable: judgements of one tuple keep their order
    # Rows of `order` whose predecessor is the same person's same tuple.
    again = (np.diff(number[order]) == 0) & (np.diff(tuples[order]) == 0)
    earlier, later = order[:-1][again], order[1:][again]
    same_best = judgements.best[earlier] == judgements.best[later]
    same_worst = judgements.worst[earlier] == judgements.worst[later]
    return _agreement(people, number[later], np.full(len(later), 2), same_best * 1.0 + same_worst)


def _agreement(people: IntArray, number: IntArray, compared: IntArray, confirmed: FloatArray) -> Agreement:
    """number, compared, confirmed: (n,) of judgements: whose it is, and its comparisons."""
    all_compared = summed(number, compared, len(people))
    shares = np.where(  # R = sum of confirmed / sum of compared, for each annotator (a,)
        all_compared > 0, summed(number, confirmed, len(people)) / np.maximum(all_compared, 1), np.nan
    )
    # J: judgements in which something was compared.
    judged = summed(number, (compared > 0).astype(np.int64), len(people))
    # With e = confirmed - R compared of each judgement, SE(R) = sqrt(J / (J - 1) sum e^2) / sum of compared.
    away = np.where(compared > 0, confirmed - np.nan_to_num(shares)[number] * compared, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        errors = np.where(
            judged > 1,
            np.sqrt(judged / (judged - 1) * summed(number, away**2, len(people))) / all_compared,
            np.inf,
        )
    return Agreement(people, all_compared.astype(np.int64), shares, errors, judged.astype(np.int64))


def tuple_agreement(
    tuples: IntArray, best: IntArray, worst: IntArray, sizes: IntArray
) -> tuple[IntArray, IntArray, FloatArray]:
    """The share of comparisons that two judgements of the same tuple decide alike; 1/2 is guessing.

    tuples: (n,) which tuple was judged. best, worst: (n,) the design's slots, from 0; -1 for a tie. sizes: (n,) items
    in the tuple, k. A judgement decides 2 k - 3 comparisons of slots, and a tie none; only those that both of two
    judgements decide are compared, for every two judgements of a tuple.
    Returns the tuples (t,), ascending, and their judgements and shares (t,), NaN if nothing is compared.
    """
    known, number = np.unique(tuples, return_inverse=True)
    size = int(sizes.max(initial=0))
    over = np.zeros((len(known), size, size))  # over[t, a, b]: how many judgements put slot a above slot b
    for slot in range(size):
        other = (best != slot) & (best >= 0) & (slot < sizes)
        np.add.at(over, (number[other], best[other], slot), 1)
        # The best is above the worst already.
        middle = other & (worst != slot)
        np.add.at(over, (number[middle], slot, worst[middle]), 1)
    above = over[:, *np.triu_indices(size, 1)]  # (t, k (k - 1) / 2)
    below = over.transpose(0, 2, 1)[:, *np.triu_indices(size, 1)]
    # Of c judgements that decide a comparison in one way, c (c - 1) / 2 pairs agree.
    alike = (above * (above - 1) + below * (below - 1)).sum(axis=1) / 2
    # above x below pairs of judgements decide the comparison in opposite ways.
    compared = alike + (above * below).sum(axis=1)
    shares = np.where(compared > 0, alike / np.maximum(compared, 1), np.nan)  # alike / (alike + unlike)
    return known, np.bincount(number, minlength=len(known)), shares
