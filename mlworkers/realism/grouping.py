"""Which sentences must share a fold, and the folds themselves."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Marks = NDArray[np.bool_]
Link = tuple[int, int]


@dataclass(frozen=True)
class Grouping:
    """The group of each sentence, (n,), numbered from 0 in order of appearance; and the links that were cut."""

    groups: Integers
    cut: int


class _Forest:
    """Sentences that hang together, as trees (union by size, paths halved)."""

    def __init__(self, count: int) -> None:
        self.parent = list(range(count))
        self.size = [1] * count

    def root(self, place: int) -> int:
        while self.parent[place] != place:
            self.parent[place] = self.parent[self.parent[place]]
            place = self.parent[place]
        return place

    def join(self, left: int, right: int, *, largest: int) -> bool:
        """False where the two stay apart, because together they would be more than `largest`."""
        one, other = self.root(left), self.root(right)
        if one == other:
            return True
        if self.size[one] + self.size[other] > largest:
            return False
        if self.size[one] < self.size[other]:
            one, other = other, one
        self.parent[other] = one
        self.size[one] += self.size[other]
        return True


def group_sentences(keys: Sequence[str], links: Iterable[Link], *, largest: int) -> Grouping:
    """Put sentences of one key into one group, always; and linked ones, while a group stays within `largest`.

    keys: of n sentences, equal for doubles. links: twos of places, the most important first. Where everything
    hangs together, one group would leave nothing to train on; so links are cut then, and counted.
    """
    forest = _Forest(len(keys))
    first: dict[str, int] = {}
    for place, key in enumerate(keys):
        forest.join(first.setdefault(key, place), place, largest=len(keys))
    cut = sum(not forest.join(left, right, largest=largest) for left, right in links)
    roots = [forest.root(place) for place in range(len(keys))]
    number = {root: place for place, root in enumerate(dict.fromkeys(roots))}
    return Grouping(np.array([number[root] for root in roots], dtype=np.int64), cut)


def assign_folds(groups: Integers, human: Marks, *, folds: int, seed: int) -> Integers:
    """A fold for each sentence, (n,) in 0..folds-1: groups stay whole, and each fold gets its share of both classes.

    Groups go, the largest first and equal ones in a drawn order, to the fold that is emptiest of what they hold.
    """
    count = int(groups.max()) + 1
    sizes = np.stack([np.bincount(groups[human == kind], minlength=count) for kind in (False, True)], axis=1)
    shares = sizes / np.maximum(sizes.sum(axis=0), 1)  # (groups, 2)
    drawn = np.random.default_rng(seed).permutation(count)
    order = drawn[np.argsort(-shares[drawn].sum(axis=1), kind="stable")]
    held = np.zeros((folds, 2))
    fold_of = np.empty(count, dtype=np.int64)
    for group in order:
        fold = int(np.argmin(held @ shares[group]))
        fold = fold if shares[group].any() else 0
        fold_of[group] = fold
        held[fold] += shares[group]
    return fold_of[groups]
