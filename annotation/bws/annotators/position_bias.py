"""Position bias: whether screen positions are chosen more often than chance explains."""

from dataclasses import dataclass

import numpy as np
import scipy

from annotation.bws.judgements import IntArray


@dataclass(frozen=True)
class PositionBias:
    """counts: how often each position was chosen. chi_square against chance; p: its upper tail probability."""

    counts: tuple[int, ...]
    chi_square: float
    p: float


def position_bias(positions: IntArray, sizes: IntArray | int) -> PositionBias:
    """Test whether every position of a tuple was chosen with the same chance (Pearson's chi-square).

    positions: (n,) of the best or of the worst, from 0, as they were shown; -1 for a tie, which chose none.
    sizes: how many positions each tuple had, (n,) or one number for all. With chosen counts O, expected ones
    E and their covariance V, the statistic is (O - E)^T V^+ (O - E): of tuples of one size k it is the sum of
    (O - E)^2 / E, with k - 1 degrees of freedom.
    Means something only if every item has every position equally often, for example if each person's order is drawn.
    Without any choice chi_square is 0 and p is 1.
    """
    most = int(np.max(sizes, initial=0))
    chosen = positions >= 0
    counts = np.bincount(positions[chosen], minlength=most)  # O (k,)
    expected, covariance = np.zeros(most), np.zeros((most, most))  # E (k,), V (k, k)
    for size, tuples in zip(
        *np.unique(np.broadcast_to(sizes, chosen.shape)[chosen], return_counts=True), strict=True
    ):
        # A tuple of k positions adds 1 / k to each expected count,
        expected[:size] += tuples / size
        # and Var = (1 / k)(1 - 1 / k), Cov = -1 / k^2 to V: (I - 11^T / k) / k.
        covariance[:size, :size] += tuples * (np.eye(size) - 1 / size) / size
    away = counts - expected
    # V is singular, because counts sum to the number of choices; its pseudo-inverse leaves that direction out.
    chi_square = float(away @ np.linalg.pinv(covariance, hermitian=True) @ away)
    # k - 1 degrees of freedom, the rank of V; chdtrc is the upper tail of chi-square.
    return PositionBias(
        tuple(map(int, counts)), chi_square, float(scipy.special.chdtrc(max(1, most - 1), chi_square))
    )
