"""How few judgements, or annotators, a claim rests on: the least number without which it no longer holds.

The search is that of `curation.statistics.turning`.
"""

import math
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from annotation.bws.judgements import FloatArray, IntArray, Judgements, Mask
from annotation.bws.reliability.correlation import average_ranks, centred, spearman
from annotation.bws.reliability.split_half import (
    HalfScores,
    Split,
    TooFewJudgements,
    batches,
    draw_halves,
    mean_known,
)
from curation.statistics.turning import MOST_CELLS, NEARLY, Claim, Turning, margin_without, turning

TRIALS, FEWER_TRIALS = 50, 20  # random halves of a reliability, and where there are MANY judgements
MANY = 20_000
CLAIMED = (0.9, 0.8, 0.7, 0.6)  # reliabilities that people write that theirs is at least
MOST_MEETINGS = 100_000  # ways to remove judgements in which both items met


@dataclass(frozen=True, eq=False)
class Above:
    """That one item's counting score is above another's; its margin is their difference on -1..1."""

    judgements: Judgements
    above: int
    below: int

    @property
    def cells(self) -> int:
        return len(self.judgements)

    def margins(self, kept: Mask) -> FloatArray:
        one, two = (self._score(item, kept.astype(np.float64)) for item in (self.above, self.below))
        return one - two

    def influences(self, kept: Mask) -> FloatArray:
        weights, change = kept.astype(np.float64), np.zeros(len(kept))
        for sign, item in ((1, self.above), (-1, self.below)):
            outcome, appears = self.outcomes(item)
            score, count = self._score(item, weights[:, None])[0], float(appears @ weights)
            # Without a judgement with outcome x that the item appears in: (n - x) / (c - 1) = s + (s - x) / (c - 1).
            change += sign * (score * appears - outcome) / max(count - 1, 1)
        return np.where(kept, np.nan_to_num(change), 0.0)

    def outcomes(self, item: int) -> tuple[FloatArray, FloatArray]:
        """What each judgement (n,) says of an item: 1 best, -1 worst, else 0; and how often the item appears in it."""
        said = self.judgements
        return (said.best == item) * 1.0 - (said.worst == item), (said.items == item).sum(axis=1) * 1.0

    def _score(self, item: int, weights: FloatArray) -> FloatArray:
        outcome, appears = self.outcomes(item)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray((outcome @ weights) / (appears @ weights))


class ReliableEnough:
    """That the split-half reliability (Spearman) is at least a number; its margin is how far it is above it.

    The same random halves serve before and after: what is removed is missing from its half. Raises TooFewJudgements if
    some halves have nothing to compare even before.
    """

    def __init__(self, judgements: Judgements, least: float, *, trials: int = 50, seed: int = 1234) -> None:
        self.least, self.trials, self.scores = least, trials, HalfScores(judgements)
        first = draw_halves(judgements, Split.JUDGEMENTS)(trials, np.random.default_rng(seed))  # (n, B)
        ends = np.cumsum(list(batches(trials, len(judgements))))
        self.halves = np.split(first, ends[:-1], axis=1)  # (n, b) each, as many as are computed at once
        mean_known(self._correlations(np.ones(len(judgements), dtype=np.bool_)), len(judgements))

    @property
    def cells(self) -> int:
        return self.trials * len(self.halves[0])

    def margins(self, kept: Mask) -> FloatArray:
        return np.array([self._correlations(column).mean() for column in kept.T]) - self.least

    def _correlations(self, kept: Mask) -> FloatArray:
        """Of each pair of halves (B,), from the judgements that are kept (n,)."""
        return np.concatenate([spearman(*self.scores.count(first, kept[:, None])) for first in self.halves])

    def influences(self, kept: Mask) -> FloatArray:
        change = np.zeros(len(kept))
        for first in self.halves:
            one, two, seen = self.scores.count(first, kept[:, None])
            (a, length), (b, other_length) = (
                _unit(average_ranks(np.where(seen, values, np.inf)), seen) for values in (one, two)
            )
            rho = (a * b).sum(axis=1, keepdims=True)  # (b, 1), because both are centred and of length 1
            for values, slopes, half in (
                # d rho / d rank = (b - rho a) / |a|, of the ranks of either half.
                (one, (b - rho * a) / length, first),
                (two, (a - rho * b) / other_length, ~first),
            ):
                chosen = half & kept[:, None]
                moved = partial(_moved, values, np.where(seen, slopes, 0.0), seen)
                change += (chosen * self.scores.removals(values, chosen, moved)).sum(axis=1)
        return change / self.trials


