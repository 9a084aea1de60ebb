"""What a strategy returns: pairs, and for each stratum how many were asked for, available and drawn."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from curation.pairs.sampling.allocation import allocation
from curation.pairs.sampling.uses import Uses
from curation.pairs.word_tables import Integers, Reals


@dataclass(frozen=True)
class Stratum:
    """The pairs that a sample has of one stratum, such as a bin of a score.

    asked: pairs that were requested.
    available: pairs to draw from; None where nobody counted them.
    drawn: pairs that the sample has of it.
    """

    name: str
    asked: int
    available: int | None
    drawn: int

    @property
    def missing(self) -> int:
        return self.asked - self.drawn


@dataclass(frozen=True)
class Sample:
    """pairs: the numbers of the first and the second sentence of each, (k, 2).

    places: where each is among the candidates, (k,), if the strategy drew from candidates.
    """

    pairs: Integers
    strata: Sequence[Stratum] = ()
    places: Integers | None = None

    @property
    def missing(self) -> int:
        return sum(stratum.missing for stratum in self.strata)


def bins_of(values: Reals, edges: Sequence[float]) -> Integers:
    """The bin of each value, (n,): [edge 0, edge 1), …, the last one closed. -1 for a value outside all of them.

    STR's STS subset has the bins [0, 1), [1, 2), …, [4, 5] (appendix A).
    """
    if len(edges) < 2 or any(low >= high for low, high in pairwise(edges)):
        raise ValueError(f"the edges of bins must rise: {', '.join(f'{edge:g}' for edge in edges)}")
    inside = (values >= edges[0]) & (values <= edges[-1])
    # The number of edges at or below a value, less 1; the last edge itself belongs to the last bin.
    bins = np.minimum(np.searchsorted(edges, values, side="right") - 1, len(edges) - 2)
    return np.where(inside, bins, -1)


def bin_names(edges: Sequence[float]) -> list[str]:
    """As intervals: [0, 1), …, [4, 5]."""
    ends = [")"] * (len(edges) - 2) + ["]"]
    return [f"[{low:.4g}, {high:.4g}{end}" for (low, high), end in zip(pairwise(edges), ends, strict=True)]


def percentile_edges(values: Reals, buckets: int) -> list[float]:
    """The edges of buckets with equally many values: their percentiles at 0, 100/buckets, …, 100.

    Equal percentiles are one edge, so there are fewer buckets where many values are equal (of random pairs many share
    no word).
    """
    if not len(values):
        raise ValueError("there are no values whose percentiles could be buckets")
    # Quantiles at 0, 1 / buckets, ..., 1; n values on few levels give equal quantiles, which become one edge.
    edges = np.unique(np.quantile(values, np.linspace(0, 1, buckets + 1)))
    if len(edges) == 1:
        # [v, next float): one bucket that holds the one value.
        edges = np.array([edges[0], np.nextafter(edges[0], np.inf)])
    found: list[float] = edges.tolist()
    return found


def stratified_sample(
    candidates: Integers,
    strata: Integers,
    *,
    names: Sequence[str],
    weights: Sequence[float] | Reals,
    total: int,
    uses: Uses,
    seed: int,
) -> Sample:
    """Draw pairs from each stratum at random, as many as its weight says.

    candidates: (p, 2) sentences of p possible pairs. strata: (p,) the stratum of each, -1 for none.
    Returns the drawn candidates, those of the last stratum first. What a stratum cannot give, because too few of its
    pairs may still be used, is missing from the sample; it is reported and not taken from another.
    """
    available = np.bincount(strata[strata >= 0], minlength=len(names))
    # Every stratum may be asked for the whole total: what it lacks is reported, not moved to others.
    wanted = allocation(weights, total, np.full(len(names), total))
    rng = np.random.default_rng([seed, 2])  # stream 2: the order of candidates in each stratum
    drawn: list[int] = []
    found: list[Stratum] = []
    # High overlaps are the rarest among random pairs, so they choose first where a cap on uses lets them compete.
    for stratum in reversed(range(len(names))):
        # A random order of all its candidates, taken until the quota is full: a draw without replacement.
        order = rng.permutation(np.flatnonzero(strata == stratum))
        taken: list[int] = []
        for place in order:
            if len(taken) == wanted[stratum]:
                break
            if uses.take(*map(int, candidates[place])):
                taken.append(int(place))
        drawn += taken
        found.append(Stratum(names[stratum], int(wanted[stratum]), int(available[stratum]), len(taken)))
    places = np.array(drawn, dtype=np.int64)
    return Sample(candidates[places].reshape(-1, 2), found[::-1], places)
