"""The ten nearest of 1,000,000 sentences, for one query at a time, encoding left out.

The vectors are made: around 2,000 centres, 384 numbers each (the width of all-MiniLM-L6-v2). The baseline is
sentence_transformers.util.semantic_search over all vectors in memory; recall is against it.
"""

from collections.abc import Iterator
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter, process_time

import numpy as np
import torch
from _compare import is_quick, peak_mb, print_comparison, rates_compared
from sentence_transformers.util import semantic_search

from mlworkers.science.encoders.encoding import Vectors
from mlworkers.science.encoders.sentence_index import SentenceIndex, index_write

WIDTH, MOST = 384, 10
ASKED, OF_BASELINE = 50, 5  # queries, and those of them that the baseline gets too
CENTRES, SPREAD = 2_000, 1.2  # vectors of one centre have a cosine of about 0.4, others of about 0
BLOCK = 20_000


def blocks(number: int, *, seed: int) -> Iterator[Vectors]:
    """Vectors of so many sentences, (b, WIDTH) at a time."""
    centres = np.random.default_rng(7).standard_normal((CENTRES, WIDTH)).astype(np.float32)
    rng = np.random.default_rng(seed)
    for start in range(0, number, BLOCK):
        size = min(BLOCK, number - start)
        noise = rng.standard_normal((size, WIDTH), dtype=np.float32)
        yield centres[rng.integers(CENTRES, size=size)] + np.float32(SPREAD) * noise


def build(folder: Path, number: int) -> float:
    """Write the index; returns the seconds that it took."""
    started = perf_counter()
    index_write(folder, np.arange(number), blocks(number, seed=1), dimensions=WIDTH, number_format="float32")
    return perf_counter() - started


def main() -> None:
    number = 50_000 if is_quick(__doc__) else 1_000_000
    with TemporaryDirectory() as name:
        folder = Path(name)
        with get_context("spawn").Pool(1) as apart:  # so that the peak of the memory is that of searching
            built = apart.apply(build, (folder, number))
        queries = np.concatenate(list(blocks(ASKED, seed=2)))
        index = SentenceIndex(folder)
        index.nearest(queries[0], most=MOST)  # opens the files
        seconds, of_processor, found = [], [], []
        for query in queries:
            started, begun = perf_counter(), process_time()
            found.append(index.nearest(query, most=MOST))
            seconds.append(perf_counter() - started)
            of_processor.append(process_time() - begun)
        peak = peak_mb()
        every = torch.from_numpy(np.load(folder / "vectors.npy"))
        of_baseline, agreeing = [], 0
        for query, ours in zip(queries[:OF_BASELINE], found, strict=False):
            started = perf_counter()
            (theirs,) = semantic_search(torch.from_numpy(query[None]), every, top_k=MOST)
            of_baseline.append(perf_counter() - started)
            agreeing += [hit["corpus_id"] for hit in theirs] == ours.sentences.tolist()
        compared = rates_compared(
            "sentence_search",
            work=1,
            unit="queries/s",
            seconds=median(seconds),
            baseline="sentence_transformers.util.semantic_search",
            baseline_seconds=median(of_baseline),
            notes=f"{number:,} vectors of {WIDTH} numbers, indexed in {built:.0f} s; {ASKED} queries, {MOST} nearest: "
            f"median {1000 * median(seconds):.1f} ms, 95th percentile {1000 * float(np.quantile(seconds, 0.95)):.1f} "
            f"ms, median of processor time {1000 * median(of_processor):.1f} ms, fastest {1000 * min(seconds):.1f} "
            f"ms, slowest {1000 * max(seconds):.1f} ms; the same {MOST} in the same order for {agreeing} of "
            f"{OF_BASELINE} queries of the baseline",
        )
        print_comparison(replace(compared, peak_mb=peak))


if __name__ == "__main__":
    main()
