"""How the pairs of a corpus spread over similarity and BLEU (ConPGS, figures 1 to 3)."""

from dataclasses import dataclass

import numpy as np

from mlworkers.science.paraphrasing.tags import OUTSIDE, TOP, Integers, Reals, TagBounds, bins_of

STEP = 5  # the paper's interval, section 3.1
STEPS = TOP // STEP
_EDGES = [float(edge) for edge in range(0, TOP + 1, STEP)]  # 0, 5, …, 100: 21 edges of 20 bins


@dataclass(frozen=True)
class Profile:
    """Numbers of pairs. full: over the full range in steps of 5, similarity × BLEU, (20, 20).
    tagged: in each cell of the bounds, similarity × BLEU, (6, 8) with the paper's.
    """

    pairs: int
    full: Integers
    tagged: Integers

    @property
    def inside(self) -> int:
        """Pairs that lie in any cell of the bounds."""
        return int(self.tagged.sum())


def profile_of(similarity: Reals, bleu: Reals, bounds: TagBounds) -> Profile:
    """Count n pairs by their labels, in 0..100, (n,) each."""
    places = bins_of(similarity, _EDGES), bins_of(bleu, _EDGES)  # (n,) each, 0..19
    # Only pairs inside the bounds.
    tagged = _counted(*bounds.bins(similarity, bleu), (len(bounds.similarity), len(bounds.lexical)))
    return Profile(len(similarity), _counted(*places, (STEPS, STEPS)), tagged)


def _counted(rows: Integers, columns: Integers, shape: tuple[int, int]) -> Integers:
    counts = np.zeros(shape, dtype=np.int64)
    inside = (rows != OUTSIDE) & (columns != OUTSIDE)
    # `add.at` counts repeated cells; `counts[rows, columns] += 1` would count each of them once.
    np.add.at(counts, (rows[inside], columns[inside]), 1)
    return counts
