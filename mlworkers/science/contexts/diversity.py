"""The contexts of a sentence, chosen one after the other so that they differ (Sun et al. 2022, section 3.3)."""

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import ArrayLike

from curation.pairs.overlap import jaccard_of_words

BELOW = 0.5  # the paper's bound of Jaccard's index
WITHOUT = 1.1  # no index is as high: everything is different enough


def diverse_chosen(
    scores: ArrayLike,
    chunks: ArrayLike,
    before: Sequence[Collection[str]],
    *,
    most: int,
    below: float = BELOW,
    one_of_chunk: bool = True,
) -> list[int]:
    """The places of at most `most` of n candidates, in the order in which they are chosen.

    scores: how well the sentence fits each (n,), the higher the better; equal ones are taken in their order. chunks:
    the chunk of each (n,), which gives at most one. before: the words of the sentence before the place of each. A
    candidate is passed over whose words there have a Jaccard index of `below` or more with those of a chosen one.
    """
    values, numbers = np.asarray(scores, dtype=np.float64), np.asarray(chunks).tolist()
    chosen: list[int] = []
    used: set[int] = set()
    sets = [frozenset(words) for words in before]  # of the (i - 1)th sentences
    # Greedy choice: at most n · most comparisons of sets. Whether a candidate is taken depends on the better
    # ones alone, so a smaller `most` gives the beginning of the same list.
    for candidate in np.argsort(-values, kind="stable").tolist():
        if len(chosen) == most:
            break
        if one_of_chunk and numbers[candidate] in used:
            continue
        # |A ∩ B| / |A ∪ B|.
        if any(jaccard_of_words(sets[candidate], sets[other]) >= below for other in chosen):
            continue
        chosen.append(candidate)
        used.add(numbers[candidate])
    return chosen
