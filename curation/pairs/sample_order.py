"""The order in which sentences are sampled: at random, equally from every stratum, and with others mixed in.

Every order is a function of the numbers and a seed, so a larger sample begins with the smaller one.
"""

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Item = TypeVar("Item")
STRATA = 10


def random_keys(numbers: NDArray[np.int64], *, seed: int) -> NDArray[np.uint64]:
    """A pseudo-random 64-bit key for each number: sorted by key, numbers are in random order. Shape (n,) to (n,).

    The key of a number does not depend on the others, so numbers that come later do not shuffle those before them.
    The mixing function of SplitMix64 (Steele, Lea & Flood 2014, figure 17, mix64 with the constants of variant 13),
    which is a bijection, so keys differ where numbers do.
    """
    (start,) = np.random.SeedSequence(seed).generate_state(1, np.uint64)
    with np.errstate(over="ignore"):
        z = numbers.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) + start
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    keys: NDArray[np.uint64] = z ^ (z >> np.uint64(31))
    return keys


def random_order(numbers: NDArray[np.int64], *, most: int, seed: int) -> list[int]:
    """The first `most` of the numbers in random order."""
    order = np.argsort(random_keys(numbers, seed=seed), kind="stable")[:most]
    chosen: list[int] = numbers[order].tolist()
    return chosen


def stratified_order(
    numbers: NDArray[np.int64], values: NDArray[np.float64], *, most: int, seed: int, strata: int = STRATA
) -> list[tuple[int, int]]:
    """The first `most` numbers, each with its stratum from 1: one of each stratum in turn, in random order.

    values: (n,), by which the numbers are cut into strata of equal size (they differ by one at most); of equal values
    the lower number comes first. Within a stratum the order is random, and so is that of the strata within a turn.
    As strata have equal sizes and equal numbers are taken, every number is equally likely to be taken after each turn.
    """
    by_value = np.lexsort((numbers, values))
    columns = [
        random_order(numbers[part], most=-(-most // strata), seed=seed)
        for part in np.array_split(by_value, strata)
    ]
    turns: list[tuple[int, int]] = []
    for place in range(max(map(len, columns), default=0)):
        turn = [(column[place], stratum) for stratum, column in enumerate(columns, 1) if place < len(column)]
        keys = random_keys(np.array([number for number, _ in turn], dtype=np.int64), seed=seed + 1)
        turns += [turn[index] for index in np.argsort(keys, kind="stable")]
    return turns[:most]


def mixed(first: Sequence[Item], second: Sequence[Item], *, every: int, seed: int) -> list[Item]:
    """Put one of `second` at a random place among every `every - 1` of `first`; nothing where those end sooner."""
    result: list[Item] = []
    for block, start in enumerate(range(0, len(first), every - 1)):
        part = list(first[start : start + every - 1])
        if len(part) == every - 1 and block < len(second):
            part.insert(int(np.random.default_rng([seed, block]).integers(every)), second[block])
        result += part
    return result


def stratum_sizes(count: int, *, strata: int = STRATA) -> dict[int, int]:
    """How many of so many numbers are in each stratum, from 1, where `values` of a sample cut them into strata."""
    return {stratum: part.size for stratum, part in enumerate(np.array_split(np.arange(count), strata), 1)}
