"""How many candidates each setting of round-trip translation puts into each cell of tags (ConPGS, section 3.3)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from curation.pairs.keeping import wilson_interval
from mlworkers.science.paraphrasing.profile import profile_of
from mlworkers.science.paraphrasing.tags import Integers, Reals, TagBounds


@dataclass(frozen=True)
class Share:
    """low, high: the 95 % interval (Wilson 1927)."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Yield:
    """What became of the candidates of one setting.

    written: all. dropped: copies, empty ones and others that can be in no cell. unlabelled: without both labels.
    cells: how many lie in each, similarity × BLEU. similarity, bleu: means of the labelled, None where there is none.
    """

    setting: str
    written: int
    dropped: int
    unlabelled: int
    cells: Integers
    similarity: float | None
    bleu: float | None

    @property
    def inside(self) -> int:
        return int(self.cells.sum())

    @property
    def known(self) -> int:
        """Candidates of which it is known whether they lie in a cell."""
        return self.written - self.unlabelled

    @property
    def share(self) -> Share | None:
        """Of the known ones, those in any cell. The interval takes candidates as independent."""
        if not self.known:
            return None
        # Dropped ones count as outside.
        return Share(self.inside / self.known, *wilson_interval(self.inside, self.known))


def yields_of(
    settings: Sequence[str],
    of_candidate: NDArray[np.int64],
    dropped: NDArray[np.bool_],
    labels: Reals,
    bounds: TagBounds,
) -> list[Yield]:
    """A yield for each setting, in their order.

    of_candidate: the place of each candidate's setting, (n,). dropped: whether it can be in no cell, (n,). labels:
    its similarity and BLEU in 0..100, NaN where it has none, (2, n).
    """
    similarity, bleu = labels
    found = []
    for place, setting in enumerate(settings):
        own = of_candidate == place
        left = own & ~dropped  # candidates that could be in a cell
        # Three disjoint kinds: written = dropped + unlabelled + labelled.
        labelled = left & ~np.isnan(similarity) & ~np.isnan(bleu)
        some = bool(labelled.any())
        found.append(
            Yield(
                setting,
                written=int(own.sum()),
                dropped=int((own & dropped).sum()),
                unlabelled=int((left & ~labelled).sum()),
                # (6, 8) with the paper's bounds.
                cells=profile_of(similarity[labelled], bleu[labelled], bounds).tagged,
                similarity=float(similarity[labelled].mean()) if some else None,
                bleu=float(bleu[labelled].mean()) if some else None,
            )
        )
    return found
