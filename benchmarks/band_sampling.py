"""Choosing pairs of sentences by bands of cosine similarity: 10,000 pairs in five bands among 100,000 vectors of 384.

The baseline computes the cosines of all pairs in the same blocks and sorts them into the bands, as a person would write
it today, without keeping any; it is timed on a part of the first sentences. The vectors are made: topics, in each of
them groups of sentences, so that high cosines are rare as among sentences.
"""

from dataclasses import replace
from time import perf_counter

import numpy as np
from _compare import is_quick, peak_mb, print_comparison, rates_compared

from curation.pairs.sampling.bands import BLOCK, FIRSTS, Vectors, pairs_by_similarity
from curation.pairs.sampling.sample import bins_of
from curation.pairs.sampling.uses import Uses

EDGES = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
WIDTH = 384
PART = 20  # groups of first sentences of the baseline


def vectors_made(number: int) -> Vectors:
    """Each the sum of a topic, a group of the topic, and a direction of its own, in shares that differ."""
    rng = np.random.default_rng(1)

    def directions(count: int) -> Vectors:
        made = rng.normal(size=(count, WIDTH)).astype(np.float32)
        return made / np.linalg.norm(made, axis=1, keepdims=True)

    groups = rng.integers(number // 10, size=number)
    found = directions(100)[groups % 100] + directions(number // 10)[groups]
    found += rng.uniform(0.3, 3, size=(number, 1)).astype(np.float32) * directions(number)
    return found / np.linalg.norm(found, axis=1, keepdims=True)


def baseline(vectors: Vectors) -> float:
    """Seconds for all pairs, by a part of them."""
    started = perf_counter()
    for start in range(0, PART * FIRSTS, FIRSTS):
        for begin in range(0, len(vectors), BLOCK):
            cosines = vectors[start : start + FIRSTS] @ vectors[begin : begin + BLOCK].T
            np.bincount(bins_of(cosines.ravel().astype(np.float64), EDGES) + 1)
    return (perf_counter() - started) * len(vectors) / (PART * FIRSTS)


def main() -> None:
    number, per_band = (10_000, 200) if is_quick(__doc__) else (100_000, 2_000)
    vectors = vectors_made(number)
    before = peak_mb()
    started = perf_counter()
    sample = pairs_by_similarity(vectors, edges=EDGES, per_band=per_band, uses=Uses(number, cap=1), seed=1)
    seconds, peak = perf_counter() - started, peak_mb()
    found = ", ".join(f"{one.name} {one.drawn:,}" for one in sample.strata)
    compared = rates_compared(
        "band_sampling",
        work=len(sample.pairs),
        unit="pairs/s",
        seconds=seconds,
        baseline="the cosines of all pairs, in blocks",
        baseline_seconds=baseline(vectors),
        notes=f"{len(sample.pairs):,} pairs among {number:,} sentences in {seconds:.1f} s ({found}); the vectors "
        f"themselves hold {before:.0f} MB of the peak; the baseline by {PART * FIRSTS:,} first sentences",
    )
    print_comparison(replace(compared, peak_mb=peak))


if __name__ == "__main__":
    main()
