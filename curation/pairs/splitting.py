"""Pairs that share a sentence are connected, and belong on one side of every split of our own.

Otherwise an encoder is tested on sentences that it has been trained on.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import scipy
from numpy.typing import NDArray

Integers = NDArray[np.int64]
TOLERANCE = 1e-6  # of the sum of shares


def pair_components(a: Integers, b: Integers) -> Integers:
    """The connected component of each pair in the graph whose nodes are sentences and whose edges are pairs.

    a, b: names of the sentences of n pairs, any integers, (n,) each.
    Returns (n,) numbers from 0, in the order in which the components first appear.
    """
    if len(a) == 0:
        return np.zeros(0, dtype=np.int64)
    sentences, places = np.unique(np.concatenate([a, b]), return_inverse=True)
    left, right = places[: len(a)], places[len(a) :]
    graph = scipy.sparse.coo_array(
        (np.ones(len(a), dtype=np.int8), (left, right)), shape=(len(sentences), len(sentences))
    )
    _, of_sentence = scipy.sparse.csgraph.connected_components(graph, directed=False)
    _, first, component = np.unique(of_sentence[left], return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[component]


class SplitError(ValueError):
    """The shares of the splits cannot be used."""


def splits_drawn(
    components: Integers, names: Sequence[str], shares: Mapping[str, float], *, seed: int
) -> list[str]:
    """Divide pairs into splits so that each component is in one of them, (n,) names of splits.

    components: of each pair, (n,), as `pair_components` numbers them. names: of each pair, different ones; the result
    depends on them and the seed alone, not on the order of the pairs. shares: of each split, above 0, with the sum 1.
    The largest component comes first, and each goes to the split that lacks most pairs; components of equal size come
    in random order. So no split exceeds its share by as many pairs as the largest component has.
    Raises SplitError.
    """
    if not shares or min(shares.values()) <= 0 or abs(sum(shares.values()) - 1) > TOLERANCE:
        raise SplitError("The shares of the splits must be above 0, and their sum must be 1.")
    first_names: dict[int, str] = {}
    for component, name in zip(components.tolist(), names, strict=True):
        first_names[component] = min(name, first_names.get(component, name))
    sizes = np.bincount(components, minlength=0).tolist()
    order = sorted(
        first_names,
        key=lambda one: (-sizes[one], hashlib.sha256(f"{seed} {first_names[one]}".encode()).digest()),
    )
    lacking = {split: share * len(components) for split, share in shares.items()}
    of_component: dict[int, str] = {}
    for component in order:
        split = max(lacking, key=lambda one: lacking[one])
        of_component[component] = split
        lacking[split] -= sizes[component]
    return [of_component[component] for component in components.tolist()]


def splits_drawn_by_source(
    components: Integers,
    names: Sequence[str],
    sources: Sequence[str],
    shares: Mapping[str, float],
    *,
    seed: int,
) -> list[str]:
    """As `splits_drawn`, within each source by itself, so that each split has about its share of every source.

    sources: of each pair, (n,). A component whose pairs have several sources belongs to the one that most of them
    have, of equally many the first by name.
    """
    counted: dict[int, Counter[str]] = {}
    for component, source in zip(components.tolist(), sources, strict=True):
        counted.setdefault(component, Counter())[source] += 1
    source_of = {
        component: min(counts, key=lambda source: (-counts[source], source))
        for component, counts in counted.items()
    }
    places: dict[str, list[int]] = {}
    for place, component in enumerate(components.tolist()):
        places.setdefault(source_of[component], []).append(place)
    drawn = [""] * len(names)
    for source in sorted(places):
        own = places[source]
        numbers = np.unique(components[own], return_inverse=True)[1]
        splits = splits_drawn(numbers, [names[place] for place in own], shares, seed=seed)
        for place, split in zip(own, splits, strict=True):
            drawn[place] = split
    return drawn


def splits_completed(
    components: Integers, given: Sequence[str], draw: Callable[[Integers], Sequence[str]]
) -> list[str]:
    """The split of each pair, (n,), where some have one that they keep.

    given: of each pair, "" where it has none. A pair without one that is connected to pairs with a split joins it;
    where these have several, the one that most of them have, of equally many the first by name. draw: gives the splits
    of the pairs of the remaining components, from their places (m,).
    """
    fixed: dict[int, Counter[str]] = {}
    for component, split in zip(components.tolist(), given, strict=True):
        if split:
            fixed.setdefault(component, Counter())[split] += 1
    joined = {
        component: min(counts, key=lambda split: (-counts[split], split))
        for component, counts in fixed.items()
    }
    free = np.flatnonzero(~np.isin(components, np.array(sorted(fixed), dtype=np.int64)))
    result = [
        split or joined.get(component, "")
        for component, split in zip(components.tolist(), given, strict=True)
    ]
    for place, split in zip(free.tolist(), draw(free) if free.size else [], strict=True):
        result[place] = split
    return result
