"""Leaks between splits: pairs of one split that share a sentence with pairs of another.

What an encoder is tested on should not be what it was trained on. This is the count that pages, commands and reports
give; `holding_out` is the rule by which training leaves such pairs out.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from curation.pairs.text import near_copy_key

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Leak:
    """pairs: of `split`, so many of its `of` pairs, share at least one sentence with a pair of `other`."""

    split: str
    other: str
    pairs: int
    of: int

    @property
    def share(self) -> float:
        return self.pairs / self.of

    def __str__(self) -> str:
        """As files say it, in English."""
        return (
            f"{self.pairs:,} of the {self.of:,} pairs of {self.split} ({self.share:.1%}) share a sentence with "
            f"{self.other}."
        )


def leaks_between(splits: Sequence[str], a: Integers, b: Integers) -> list[Leak]:
    """Every two splits of which one shares sentences with the other, by name; pairs without a split ("") are in none.

    splits: of each pair, (n,). a, b: numbers of its sentences, (n,) each, equal for equal sentences.
    """
    names = np.asarray(splits, dtype=object)
    members = {name: np.flatnonzero(names == name) for name in sorted(set(splits) - {""})}
    sentences = {name: np.unique(np.concatenate([a[own], b[own]])) for name, own in members.items()}
    found = []
    for split, own in members.items():
        for other in members:
            if other == split:
                continue
            shared = np.isin(a[own], sentences[other]) | np.isin(b[own], sentences[other])
            if shared.any():
                found.append(Leak(split, other, int(shared.sum()), int(own.size)))
    return found


def leaks_between_texts(splits: Sequence[str], first: Sequence[str], second: Sequence[str]) -> list[Leak]:
    """`leaks_between` for pairs of texts, (n,) each. Near copies count as the same sentence, as they do in training."""
    if len(set(splits) - {""}) < 2:
        return []
    numbers: dict[str, int] = {}
    of_text = {text: numbers.setdefault(near_copy_key(text), len(numbers)) for text in {*first, *second}}
    a, b = (np.array([of_text[text] for text in side], dtype=np.int64) for side in (first, second))
    return leaks_between(splits, a, b)
