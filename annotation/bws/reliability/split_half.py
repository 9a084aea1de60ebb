"""Split-half reliability: how well the scores of two halves of the judgements agree, and how that grows."""

import math
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from annotation.bws.judgements import FloatArray, IntArray, Judgements, Mask, tuple_numbers
from annotation.bws.reliability.correlation import pearson, spearman
from annotation.bws.reliability.drawing import DrawHalves, halves_of_groups, halves_of_units

Counts = NDArray[np.float32] | NDArray[np.float64]

# A thousand trials give a mean to the third decimal; more than these would only fill the memory.
MOST_TRIALS = 1_000_000
# Cells of an array (judgements, trials) that are computed at once: as much as stays in a processor's cache.
CELLS_AT_ONCE = 2_000_000


class Split(StrEnum):
    """What is split in half.

    JUDGEMENTS: those of each tuple, so that both halves judged the same tuples (Kiritchenko and Mohammad).
    TUPLES: the tuples, each with all its judgements. ANNOTATORS: the people, each with all their judgements.
    """

    JUDGEMENTS = "judgements"
    TUPLES = "tuples"
    ANNOTATORS = "annotators"


class TooFewJudgements(ValueError):  # noqa: N818  (says what is the matter, like StopIteration)
    """Too little was judged for a reliability that means something."""


