"""Position bias: whether places on the screen are chosen more often than chance would."""

from dataclasses import dataclass

import numpy as np
from scipy.special import chdtrc

from annotation.bws.judgements import IntArray


@dataclass(frozen=True)
class PositionBias:
    """counts: how often each place was chosen. chi_square against equal counts; p: its upper tail probability."""

    counts: tuple[int, ...]
    chi_square: float
    p: float


def position_bias(places: IntArray, size: int) -> PositionBias:
    """Test whether the `size` places (n,), numbered from 0, were chosen equally often (Pearson's chi-square).

    Means something only where every item stands at every place equally often, as when each person's order
    is drawn.
    places: of the best or of the worst, as they were shown. Without any choice chi_square is 0 and p is 1.
    """
    counts = np.bincount(places, minlength=size)
    expected = len(places) / size
    chi_square = float(((counts - expected) ** 2).sum() / expected) if len(places) else 0.0
    return PositionBias(tuple(map(int, counts)), chi_square, float(chdtrc(size - 1, chi_square)))
