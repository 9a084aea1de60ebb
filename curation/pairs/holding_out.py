"""Which sentences are held out: the one rule for generation, p_D, training and evaluation.

A sentence is held out where it, or a near copy of it (`text.near_copy_key`), is in a pair that is kept apart: a
human pair of another split, a test pair of a comparison, or, in evaluation, a pair that the encoder was trained on.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from curation.pairs.text import near_copy_key


@dataclass(frozen=True)
class HeldOut:
    """A set of texts in which near copies are equal. A value that is not a text is never in it.

    keys: the key of each text, which `key` makes. A union has the `key` of the first set, so join only sets with
    the same one.
    """

    keys: frozenset[str] = frozenset()
    key: Callable[[str], str] = near_copy_key

    @classmethod
    def of(cls, texts: Iterable[str]) -> "HeldOut":
        return cls(frozenset(map(near_copy_key, texts)))

    def __contains__(self, text: object) -> bool:
        return bool(self.keys) and isinstance(text, str) and self.key(text) in self.keys

    def __or__(self, other: "HeldOut") -> "HeldOut":
        return HeldOut(self.keys | other.keys, self.key)

    def __len__(self) -> int:
        return len(self.keys)


NOTHING_HELD_OUT = HeldOut()


def split_is_held_out(split: str, *, used: str) -> bool:
    """Whether the human pairs of a split are held out where pairs of the split `used` are written from or trained on.

    Pairs without a split are held out of nothing.
    """
    return split not in ("", used)
