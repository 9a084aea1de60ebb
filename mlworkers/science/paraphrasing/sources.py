"""Which sentences are paraphrased: of one language and neither short nor long (ConPGS, section 4)."""

from collections import Counter
from collections.abc import Callable, Sequence
from enum import StrEnum
from functools import cache
from typing import TypeVar

import py3langid
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

from curation.files.progress import Report, silent

Item = TypeVar("Item")
_tokens_of: Callable[[str], str] = Tokenizer13a()


class LeftOut(StrEnum):
    """Why a source is not paraphrased; the first reason that applies."""

    SHORT = "too short"
    LONG = "too long"
    LANGUAGE = "in another language"
    UNFIT = "does not fit the model"


def token_count(text: str) -> int:
    """Tokens as sacrebleu's BLEU counts them: words and punctuation marks."""
    # The paper has 10 to 100 tokens and does not say by which tokenizer (section 4).
    return len(_tokens_of(text).split())


def language_of(text: str) -> str:
    """The likeliest language, as two letters, by py3langid. Of a few words it is often wrong."""
    # The paper identifies languages by pycld3 (its note 9).
    return str(py3langid.classify(text)[0])


@cache
def languages_known() -> frozenset[str]:
    py3langid.classify("")  # loads the model
    return frozenset(str(name) for name, _score in py3langid.rank("a"))


def sources_filtered(
    items: Sequence[Item],
    text_of: Callable[[Item], str],
    *,
    least: int,
    most: int,
    language: str,
    fits: Callable[[str], bool],
    enough: int,
    report: Report = silent,
) -> tuple[list[Item], Counter[str]]:
    """The first `enough` items that may be paraphrased, in their order, and how many of those before them were left out
    for each reason.

    least, most: tokens. language: two letters; "" for any. fits: whether the model takes the sentence.
    Raises ValueError for a language that is not known.
    """
    if language and language not in languages_known():
        raise ValueError(
            f"The language “{language}” is not known; give two letters such as en, or leave it empty."
        )
    kept: list[Item] = []
    left_out: Counter[str] = Counter()
    for number, item in enumerate(items):
        if len(kept) == enough:  # later items are not even looked at
            break
        text, reason = text_of(item), None
        # Each test is made only if those before it passed; counting tokens is the cheapest.
        tokens = token_count(text)
        if tokens < least:
            reason = LeftOut.SHORT
        elif tokens > most:
            reason = LeftOut.LONG
        elif language and language_of(text) != language:
            reason = LeftOut.LANGUAGE
        elif not fits(text):
            reason = LeftOut.UNFIT
        if reason is None:
            kept.append(item)
        else:
            left_out[str(reason)] += 1
        report(number + 1, len(items), "Choosing sentences")
    return kept, left_out
