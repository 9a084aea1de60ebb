"""How often a sentence may be in the pairs of a sample."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from curation.pairs.text import unordered


class Uses:
    """Counts the pairs of each of n sentences, up to a cap. No two sentences are paired twice, in either order.

    sentences: n; sentences are numbered from 0.
    cap: the most pairs of a sentence. Raises ValueError if it is below 1.
    """

    def __init__(self, sentences: int, *, cap: int, taken: Iterable[tuple[int, int]] = ()) -> None:
        """taken: pairs that exist already, and are not drawn again. They do not count as uses."""
        if cap < 1:
            raise ValueError(f"a sentence must be allowed in at least 1 pair, not {cap}")
        self._counts = np.zeros(sentences, dtype=np.int32)  # pairs of each sentence so far (n,)
        self._cap = cap
        self._taken = {unordered(a, b) for a, b in taken}  # (a, b) and (b, a) are one pair

    @property
    def free(self) -> NDArray[np.bool_]:
        """Which sentences may be in another pair, (n,)."""
        result: NDArray[np.bool_] = self._counts < self._cap
        return result

    def is_free(self, sentence: int) -> bool:
        return bool(self._counts[sentence] < self._cap)

    def allows(self, a: int, b: int) -> bool:
        """Whether the pair may be added: two different sentences, both below the cap, that are not a pair yet."""
        return a != b and self.is_free(a) and self.is_free(b) and unordered(a, b) not in self._taken

    def take(self, a: int, b: int) -> bool:
        """Add the pair if that is allowed; returns whether it was."""
        if not self.allows(a, b):
            return False
        self._taken.add(unordered(a, b))
        self._counts[[a, b]] += 1  # a != b, so each of the two counts once
        return True
