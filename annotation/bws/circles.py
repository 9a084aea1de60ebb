"""Which slots of a design may swap their items."""

import numpy as np

from annotation.bws.grouping import grouped_order
from annotation.bws.judgements import IntArray


class Circles:
    """Slots that may swap their items: those that carry the same number, circle (slots,)."""

    def __init__(self, circle: IntArray) -> None:
        self.order = grouped_order(circle)
        sizes = np.bincount(circle)
        self.circle = circle
        self.sizes = sizes
        self.starts = np.cumsum(sizes) - sizes

    def draw(self, slots: IntArray, rng: np.random.Generator) -> IntArray:
        """Draw for each of the slots (P,) another one of its circle, or itself."""
        circle = self.circle[slots]
        ranks = (rng.random(len(slots)) * self.sizes[circle]).astype(np.int64)
        partners: IntArray = self.order[self.starts[circle] + ranks]
        return partners
