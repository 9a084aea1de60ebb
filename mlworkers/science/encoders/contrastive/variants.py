"""Which pairs of a dataset are the paraphrases of a variant: those of tags, of a subset, or all."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from mlworkers.plans.fields import PlanError, SettingName
from mlworkers.plans.rows import Column, RowSyntax

ORIGINAL = "original"  # the name of the row without paraphrases
ALL = "all"
VARIANT_ROWS = RowSyntax(
    (Column("pairs", "Paraphrases", required=True, offered="paraphrases"),),
    "tags, subsets or all, mixed with “+”",
    between_rows=",",
)
_TAGS = re.compile(r"(?P<sim>SIM\d+)?\s*(?P<bleu>BLEU\d+(?:_\d+)?)?", re.IGNORECASE)
Places = NDArray[np.int64]


class VariantError(ValueError):
    """There are no such paraphrases. One sentence."""


@dataclass(frozen=True)
class Variant:
    """name: as it is shown. parts: of each what chooses its pairs: tags, the name of a subset, or ALL."""

    name: str
    parts: tuple[str, ...]


class TagPlaces(Protocol):
    """The tags of n pairs: which have the tag of that name."""

    def having(self, tag: str) -> NDArray[np.bool_]:
        """(n,). Raises VariantError for a tag that there is not."""


def variant_read(text: str) -> Variant:
    """A variant from a text such as “SIM95 BLEU0_5 + round trip”. Raises PlanError where a part is empty."""
    parts = tuple(" ".join(part.split()) for part in text.split("+"))
    if not all(parts):
        raise PlanError(
            "“%(text)s” has an empty part; give a tag, a subset or all on both sides of +.", text=text
        )
    if ORIGINAL in parts:
        raise PlanError(
            "“%(name)s” is the name of the row without paraphrases, which every comparison has; leave it out.",
            name=ORIGINAL,
        )
    return Variant(" + ".join(parts), parts)


def variants_listed(text: str, *, setting: str = "variants") -> tuple[Variant, ...]:
    """The variants between commas. Raises PlanError where there is none, or one comes twice. setting: its name."""
    found = tuple(variant_read(part) for part in text.split(",") if part.strip())
    if not found:
        raise PlanError("“%(setting)s” is empty; name a subset, a tag or all.", setting=SettingName(setting))
    names = [one.name for one in found]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise PlanError("“%(name)s” is named twice; name it once.", name=twice[0])
    return found


def variant_places(variant: Variant, subsets: Sequence[str], tags: TagPlaces | None) -> tuple[Places, ...]:
    """Of each part of a variant the places of its pairs, in their order.

    subsets: of n pairs, (n,). tags: theirs, or None where no score sets of them were named. Raises VariantError for a
    part that no pair has.
    """
    names = np.array(subsets, dtype=object)
    found = []
    for part in variant.parts:
        matched = _TAGS.fullmatch(part)  # one tag or both, in this order
        if part == ALL:
            chosen = np.ones(len(names), dtype=bool)
        elif tags is not None and matched:
            chosen = np.ones(len(names), dtype=bool)
            for tag in filter(None, matched.groups()):
                chosen &= tags.having(tag.upper())  # of two tags, pairs that have both
        else:
            chosen = names == part
        if not chosen.any():
            known = ", ".join(sorted({f"“{name}”" for name in subsets if name})) or "none"
            raise VariantError(
                f"No pair is a paraphrase of “{part}”: no subset has this name (there are {known}), and tags need "
                "score sets of similarity and BLEU and pairs that have them."
            )
        found.append(np.flatnonzero(chosen))
    return tuple(found)


def paraphrases_of(parts: Iterable[Iterable[tuple[str, str]]]) -> tuple[Mapping[str, list[str]], ...]:
    """Of each part and first sentence its paraphrases, in the order of the pairs; never the sentence itself, and each
    once, in the first part that has it.
    """
    known: set[tuple[str, str]] = set()
    found: list[dict[str, list[str]]] = []
    for pairs in parts:
        own: dict[str, list[str]] = {}
        for source, paraphrase in pairs:
            # Order is rank: the best come first.
            if paraphrase != source and (source, paraphrase) not in known:
                known.add((source, paraphrase))
                own.setdefault(source, []).append(paraphrase)
        found.append(own)
    return tuple(found)


def cell_of(name: str) -> tuple[str, str] | None:
    """The tags of similarity and of BLEU of a variant that is one pair of them, in capitals; None for any other."""
    matched = _TAGS.fullmatch(name)
    if matched is None or not all(matched.groups()):
        return None
    return matched["sim"].upper(), matched["bleu"].upper()
