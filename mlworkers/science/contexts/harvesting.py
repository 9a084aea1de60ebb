"""Pairs of a corpus's sentences from which a surrogate learns (Sun et al. 2022, section 3.4).

The paper does not say how its pairs were chosen. Random pairs alone would nearly all be dissimilar, so a third are
neighbours in the text, a third have wording in common, and a third are random.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import StrEnum
from typing import NamedTuple

import numpy as np

from curation.files.progress import Report
from curation.pairs.segmenting import word_count
from mlworkers.science.contexts.bigram_index import BigramIndex
from mlworkers.science.contexts.corpus import Corpus, Places
from mlworkers.science.contexts.harvest_plan import DEV, TEST, TRAIN, HarvestPlan
from mlworkers.science.contexts.selection import by_retrieval, places_of_chunks

_CHUNKS = 20  # in which a partner with wording in common is looked for
_REPORTED = 100  # pairs between two reports


class Way(StrEnum):
    """How the second sentence of a pair was found."""

    WORDING = "wording in common"  # with the place of a similar chunk that shares most bigrams
    NEIGHBOURS = "neighbours"  # c_i and c_{i+1} of one segment
    RANDOM = "random"  # two places of the whole corpus


class Harvested(NamedTuple):
    first: str
    second: str
    way: Way
    split: str


class Harvest:
    """Sentences of a corpus, each used once: so no sentence, and no near copy of one, is in two pairs or two splits.

    known: what near copies of sentences that must not be used share (`Corpus.near_keys`).
    """

    def __init__(self, corpus: Corpus, index: BigramIndex, plan: HarvestPlan, known: Iterable[int]) -> None:
        self._corpus, self._index, self._plan = corpus, index, plan
        self._used = set(known)
        self._rng = np.random.default_rng(plan.seed)  # one stream for all draws, in the order of `pairs`

    def pairs(self, report: Report) -> list[Harvested]:
        """As many of each way as the plan asks for or the corpus has, in random order. report counts pairs."""
        order = self._rng.permutation(len(self._corpus))
        # One permutation for all random pairs: each sentence is offered once, and no sentence is tried twice.
        partners: Iterator[int] = iter(self._rng.permutation(len(self._corpus)).tolist())

        def at_random(_place: int) -> Iterable[int]:
            return partners

        finders: dict[Way, Callable[[int], Iterable[int]]] = {
            Way.WORDING: self._of_like_wording,  # the scarcest first
            Way.NEIGHBOURS: self._neighbour,
            Way.RANDOM: at_random,
        }
        found: list[tuple[str, str, Way]] = []
        for (way, partners_of), wanted in zip(finders.items(), shares_of(self._plan.pairs), strict=True):
            most = len(found) + wanted
            for place in order.tolist():
                if len(found) == most:
                    break
                if not self._fits(place):
                    continue
                partner = next(
                    (
                        other
                        for other in partners_of(place)
                        if self._corpus.near_keys[place] != self._corpus.near_keys[other]
                        and self._fits(other)
                    ),
                    None,
                )
                if partner is None:
                    continue
                # By what near copies share: both sentences, and every near copy of them, are used up.
                for taken in (place, partner):
                    self._used.add(int(self._corpus.near_keys[taken]))
                found.append((self._corpus.text(place), self._corpus.text(partner), way))
                if len(found) % _REPORTED == 0:
                    report(len(found), self._plan.pairs, "Harvesting pairs")
        mixed = self._rng.permutation(len(found)).tolist()  # so that every split mixes the three ways
        splits = splits_of(len(found), self._plan)
        return [
            Harvested(first, second, way, split)
            for (first, second, way), split in zip(
                (found[int(place)] for place in mixed), splits, strict=True
            )
        ]

    def _fits(self, place: int) -> bool:
        if int(self._corpus.near_keys[place]) in self._used:
            return False
        return self._plan.shortest <= word_count(self._corpus.text(place)) <= self._plan.longest

    def _neighbour(self, place: int) -> Iterable[int]:
        _first, after = self._corpus.bounds(place, 0, 1)
        return range(place + 1, after)

    def _of_like_wording(self, place: int) -> Iterable[int]:
        """Of each similar chunk its sentence with most bigrams in common, the most similar chunk first."""
        text = self._corpus.text(place)
        chunks = self._index.retrieve(text, most=_CHUNKS).chunks
        places: Places = by_retrieval(
            self._corpus, places_of_chunks(self._corpus, self._index, chunks), text
        ).places
        return map(int, places)


def shares_of(pairs: int) -> tuple[int, int, int]:
    """Pairs of each way: a third, and what is left to the first ones."""
    third, rest = divmod(pairs, len(Way))  # the rest is 0, 1 or 2
    return third + (rest > 0), third + (rest > 1), third


def splits_of(pairs: int, plan: HarvestPlan) -> list[str]:
    """The split of each of n pairs, which have no sentence in common: dev pairs first, then test pairs."""
    dev, test = round(plan.dev_share * pairs), round(plan.test_share * pairs)
    return [DEV] * dev + [TEST] * test + [TRAIN] * (pairs - dev - test)


def counted(found: Sequence[Harvested]) -> tuple[dict[str, int], dict[str, int]]:
    """How many pairs each way and each split has."""
    ways, splits = Counter(each.way.value for each in found), Counter(each.split for each in found)
    return {way.value: ways[way.value] for way in Way}, {name: splits[name] for name in (TRAIN, DEV, TEST)}
