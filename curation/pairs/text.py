"""What makes two sentences the same sentence, and two pairs the same pair.

Two texts are *identical*, and one sentence of a dataset, where they are equal in Unicode's composed form (NFC) with
single spaces (`sentence_key`). Case and punctuation stay: "Rome fell." and "rome fell" are two sentences, because
people judge what they read.

They are *the same but for spaces* where they are equal without any white space (`unspaced`): files of which some rows
lost a space, or gained one, hold such texts.

They are *near copies* where they have the same words in the same order (`near_copy_key`). A model that has seen one of
them knows the other, so near copies decide what is held out, repeated or copied.

*Words* (`words`) are the same on every machine: runs of letters, digits and underscores with their marks and joiners,
and, in scripts that are written without spaces, every two characters that follow each other.
"""

import hashlib
import re
import unicodedata
from collections.abc import Callable, Sequence
from functools import cache
from itertools import pairwise
from typing import NamedTuple, TypeVar

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
_PLAIN_WORD = re.compile(r"\w+")
# How the words of keys are found, beside what is kept of them.
WORDS_RULE = "words with their marks; two characters in scripts without spaces"
# Every mark, joiner and letter of a script without spaces is among these, and nothing that English is written with.
_BEYOND = re.compile(
    "[\u0300-\u036f\u0483-\u0487\u0590-\u109f\u135d-\u135f\u1700-\u1cff\u1dc0-\u1dff\u200c\u200d\u20d0-\u20ff"
    "\u2ce0-\uabff\uf900-\U0010ffff]"
)
# Letters and marks of Han, Kana, Thai, Lao, Myanmar and Khmer, which are written without spaces between words.
# Their digits are not here: a number is one word in every script.
_UNSPACED = (
    "\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303b\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003fffd"
    "\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\U0001aff0-\U0001b16f"
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece\u0edc-\u0edf"
    "\u1000-\u103f\u1050-\u108f\u109a-\u109d\ua9e0-\ua9ef\ua9fa-\ua9fe\uaa60-\uaa7f"
    "\u1780-\u17d3\u17d7\u17dc\u17dd"
)
_JOINERS = "\u200c\u200d"
_SELECTORS = (0xFE00, 0xFE0F)


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


def bigrams(run: str) -> list[str]:
    """Every two characters that follow each other in a run of letters, each with its marks; of one, the one."""
    characters = _patterns().character.findall(run)
    return [one + other for one, other in pairwise(characters)] or characters


def words(text: str, *, cut: Callable[[str], Sequence[str]] = bigrams) -> list[str]:
    """The words of a text in their order, without case and with one form for characters that look alike (NFKC).

    A word is a run of letters, digits, underscores, marks (such as vowel signs) and joiners (U+200C, U+200D) that
    begins with one of the first three. In scripts without spaces (Han, Kana, Thai, Lao, Myanmar, Khmer) `cut` divides
    a run. What is stored or compared as a key uses `bigrams`, which need nothing that may not be installed; there,
    punctuation and spaces between two such letters separate nothing. `segmenting.segmented_words` is for statistics.
    """
    plain = text if text.isascii() else unicodedata.normalize("NFKC", text)
    plain = plain.casefold()
    if plain.isascii() or not _BEYOND.search(plain):
        return _PLAIN_WORD.findall(plain)
    patterns = _patterns()
    if not patterns.unspaced.search(plain):
        return patterns.word.findall(plain)
    joined = patterns.between.sub("", plain) if cut is bigrams else plain
    found: list[str] = []
    for word in patterns.word.findall(joined):
        for run in patterns.run.findall(word):
            found.extend(cut(run) if patterns.unspaced.match(run) else (run,))
    return found


def has_unspaced_script(text: str) -> bool:
    """Whether any of a text is in a script that is written without spaces between words."""
    return not text.isascii() and _patterns().unspaced.search(text) is not None


