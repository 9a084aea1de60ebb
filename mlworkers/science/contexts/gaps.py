"""What a language model reads and writes so that it gives the terms of Eq. 3 (Sun et al. 2022, sections 3.2.2, 3.3).

An encoder-decoder fills a gap in the text "left sentence right": the gap is the sentence, or what is before it, or what
is after it. A causal model reads from left to right: it gives the sentence after what is before it, and what is after
it; what is before a sentence it cannot give (the term of λ3). Its sentence does not know what is after it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple, Protocol

from mlworkers.science.contexts.corpus import Context
from mlworkers.science.contexts.similarity import TERMS

Tokens = tuple[int, ...]
LEAST_PART = 4  # tokens of a part of the text; a model with room for fewer is of no use


class Question(NamedTuple):
    """How well does a sentence fit into a context?"""

    sentence: str
    context: Context


class Row(NamedTuple):
    """One pass through a model.

    read: what its encoder reads; empty for a causal model.
    before: what the decoder is given.
    writes: one or two runs of tokens after that, one behind the other; the model gives the mean log-probability of a
    token of each.
    terms: which terms of Eq. 3 these are, in the order of `writes`.
    """

    read: Tokens
    before: Tokens
    writes: tuple[Tokens, ...]
    terms: tuple[str, ...]

    @property
    def decoded(self) -> int:
        return len(self.before) + sum(map(len, self.writes))


class Form(Enum):
    """What an encoder-decoder writes for a text with a gap.

    GAP: what is missing alone, as models do that are trained here. SENTINEL: the same after a mark, as T5. WHOLE: the
    whole text, as BART; what comes before the gap is given to its decoder.
    """

    GAP = "gap"
    SENTINEL = "sentinel"
    WHOLE = "whole"


class Asking(Protocol):
    """How questions are put to one model."""

    @property
    def terms(self) -> tuple[str, ...]:
        """The terms that it gives."""

    def rows(self, left: Tokens, sentence: Tokens, right: Tokens) -> list[Row]: ...


@dataclass(frozen=True)
class Infilling:
    """Questions for an encoder-decoder. mask: tokens of the gap. begins, ends: around what it reads. starts: what its
    decoder begins with, before anything else.
    """

    form: Form
    mask: Tokens
    begins: Tokens
    ends: Tokens
    starts: Tokens

    @property
    def terms(self) -> tuple[str, ...]:
        return TERMS[1:]

    @property
    def marks(self) -> int:
        """Tokens beside the three parts of the text, where most of them are."""
        # What positions are left is shared by three parts.
        return len(self.mask) + len(self.begins) + len(self.ends) + len(self.starts)

    def rows(self, left: Tokens, sentence: Tokens, right: Tokens) -> list[Row]:
        return [
            self.row("sentence", left, sentence, right),  # λ2: log p(s | c_<, c_>)
            self.row("left", (), left, sentence + right),  # λ3: log p(c_< | s, c_>)
            self.row("right", left + sentence, right, ()),  # λ4: log p(c_> | c_<, s)
        ]

    def row(self, term: str, before: Tokens, missing: Tokens, after: Tokens) -> Row:
        # "before <mask> after": the same text for every term, with the gap elsewhere.
        read = (*self.begins, *before, *self.mask, *after, *self.ends)
        given = (*self.starts, *before) if self.form is Form.WHOLE else self.starts
        return Row(read, given, (missing,), (term,))


@dataclass(frozen=True)
class LeftToRight:
    """Questions for a causal model. starts: the token that begins texts, if it has one."""

    starts: Tokens

    @property
    def terms(self) -> tuple[str, ...]:
        return ("sentence", "right")

    @property
    def marks(self) -> int:
        return len(self.starts)

    def rows(self, left: Tokens, sentence: Tokens, right: Tokens) -> list[Row]:
        """Both terms come from one pass."""
        # log p(s | c_<) and log p(c_> | c_<, s).
        return [Row((), self.starts + left, (sentence, right), self.terms)]


def parts_cut(left: Sequence[int], right: Sequence[int], *, most: int) -> tuple[Tokens, Tokens]:
    """The last tokens before a place and the first after it: at most so many of each, whatever the sentence."""
    return tuple(left[-most:]), tuple(right[:most])  # what is nearest to the place stays
