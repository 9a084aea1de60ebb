"""Pairs that share a sentence hang together, and belong on one side of every split of our own.

Otherwise an encoder is tested on sentences that it has been trained on.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

Integers = NDArray[np.int64]


def pair_components(a: Integers, b: Integers) -> Integers:
    """The connected component of each pair in the graph whose nodes are sentences and whose edges are pairs.

    a, b: names of the sentences of n pairs, any integers, (n,) each.
    Returns (n,) numbers from 0, in the order in which the components first appear.
    """
    if len(a) == 0:
        return np.zeros(0, dtype=np.int64)
    sentences, places = np.unique(np.concatenate([a, b]), return_inverse=True)
    left, right = places[: len(a)], places[len(a) :]
    graph = coo_array((np.ones(len(a), dtype=np.int8), (left, right)), shape=(len(sentences), len(sentences)))
    _, of_sentence = connected_components(graph, directed=False)
    _, first, component = np.unique(of_sentence[left], return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[component]