def near_copy_key(text: str) -> str:
    """The name that a text shares with its near copies alone: 16 hexadecimal digits of the SHA-256 of its words.

    A text without words has its characters instead. 64 bits: among a million texts, two share a key with a chance below
    1e-7.
    """
    return _words_digest(text).hexdigest()[:16]


def near_copy_number(text: str) -> int:
    """The `near_copy_key` as a number, -2**63 to 2**63 - 1, of which millions are in an array of 64-bit integers."""
    return int.from_bytes(_words_digest(text).digest()[:8], "big", signed=True)


def earlier_near_copy_key(text: str) -> str:
    """The `near_copy_key` before words kept their marks: what the folders of earlier encoders hold."""
    plain = text if text.isascii() else unicodedata.normalize("NFKC", text)
    told = " ".join(_PLAIN_WORD.findall(plain.casefold())) or normalise(text).casefold()
    return hashlib.sha256(told.encode()).hexdigest()[:16]


def words_may_have_changed(text: str) -> bool:
    """Whether earlier versions may have divided words of a text otherwise: by its scripts alone."""
    return not text.isascii() and _BEYOND.search(text) is not None


def pair_key(a_key: str, b_key: str) -> str:
    """The name of two sentences in this order, from their keys."""
    return _digest(a_key, b_key)


def unordered(a_key: Key, b_key: Key) -> tuple[Key, Key]:
    """The two keys, or numbers, in one order, whichever way round the pair is."""
    return (a_key, b_key) if a_key <= b_key else (b_key, a_key)


def made_external_id(source: str, split: str, a_key: str, b_key: str, occurrence: int) -> str:
    """An id for a pair whose file names none: the same file makes the same ids again.

    occurrence: 1 for the file's first row with this source, split and sentences, 2 for the second, and so on.
    Returns 20 hexadecimal digits (80 bits: among a million pairs, two share one with a chance below 1e-12).
    """
    return _digest(source, split, a_key, b_key, str(occurrence))[:20]


def _words_digest(text: str) -> "hashlib._Hash":
    return hashlib.sha256((" ".join(words(text)) or normalise(text).casefold()).encode())


class _Patterns(NamedTuple):
    """word: of every script. unspaced: a letter of a script without spaces. run: the parts of a word that are in such
    a script, or in none. character: a letter with its marks. between: what separates two letters of such scripts.
    """

    word: re.Pattern[str]
    unspaced: re.Pattern[str]
    run: re.Pattern[str]
    character: re.Pattern[str]
    between: re.Pattern[str]


@cache
def _patterns() -> _Patterns:
    """Made when the first text needs them: to list the marks of Unicode takes some milliseconds."""
    # Unicode's marks (Mn and Mc) as ranges of a pattern, but for the selectors of a symbol's look (U+FE00 to U+FE0F and
    # above U+E0000), which stand behind digits and signs of emoji.
    codes = {
        code
        for code in range(0x300, 0x20000)
        if unicodedata.category(chr(code)) in {"Mn", "Mc"} and not _SELECTORS[0] <= code <= _SELECTORS[1]
    }
    firsts = sorted(code for code in codes if code - 1 not in codes)
    lasts = sorted(code for code in codes if code + 1 not in codes)
    marks = "".join(f"{chr(first)}-{chr(last)}" for first, last in zip(firsts, lasts, strict=True))
    added = f"{marks}{_JOINERS}"
    return _Patterns(
        # A joiner that joins nothing (U+200C at the end, which shows nothing) is not part of the word.
        word=re.compile(rf"\w[\w{added}]*(?<!\u200c)"),
        unspaced=re.compile(f"[{_UNSPACED}]"),
        run=re.compile(f"[{_UNSPACED}][{_UNSPACED}{added}]*|[^{_UNSPACED}]+"),
        character=re.compile(f"[^{added}][{added}]*|[{added}]+"),
        between=re.compile(rf"(?<=[{_UNSPACED}])[^\w{added}]+(?=[{_UNSPACED}])"),
    )


def _digest(*parts: str) -> str:
    return hashlib.sha256(_UNIT.join(parts).encode()).hexdigest()