def _unit(ranks: FloatArray, seen: Mask) -> tuple[FloatArray, FloatArray]:
    """Centred rows (B, m) of length 1, 0 where nothing counts, and the lengths (B, 1) that they had."""
    away = centred(ranks, seen)
    lengths = np.maximum(np.sqrt((away**2).sum(axis=1, keepdims=True)), NEARLY)
    return away / lengths, lengths


def _moved(values: FloatArray, slopes: FloatArray, seen: Mask, there: FloatArray) -> FloatArray:
    """What moving each score (B, m), and no other, to another place changes of a function of the ranks.

    slopes: (B, m) of the function by the ranks, 0 where an item does not count. The item's own rank changes by the
    number of items that it passes, and theirs by 1 each in the other direction; equal scores are half passed.
    """
    change = np.zeros(values.shape)
    for row, (scores, goals, slope, counted) in enumerate(zip(values, there, slopes, seen, strict=True)):
        ranked = np.argsort(scores[counted], kind="stable")
        ordered, sums = scores[counted][ranked], np.concatenate([[0.0], np.cumsum(slope[counted][ranked])])
        # Below a score, with half of those equal to it: items (R), and the sum of their slopes (G).
        below, passed = [], []
        for places in (scores, goals):
            low, high = (np.searchsorted(ordered, places, side) for side in ("left", "right"))
            below.append((low + high) / 2)
            passed.append((sums[low] + sums[high]) / 2)
        # The item itself is half of its own equals at s, and wholly below where it goes up.
        itself = np.sign(goals - scores) / 2
        own = below[1] - below[0] - itself
        others = passed[1] - passed[0] - itself * slope
        change[row] = slope * own - others
    return change


def reliability_turning(
    judgements: Judgements, least: float, *, seed: int = 1234, most_cells: int = MOST_CELLS
) -> dict[str, Any]:
    """How few judgements, and annotators where they are known, the claim rests on that the reliability is at least
    this, as JSON may hold it.

    Raises TooFewJudgements if there is no reliability.
    """
    trials = TRIALS if len(judgements) <= MANY else FEWER_TRIALS
    claim = ReliableEnough(judgements, least, trials=trials, seed=seed)
    of_judgements = turning(claim, np.arange(len(judgements)), most_cells=most_cells).as_dict()
    of_annotators = _annotators_turning(claim, judgements, most_cells)
    return {"least": least, "judgements": of_judgements, "annotators": of_annotators}


def _annotators_turning(claim: Claim, judgements: Judgements, most_cells: int) -> dict[str, Any] | None:
    """How few annotators it rests on; None where they are not known or there is one alone."""
    if judgements.annotators is None or len(people := np.unique(judgements.people)) < 2:
        return None
    return turning(claim, np.searchsorted(people, judgements.people), most_cells=most_cells).as_dict()


def claim_turning(
    judgements: Judgements, spearman: float, *, seed: int = 1234, most_cells: int = MOST_CELLS
) -> dict[str, Any] | None:
    """The same of the highest of CLAIMED that a reliability reaches; None where it is below all of them, or where too
    few judgements say what it rests on.
    """
    for least in CLAIMED:
        if spearman >= least:
            try:
                found = reliability_turning(judgements, least, seed=seed, most_cells=most_cells)
            except TooFewJudgements:  # other halves than those of the reliability, which has one
                return None
            if found["judgements"]["number"] != 0:  # by the halves of `ReliableEnough` too
                return found
    return None


