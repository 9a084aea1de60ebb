"""How few units a claim rests on: the least number of them without which it no longer holds.

A claim is about a sample of rows, such as judgements or test pairs, and has a margin, which is above 0 where it holds.
What removing a row does to the margin is approximated by its influence; the rows that lower it most are removed in
steps, with the influences anew after each, and the margin is computed again from what is left (Broderick, Giordano and
Meager 2020, arXiv 2011.14999, who remove them in one step). What is found is a number that is enough; where all smaller
sets were tried, it is the least.
"""

import math
from dataclasses import dataclass
from itertools import combinations, islice
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]
Mask = NDArray[np.bool_]

MOST_STEPS = 100
MOST_MEMBERS = 60  # of a set that is tried without each of its members, one after the other
MOST_CELLS = 200_000_000  # what trying smaller sets may take: some seconds
NEARLY = 1e-12  # margins are differences of quotients
AT_ONCE = 4_096  # sets whose margins are computed together


class Claim(Protocol):
    @property
    def cells(self) -> int:
        """What one margin costs, in rows times samples of them."""
        ...

    def margins(self, kept: Mask) -> FloatArray:
        """The margin (S,) from the rows that are kept (n, S); NaN where too few are left to say anything."""
        ...

    def influences(self, kept: Mask) -> FloatArray:
        """By how much the margin rises, about, if each row (n,) is removed beside those not kept (n,)."""
        ...


@dataclass(frozen=True, eq=False)
class Turning:
    """What turns a claim. of: how many units there are. removed: the numbers of those to remove, or None if none were
    found. least: whether no smaller number turns it. before, after: the margin.
    """

    of: int
    removed: IntArray | None
    least: bool
    before: float
    after: float

    @property
    def number(self) -> int | None:
        return None if self.removed is None else len(self.removed)

    def as_dict(self) -> dict[str, Any]:
        return {"number": self.number, "of": self.of, "least": self.least}


def turning(claim: Claim, unit: IntArray, *, most_cells: int = MOST_CELLS) -> Turning:
    """Find the fewest units without which the claim no longer holds.

    unit: (n,) the number from 0 of what is removed as a whole: of each row itself, or of the person whose it is.
    most_cells: what trying smaller sets may cost. Raises ValueError where the margin is NaN with all rows.
    """
    count = int(unit.max(initial=-1)) + 1
    before = float(claim.margins(np.ones((len(unit), 1), dtype=np.bool_))[0])
    if math.isnan(before):
        raise ValueError("There is too little to say whether this holds.")
    if before <= NEARLY:
        return Turning(count, np.zeros(0, dtype=np.int64), least=True, before=before, after=before)
    removed = _by_influence(claim, unit, count, before)
    largest = count if removed is None else len(removed)
    affordable, least = most_cells // max(1, claim.cells), False
    for size in range(1, largest):
        if (sets := math.comb(count, size)) > affordable:
            break
        affordable -= sets
        if (found := _first_that_turns(claim, unit, count, size)) is not None:
            return Turning(count, found, least=True, before=before, after=margin_without(claim, unit, found))
    else:
        least = True  # every smaller set was tried
    after = math.nan if removed is None else margin_without(claim, unit, removed)
    return Turning(count, removed, least=least, before=before, after=after)


def _by_influence(claim: Claim, unit: IntArray, count: int, margin: float) -> IntArray | None:
    """Units that turn the claim, or None if steps along the influences do not."""
    kept, removed = np.ones(count, dtype=np.bool_), np.zeros(0, dtype=np.int64)
    barred = np.zeros(count, dtype=np.bool_)  # those without which nothing could be said
    for _ in range(MOST_STEPS):
        change = np.bincount(unit, claim.influences(kept[unit]), minlength=count)
        order = np.argsort(change, kind="stable")
        order = order[(change[order] < 0) & kept[order] & ~barred[order]]
        if not len(order):
            return None
        # As many as the influences ask for; while these are many, half of them at once, because influences change.
        asked = min(int(np.searchsorted(-(margin + np.cumsum(change[order])), 0.0)) + 1, len(order))
        step = order[: max(1, asked // 2 if 50 * asked > len(removed) else asked)]
        there = margin_without(claim, unit, np.concatenate([removed, step]))
        if math.isnan(there):
            barred[step[0]] = True
            continue
        removed, margin = np.concatenate([removed, step]), there
        kept[step] = False
        if margin <= NEARLY:
            return _without_idle(claim, unit, removed, len(step))
    return None


def _without_idle(claim: Claim, unit: IntArray, removed: IntArray, last: int) -> IntArray:
    """The shortest beginning of the set that turns the claim, without those members that it turns without.

    last: how many members came with the step that turned it.
    """
    low, high = len(removed) - last, len(removed)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (
            (low, middle) if margin_without(claim, unit, removed[:middle]) <= NEARLY else (middle, high)
        )
    removed = removed[:high]
    for member in removed.tolist() if len(removed) <= MOST_MEMBERS else ():
        fewer = removed[removed != member]
        if len(fewer) and margin_without(claim, unit, fewer) <= NEARLY:
            removed = fewer
    return removed


def margin_without(claim: Claim, unit: IntArray, removed: IntArray) -> float:
    """The margin of the claim without these units."""
    return float(claim.margins(~np.isin(unit, removed)[:, None])[0])


def _first_that_turns(claim: Claim, unit: IntArray, count: int, size: int) -> IntArray | None:
    """The first set of so many of the units that turns the claim, of all of them."""
    sets = combinations(range(count), size)
    while batch := list(islice(sets, AT_ONCE)):
        chosen = np.array(batch)  # (S, size)
        kept = np.ones((count, len(chosen)), dtype=np.bool_)
        kept[chosen.T, np.arange(len(chosen))] = False
        turned = np.flatnonzero(claim.margins(kept[unit]) <= NEARLY)
        if len(turned):
            return np.asarray(chosen[turned[0]])
    return None
