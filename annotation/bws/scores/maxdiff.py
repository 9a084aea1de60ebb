"""The MaxDiff model: how likely each choice of a best and a worst is, given the utilities of the items."""

import numpy as np
from scipy.sparse import coo_array, csr_array

from annotation.bws.judgements import FloatArray, Judgements, summed


class MaxDiffLikelihood:
    """P(best i, worst j) = exp(u_i - u_j) / sum over all positions a != b of exp(u_a - u_b) (Marley and Louviere 2005).

    Ties and judgements whose best is their worst contain no order and are left out. Judgements of the same items differ
    only in what was chosen, so each set of items is computed once. T such sets of at most k items; m items in all.
    """

    def __init__(self, judgements: Judgements) -> None:
        ordered = judgements.only(judgements.best != judgements.worst)
        self.item_count = m = judgements.item_count
        # tuples (T, k) and how often each was judged (T,); net (m,): times best minus times worst.
        self.tuples, self.times = np.unique(np.sort(ordered.items, axis=1), axis=0, return_counts=True)
        # A position without an item, -1, was sorted to the front. It gets the tuple's last item with a weight of 0.
        self.present = (self.tuples >= 0).astype(np.float64)  # (T, k)
        self.tuples = np.where(self.tuples >= 0, self.tuples, self.tuples[:, -1:])
        self.net = np.bincount(ordered.best, minlength=m) - np.bincount(ordered.worst, minlength=m)

    def value(self, utilities: FloatArray) -> float:
        """Sum over judgements of u_best - u_worst - log(total of their tuple)."""
        rise, fall = self._exponentials(utilities)
        return float(self.net @ utilities - self.times @ np.log(self._total(rise, fall)))

    def expand(self, utilities: FloatArray) -> tuple[FloatArray, csr_array]:
        """The gradient: what was chosen minus what the model expects. The curvature: the covariance of the choice."""
        rise, fall = self._exponentials(utilities)  # e^u and e^-u, each (T, k)
        total = self._total(rise, fall)[:, None]  # (T, 1)
        # P(best = i) = e^u_i (sum over j != i of e^-u_j) / total, and the same for the worst with the signs changed.
        best = rise * (fall.sum(axis=1, keepdims=True) - fall) / total  # (T, k)
        worst = fall * (rise.sum(axis=1, keepdims=True) - rise) / total  # (T, k)
        net = best - worst
        expected = summed(self.tuples, net * self.times[:, None], self.item_count)  # (m,)
        # A choice is a vector of k numbers: 1 at the best, -1 at the worst. Its covariance in each tuple is
        # E[x x^T] - E[x] E[x]^T, where E[x_i x_j] = -P(i best, j worst) - P(j best, i worst) beside the diagonal,
        # and P(best = i) + P(worst = i) on it.
        chances = rise[:, :, None] * fall[:, None, :] / total[:, :, None]  # (T, k, k)
        blocks = -(chances + chances.transpose(0, 2, 1))
        size, m = self.tuples.shape[1], self.item_count
        blocks[:, range(size), range(size)] = best + worst
        blocks -= net[:, :, None] * net[:, None, :]
        blocks *= self.times[:, None, None]
        # (T, k, k) -> (m, m): entries of the same two items are added.
        rows, columns = np.repeat(self.tuples, size, axis=1), np.tile(self.tuples, size)  # (T, k k)
        curvature = csr_array(coo_array((blocks.ravel(), (rows.ravel(), columns.ravel())), shape=(m, m)))
        return self.net - expected, curvature

    def _exponentials(self, utilities: FloatArray) -> tuple[FloatArray, FloatArray]:
        """exp(u) and exp(-u) of each tuple's items (T, k), around the tuple's middle so that neither overflows.

        Both are 0 in a position without an item.
        """
        values = utilities[self.tuples]
        values = values - (values.max(axis=1, keepdims=True) + values.min(axis=1, keepdims=True)) / 2
        return np.exp(values) * self.present, np.exp(-values) * self.present

    def _total(self, rise: FloatArray, fall: FloatArray) -> FloatArray:
        """The sum of exp(u_a - u_b) over a != b: all pairs, less the k of an item with itself, each exp(0). (T,)"""
        total: FloatArray = rise.sum(axis=1) * fall.sum(axis=1) - self.present.sum(axis=1)
        return total
