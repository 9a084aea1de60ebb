"""Split-half reliability: how well the scores of one half of the judgements agree with those of the other."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from annotation.bws.judgements import FloatArray, IntArray, Judgements, grouped_order, tuple_numbers
from annotation.bws.reliability.correlation import pearson, spearman

Halves = NDArray[np.bool_]  # (n, B): whether each of n judgements is in the first half, for B trials
Counts = NDArray[np.float32] | NDArray[np.float64]
DrawHalves = Callable[[int, np.random.Generator], Halves]


def halves_of_groups(group: IntArray) -> DrawHalves:
    """Split the judgements of each group (n,) in half; of an odd number, the odd one goes to either side.

    A judgement alone in its group goes to one half at random. Drawn by going through the judgements of all
    groups
    in step: each is taken with the chance that its group still needs it (selection sampling, Fan et al.
    1962).
    """
    sizes = np.bincount(group)
    by_size = np.argsort(-sizes, kind="stable")
    starts = (np.cumsum(sizes) - sizes)[by_size]
    order, sizes = grouped_order(group), sizes[by_size]

    def draw(trials: int, rng: np.random.Generator) -> Halves:
        first = np.empty((len(group), trials), dtype=np.bool_)
        wanted = _half_of(sizes, trials, rng)
        for step in range(int(sizes.max(initial=0))):
            longer = int(np.searchsorted(-sizes, -step))  # groups with more judgements than `step`
            left = (sizes[:longer] - step).astype(np.float32)
            chance = rng.random((longer, trials), dtype=np.float32) * left[:, None]
            taken = chance < wanted[:longer]
            wanted[:longer] -= taken
            first[order[starts[:longer] + step]] = taken
        return first

    return draw


def halves_of_units(unit: IntArray) -> DrawHalves:
    """Split the units (n,) in half, tuples or annotators: all judgements of a unit go to the same side."""
    count = int(unit.max(initial=-1)) + 1

    def draw(trials: int, rng: np.random.Generator) -> Halves:
        wanted = _half_of(np.full(trials, count), 1, rng)
        sides = rng.permuted(np.arange(count) < wanted, axis=1)  # (B, units)
        halves: Halves = sides.T[unit]
        return halves

    return draw


def _half_of(sizes: IntArray, trials: int, rng: np.random.Generator) -> IntArray:
    """Half of each size (g,) for each trial: (g, B); an odd one more or less with equal chance."""
    extra = rng.integers(0, 2, size=(len(sizes), trials), dtype=np.int8)
    return sizes[:, None] // 2 + extra * (sizes[:, None] % 2)


class HalfScores:
    """Counts both halves of the same judgements in many trials at once."""

    def __init__(self, judgements: Judgements) -> None:
        n, k = judgements.items.shape
        rows = np.arange(n)
        signs = np.repeat(np.array([1, -1], dtype=np.float32), n)
        chosen = np.concatenate([judgements.best, judgements.worst])
        shape = (judgements.item_count, n)
        self._net = csr_array((signs, (chosen, np.tile(rows, 2))), shape=shape)
        ones = np.ones(n * k, dtype=np.float32)
        self._appearances = csr_array((ones, (judgements.items.ravel(), np.repeat(rows, k))), shape=shape)
        self._net_total: FloatArray = np.asarray(self._net.sum(axis=1))
        self._appearances_total: FloatArray = np.asarray(self._appearances.sum(axis=1))

    def count(self, first: Halves, weights: IntArray | None = None) -> tuple[FloatArray, FloatArray, Halves]:
        """Signed counting scores (B, m) of either half, and which items the first half saw (B, m).

        An item that the second half did not see scores 0 in it, as in the script. weights: (n, B) how often
        each judgement counts in each trial, once unless told otherwise.
        """
        chosen = first.astype(np.float32)
        net_total: Counts
        appearances_total: Counts
        if weights is None:
            net_total, appearances_total = self._net_total, self._appearances_total
        else:
            every = weights.astype(np.float32)
            chosen *= every
            net_total, appearances_total = (self._net @ every).T, (self._appearances @ every).T
        net, appearances = (self._net @ chosen).T, (self._appearances @ chosen).T
        one = _ratio(net, appearances)
        two = _ratio(net_total - net, appearances_total - appearances)
        return one, two, appearances > 0


def _ratio(net: Counts, appearances: Counts) -> FloatArray:
    # Whole numbers in single precision are exact to 2**24; the quotient needs double, so that ties stay
    # ties.
    ratio: FloatArray = net.astype(np.float64) / np.maximum(appearances, 1)
    return ratio


# A thousand give a mean to the third decimal; more than these would only fill the memory.
MOST_TRIALS = 1_000_000
# Cells of an array (judgements, trials) that are worked on at once: as much as stays in a processor's
# cache.
_CELLS_AT_ONCE = 2_000_000


class Split(StrEnum):
    """What is split in half.

    JUDGEMENTS: those of each tuple, so that both halves judged the same tuples (Kiritchenko and Mohammad).
    TUPLES: the tuples, each with all its judgements. ANNOTATORS: the people, each with all they judged.
    """

    JUDGEMENTS = "judgements"
    TUPLES = "tuples"
    ANNOTATORS = "annotators"


class TooFewJudgements(ValueError):  # noqa: N818  (says what is the matter, like StopIteration)
    """Too little was judged for a reliability that says something."""


@dataclass(frozen=True)
class Reliability:
    """Correlations between the counting scores of random halves: mean and standard deviation over the trials.

    spearman_brown: what the mean Spearman means for the whole instead of half of the judgements, 2 r / (1 +
    r).
    """

    trials: int
    split: Split
    tuples: int
    judgements: int
    spearman_mean: float
    spearman_sd: float
    pearson_mean: float
    pearson_sd: float
    spearman_brown: float

    def as_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return asdict(self)


def split_half_reliability(
    judgements: Judgements, *, trials: int = 1000, seed: int = 1234, split: Split = Split.JUDGEMENTS
) -> Reliability:
    """Split judgements in half at random, score each half by counting, correlate; mean over the trials.

    With Split.JUDGEMENTS this is the procedure of Kiritchenko and Mohammad's SHR script: a tuple is the set
    of its items; the odd judgement of a tuple goes to either half with equal chance; items that only the
    second half saw are dropped, items that only the first saw score 0 in the second.
    Raises TooFewJudgements where a number would mislead, ValueError where annotators are not known.
    """
    if trials < 1:
        raise ValueError(f"A reliability needs at least 1 trial, not {trials}.")
    if trials > MOST_TRIALS:
        raise ValueError(f"A reliability takes at most {MOST_TRIALS:,} trials, not {trials:,}.")
    tuples = tuple_numbers(judgements.items)
    draw = _halves(judgements, tuples, split)
    rho, r = _correlations(judgements, draw, trials, np.random.default_rng(seed))
    if np.isnan(rho).any():
        raise TooFewJudgements(
            f"{len(judgements)} judgements are too few for a reliability: "
            f"some halves have nothing to compare."
        )
    mean = float(rho.mean())
    return Reliability(
        trials=trials,
        split=split,
        tuples=_count(tuples),
        judgements=len(judgements),
        spearman_mean=mean,
        spearman_sd=float(rho.std()),
        pearson_mean=float(r.mean()),
        pearson_sd=float(r.std()),
        spearman_brown=spearman_brown(mean),
    )


def spearman_brown(half: float) -> float:
    """The reliability of the whole from that of its halves (Spearman 1910, Brown 1910).

    Halves that disagree have nothing to step up: a negative correlation stays as it is.
    """
    return 2 * half / (1 + half) if half > 0 else half


def _halves(judgements: Judgements, tuples: IntArray, split: Split) -> DrawHalves:
    """How to draw halves. Raises where there is nothing to split."""
    if split is Split.JUDGEMENTS:
        judged = np.bincount(tuples)
        if 2 * (judged >= 2).sum() < len(judged) or not len(judged):
            raise TooFewJudgements(
                f"A reliability needs at least two judgements for most tuples; "
                f"{(judged >= 2).sum()} of {len(judged)} have them."
            )
        return halves_of_groups(tuples)
    if split is Split.TUPLES:
        units = tuples
    elif judgements.annotators is None:
        raise ValueError("The judgements do not say who made them; name the column of annotators.")
    else:
        units = np.unique(judgements.annotators, return_inverse=True)[1]
    if _count(units) < 2:
        raise TooFewJudgements(
            f"A split by {split} needs at least two of them, and there is {_count(units)}."
        )
    return halves_of_units(units)


def _correlations(
    judgements: Judgements, draw: DrawHalves, trials: int, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Spearman and Pearson (trials,) between the halves."""
    scores = HalfScores(judgements)
    at_once = max(1, _CELLS_AT_ONCE // max(1, len(judgements)))
    found = []
    for start in range(0, trials, at_once):
        one, two, seen = scores.count(draw(min(at_once, trials - start), rng))
        found.append((spearman(one, two, seen), pearson(one, two, seen)))
    rho, r = zip(*found, strict=True)
    return np.concatenate(rho), np.concatenate(r)


def _count(numbers: IntArray) -> int:
    return int(numbers.max(initial=-1)) + 1
