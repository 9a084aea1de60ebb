"""Leaks between splits: pairs of one split that share a sentence with pairs of another.

What an encoder is tested on should not be what it was trained on. This is the count that pages, commands and reports
give; `holding_out` is the rule by which training leaves such pairs out.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from curation.pairs.text import near_copy_key

Integers = NDArray[np.int64]
Marks = NDArray[np.bool_]


class Leaks(StrEnum):
    """What becomes of work by which splits that were set here share sentences: it stops, or somebody allowed it."""

    REFUSE = "refuse"
    ALLOW = "allow"


@dataclass(frozen=True)
class Leak:
    """pairs: of `split`, so many of its `of` pairs, share at least one sentence with a pair of `other`.

    own: so many of them are there because of a split that was set here: that of the pair itself, or that of a pair of
    `other` with the same sentence. The others have the splits of a file that was imported.
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
    names = np.asarray(splits, dtype=object)
    own = np.zeros(names.size, dtype=bool) if set_here is None else set_here
    members = {name: np.flatnonzero(names == name) for name in sorted(set(splits) - {""})}
    sentences = {name: np.unique(np.concatenate([a[of], b[of]])) for name, of in members.items()}
    set_by_us = {
        name: np.unique(np.concatenate([a[of[own[of]]], b[of[own[of]]]])) for name, of in members.items()
    }
    found = []
    for split, of in members.items():
        for other in members:
            if other == split:
                continue
            shared = np.isin(a[of], sentences[other]) | np.isin(b[of], sentences[other])
            if shared.any():
                ours = shared & own[of] | np.isin(a[of], set_by_us[other]) | np.isin(b[of], set_by_us[other])
                found.append(Leak(split, other, int(shared.sum()), int(of.size), int(ours.sum())))
    return found


def leaks_between_texts(
    splits: Sequence[str], first: Sequence[str], second: Sequence[str], set_here: Marks | None = None
) -> list[Leak]:
    """`leaks_between` for pairs of texts, (n,) each. Near copies count as the same sentence, as they do in training."""
    if len(set(splits) - {""}) < 2:
        return []
    numbers: dict[str, int] = {}
    of_text = {text: numbers.setdefault(near_copy_key(text), len(numbers)) for text in {*first, *second}}
    a, b = (np.array([of_text[text] for text in side], dtype=np.int64) for side in (first, second))
    return leaks_between(splits, a, b, set_here)


def own_leaks_added(before: Sequence[Leak], after: Sequence[Leak]) -> list[Leak]:
    """The leaks of which more pairs than before are there because of a split that was set here."""
    had = {(leak.split, leak.other): leak.own for leak in before}
    return [leak for leak in after if leak.own > had.get((leak.split, leak.other), 0)]
