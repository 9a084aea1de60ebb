"""Words for statistics: scripts without spaces are divided by ICU where it is installed (the extra `segmentation`).

What is counted so depends on the machine, so nothing is decided by it that must be the same everywhere: keys, splits
and leak guards use `text.words`. A figure says by which rule its words were found (`words_rule`).
"""

from contextlib import suppress
from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from curation.pairs.text import WORDS_RULE, bigrams, words

PACKAGE = "icu4py"


def segmented_words(text: str) -> list[str]:
    """As `text.words`, with the words of ICU in scripts without spaces, where it is installed."""
    breaker = _breaker()
    # The rules and the dictionaries for these scripts are the same in every locale.
    return words(text, cut=(lambda run: list(breaker(run, "en"))) if breaker else bigrams)


def word_count(text: str) -> int:
    """The number of words of a text, with repeats, as statistics and bounds on the length of sentences count them."""
    return len(segmented_words(text))


@cache
def words_rule() -> str:
    """By which rule this process finds the words of statistics."""
    if not _breaker():
        return WORDS_RULE
    return f"words with their marks; {PACKAGE} {version(PACKAGE)} in scripts without spaces"


@cache
def _breaker() -> Any:
    """ICU's class that divides text into words; None where it is not installed."""
    with suppress(ImportError, PackageNotFoundError):
        version(PACKAGE)
        return import_module(f"{PACKAGE}.breakers").WordBreaker
    return None
