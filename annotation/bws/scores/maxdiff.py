"""The MaxDiff model: how likely each choice of a best and a worst is, given the utilities of the items."""

import numpy as np
from scipy.sparse import coo_array, csr_array

from annotation.bws.judgements import FloatArray, Judgements, summed
from annotation.bws.scores.posterior import Expansion


class MaxDiffLikelihood:
    """P(best i, worst j) = exp(u_i - u_j) / sum over all places a != b of exp(u_a - u_b) (Marley and Louviere 2005).

    Judgements whose best is their worst say nothing about an order and are left out. Those of the same
    items differ only in what was chosen, so each set of items is worked out once.
    """

    def __init__(self, judgements: Judgements) -> None:
        telling = judgements.only(judgements.best != judgements.worst)
        self.item_count = judgements.item_count
        self.tuples, self.times = np.unique(np.sort(telling.items, axis=1), axis=0, return_counts=True)
        count = self.item_count
        self.net = np.bincount(telling.best, minlength=count) - np.bincount(telling.worst, minlength=count)

    def value(self, utilities: FloatArray) -> float:
        rise, fall = self._exponentials(utilities)
        return float(self.net @ utilities - self.times @ np.log(self._total(rise, fall)))

    def expand(self, utilities: FloatArray) -> Expansion:
        rise, fall = self._exponentials(utilities)
        total = self._total(rise, fall)[:, None]
        best = rise * (fall.sum(axis=1, keepdims=True) - fall) / total  # (T, k): chance of each place
        worst = fall * (rise.sum(axis=1, keepdims=True) - rise) / total
        expected = summed(self.tuples, (best - worst) * self.times[:, None], self.item_count)
        return Expansion(self.net - expected, self._curvature(rise, fall, best, worst))

    def _exponentials(self, utilities: FloatArray) -> tuple[FloatArray, FloatArray]:
        """exp(u) and exp(-u) of each tuple's places (T, k), around the tuple's middle so that neither overflows."""
        values = utilities[self.tuples]
        values = values - (values.max(axis=1, keepdims=True) + values.min(axis=1, keepdims=True)) / 2
        return np.exp(values), np.exp(-values)

    def _total(self, rise: FloatArray, fall: FloatArray) -> FloatArray:
        # All pairs of places but those of a place with itself, each of which is exp(0).
        total: FloatArray = rise.sum(axis=1) * fall.sum(axis=1) - self.tuples.shape[1]
        return total

    def _curvature(
        self, rise: FloatArray, fall: FloatArray, best: FloatArray, worst: FloatArray
    ) -> csr_array:
        """The covariance of (one at the best, minus one at the worst), summed over the judgements: (m, m)."""
        size = self.tuples.shape[1]
        chances = rise[:, :, None] * fall[:, None, :] / self._total(rise, fall)[:, None, None]
        blocks = -(chances + chances.transpose(0, 2, 1))  # (T, k, k)
        diagonal = np.arange(size)
        blocks[:, diagonal, diagonal] = best + worst
        net = best - worst
        blocks -= net[:, :, None] * net[:, None, :]
        blocks *= self.times[:, None, None]
        rows, columns = np.repeat(self.tuples, size, axis=1), np.tile(self.tuples, size)
        shape = (self.item_count, self.item_count)
        return csr_array(coo_array((blocks.ravel(), (rows.ravel(), columns.ravel())), shape=shape))
