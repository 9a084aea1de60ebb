"""What makes two sentences the same sentence, and two pairs the same pair.

Two texts are *identical*, and one sentence of a dataset, where they are equal in Unicode's composed form (NFC) with
single spaces (`sentence_key`). Case and punctuation stay: "Rome fell." and "rome fell" are two sentences, because
people judge what they read.

They are *the same but for spaces* where they are equal without any white space (`unspaced`): files of which some rows
lost a space, or gained one, hold such texts.

They are *near copies* where they have the same words in the same order (`near_copy_key`). A model that has seen one of
them knows the other, so near copies decide what is held out, repeated or copied.
"""

import hashlib
import re
import unicodedata
from typing import TypeVar

Key = TypeVar("Key", str, int)
SENTENCE_MAX_CHARACTERS = 2000
LANGUAGE_TAG = r"^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$"  # a BCP-47 tag, such as en or pt-BR

# Characters that show nothing: C0 and C1 controls, but for those that count as white space.
_INVISIBLE = re.compile(r"[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f]")
# What no file may hold: NUL, which PostgreSQL refuses, and halves of characters, which no encoding can write.
_UNREADABLE = re.compile("[\x00\ud800-\udfff]")
# Unicode's categories of characters without a shape: controls, formats (zero-width, soft hyphen), and spaces.
_UNSEEN = frozenset({"Cc", "Cf", "Zs", "Zl", "Zp"})
_UNIT = "\x1f"
_WORD = re.compile(r"\w+")


def normalise(text: str) -> str:
    """The text in NFC, without control characters, every run of white space one space, none at either end."""
    # Controls go first: with one between a letter and its accent, NFC would leave the two apart.
    spaced = " ".join((text if text.isprintable() else _INVISIBLE.sub("", text)).split())
    return spaced if spaced.isascii() else unicodedata.normalize("NFC", spaced)


def unspaced(text: str) -> str:
    """The normalised text without any white space: what texts share that differ only in missing or added spaces."""
    joined = "".join(_INVISIBLE.sub("", text).split())
    return joined if joined.isascii() else unicodedata.normalize("NFC", joined)


def is_readable(text: str) -> bool:
    """Whether the text can be stored and written again: no NUL and no undecodable byte."""
    if text.isascii():
        return "\x00" not in text
    return _UNREADABLE.search(text) is None


def shows_something(text: str) -> bool:
    """Whether anything of a normalised text can be seen: marks of joining, direction and width alone cannot."""
    if text.isascii():
        return bool(text)  # what is invisible was taken out, and spaces stand between words alone
    return any(unicodedata.category(character) not in _UNSEEN for character in text)


def printable(text: str) -> str:
    """The text with a mark (�) for each character that no file may hold: it can be shown and written."""
    return text if is_readable(text) else _UNREADABLE.sub("�", text)


def sentence_key(text: str) -> str:
    """The name of a sentence: SHA-256 of its normalised text, 64 hexadecimal digits. Keeps case."""
    return _digest(normalise(text))


def key_of_normalised(text: str) -> str:
    """The `sentence_key` of a text that `normalise` gave."""
    return hashlib.sha256(text.encode()).hexdigest()


def words(text: str) -> list[str]:
    """The words of a text in their order: runs of letters, digits and underscores, without case and with one form for
    characters that look alike (NFKC).
    """
    plain = text if text.isascii() else unicodedata.normalize("NFKC", text)
    return _WORD.findall(plain.casefold())


def near_copy_key(text: str) -> str:
    """The name that a text shares with its near copies alone: 16 hexadecimal digits of the SHA-256 of its words.

    A text without words has its characters instead. 64 bits: among a million texts, two share a key with a chance below
    1e-7.
    """
    return _words_digest(text).hexdigest()[:16]


def near_copy_number(text: str) -> int:
    """The `near_copy_key` as a number, -2**63 to 2**63 - 1, of which millions are in an array of 64-bit integers."""
    return int.from_bytes(_words_digest(text).digest()[:8], "big", signed=True)


def pair_key(a_key: str, b_key: str) -> str:
    """The name of two sentences in this order, from their keys."""
    return _digest(a_key, b_key)


def unordered(a_key: Key, b_key: Key) -> tuple[Key, Key]:
    """The two keys, or numbers, in one order, whichever way round the pair is."""
    return (a_key, b_key) if a_key <= b_key else (b_key, a_key)


def unordered_pair_key(a_key: str, b_key: str) -> str:
    """The name of two sentences in either order: a pair and its mirror image share it."""
    return pair_key(*unordered(a_key, b_key))


def made_external_id(source: str, split: str, a_key: str, b_key: str, occurrence: int) -> str:
    """An id for a pair whose file names none: the same file makes the same ids again.

    occurrence: 1 for the file's first row with this source, split and sentences, 2 for the second, and so on.
    Returns 20 hexadecimal digits (80 bits: among a million pairs, two share one with a chance below 1e-12).
    """
    return _digest(source, split, a_key, b_key, str(occurrence))[:20]


def _words_digest(text: str) -> "hashlib._Hash":
    return hashlib.sha256((" ".join(words(text)) or normalise(text).casefold()).encode())


def _digest(*parts: str) -> str:
    return hashlib.sha256(_UNIT.join(parts).encode()).hexdigest()
