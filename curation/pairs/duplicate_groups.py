"""Pairs that say the same: exact, mirrored and near duplicates, in groups."""

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from curation.pairs.near_duplicates import near_duplicates
from curation.pairs.splitting import pair_components
from curation.pairs.word_tables import word_table

Integers = NDArray[np.int64]


class Likeness(StrEnum):
    """How the pairs of a group are alike; the loosest of them names the group."""

    EXACT = "exact"
    MIRRORED = "mirrored"
    NEAR = "near"


class DuplicateGroup(NamedTuple):
    """places: of two or more pairs, in rising order."""

    likeness: Likeness
    places: tuple[int, ...]


def duplicate_groups(
    sentences: Sequence[str],
    a: Integers,
    b: Integers,
    *,
    threshold: float = 0.8,
    compared: Callable[[int, int], object] = lambda done, total: None,
) -> list[DuplicateGroup]:
    """The groups of pairs whose sentences are the same on both sides, in either order; by their first pair.

    sentences: different texts. a, b: places of each pair's sentences, (n,). Sentences are alike where the Jaccard index
    of their words is at least the threshold, and where a chain of such sentences connects them (single linkage), so two
    pairs at the ends of a long chain can be less alike.
    compared: receives the numbers of compared and of all sentences.
    Raises ValueError where the threshold is not above 0 and at most 1.
    """
    if not len(a):
        return []
    links = near_duplicates(word_table(sentences), threshold=threshold, compared=compared)
    every = np.arange(len(sentences))
    chained = pair_components(np.concatenate([every, links.first]), np.concatenate([every, links.second]))
    cluster = chained[: len(sentences)]
    low, high = np.minimum(cluster[a], cluster[b]), np.maximum(cluster[a], cluster[b])
    order = np.lexsort((high, low))  # which keeps pairs of one group in rising order
    low, high = low[order], high[order]
    begins = np.flatnonzero(np.r_[True, (low[1:] != low[:-1]) | (high[1:] != high[:-1])])
    ends = np.r_[begins[1:], len(order)]
    several = ends - begins > 1
    groups = [order[begin:end] for begin, end in zip(begins[several], ends[several], strict=True)]
    groups.sort(key=lambda places: int(places[0]))
    found = []
    for places in groups:
        left, right = a[places], b[places]
        below, above = np.minimum(left, right), np.maximum(left, right)
        likeness = Likeness.NEAR
        if (left == left[0]).all() and (right == right[0]).all():
            likeness = Likeness.EXACT
        elif (below == below[0]).all() and (above == above[0]).all():
            likeness = Likeness.MIRRORED
        found.append(DuplicateGroup(likeness, tuple(places.tolist())))
    return found
