"""Pairs by the similarity that an encoder gives them, in bands with a quota each."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from curation.pairs.word_tables import Integers
from curation.sampling.sample import Sample, Stratum, bin_names, bins_of
from curation.sampling.uses import Uses

Vectors = NDArray[np.float32]
FIRSTS = 64  # sentences whose partners are looked for together
BLOCK = 8_192  # sentences that they are compared with at once


def pairs_by_similarity(
    vectors: Vectors, *, edges: Sequence[float], per_band: int, most: int, uses: Uses, seed: int
) -> Sample:
    """First sentences in random order; each gets a partner in one band, of those that still need pairs.

    vectors: (n, d), of length 1, so that a product is a cosine. edges: of the bands, [low, high), the last one closed.
    per_band: pairs for each band. most: comparisons for each first sentence, in random order; a rare band (cosines
    near 1) needs more of them. Among the bands in which a first sentence has partners, it takes the one that lacks
    most pairs. Cost: at most `most` · d multiplications for each first sentence, in matrix products of 64 by 8,192.
    """
    names = bin_names(edges)
    drawn: list[tuple[int, int]] = []
    counts = np.zeros(len(names), dtype=np.int64)
    rng = np.random.default_rng([seed, 6])
    firsts = rng.permutation(len(vectors))
    order = rng.permutation(len(vectors))
    for start in range(0, len(firsts), FIRSTS):
        if (counts >= per_band).all():
            break
        part = firsts[start : start + FIRSTS]
        begin = int(rng.integers(len(order)))
        compared = np.roll(order, -begin)[:most] if most < len(order) else order
        for first, by_band in zip(part, _partners(vectors, part, compared, edges), strict=True):
            for band in np.argsort(counts, kind="stable"):
                partner = next(
                    (int(other) for other in by_band[band] if uses.allows(int(first), int(other))), None
                )
                if counts[band] < per_band and partner is not None and uses.take(int(first), partner):
                    drawn.append((int(first), partner))
                    counts[band] += 1
                    break
    strata = [Stratum(name, per_band, None, int(count)) for name, count in zip(names, counts, strict=True)]
    return Sample(np.array(drawn, dtype=np.int64).reshape(-1, 2), strata)


def _partners(
    vectors: Vectors, firsts: Integers, compared: Integers, edges: Sequence[float]
) -> list[list[Integers]]:
    """Of each first sentence and band, sentences with a cosine in the band, in the order of `compared`.

    The search ends once every first sentence has one in every band.
    """
    bands = len(edges) - 1
    found: list[list[Integers]] = [[np.zeros(0, dtype=np.int64)] * bands for _ in firsts]
    for start in range(0, len(compared), BLOCK):
        block = compared[start : start + BLOCK]
        # (f, d) @ (d, b) -> (f, b)
        in_band = bins_of((vectors[firsts] @ vectors[block].T).astype(np.float64), edges)
        for row, first in enumerate(firsts):
            for band in range(bands):
                fitting = block[in_band[row] == band]
                found[row][band] = np.concatenate([found[row][band], fitting[fitting != first]])
        if all(len(partners) for by_band in found for partners in by_band):
            break
    return found
