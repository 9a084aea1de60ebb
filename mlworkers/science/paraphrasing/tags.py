"""The tags of a pair: in which bin of similarity and in which bin of BLEU it lies (ConPGS, section 3.1)."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mlworkers.plans.fields import PlanError, SettingName

Reals = NDArray[np.float64]
Integers = NDArray[np.int64]
OUTSIDE = -1
TOP = 100  # of both scales


class Label(StrEnum):
    """Which label of a pair a score set holds, as its parameters say under `label`."""

    SIMILARITY = "similarity"
    BLEU = "bleu"


class Tag(NamedTuple):
    """A bin and its name. It covers what is above `low`, up to and with `high`; one that begins at 0 covers 0 too."""

    name: str
    low: int
    high: int

    @property
    def width(self) -> int:
        return self.high - self.low


@dataclass(frozen=True)
class TagBounds:
    """Where the bins begin and end, on scales of 0 to 100. The defaults are the paper's: 6 × 8 = 48 cells.

    SIM t covers (t, t + width], from sim_above to 100. The first bin of BLEU covers [0, bleu_first]; BLEU t covers
    (t, t + width], up to bleu_most.
    Raises PlanError where the widths do not fit.
    """

    sim_above: int = 70  # section 3.1: “higher than 70”
    sim_width: int = 5  # “the interval of 5”
    bleu_first: int = 10  # note 4: two bins are merged
    bleu_width: int = 5  # “the interval of 5”
    bleu_most: int = 45  # “smaller or equal to 45”

    def __post_init__(self) -> None:
        _check_fit("sim_width", self.sim_width, self.sim_above, TOP)
        _check_fit("bleu_width", self.bleu_width, 0, self.bleu_first)
        if self.bleu_most == self.bleu_first:
            return  # one bin alone
        if self.bleu_most < self.bleu_first:
            raise PlanError(
                "“%(setting)s” is %(most)d; it must be at least “%(other)s”, %(first)d.",
                setting=SettingName("bleu_most"),
                other=SettingName("bleu_first"),
                most=self.bleu_most,
                first=self.bleu_first,
            )
        _check_fit("bleu_width", self.bleu_width, self.bleu_first, self.bleu_most)

    def as_dict(self) -> dict[str, int]:
        return asdict(self)

    @cached_property
    def similarity(self) -> tuple[Tag, ...]:
        """The bins of similarity, ascending: SIM70 … SIM95 with the paper's bounds."""
        starts = range(self.sim_above, TOP, self.sim_width)
        # The paper: SIM70 … SIM95, 6 bins.
        return tuple(Tag(f"SIM{start}", start, start + self.sim_width) for start in starts)

    @cached_property
    def lexical(self) -> tuple[Tag, ...]:
        """The bins of BLEU, ascending: BLEU0_5, BLEU10 … BLEU40 with the paper's bounds."""
        # As the paper names it: BLEU0_5 merges the bins from 0 to 5.
        last = self.bleu_first - self.bleu_width
        # With the paper's bounds [0, 10] is BLEU0_5, followed by BLEU10 … BLEU40: 8 bins.
        merged = f"0_{last}" if last else "0"
        starts = range(self.bleu_first, self.bleu_most, self.bleu_width)
        later = (Tag(f"BLEU{start}", start, start + self.bleu_width) for start in starts)
        return (Tag(f"BLEU{merged}", 0, self.bleu_first), *later)

    @property
    def pairs(self) -> list[str]:
        """The names of all cells, such as SIM70 BLEU0_5."""
        return [f"{one.name} {other.name}" for one in self.similarity for other in self.lexical]

    def check_pair(self, similarity: str, lexical: str) -> None:
        """Raises ValueError, which lists all pairs of tags, for a pair that is none of them."""
        asked = f"{similarity} {lexical}"
        if asked not in self.pairs:
            raise ValueError(
                f"There is no pair of tags “{asked}”; the {self.cells} pairs are {', '.join(self.pairs)}."
            )

    @property
    def cells(self) -> int:
        return len(self.similarity) * len(self.lexical)  # 6 · 8 = 48 with the paper's bounds

    @property
    def units(self) -> Integers:
        """How many times the width of an ordinary bin each bin of BLEU has, (k,): 2 for BLEU0_5, 1 for the others."""
        return np.array([tag.width // self.bleu_width for tag in self.lexical], dtype=np.int64)

    def bins(self, similarity: Reals, bleu: Reals) -> tuple[Integers, Integers]:
        """The places of n pairs' tags among `similarity` and among `lexical`, (n,) each; OUTSIDE where there is none.

        Both labels are in 0..100; a label that is not a number lies outside.
        """
        return bins_of(similarity, edges_of(self.similarity)), bins_of(bleu, edges_of(self.lexical))


def edges_of(tags: Sequence[Tag]) -> list[float]:
    return [tags[0].low, *(tag.high for tag in tags)]


def bins_of(values: Reals, edges: Sequence[float]) -> Integers:
    """In which of the bins between k + 1 ascending edges each of n values lies, (n,); OUTSIDE where in none.

    A bin covers what is above its lower edge, up to and with its upper one; one that begins at 0 covers 0 too.
    """
    # side="left" gives i with edges[i - 1] < value <= edges[i], which is bin i - 1, open below and closed
    # above. Below all edges that is -1, OUTSIDE already; NaN sorts behind all edges and so comes out above
    # the last bin.
    places = np.searchsorted(np.asarray(edges, dtype=np.float64), values, side="left") - 1
    if edges[0] == 0:
        places[values == 0] = 0
    places[places >= len(edges) - 1] = OUTSIDE
    return places.astype(np.int64)


def _check_fit(name: str, width: int, low: int, high: int) -> None:
    if width < 1 or high <= low or (high - low) % width:  # bins must meet `high` exactly
        raise PlanError(
            "“%(setting)s” is %(width)d; bins of this width do not fill %(low)d to %(high)d.",
            setting=SettingName(name),
            width=width,
            low=low,
            high=high,
        )
