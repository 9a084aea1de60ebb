"""Which tuples people answer differently."""

from dataclasses import dataclass

import numpy as np

from annotation.bws.judgements import FloatArray, IntArray


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
