"""Candidates chosen equally from every cell, a source in one split only."""

import numpy as np
import pytest

from mlworkers.science.paraphrasing.selection import Selection, select_balanced
from mlworkers.science.paraphrasing.tags import TagBounds

SMALL = TagBounds(sim_above=80, sim_width=10, bleu_first=20, bleu_width=10, bleu_most=30)  # 2 × 2 cells
PER_UNIT = {"train": 10, "dev": 3, "test": 3}


class Candidates:
    """Four candidates of each source, with labels at random; some lie outside of every cell."""

    def __init__(self, sources: int) -> None:
        rng = np.random.default_rng(7)
        self.names = [f"{source}-{number}" for source in range(sources) for number in range(4)]
        self.sources = [f"source {source}" for source in range(sources) for _number in range(4)]
        self.similarity = rng.uniform(75, 100, len(self.names))
        self.bleu = rng.uniform(0, 35, len(self.names))

    def selected(self, order: np.ndarray | None = None, *, seed: int = 1) -> Selection:
        taken = np.arange(len(self.names)) if order is None else order
        return select_balanced(
            self.similarity[taken],
            self.bleu[taken],
            names=[self.names[place] for place in taken],
            sources=[self.sources[place] for place in taken],
            per_unit=PER_UNIT,
            bounds=SMALL,
            seed=seed,
        )


def test_every_cell_gives_equally_many_and_the_wide_column_twice_as_many() -> None:
    found = Candidates(400).selected()

    assert not found.short
    chosen = {(cell.split, cell.similarity, cell.lexical): cell.chosen for cell in found.cells}
    assert chosen["train", "SIM80", "BLEU0_10"] == chosen["train", "SIM90", "BLEU0_10"] == 20
    assert chosen["train", "SIM80", "BLEU20"] == 10
    assert chosen["test", "SIM90", "BLEU0_10"] == 6
    assert [found.splits.count(split) for split in PER_UNIT] == [60, 18, 18]


def test_candidates_of_a_source_are_in_one_split() -> None:
    candidates = Candidates(60)

    found = candidates.selected()

    of_source: dict[str, set[str]] = {}
    for source, split in zip(candidates.sources, found.splits, strict=True):
        if split:
            of_source.setdefault(source, set()).add(split)
    assert len(of_source) > 20
    assert all(len(splits) == 1 for splits in of_source.values())


def test_a_scarce_cell_is_shared_reported_and_never_taken_twice() -> None:
    candidates = Candidates(400)
    scarce = np.flatnonzero((candidates.similarity > 90) & (candidates.bleu > 20) & (candidates.bleu <= 30))
    candidates.similarity[scarce[8:]] = 0

    found = candidates.selected()

    short = {cell.split: cell for cell in found.short}
    assert {(cell.similarity, cell.lexical) for cell in short.values()} == {("SIM90", "BLEU20")}
    of_cell = [cell for cell in found.cells if (cell.similarity, cell.lexical) == ("SIM90", "BLEU20")]
    assert {cell.candidates for cell in of_cell} == {8}
    assert sum(cell.chosen for cell in of_cell) == 8
    assert sum(cell.shortfall for cell in of_cell) == 16 - 8
    assert min(cell.chosen for cell in of_cell) >= 1


def test_the_selection_follows_from_names_and_seed_alone() -> None:
    candidates = Candidates(100)
    order = np.random.default_rng(3).permutation(len(candidates.names))

    straight, turned = candidates.selected(), candidates.selected(order)

    assert [straight.splits[place] for place in order] == list(turned.splits)
    assert straight.cells == turned.cells
    assert straight.splits != candidates.selected(seed=2).splits


def test_without_candidates_every_cell_is_short() -> None:
    found = Candidates(0).selected()

    assert found.splits == []
    assert all(cell.shortfall == cell.asked for cell in found.cells)


def test_candidates_with_one_name_are_refused() -> None:
    candidates = Candidates(2)
    candidates.names[1] = candidates.names[0]

    with pytest.raises(ValueError, match="same name"):
        candidates.selected()
