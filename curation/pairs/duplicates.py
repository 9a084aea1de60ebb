"""Pairs that stand more than once: the same two sentences again, mirrored, or in another split."""

from typing import NamedTuple

from curation.pairs.text import unordered

# The order of a pair's two sentences (whether it is forward), and its split ("" for none).
Occurrence = tuple[bool, str]


class Repeats(NamedTuple):
    """What a pair repeats of others with the same two sentences."""

    exact: bool = False
    mirrored: bool = False
    across_splits: bool = False


class Occurrences(NamedTuple):
    """Of all the pairs with the same two sentences what a comparison needs: its size does not grow with their number.

    forward, backward: whether one is that way round. split: one that is named, "" for none; several: there are others.
    """

    forward: bool = False
    backward: bool = False
    split: str = ""
    several: bool = False

    def with_pair(self, pair: Occurrence) -> "Occurrences":
        forward, split = pair
        several = self.several or self.in_another(split)
        return Occurrences(
            self.forward or forward, self.backward or not forward, self.split or split, several
        )

    def in_another(self, split: str) -> bool:
        """Whether a pair is in a split that is not this one; a pair without a split is in no other."""
        return bool(split and self.split) and (self.several or self.split != split)


NO_OCCURRENCES = Occurrences()


def repeats_of(pair: Occurrence, others: Occurrences) -> Repeats:
    """Compare a pair with others of the same two sentences, in either order."""
    forward, split = pair
    same, other = (others.forward, others.backward)[:: 1 if forward else -1]
    return Repeats(same, other, others.in_another(split))


def occurrence_of(a_key: str, b_key: str, split: str) -> Occurrence:
    """Two equal sentences have one order only, so that such a pair is never its own mirror image."""
    return a_key <= b_key, split


class SeenPairs:
    """The pairs of a file so far, as hashes: about a hundred bytes for each two sentences."""

    def __init__(self) -> None:
        self._seen: dict[int, Occurrences] = {}
        # Few occurrences differ, and pairs with the same ones share them.
        self._shared: dict[Occurrences, Occurrences] = {}

    def __contains__(self, sentences: tuple[str, str]) -> bool:
        return _name(*sentences) in self._seen

    def add(self, a_key: str, b_key: str, split: str) -> Repeats:
        """What this pair repeats of those added before it."""
        name, pair = _name(a_key, b_key), occurrence_of(a_key, b_key, split)
        before = self._seen.get(name, NO_OCCURRENCES)
        after = before.with_pair(pair)
        self._seen[name] = self._shared.setdefault(after, after)
        return repeats_of(pair, before)


def _name(a_key: str, b_key: str) -> int:
    return hash(unordered(a_key, b_key))
