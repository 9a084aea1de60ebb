"""Pairs that stand more than once: the same two sentences again, mirrored, or in another split."""

from typing import NamedTuple

from curation.pairs.text import unordered

# The order of a pair's two sentences (whether it is forward), and its split ("" for none).
Occurrence = tuple[bool, str]


class Repeats(NamedTuple):
    """What a pair repeats of others with the same two sentences.

    exact: a pair has the sentences in the same order.
    mirrored: a pair has them in the other order.
    across_splits: a pair is in another named split.
    """

    exact: bool = False
    mirrored: bool = False
    across_splits: bool = False


class Occurrences(NamedTuple):
    """What a comparison needs to know of all pairs with the same two sentences, in a size that does not grow.

    forward: whether a pair has the two sentences in the order of their keys (`occurrence_of`).
    backward: whether a pair has them in the other order.
    split: the first split that a pair named, "" if no pair named one.
    several: whether the pairs name more than one split.
    """

    forward: bool = False
    backward: bool = False
    split: str = ""
    several: bool = False

    def with_pair(self, pair: Occurrence) -> "Occurrences":
        """These occurrences and one more pair. They themselves do not change, so that many pairs can share them."""
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
