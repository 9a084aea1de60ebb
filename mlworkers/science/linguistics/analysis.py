"""The measures of RISE's Tables 1 and 4 for each group of pairs, with intervals.

Values are fractions (RISE prints them times 100); Zipf's coefficient has no unit. BLEU and Jaccard's similarity are
means over pairs, with the second sentence as the hypothesis. Distinct-n and Zipf's coefficient are those of distinct
sentences: both sentences of human pairs, the second sentences of generated pairs.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from curation.files.progress import Report
from curation.results.estimates import Estimate
from mlworkers.science.linguistics.diversity import (
    DRAWS,
    TokenisedSentences,
    distinct,
    sentences_tokenised,
    zipf_coefficient,
)
from mlworkers.science.linguistics.groups import AnalysedPairs, Family, Indices, families_of
from mlworkers.science.linguistics.jackknife import BLOCKS, jackknife_interval
from mlworkers.science.linguistics.measures import DISTINCT, DIVERSITY, MEASURES, OVERLAP, Group
from mlworkers.science.linguistics.overlap import bleu_scores, jaccard
from mlworkers.science.linguistics.tokens import tokens_of

FEWEST_PAIRS = 20  # of a group, below which nothing is said of it
_BUDGET = 0.5  # of the smallest group's tokens: what is left when a block is left out holds as many
_REPORTED = 500  # pairs between two reports

# A measure with nothing left out, and with each block left out.
_Measured = tuple[float | None, list[float | None]]


@dataclass(frozen=True)
class GroupFigures:
    """A group of a family. figures and differences (from the human pairs): of each measure; the human pairs have no
    differences. at_own_size: the diversity of all its sentences, which RISE prints and which a larger group has lower
    (Distinct-n) or higher (Zipf's coefficient) for its size alone.
    """

    group: Group
    pairs: int
    sentences: int
    tokens: int
    figures: dict[str, Estimate]
    differences: dict[str, Estimate]
    at_own_size: dict[str, float | None]


@dataclass(frozen=True)
class FamilyFigures:
    """budget: tokens at which the diversity of its groups is compared. highest_minus_lowest: of each measure."""

    target: float | None
    budget: int
    groups: list[GroupFigures]
    highest_minus_lowest: dict[str, Estimate]


def linguistic_analysis(
    pairs: AnalysedPairs, *, share: float, seed: int, report: Report
) -> list[FamilyFigures]:
    """Every family of groups (see `families_of`) that has a group of at least 20 pairs.

    All pairs with one first sentence are left out together, in every group at once, so that an interval allows for
    their likeness and a difference for what the groups share.
    """
    if not len(pairs):
        return []
    analysis = _Analysis(pairs, seed, report)
    families = (
        Family(
            family.target, {group: each for group, each in family.groups.items() if each.size >= FEWEST_PAIRS}
        )
        for family in families_of(pairs, share=share)
    )
    return [analysis.family(family) for family in families if family.groups]


class _Analysis:
    """What the families share: the tokens of each sentence, the overlap of each pair, the block of each pair."""

    def __init__(self, pairs: AnalysedPairs, seed: int, report: Report) -> None:
        self._pairs, self._report = pairs, report
        self._rng = np.random.default_rng([seed, 23])  # stream 23: blocks, then draws of sentences
        texts = {
            number: text
            for numbers, side in ((pairs.a, pairs.first), (pairs.b, pairs.second))
            for number, text in zip(numbers.tolist(), side.tolist(), strict=True)
        }
        self._tokens = {number: tokens_of(text) for number, text in texts.items()}
        self._overlap = np.array(list(self._overlaps())).reshape(-1, len(OVERLAP))  # (n, measures)
        _distinct, source = np.unique(pairs.a, return_inverse=True)
        # Blocks of first sentences whose numbers differ by 1 at most; the same blocks in every group.
        self._block = (self._rng.permutation(source.max() + 1) % BLOCKS)[source]  # (n,)

    def _overlaps(self) -> Iterator[list[float]]:
        rows = zip(self._pairs.a.tolist(), self._pairs.b.tolist(), strict=True)
        for number, (a, b) in enumerate(rows):
            if number % _REPORTED == 0:
                self._report(number, len(self._pairs), "Comparing the words of the pairs")
            bleu = bleu_scores(self._tokens[b], self._tokens[a])
            yield [*bleu, bleu.mean(), jaccard(self._tokens[a], self._tokens[b])]

    def family(self, family: Family) -> FamilyFigures:
        """The figures of each group of a family, and the differences between its groups, with jackknife intervals.

        Diversity is compared at one number of tokens, the budget: half the tokens of the smallest group.
        """
        sentences = {group: self._sentences(group, each) for group, each in family.groups.items()}
        # Tokens; the same for all groups of a family.
        budget = int(_BUDGET * min(each.tokens for each, _blocks in sentences.values()))
        measured = {
            group: self._overlap_of(family.groups[group]) | self._diversity_of(*sentences[group], budget)
            for group in family.groups
        }
        groups = [
            GroupFigures(
                group=group,
                pairs=int(family.groups[group].size),
                sentences=sentences[group][0].size,
                tokens=sentences[group][0].tokens,
                figures={name: jackknife_interval(*each) for name, each in measured[group].items()},
                differences=_differences(measured, group, Group.HUMAN),
                at_own_size=_at_own_size(sentences[group][0]),
            )
            for group in family.groups
        ]
        apart = _differences(measured, Group.HIGHEST, Group.LOWEST)
        return FamilyFigures(family.target, budget, groups, apart)

    def _overlap_of(self, indices: Indices) -> dict[str, _Measured]:
        rows, block = self._overlap[indices], self._block[indices]
        whole = rows.mean(axis=0)  # (measures,)
        left = [_mean(rows[block != each]) for each in range(BLOCKS)]  # (measures,) for each block
        return {
            name: (float(whole[column]), [None if row is None else float(row[column]) for row in left])
            for column, name in enumerate(OVERLAP)
        }

    def _sentences(self, group: Group, indices: Indices) -> tuple[TokenisedSentences, Indices]:
        """The distinct sentences of a group, and the block of each: that of its first pair."""
        sides = (self._pairs.a, self._pairs.b) if group is Group.HUMAN else (self._pairs.b,)
        numbers = np.stack([side[indices] for side in sides], axis=1).ravel()
        blocks = np.repeat(self._block[indices], len(sides))
        distinct_numbers, first = np.unique(numbers, return_index=True)
        tokenised = sentences_tokenised([self._tokens[number] for number in distinct_numbers.tolist()])
        return tokenised, blocks[first]

    def _diversity_of(
        self, sentences: TokenisedSentences, block: Indices, budget: int
    ) -> dict[str, _Measured]:
        orders = [self._rng.permutation(sentences.size) for _draw in range(DRAWS)]
        whole = _diversity(sentences, budget, orders)
        left = [self._without(sentences, block != each, budget, orders) for each in range(BLOCKS)]
        return {name: (whole[name], [each[name] for each in left]) for name in DIVERSITY}

    def _without(
        self,
        sentences: TokenisedSentences,
        kept: NDArray[np.bool_],
        budget: int,
        orders: Sequence[Indices],
    ) -> dict[str, float | None]:
        """The same draws without the sentences of a block."""
        self._report(len(self._pairs), len(self._pairs), "Comparing the variety of the words")
        renumbered = np.cumsum(kept) - 1  # old number -> new number, valid where kept
        return _diversity(sentences.taken(kept), budget, [renumbered[order[kept[order]]] for order in orders])


def _diversity(
    sentences: TokenisedSentences, budget: int, orders: Sequence[Indices]
) -> dict[str, float | None]:
    by_n = [distinct(sentences, n, budget=budget) for n in range(1, len(DISTINCT) + 1)]
    defined = [each for each in by_n if each is not None]
    mean = float(np.mean(defined)) if len(defined) == len(by_n) else None
    zipf = zipf_coefficient(sentences, budget=budget, orders=orders)
    return dict(zip(DIVERSITY, [*by_n, mean, zipf], strict=True))


def _at_own_size(sentences: TokenisedSentences) -> dict[str, float | None]:
    return _diversity(sentences, sentences.tokens, [np.arange(sentences.size)])


def _mean(rows: NDArray[np.float64]) -> NDArray[np.float64] | None:
    return rows.mean(axis=0) if len(rows) else None


def _differences(
    measured: dict[Group, dict[str, _Measured]], group: Group, other: Group
) -> dict[str, Estimate]:
    """Of a group from another, block by block; empty where one is missing or both are the same."""
    if group is other or not {group, other} <= measured.keys():
        return {}
    return {
        name: jackknife_interval(
            _minus(measured[group][name][0], measured[other][name][0]),
            [_minus(*each) for each in zip(measured[group][name][1], measured[other][name][1], strict=True)],
        )
        for name in MEASURES
    }


def _minus(value: float | None, other: float | None) -> float | None:
    return None if value is None or other is None else value - other