@dataclass(frozen=True)
class Reliability:
    """Correlations between the counting scores of random halves: mean and standard deviation over the trials.

    spearman_brown: what the mean Spearman means for the whole instead of half of the judgements, 2 r / (1 + r).
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
        return asdict(self)


def split_half_reliability(
    judgements: Judgements, *, trials: int = 1000, seed: int = 1234, split: Split = Split.JUDGEMENTS
) -> Reliability:
    """Split judgements in half at random, score each half by counting, correlate; mean over the trials.

    Split.JUDGEMENTS is the procedure of Kiritchenko and Mohammad's SHR script, in which a tuple is the set of its
    items. The odd judgement of a tuple goes to either half; an item that only one half saw is dropped if that is the
    second, and scores 0 in the second if it is the first.

    Raises TooFewJudgements if a number would mislead, ValueError if annotators are not known.
    """
    if trials < 1:
        raise ValueError(f"A reliability needs at least 1 trial, not {trials}.")
    if trials > MOST_TRIALS:
        raise ValueError(f"A reliability takes at most {MOST_TRIALS:,} trials, not {trials:,}.")
    if split is Split.JUDGEMENTS:
        judged = np.bincount(tuple_numbers(judgements.items))
        # Where most tuples have one judgement, halves would judge different tuples, which is another reliability.
        if 2 * (judged >= 2).sum() < len(judged) or not len(judged):
            raise TooFewJudgements(
                f"A reliability needs at least two judgements for most tuples; "
                f"{(judged >= 2).sum()} of {len(judged)} have them."
            )
    elif (units := _count(_units(judgements, split))) < 2:
        raise TooFewJudgements(f"A split by {split} needs at least two of them, and there is {units}.")
    draw, scores = draw_halves(judgements, split), HalfScores(judgements)
    rng = np.random.default_rng(seed)
    # One stream for all batches; their size depends on the number of judgements alone.
    correlations = []
    for count in batches(trials, len(judgements)):
        # Cost: for each trial, sparse products of (k + 2) n entries, and sorting m scores twice.
        one, two, seen = scores.count(draw(count, rng))  # (B, m) each
        correlations.append((spearman(one, two, seen), pearson(one, two, seen)))
    rho, r = (np.concatenate(values) for values in zip(*correlations, strict=True))  # (trials,) each
    mean = mean_known(rho, len(judgements))
    return Reliability(
        trials=trials,
        split=split,
        tuples=_count(tuple_numbers(judgements.items)),
        judgements=len(judgements),
        spearman_mean=mean,
        spearman_sd=float(rho.std()),
        pearson_mean=float(r.mean()),
        pearson_sd=float(r.std()),
        spearman_brown=spearman_brown(mean),
    )


def mean_known(rho: FloatArray, judgements: int) -> float:
    """The mean correlation of halves. Raises TooFewJudgements if one of them is not known."""
    if np.isnan(rho).any():
        raise TooFewJudgements(
            f"{judgements} judgements are too few for a reliability: some halves have nothing to compare."
        )
    return float(rho.mean())


def equal_shares(judgements: int, points: int) -> list[int]:
    """How many judgements there were after each of so many equal shares of them."""
    # Cumulative counts n i / points; equal ones (few judgements) are one point.
    shares: list[int] = np.unique(np.linspace(0, judgements, points + 1).round().astype(int)).tolist()
    return shares[1:]


def judgements_for(target: float, *, judgements: int, spearman: float) -> int | None:
    """How many judgements would bring a reliability of `spearman` to the target, by Spearman and Brown's formula.

    None if halves that do not agree promise nothing. Raises ValueError for a target outside 0..1.
    """
    if not 0 < target < 1:
        raise ValueError(f"The target of the reliability must be between 0 and 1, not {target:g}.")
    if spearman <= 0:
        return None
    if spearman >= 1:
        return judgements
    # f times the judgements have r' = f r / (1 + (f - 1) r); for r' = target, f = target (1 - r) / (r (1 - target)).
    return math.ceil(judgements * target * (1 - spearman) / (spearman * (1 - target)))


def spearman_brown(half: float) -> float:
    """The reliability of the whole from that of its halves (Spearman 1910, Brown 1910).

    Halves that disagree have nothing to step up: a negative correlation stays as it is.
    """
    return 2 * half / (1 + half) if half > 0 else half


def batches(trials: int, cells: int) -> Iterator[int]:
    """Cut trials of so many cells each into batches that fit into a processor's cache."""
    at_once = max(1, CELLS_AT_ONCE // max(1, cells))  # at least one trial, however many cells it has
    yield from (min(at_once, trials - start) for start in range(0, trials, at_once))


def draw_halves(judgements: Judgements, split: Split) -> DrawHalves:
    """How to draw halves of this kind. Raises ValueError if annotators are split and not known."""
    if split is Split.JUDGEMENTS:
        return halves_of_groups(tuple_numbers(judgements.items))
    return halves_of_units(_units(judgements, split))


def _units(judgements: Judgements, split: Split) -> IntArray:
    """The tuple or the annotator (n,) of each judgement, numbered from 0."""
    if split is Split.TUPLES:
        return tuple_numbers(judgements.items)
    return np.unique(judgements.people, return_inverse=True)[1]


def _count(numbers: IntArray) -> int:
    return int(numbers.max(initial=-1)) + 1


class HalfScores:
    """Counts both halves of the same judgements in many trials at once."""

    def __init__(self, judgements: Judgements) -> None:
        # Two sparse matrices (m, n): 1 at the best and -1 at the worst of each judgement; 1 for each appearance.
        ordered = np.flatnonzero(~judgements.ties)
        signs = np.repeat(np.array([1, -1], dtype=np.float32), len(ordered))
        chosen = np.concatenate([judgements.best[ordered], judgements.worst[ordered]])
        shape = (judgements.item_count, len(judgements))
        self._net = scipy.sparse.csr_array((signs, (chosen, np.tile(ordered, 2))), shape=shape)
        row, position = np.nonzero(judgements.items >= 0)
        ones = np.ones(len(row), dtype=np.float32)
        self._appearances = scipy.sparse.csr_array(
            (ones, (judgements.items[row, position], row)), shape=shape
        )
        self._net_total: FloatArray = np.asarray(self._net.sum(axis=1))
        self._appearances_total: FloatArray = np.asarray(self._appearances.sum(axis=1))

    def count(
        self, first: Mask, weights: IntArray | Mask | None = None
    ) -> tuple[FloatArray, FloatArray, Mask]:
        """Signed counting scores (B, m) of either half, and which items the first half saw (B, m).

        first: (n, B). An item that the second half did not see scores 0 in it, as in the script. weights: (n, B) how
        often each judgement counts in each trial, or (n, 1) in every trial; once if they are not given.
        """
        chosen = first.astype(np.float32)
        # Second half = total - first half: one pair of products gives both.
        net_total: Counts = self._net_total
        appearances_total: Counts = self._appearances_total
        if weights is not None:
            every = weights.astype(np.float32)
            chosen *= every
            # Weights differ by trial, so the totals (B, m) do too.
            net_total, appearances_total = (self._net @ every).T, (self._appearances @ every).T
        net, appearances = (self._net @ chosen).T, (self._appearances @ chosen).T  # (B, m)
        one = _ratio(net, appearances)
        two = _ratio(net_total - net, appearances_total - appearances)
        return one, two, appearances > 0

    def removals(
        self, values: FloatArray, chosen: Mask, moved: Callable[[FloatArray], FloatArray]
    ) -> FloatArray:
        """What removing each judgement (n, B) from a half does to something that depends on the half's scores.

        values: (B, m) the scores. chosen: (n, B) the half's judgements. moved: what comes of it for each item (B, m) if
        its score, alone, becomes another (B, m). From s, the mean of c outcomes x, to (c s - x) / (c - 1).
        """
        counts = (self._appearances @ chosen.astype(np.float32)).T.astype(np.float64)  # (B, m)
        middle, best, worst = (moved((counts * values - x) / np.maximum(counts - 1, 1)) for x in (0, 1, -1))
        # Summed over the items of each judgement, by the place that each had in it.
        sums = self._appearances.T @ middle.T
        sums += self._net.maximum(0).T @ (best - middle).T - self._net.minimum(0).T @ (worst - middle).T
        return np.asarray(sums)


def _ratio(net: Counts, appearances: Counts) -> FloatArray:
    # s = (times best - times worst) / appearances of each half, in -1..1.
    # Whole numbers in single precision are exact to 2**24; the quotient needs double, so that ties stay ties.
    # An item without an appearance in the half has 0 / 1.
    return net.astype(np.float64) / np.maximum(appearances, 1)
