"""Which pairs make an attention check whose answer nobody doubts: by scores, or by the words that sentences share."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import log

import numpy as np

from annotation.bws.judgements import FloatArray, IntArray

TRIES_PER_TUPLE = 50
NEAREST = 20  # pairs, among which those between two chosen ones are drawn


@dataclass(frozen=True)
class Bands:
    """Where the pairs of a check lie, on 0..1.

    best: at least the height of the best pair. worst: at most that of the worst pair.
    middle, reach: the others are at most `reach` away from `middle`.
    margin: the least distance of best and worst from the others, in the values themselves.
    """

    best: float
    worst: float
    middle: float
    reach: float
    margin: float


# An answer that good annotators could miss would stop the wrong people.
BY_SCORES = Bands(best=0.75, worst=0.25, middle=0.5, reach=0.1, margin=0.25)
BY_WORDS = Bands(best=0.6, worst=0.05, middle=0.35, reach=0.15, margin=0.15)


def clear_tuples(
    values: FloatArray,
    heights: FloatArray,
    sentences: IntArray,
    size: int,
    rng: np.random.Generator,
    *,
    bands: Bands,
) -> Iterator[IntArray]:
    """Draw tuples of `size` pairs: the best, the worst, then the others, until too many draws in a row fail.

    values: (n,) of the pairs, of which margins are taken.
    heights: (n,) 0..1, by which `bands` sorts the pairs.
    sentences: (n, 2) the numbers of the two sentences of each pair.
    No pair is in two tuples, and no sentence twice in one.
    """
    free = rng.permutation(len(values))
    misses = 0
    while misses < TRIES_PER_TUPLE:
        highest, lowest = free[heights[free] >= bands.best], free[heights[free] <= bands.worst]
        middle = free[np.abs(heights[free] - bands.middle) <= bands.reach]
        if not len(highest) or not len(lowest) or len(middle) < size - 2:
            return
        others = rng.choice(middle, size=size - 2, replace=False)
        drawn = np.concatenate([rng.choice(highest, 1), rng.choice(lowest, 1), others])
        if margin_of(values[drawn]) < bands.margin or len(np.unique(sentences[drawn])) < 2 * size:
            misses += 1
            continue
        misses = 0
        free = free[~np.isin(free, drawn)]
        yield drawn


def margin_of(values: FloatArray) -> float:
    """How much higher the best is than the others, or these than the worst, whichever is less.

    Without others, how much higher the best is than the worst.
    """
    best, worst, others = values[0], values[1], values[2:]
    return float(min(best - others.max(), others.min() - worst) if len(others) else best - worst)


def heights_within(values: FloatArray) -> FloatArray:
    """Each value between the lowest, 0, and the highest, 1."""
    low, high = (values.min(), values.max()) if len(values) else (0.0, 0.0)
    return (values - low) / ((high - low) or 1.0)


def word_overlaps(pairs: Sequence[tuple[frozenset[str], frozenset[str]]]) -> FloatArray:
    """How much the two sentences of each pair share, (n,) 0..1: the Dice coefficient with weighted words.

    A word that d of the 2n sentences have weighs log(2n / d) (Spärck Jones 1972), so that words that nearly all
    sentences have, as "the", count for nearly nothing.
    """
    frequency = Counter(word for pair in pairs for side in pair for word in side)
    weight = {word: log(2 * len(pairs) / times) for word, times in frequency.items()}

    def overlap(one: frozenset[str], other: frozenset[str]) -> float:
        together = sum(weight[word] for side in (one, other) for word in side)
        return 2 * sum(weight[word] for word in one & other) / together if together else 0.0

    return np.array([overlap(one, other) for one, other in pairs], dtype=float)


def pairs_between(
    values: FloatArray, sentences: IntArray, chosen: Sequence[int], number: int, rng: np.random.Generator
) -> list[int]:
    """Up to `number` pairs that lie between the first two of `chosen`, the best and the worst.

    They are drawn from the NEAREST to half-way that keep a quarter of the distance from both; where these are too few,
    the nearest others follow. No sentence is in two of them or in a chosen pair. Arrays as for `clear_tuples`.
    """
    best, worst = values[list(chosen[:2])]
    away = np.abs(values - (best + worst) / 2)
    clear = away <= abs(best - worst) / 4
    order = np.argsort(away, kind="stable")
    taken = set(sentences[list(chosen)].ravel().tolist())
    free = order[~np.isin(sentences[order], list(taken)).any(axis=1)]
    drawn = free[:NEAREST][clear[free[:NEAREST]]]
    found: list[int] = []
    for place in np.concatenate([rng.permutation(drawn), free[~np.isin(free, drawn)]]):
        if len(found) == number:
            break
        own = set(sentences[place].tolist())
        if not taken & own:
            found.append(int(place))
            taken |= own
    return found
