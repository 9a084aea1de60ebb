"""The text of a sentence as its similarity to another is labelled (ConPGS, section 3.1)."""

import unicodedata
from collections.abc import Sequence

_KEPT = ",."  # section 3.1 keeps the space, the comma and the period
_WORD_CATEGORIES = ("L", "M", "N")  # letters, the marks that belong to them, digits


def compared_text(text: str) -> str:
    """The sentence without symbols: letters, digits, commas, periods and single spaces are left.

    Other characters are deleted, not replaced: "don't" becomes "dont" and "well-known" "wellknown", in both sentences
    of a pair. Returns "" where no letter and no digit is left, as in "?!" or "...": such a sentence has nothing that
    could be compared, and its pairs get no label.
    """
    # NFC: é is one character, whether it was typed as one or as e and its mark.
    normal = " ".join(unicodedata.normalize("NFC", text).split())
    kept = "".join(sign for sign in normal if sign in _KEPT or sign == " " or _is_of_a_word(sign))
    return " ".join(kept.split()) if any(map(_is_of_a_word, kept)) else ""


def _is_of_a_word(sign: str) -> bool:
    return sign.isalnum() or unicodedata.category(sign)[0] in _WORD_CATEGORIES


def compared_pairs(first: Sequence[str], second: Sequence[str]) -> tuple[list[str], list[str]]:
    """Both sides of n pairs as they are compared; "" where a sentence has nothing that could be."""
    left, right = ([compared_text(text) for text in side] for side in (first, second))
    return left, right
