"""Training examples: an anchor, its positive and perhaps a hard negative; and their paraphrased copies."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from curation.pairs.text import near_copy_key

Integers = NDArray[np.int64]
# Of each part of a variant: of each sentence its paraphrases, the best first.
Paraphrases = Sequence[Mapping[str, Sequence[str]]]


class NliLabel(StrEnum):
    """What a premise says of a hypothesis, in the order in which classes are numbered."""

    ENTAILMENT = "entailment"
    NEUTRAL = "neutral"
    CONTRADICTION = "contradiction"


@dataclass(frozen=True)
class Examples:
    """n training examples. sides: of each its two or three sentences: anchor, positive and, if there is one, hard
    negative; of a classified pair, both sentences. origins: of each the sentences that it was made from, which of a
    paraphrased copy are the original ones. classes: of each pair the number of its class, (n,), or None.
    """

    sides: tuple[tuple[str, ...], ...]
    origins: tuple[tuple[str, ...], ...]
    classes: tuple[int, ...] | None = None

    def __len__(self) -> int:
        return len(self.sides)

    @property
    def width(self) -> int:
        """How many sentences an example has: 2 or 3."""
        return len(self.sides[0])

    @property
    def sentences(self) -> list[str]:
        """Every distinct text, in the order in which they first occur."""
        return list(dict.fromkeys(text for row in self.sides for text in row))

    @property
    def sources(self) -> Integers:
        """What no two examples of a batch may share: numbers of their sentences and of those that these were made from,
        (n, 2·width). Near copies have one number.
        """
        numbers: dict[str, int] = {}
        of_text = {
            text: numbers.setdefault(near_copy_key(text), len(numbers))
            for rows in (self.origins, self.sides)
            for row in rows
            for text in row
        }
        table = [
            # A copy and its original have the same origins, so no batch holds both: one would be a false
            # negative.
            [of_text[text] for text in (*own, *made_from)]
            for own, made_from in zip(self.sides, self.origins, strict=True)
        ]
        return np.array(table, dtype=np.int64).reshape(len(self), -1)  # (n, 2 · width)

    def taken(self, places: Iterable[int]) -> "Examples":
        chosen = list(places)
        return Examples(
            tuple(self.sides[place] for place in chosen),
            tuple(self.origins[place] for place in chosen),
            None if self.classes is None else tuple(self.classes[place] for place in chosen),
        )

    def __add__(self, other: "Examples") -> "Examples":
        classes = None if self.classes is None or other.classes is None else (*self.classes, *other.classes)
        return Examples((*self.sides, *other.sides), (*self.origins, *other.origins), classes)


class Copies(NamedTuple):
    """The copies of examples, and how many could not be made because a paraphrase is missing."""

    examples: Examples
    missing: int


def sentence_examples(sentences: Iterable[str]) -> Examples:
    """Each sentence is its own positive: dropout makes two vectors of it (SimCSE, section 3)."""
    rows = tuple((text, text) for text in dict.fromkeys(sentences))  # unsupervised SimCSE
    return Examples(rows, rows)


def pair_examples(pairs: Iterable[tuple[str, str]], classes: Sequence[int] | None = None) -> Examples:
    """The second sentence of each pair is the positive of the first; or each pair has a class."""
    rows = tuple(pairs)
    return Examples(rows, rows, None if classes is None else tuple(classes))


def triplet_examples(rows: Iterable[tuple[str, str, NliLabel]]) -> Examples:
    """Of each premise, its first entailment with its first contradiction, its second with its second, and so on.

    rows: premise, hypothesis and label, in the order of their pairs. Neutral hypotheses have no part.
    """
    entailed: dict[str, list[str]] = {}
    contradicted: dict[str, list[str]] = {}
    for premise, hypothesis, label in rows:
        if label is NliLabel.ENTAILMENT:
            # In the order of the pairs, which decides who meets whom.
            entailed.setdefault(premise, []).append(hypothesis)
        elif label is NliLabel.CONTRADICTION:
            contradicted.setdefault(premise, []).append(hypothesis)
    found = tuple(
        (premise, positive, negative)
        for premise, positives in entailed.items()
        # zip ends with the shorter list: a premise with m entailments and n contradictions gives min(m, n).
        for positive, negative in zip(positives, contradicted.get(premise, []), strict=False)
    )
    return Examples(found, found)


def copies_of(examples: Examples, paraphrases: Paraphrases, *, number: int) -> Copies:
    """`number` copies of each example, all first copies before all second ones.

    Of the k-th copy every distinct sentence is replaced by its k-th paraphrase. Of a sentence that is its own positive,
    the anchor remains, so that the paraphrase is the positive instead of dropout. Parts take turns: the first copy of
    the first example is of the first part, that of the second example of the second; an example's next copy is of the
    next part, so that any number of copies is mixed evenly and no copy has sentences of two parts. A copy that lacks a
    paraphrase of one of its sentences is not made, and counted as missing.
    """
    sides, origins, classes, missing = [], [], [], 0
    for place in range(number):
        for row, own in enumerate(examples.sides):
            # Latin-square order: with p parts, p copies of one example have p different parts, and so have
            # the k-th copies of p examples in a row. After p copies each part gives its next paraphrase.
            part = paraphrases[(row + place) % len(paraphrases)]
            known, nth = [part.get(text, ()) for text in own], place // len(paraphrases)
            if any(len(one) <= nth for one in known):
                missing += 1
                continue
            # NLI corpus (ConPGS, section 5.2): all three sentences are paraphrased and put together again.
            copied = tuple(one[nth] for one in known)
            # Raw corpus (the same section): the paraphrase is the positive that dropout would have made.
            sides.append((own[0], copied[1]) if len(own) == 2 and own[0] == own[1] else copied)
            origins.append(examples.origins[row])
            if examples.classes is not None:
                classes.append(examples.classes[row])
    made = Examples(tuple(sides), tuple(origins), None if examples.classes is None else tuple(classes))
    return Copies(made, missing)


def copyable(examples: Examples, paraphrases: Paraphrases, *, number: int) -> list[int]:
    """The places of the examples of which so many copies can be made, with whichever part they begin."""
    # Rounded up: of p parts, some give ceil(number / p) copies, and which they are depends on the row.
    of_part = -(-number // len(paraphrases))
    return [
        place
        for place, own in enumerate(examples.sides)
        if all(len(part.get(text, ())) >= of_part for part in paraphrases for text in own)
    ]
