"""Pairs that stand more than once: the same two sentences again, mirrored, or in another split."""

from collections.abc import Iterable
from typing import NamedTuple


class Standing(NamedTuple):
    """Where a pair stands: which way round its two sentences are, and in which split ("" for none)."""

    forward: bool
    split: str


class Repeats(NamedTuple):
    """What a pair repeats of others with the same two sentences."""

    exact: bool = False
    mirrored: bool = False
    across_splits: bool = False


def repeats_of(pair: Standing, others: Iterable[Standing]) -> Repeats:
    """Compare a pair with others of the same two sentences, in either order."""
    exact = mirrored = across = False
    for other in others:
        exact |= other.forward == pair.forward
        mirrored |= other.forward != pair.forward
        across |= bool(other.split and pair.split) and other.split != pair.split
    return Repeats(exact, mirrored, across)


def standing_of(a_key: str, b_key: str, split: str) -> Standing:
    """Two equal sentences have one order only, so that such a pair is never its own mirror image."""
    return Standing(a_key <= b_key, split)


class SeenPairs:
    """The pairs of a file so far, as hashes: about a hundred bytes for each."""

    def __init__(self) -> None:
        self._seen: dict[int, frozenset[Standing]] = {}
        # Few sets of standings occur, and rows with the same one share it.
        self._shared: dict[frozenset[Standing], frozenset[Standing]] = {}

    def add(self, a_key: str, b_key: str, split: str) -> Repeats:
        """What this pair repeats of those added before it."""
        name = hash((a_key, b_key) if a_key <= b_key else (b_key, a_key))
        pair = standing_of(a_key, b_key, split)
        before = self._seen.get(name, frozenset())
        after = before | {pair}
        self._seen[name] = self._shared.setdefault(after, after)
        return repeats_of(pair, before)


class Duplicates(NamedTuple):
    """How many pairs of a dataset repeat others.

    exact: pairs beyond the first with the same sentences in the same order; mirrored: twos of sentences that
    stand in both orders; across_splits: twos of sentences that stand in more than one split.
    """

    exact: int = 0
    mirrored: int = 0
    across_splits: int = 0


def duplicates_counted(groups: Iterable[tuple[int, int, int]]) -> Duplicates:
    """groups: for each two sentences, how many pairs in one order and the other, and in how many splits."""
    exact = mirrored = across = 0
    for forward, backward, splits in groups:
        exact += max(forward - 1, 0) + max(backward - 1, 0)
        mirrored += bool(forward and backward)
        across += splits > 1
    return Duplicates(exact, mirrored, across)
