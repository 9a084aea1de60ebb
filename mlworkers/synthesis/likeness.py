"""When two sentences are as good as the same."""

import re
import unicodedata

_WORD = re.compile(r"\w+")


def words_of(text: str) -> tuple[str, ...]:
    """The words of a text without case, punctuation and forms of letters that look alike (NFKC)."""
    return tuple(_WORD.findall(unicodedata.normalize("NFKC", text).casefold()))


def likeness_key(text: str) -> str:
    """Equal for texts that differ in case, spaces and punctuation alone; empty for one without a word.

    A weak model asked to say the same thing often copies with a capital or a full stop changed.
    """
    return " ".join(words_of(text))


def shared_words(left: str, right: str) -> float:
    """The share of words that both have, of all that either has, 0..1 (Jaccard)."""
    ours, theirs = set(words_of(left)), set(words_of(right))
    return len(ours & theirs) / len(ours | theirs) if ours | theirs else 1.0
