"""Batches of sentences of like length, so that little of a batch is padding."""

import numpy as np
from numpy.typing import ArrayLike, NDArray


def length_batches(lengths: ArrayLike, *, tokens_per_batch: int) -> list[NDArray[np.int64]]:
    """Cut sentences into batches of like length within a budget of tokens, padding included.

    lengths: tokens of each sentence (n,). Returns the places of each batch's sentences, the longest first, so
    that what will not fit in memory fails at once; equal lengths keep their order. A sentence longer than the
    budget is a batch of its own. Raises ValueError if tokens_per_batch is below 1.
    """
    if tokens_per_batch < 1:
        raise ValueError(f"A batch of {tokens_per_batch} tokens holds no sentence; give at least 1.")
    tokens = np.maximum(np.asarray(lengths, dtype=np.int64), 1)
    order = np.argsort(-tokens, kind="stable")
    batches, start = [], 0
    while start < order.size:
        size = max(1, tokens_per_batch // int(tokens[order[start]]))
        batches.append(order[start : start + size])
        start += size
    return batches