def order_turning(
    judgements: Judgements, above: int, below: int, *, most_cells: int = MOST_CELLS
) -> dict[str, Any]:
    """The same of the claim that one item's counting score is above another's.

    Raises TooFewJudgements if one of them was not judged.
    """
    near = judgements.only(np.flatnonzero(np.isin(judgements.items, (above, below)).any(axis=1)))
    return {
        "judgements": judgements_between(near, above, below).as_dict(),
        "annotators": _annotators_turning(Above(near, above, below), near, most_cells),
    }


def judgements_between(judgements: Judgements, above: int, below: int) -> Turning:
    """The fewest judgements without which one item's counting score is not above another's, exactly.

    Of the judgements in which one of the two appears, those that were best for `above` (or worst for `below`) go first,
    then those with neither; the others only widen the difference. The few in which both met are tried in every number
    of each kind. Raises TooFewJudgements if one of them was not judged.
    """
    claim = Above(judgements, above, below)
    before = float(claim.margins(np.ones((len(judgements), 1), dtype=np.bool_))[0])
    if math.isnan(before):
        raise TooFewJudgements("One of the two was not judged.")
    if before <= NEARLY:
        return Turning(len(judgements), np.zeros(0, dtype=np.int64), least=True, before=before, after=before)
    (x, in_one), (y, in_two) = claim.outcomes(above), claim.outcomes(below)
    single = (in_one <= 1) & (in_two <= 1)  # an item that is twice in a tuple is left where it is
    met = [
        np.flatnonzero(single & (in_one > 0) & (in_two > 0) & (x == a) & (y == b))
        for a, b in product((-1, 0, 1), repeat=2)
    ]
    # Their order of removal: the outcome that helps most, then the middle one.
    one = np.concatenate([np.flatnonzero(single & (in_one > 0) & (in_two == 0) & (x == a)) for a in (1, 0)])
    two = np.concatenate([np.flatnonzero(single & (in_two > 0) & (in_one == 0) & (y == b)) for b in (-1, 0)])
    least = math.prod(len(rows) + 1 for rows in met) <= MOST_MEETINGS
    nothing = len(judgements) + 1  # more than there are
    best: IntArray | None = None
    numbers = product(*(range(len(rows) + 1 if least else 1) for rows in met))
    for rows in (np.concatenate([kind[:n] for kind, n in zip(met, taken, strict=True)]) for taken in numbers):
        scores = [
            _falling(outcome, appears, rows, order)
            for outcome, appears, order in ((x, in_one, one), (y, in_two, two))
        ]
        # The highest score of `below` with at most j removals, and the fewest that reach the other after i.
        reached = np.searchsorted(np.maximum.accumulate(scores[1]), scores[0] - NEARLY)
        total = np.where(reached < len(scores[1]), np.arange(len(scores[0])) + reached, nothing)
        i = int(total.argmin()) if len(total) else 0
        if len(total) and total[i] < nothing and (best is None or len(rows) + total[i] < len(best)):
            best = np.concatenate([rows, one[:i], two[: reached[i]]])
    after = math.nan if best is None else margin_without(claim, np.arange(len(judgements)), best)
    return Turning(len(judgements), best, least=least, before=before, after=after)


def _falling(outcome: FloatArray, appears: FloatArray, rows: IntArray, order: IntArray) -> FloatArray:
    """An item's score without `rows` and without the first 0, 1, ... of `order`, as long as it is judged at all."""
    net = outcome.sum() - outcome[rows].sum() - np.concatenate([[0], np.cumsum(outcome[order])])
    count = appears.sum() - appears[rows].sum() - np.arange(len(order) + 1)
    return np.asarray(net[count > 0] / count[count > 0])
