"""Pairs chosen equally from every cell of tags, for training, validation and test (ConPGS, section 3.3)."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from mlworkers.science.paraphrasing.tags import OUTSIDE, Integers, Reals, TagBounds


class CellReport(NamedTuple):
    """What a split got of a cell. candidates: of the cell, for all splits together."""

    split: str
    similarity: str
    lexical: str
    asked: int
    candidates: int
    chosen: int

    @property
    def shortfall(self) -> int:
        return self.asked - self.chosen


@dataclass(frozen=True)
class Selection:
    """splits: the split of each candidate, "" where it was not chosen. cells: a report for each split and cell."""

    splits: Sequence[str]
    cells: Sequence[CellReport]

    @property
    def short(self) -> list[CellReport]:
        return [cell for cell in self.cells if cell.shortfall]


def select_balanced(
    similarity: Reals,
    bleu: Reals,
    *,
    names: Sequence[str],
    sources: Sequence[str],
    per_unit: Mapping[str, int],
    bounds: TagBounds,
    seed: int,
) -> Selection:
    """Choose among n candidates so that each split gets equally many of every cell.

    similarity, bleu: labels in 0..100, (n,) each. names: of each candidate, different ones; the selection depends on
    them and the seed alone, not on the order of the candidates. sources: the source sentence of each candidate, (n,);
    all candidates of a source that are chosen are in one split. per_unit: of each split, how many pairs a cell of
    ordinary width gets; BLEU0_5, twice as wide, gets twice as many.
    A cell that has too few candidates gives all that its splits can take and is reported; nothing is taken twice.
    Sources come in random order, and each goes to the split that still lacks most of what it offers, in proportion to
    what the split asked for: splits share a scarce cell.
    Raises ValueError where two candidates have one name, or a split asks for less than one pair.
    """
    if len(set(names)) != len(names):
        raise ValueError("Two candidates have the same name; give each candidate another name.")
    if not per_unit or min(per_unit.values()) < 1:
        raise ValueError("Each split must ask for at least one pair of every cell.")
    rows, columns = bounds.bins(similarity, bleu)  # (n,) each; OUTSIDE is -1
    width = len(bounds.lexical)
    # Cells are numbered row by row, similarity × BLEU: cell = row · columns + column, (n,).
    cells = np.where((rows == OUTSIDE) | (columns == OUTSIDE), OUTSIDE, rows * width + columns)
    # Units of each cell, (cells,): 2 in the columns of BLEU0_5, which is twice as wide, and 1 elsewhere.
    each = np.tile(bounds.units, len(bounds.similarity))
    asked = {split: each * most for split, most in per_unit.items()}  # (cells,) of each split
    lacking = {split: wanted.copy() for split, wanted in asked.items()}
    splits = [""] * len(names)
    # The places of the candidates in a cell, those of a source together, sources and their candidates shuffled.
    of_source: dict[str, list[int]] = defaultdict(list)
    # A group for each source: the unit that one split gets as a whole.
    for place in sorted(np.flatnonzero(cells != OUTSIDE).tolist(), key=lambda one: names[one]):
        of_source[sources[place]].append(place)
    # Sorting by name before shuffling makes the selection independent of the order of the candidates.
    groups = [of_source[source] for source in sorted(of_source)]
    rng = np.random.default_rng([seed, 33])  # the generator of this selection alone
    shuffled = (groups[number] for number in rng.permutation(len(groups)).tolist())
    for places in [[group[number] for number in rng.permutation(len(group)).tolist()] for group in shuffled]:
        offered = cells[places]  # (candidates of the source,)
        # The need of a split is Σ over the offered candidates of lacking / asked in their cells. As shares,
        # the needs of a large and a small split are comparable; by numbers the large one would come first.
        split = max(lacking, key=lambda one: float((lacking[one][offered] / asked[one][offered]).sum()))
        for place, cell in zip(places, offered.tolist(), strict=True):
            # A source may offer a cell more often than the split lacks it; the rest stay unchosen.
            if lacking[split][cell]:
                lacking[split][cell] -= 1
                splits[place] = split
    candidates = np.bincount(cells[cells != OUTSIDE], minlength=bounds.cells)
    return Selection(splits, _reports(bounds, asked, lacking, candidates))


def _reports(
    bounds: TagBounds, asked: Mapping[str, Integers], lacking: Mapping[str, Integers], candidates: Integers
) -> list[CellReport]:
    tags = [(similarity.name, lexical.name) for similarity in bounds.similarity for lexical in bounds.lexical]
    return [
        CellReport(
            split, *pair, int(wanted[cell]), int(candidates[cell]), int(wanted[cell] - lacking[split][cell])
        )
        for split, wanted in asked.items()
        for cell, pair in enumerate(tags)
    ]
