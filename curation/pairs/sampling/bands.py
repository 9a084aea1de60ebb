"""Pairs by the similarity that an encoder gives them, in bands with a quota each.

Comparing all pairs of a million sentences would take 10¹² products. Here first sentences are taken in random order, 64
at a time, and compared with the free sentences in random order, a block at a time, until each of them has enough
partners in every band that still lacks pairs. Nothing is estimated: a band ends short of its quota only if no two free
sentences are left whose similarity lies in it (a sentence with more than a hundred pairs of the dataset aside).
"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from curation.pairs.sampling.sample import Sample, Stratum, bin_names
from curation.pairs.sampling.uses import Uses
from curation.pairs.word_tables import Integers

Vectors = NDArray[np.float32]
Report = Callable[[int, int, str], None]  # what is done, of how much, and a message
FIRSTS = 64  # sentences whose partners are looked for together
# 64 x 8,192 cosines of 4 bytes are 2 MB.
BLOCK = 8_192  # sentences that they are compared with at once
# The others of the 64 can use up 2 · 63 of a sentence's partners before its turn comes: one of so many is left.
ENOUGH = 2 * FIRSTS


def pairs_by_similarity(
    vectors: Vectors,
    *,
    edges: Sequence[float],
    per_band: int,
    uses: Uses,
    seed: int,
    report: Report | None = None,
) -> Sample:
    """First sentences in random order; each gets a partner in one band, of those that still need pairs.

    vectors: (n, d), of length 1, so that a product is a cosine. edges: of the bands, [low, high), the last one closed.
    per_band: pairs for each band. Among the bands in which a first sentence has a partner, it takes the one that lacks
    most pairs. report counts first sentences.
    Cost: at most n² · d multiplications, where a band cannot be filled; n · d for each first sentence that is needed
    otherwise. Memory: that of the vectors, and 10 MB.
    """
    names = bin_names(edges)
    bands = _Bands(vectors, edges)
    counts = np.zeros(len(names), dtype=np.int64)
    drawn: list[tuple[int, int]] = []
    rng = np.random.default_rng([seed, 6])  # stream 6, of this strategy alone
    waiting = rng.permutation(len(vectors))
    while len(waiting) and (counts < per_band).any():
        # A sentence that found no partner has none left, since sentences and bands only become fewer. One that found a
        # partner and may have more is asked again.
        again: list[int] = []
        for start in range(0, len(waiting), FIRSTS):
            open_ = np.flatnonzero(counts < per_band)
            if not len(open_):
                break
            part = waiting[start : start + FIRSTS]
            # Earlier ones of this round may have used them up as partners.
            part = part[uses.free[part]]
            # A new order for each 64 first sentences: otherwise the same few sentences would be everybody's partners.
            others = rng.permutation(np.flatnonzero(uses.free))
            for first, partners in zip(part.tolist(), bands.partners(part, others, open_), strict=True):
                # The band with fewest pairs so far; equal bands from the lowest on.
                lacking_most = sorted(partners, key=lambda band: (counts[band], band))
                fitting = [
                    (band, other)
                    for band in lacking_most
                    if counts[band] < per_band
                    for other in partners[band].tolist()
                ]
                taken = next(((band, other) for band, other in fitting if uses.take(first, other)), None)
                if taken is not None:
                    counts[taken[0]] += 1
                    drawn.append((first, taken[1]))
                    again.append(first)
            if report is not None:
                report(start + len(part), len(waiting), "Finding pairs")
        waiting = np.array([first for first in again if uses.is_free(first)], dtype=np.int64)
    strata = [Stratum(name, per_band, None, int(count)) for name, count in zip(names, counts, strict=True)]
    return Sample(np.array(drawn, dtype=np.int64).reshape(-1, 2), strata)


class _Bands:
    def __init__(self, vectors: Vectors, edges: Sequence[float]) -> None:
        self._vectors = vectors
        # Rounding may put the cosine of equal sentences above 1.
        # The last band is closed: `high` is the next float32 above its edge, or infinite, as cosines may round above 1.
        last = np.inf if edges[-1] >= 1 else np.nextafter(np.float32(edges[-1]), np.float32(2))
        # Likewise below -1. [low, high) of band i: (-inf or edge 0, edge 1), (edge 1, edge 2), ...
        self._low = np.array([-np.inf if edges[0] <= -1 else edges[0], *edges[1:-1]], dtype=np.float32)
        self._high = np.array([*edges[1:-1], last], dtype=np.float32)

    def partners(self, firsts: Integers, others: Integers, bands: Integers) -> list[dict[int, Integers]]:
        """Of each first sentence, sentences with a cosine in each of the bands, in the order of `others`: all of them,
        or enough.
        """
        found: list[dict[int, list[Integers]]] = [{int(band): [] for band in bands} for _ in firsts]
        # Partners that each first sentence still lacks in each band (f, bands); 0 for bands that are full.
        lacking = np.full((len(firsts), len(self._low)), 0)
        lacking[:, bands] = ENOUGH
        for start in range(0, len(others), BLOCK):
            block = others[start : start + BLOCK]
            cosines = self._vectors[firsts] @ self._vectors[block].T  # (f, d) @ (d, b) -> (f, b)
            # NaN fails both comparisons below.
            cosines[firsts[:, None] == block] = np.nan  # a sentence is not its own partner
            for band in bands[(lacking[:, bands] > 0).any(axis=0)].tolist():
                # Rows come in rising order, so searchsorted finds where the columns of each row begin and end.
                rows, columns = np.nonzero((cosines >= self._low[band]) & (cosines < self._high[band]))
                ends = np.searchsorted(rows, np.arange(len(firsts) + 1))
                for row in np.flatnonzero((lacking[:, band] > 0) & (np.diff(ends) > 0)).tolist():
                    # Columns are in the order of `others`, so the first ones are a random choice.
                    fitting = columns[ends[row] : ends[row + 1]][: lacking[row, band]]
                    found[row][band].append(block[fitting])
                    lacking[row, band] -= len(fitting)
            if not (lacking > 0).any():
                break
        return [
            {band: np.concatenate(parts) for band, parts in by_band.items() if parts} for by_band in found
        ]
