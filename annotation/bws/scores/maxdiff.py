"""The MaxDiff model: how likely each choice of a best and a worst is, given the utilities of the items."""

from functools import cached_property

import numpy as np
import scipy

from annotation.bws.judgements import FloatArray, IntArray, Judgements, summed

# Bounds of the log of the tie weight: with a weight of e^20, people find almost everything too close to call.
LEAST_LOG_TIE, MOST_LOG_TIE = -20.0, 20.0


class MaxDiffLikelihood:
    """P(best i, worst j) = exp(u_i - u_j) / (W + v K), P(tie) = v K / (W + v K) (Marley and Louviere 2005).

    W is the sum of exp(u_a - u_b) over the K = k (k - 1) ordered pairs of positions a != b. The tie is that of Davidson
    (1970) for these K options: the geometric mean of their weights is 1. v is `tie_weight`, 0 if there are no ties.

    Judgements whose best is their worst contain no order and are left out. Judgements of the same items differ only in
    what was chosen, so each set of items is computed once. T such sets of at most k items; m items in all.
    scales: (n,) what each judgement's annotator multiplies all utilities by, 1 if not given; judgements of the same
    items by different scales are different sets.
    """

    def __init__(self, judgements: Judgements, scales: FloatArray | None = None) -> None:
        kept = (judgements.best != judgements.worst) | judgements.ties
        self.judgements = judgements.only(kept)
        self.item_count = m = judgements.item_count
        # In rising order, rows of the same set are equal, and -1 comes first.
        rows = np.sort(self.judgements.items, axis=1)
        each = np.ones(len(rows)) if scales is None else scales[kept]
        # Scales are numbered, so that sets and scales can be compared as rows of whole numbers.
        values, scale_of = np.unique(each, return_inverse=True)
        # sets (T, k) and how often each was judged (T,); set_of (n,) the one of each judgement; scale (T,).
        # As `np.unique` along the first axis, which sorts rows as texts of bytes and takes several times as long.
        rows = np.column_stack([rows, scale_of])
        order = np.lexsort(rows.T[::-1])
        ordered = rows[order]
        begins = np.ones(len(rows), dtype=np.bool_)
        begins[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
        sets = ordered[begins]
        self.set_of = np.empty(len(rows), dtype=np.int64)
        self.set_of[order] = np.cumsum(begins) - 1
        self.times, self.scale = np.bincount(self.set_of, minlength=len(sets)), values[sets[:, -1]]
        # A position without an item, -1, was sorted to the front. It gets the set's last item with a weight of 0.
        rows = sets[:, :-1]
        self.present = (rows >= 0).astype(np.float64)  # (T, k)
        self.tuples = np.where(rows >= 0, rows, rows[:, -1:])
        size = self.present.sum(axis=1)
        self.options = size * (size - 1)  # K (T,)
        # Without ties v K is 0; with ties v = 1 is where `fit_tie_weight` starts from.
        self.ties = int(self.judgements.ties.sum())
        self.tie_weight = 0.0 if not self.ties else 1.0
        # Times best minus times worst, each times its scale (m,).
        # A tie adds nothing to sum of s (u_best - u_worst).
        weights = np.where(self.judgements.ties, 0.0, self.scale[self.set_of])
        # A tie's -1 becomes item 0, which is harmless, as its weight is 0.
        best, worst = (np.maximum(chosen, 0) for chosen in (self.judgements.best, self.judgements.worst))
        self.net = summed(best, weights, m) - summed(worst, weights, m)

    def value(self, utilities: FloatArray) -> float:
        """Sum over judgements of u_best - u_worst, or of log(v K) for a tie, less the log of all options' weights."""
        rise, fall = self._exponentials(utilities[self.tuples])
        # L = sum of s (u_best - u_worst) - sum of times * log(W + v K).
        value = float(self.net @ utilities - self.times @ np.log(self._total(rise, fall)))
        if self.ties:
            in_ties = self.options[self.set_of[self.judgements.ties]]
            value += float(np.log(self.tie_weight * in_ties).sum())
        return value

    def expand(self, utilities: FloatArray) -> "tuple[FloatArray, scipy.sparse.csr_array]":
        """The gradient: what was chosen minus what the model expects. The curvature: the covariance of the choice."""
        return self._assembled(*self._moments(utilities[self.tuples]))

    def expand_over(
        self, utilities: FloatArray, covariance: FloatArray
    ) -> "tuple[FloatArray, scipy.sparse.csr_array]":
        """Gradient and curvature on the average over the normal distribution N(utilities, covariance), (m,), (m, m).

        What a set adds depends on its k items alone. Their k-dimensional distribution is replaced by 2 k points with
        the same mean and covariance, u +- sqrt(k) times each column of the covariance's root (Arasaratnam and Haykin
        2009), which is exact for polynomials of the third degree.
        """
        nets, covariances = zip(*map(self._moments, self._points(utilities, covariance)), strict=True)
        return self._assembled(sum(nets) / len(nets), sum(covariances) / len(nets))

    def _points(self, utilities: FloatArray, covariance: FloatArray) -> list[FloatArray]:
        values, size = utilities[self.tuples], self.tuples.shape[1]
        blocks = covariance[self.tuples[:, :, None], self.tuples[:, None, :]]  # (T, k, k)
        # An item in two positions makes a block singular; a billionth of its variance more changes nothing else.
        blocks[:, range(size), range(size)] *= 1 + 1e-9
        roots = np.sqrt(size) * np.linalg.cholesky(blocks)
        # u + sqrt(k) L e_j and u - sqrt(k) L e_j, with L L^T the block: 2 k points of equal weight 1 / (2 k).
        return [values + sign * roots[:, :, column] for column in range(size) for sign in (1, -1)]

    def _moments(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The mean (T, k) and the covariance (T, k, k) of each set's choice, at utilities of its items (T, k).

        A choice is a vector of k numbers: 1 at the best, -1 at the worst, 0 for a tie.
        """
        rise, fall = self._exponentials(values)  # e^u and e^-u, each (T, k)
        total = self._total(rise, fall)[:, None]  # (T, 1)
        best, worst = self._chances(rise, fall)  # (T, k) each
        net = best - worst
        # E[x x^T] - E[x] E[x]^T, where E[x_i x_j] = -P(i best, j worst) - P(j best, i worst) beside the diagonal,
        # and P(best = i) + P(worst = i) on it.
        chances = rise[:, :, None] * fall[:, None, :] / total[:, :, None]  # (T, k, k)
        # P(best i, worst j) is e^u_i e^-u_j / total for i != j; the diagonal of `chances` is overwritten.
        blocks = -(chances + chances.transpose(0, 2, 1))
        size = self.tuples.shape[1]
        blocks[:, range(size), range(size)] = best + worst
        blocks -= net[:, :, None] * net[:, None, :]  # less E[x] E[x]^T
        return net, blocks

    def _assembled(self, net: FloatArray, blocks: FloatArray) -> "tuple[FloatArray, scipy.sparse.csr_array]":
        """The gradient (m,) and the curvature (m, m) from the moments of each set's choice."""
        # d(s u) / du = s, so the gradient has one factor s and the curvature two.
        expected = summed(self.tuples, net * (self.times * self.scale)[:, None], self.item_count)
        # dL/du = sum of s x - sum of times * s * E[x].
        return self.net - expected, self._curvature(blocks)

    def _curvature(self, blocks: FloatArray) -> "scipy.sparse.csr_array":
        """The curvature (m, m) from the covariance of each set's choice (T, k, k)."""
        blocks = blocks * (self.times * self.scale * self.scale)[:, None, None]
        met, columns, starts = self._meetings
        # Cost: T k^2 additions; the matrix has one entry for every two items that met, and the diagonal.
        return scipy.sparse.csr_array(
            (summed(met, blocks, len(columns)), columns, starts), shape=(self.item_count, self.item_count)
        )

    @cached_property
    def _meetings(self) -> tuple[IntArray, IntArray, IntArray]:
        """Where the blocks (T, k, k) go in a matrix (m, m), whatever the utilities: entries of the same two items are
        added.

        Returns the entry of the matrix for each of the T k k, and the columns and the starts of rows of its CSR form.
        """
        size, m = self.tuples.shape[1], self.item_count
        rows, columns = np.repeat(self.tuples, size, axis=1), np.tile(self.tuples, size)  # (T, k k)
        # Two items (i, j) are one number i m + j, so equal numbers are entries of one cell.
        pairs, met = np.unique(rows * m + columns, return_inverse=True)
        return met.ravel(), pairs % m, np.searchsorted(pairs, np.arange(m + 1) * m)

    def gradients(self, utilities: FloatArray, groups: IntArray) -> "scipy.sparse.csr_array":
        """The gradient (g, m) of each group of the judgements that are kept (n,), numbered from 0."""
        best, worst = self._chances(*self._exponentials(utilities[self.tuples]))
        expected = self._by_groups(self.scale[:, None] * (best - worst), groups)
        ordered = ~self.judgements.ties
        # Of the judgements that are not ties: +s at the best and -s at the worst of each judgement, added up by group.
        weights, rows = self.scale[self.set_of[ordered]], np.tile(groups[ordered], 2)
        items = np.concatenate([self.judgements.best[ordered], self.judgements.worst[ordered]])
        chosen = scipy.sparse.csr_array(
            (np.concatenate([weights, -weights]), (rows, items)), shape=expected.shape
        )
        return scipy.sparse.csr_array(chosen - expected)

    def expand_scales(
        self, utilities: FloatArray, groups: IntArray, covariance: FloatArray | None = None
    ) -> "tuple[FloatArray, FloatArray, scipy.sparse.csr_array, scipy.sparse.csr_array]":
        """The derivatives by the log scale t of each group g of the judgements that are kept (n,), numbered from 0.

        With G the group's gradient by u and H its curvature: the slope u.G (g,), the information u.H u (g,), the
        cross information H u (g, m), and the curvature of all groups (m, m). On the average over N(utilities,
        covariance) if a covariance (m, m) is given.
        """
        count = int(groups.max(initial=-1)) + 1
        net, change, cross = np.zeros(len(self.times)), np.zeros(len(self.times)), np.zeros(self.tuples.shape)
        blocks = np.zeros((*self.tuples.shape, self.tuples.shape[1]))
        points = [utilities[self.tuples]] if covariance is None else self._points(utilities, covariance)
        # Averages over the points of E[x] . u, of u . Cov(x) u, and of Cov(x) u.
        for values in points:
            choice, covariances = self._moments(values)
            moved = np.einsum("tij,tj->ti", covariances, values)  # (T, k)
            net = net + (choice * values).sum(axis=1) / len(points)  # (T,)
            change = change + (moved * values).sum(axis=1) / len(points)  # (T,)
            cross = cross + moved / len(points)  # (T, k)
            blocks = blocks + covariances / len(points)  # (T, k, k)
        ordered = ~self.judgements.ties
        # The judgement's own part of the slope is linear in u, so its average over N(u, C) is that at u.
        chosen = np.where(ordered, utilities[self.judgements.best] - utilities[self.judgements.worst], 0.0)
        scale = self.scale[self.set_of]
        # dL/dt = s (u_best - u_worst - E[x] . u), because d s / dt = s for t = log s.
        slope = summed(groups, scale * (chosen - net[self.set_of]), count)
        # -d^2 L / dt^2 as the model expects it: s^2 u . Cov(x) u.
        information = summed(groups, scale**2 * change[self.set_of], count)
        crossed = self._by_groups(self.scale[:, None] ** 2 * cross, groups)
        return slope, information, crossed, self._curvature(blocks)

    def _by_groups(self, each: FloatArray, groups: IntArray) -> "scipy.sparse.csr_array":
        """Sum what each set gives its items (T, k) over the judgements of each group: (g, m)."""
        shape = (int(groups.max(initial=-1)) + 1, len(self.tuples))
        judged = scipy.sparse.csr_array(
            (np.ones(len(groups)), (groups, self.set_of)), shape=shape
        )  # how often
        rows = np.repeat(np.arange(len(self.tuples)), self.tuples.shape[1])
        given = scipy.sparse.csr_array(
            (each.ravel(), (rows, self.tuples.ravel())), shape=(shape[1], self.item_count)
        )
        return scipy.sparse.csr_array(judged @ given)

    def fit_tie_weight(self, utilities: FloatArray) -> None:
        """Set v to its most likely value: that under which as many ties are expected as there are."""
        if not self.ties:
            return
        totals = (
            self._total(*self._exponentials(utilities[self.tuples])) - self.tie_weight * self.options
        )  # W (T,)

        # Expected ties, sum of times * v K / (W + v K), less those that there are; it rises with v.
        def surplus(log_weight: float) -> float:
            weights = np.exp(log_weight) * self.options
            # The slope of L by log v, with its sign turned, so its root is the maximum.
            return float(self.times @ (weights / (totals + weights))) - self.ties

        if surplus(MOST_LOG_TIE) <= 0:
            self.tie_weight = float(np.exp(MOST_LOG_TIE))
        else:
            # W >= K, so v = e^-20 expects less than one tie in 4.8e8 judgements: the root lies above that bound.
            self.tie_weight = float(
                np.exp(scipy.optimize.brentq(surplus, LEAST_LOG_TIE, MOST_LOG_TIE, xtol=1e-12))
            )

    def _chances(self, rise: FloatArray, fall: FloatArray) -> tuple[FloatArray, FloatArray]:
        """P(best = i) = e^u_i (sum over j != i of e^-u_j) / total, and the same for the worst, (T, k) each."""
        total = self._total(rise, fall)[:, None]
        best = rise * (fall.sum(axis=1, keepdims=True) - fall) / total
        worst = fall * (rise.sum(axis=1, keepdims=True) - rise) / total
        return best, worst

    def _exponentials(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """exp(u) and exp(-u) of the utilities of each set's items (T, k), around the set's middle against overflow.

        Both are 0 in a position without an item.
        """
        values = self.scale[:, None] * values
        # Taking the middle off multiplies e^u and divides e^-u by the same number, so every product e^u_a e^-u_b stays.
        values = values - (values.max(axis=1, keepdims=True) + values.min(axis=1, keepdims=True)) / 2
        return np.exp(values) * self.present, np.exp(-values) * self.present

    def _total(self, rise: FloatArray, fall: FloatArray) -> FloatArray:
        """W + v K (T,). W: the sum of exp(u_a - u_b) over all pairs, less that of an item with itself, exp(0)."""
        # sum over a, b of e^(u_a - u_b) is the product of two sums: k additions instead of k^2 per set.
        total: FloatArray = rise.sum(axis=1) * fall.sum(axis=1) - self.present.sum(axis=1)
        total += self.tie_weight * self.options
        return total
