"""Leaks between splits: pairs of one split that share a sentence with pairs of another.

What an encoder is tested on should not be what it was trained on. This is the count that pages, commands and reports
give; `holding_out` is the rule by which training leaves such pairs out.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from curation.pairs.text import near_copy_number

Integers = NDArray[np.int64]
Marks = NDArray[np.bool_]


class Leaks(StrEnum):
    """What becomes of work by which splits that were set here share sentences: it stops, or somebody allowed it."""

    REFUSE = "refuse"
    ALLOW = "allow"


@dataclass(frozen=True)
class Leak:
    """Pairs of one split that share at least one sentence with a pair of another one.

    split: the split whose pairs are counted.
    other: the split that has the same sentences.
    pairs: how many pairs of `split` share a sentence with a pair of `other`.
    of: all pairs of `split`.
    own: how many of `pairs` are there because of a split that was set here: that of the pair itself, or that of a
    pair of `other` with the same sentence. The others have the splits of a file that was imported.
    """

    split: str
    other: str
    pairs: int
    of: int
    own: int = 0

    @property
    def share(self) -> float:
        return self.pairs / self.of

    def __str__(self) -> str:
        """As files say it, in English."""
        return (
            f"{self.pairs:,} of the {self.of:,} pairs of {self.split} ({self.share:.1%}) share a sentence with "
            f"{self.other}."
        )


def leaks_between(
    splits: Sequence[str], a: Integers, b: Integers, set_here: Marks | None = None
) -> list[Leak]:
    """Every two splits of which one shares sentences with the other, by name; pairs without a split ("") are in none.

    splits: of each pair, (n,). a, b: numbers of its sentences, (n,) each, equal for equal sentences. set_here: whether
    the pair's split was drawn or set here, (n,); None where none was.
    """
    names = sorted(set(splits))
    code = {name: number for number, name in enumerate(names)}
    of = np.fromiter((code[split] for split in splits), dtype=np.int64, count=len(splits))
    own = np.zeros(of.size, dtype=bool) if set_here is None else set_here
    places = np.unique(np.concatenate([a, b]), return_inverse=True)[1]
    first, second = places[: of.size], places[of.size :]
    sizes = np.bincount(of, minlength=len(names))
    found = {}
    for other in filter(None, names):
        inside = of == code[other]
        shared = _holds(first, second, inside)
        ours = shared & (own | _holds(first, second, inside & own))
        pairs, of_us = (np.bincount(of[marked], minlength=len(names)) for marked in (shared, ours))
        for split in filter(None, names):
            if split != other and pairs[code[split]]:
                counts = (int(each[code[split]]) for each in (pairs, sizes, of_us))
                found[split, other] = Leak(split, other, *counts)
    return [found[both] for both in sorted(found)]


def _holds(first: Integers, second: Integers, inside: Marks) -> Marks:
    """Which pairs, (n,), have a sentence of a pair that is inside. first, second: places of the sentences, from 0."""
    of_them = np.zeros(int(max(first.max(initial=-1), second.max(initial=-1))) + 1, dtype=bool)
    of_them[first[inside]] = of_them[second[inside]] = True
    return of_them[first] | of_them[second]


def leaks_between_texts(
    splits: Sequence[str], first: Sequence[str], second: Sequence[str], set_here: Marks | None = None
) -> list[Leak]:
    """`leaks_between` for pairs of texts, (n,) each. Near copies count as the same sentence, as they do in training.

    set_here: whether the pair's split was drawn or set here, (n,); None where none was.
    Returns an empty list where fewer than two splits have names.
    """
    if len(set(splits) - {""}) < 2:
        return []
    a, b = (
        np.fromiter(map(near_copy_number, side), dtype=np.int64, count=len(side)) for side in (first, second)
    )
    return leaks_between(splits, a, b, set_here)


def own_leaks_added(before: Sequence[Leak], after: Sequence[Leak]) -> list[Leak]:
    """The leaks of which more pairs than before are there because of a split that was set here."""
    had = {(leak.split, leak.other): leak.own for leak in before}
    return [leak for leak in after if leak.own > had.get((leak.split, leak.other), 0)]
