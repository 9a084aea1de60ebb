"""Position bias: whether screen positions are chosen more often than chance explains."""

from dataclasses import dataclass

import numpy as np
from scipy.special import chdtrc

from annotation.bws.judgements import IntArray


@dataclass(frozen=True)
class PositionBias:
    """counts: how often each position was chosen. chi_square against equal counts; p: its upper tail probability."""

    counts: tuple[int, ...]
    chi_square: float
    p: float


def position_bias(positions: IntArray, size: int) -> PositionBias:
    """Test whether the `size` positions (n,), numbered from 0, were chosen equally often (Pearson's chi-square).

    Means something only if every item has every position equally often, for example if each person's order is drawn.
    positions: of the best or of the worst, as they were shown. Without any choice chi_square is 0 and p is 1.
    """
    counts = np.bincount(positions, minlength=size)
    expected = len(positions) / size
    chi_square = float(((counts - expected) ** 2).sum() / expected) if len(positions) else 0.0
    return PositionBias(tuple(map(int, counts)), chi_square, float(chdtrc(size - 1, chi_square)))
