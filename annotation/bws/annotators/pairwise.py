"""How often two judgements of the same tuple make the same choices, with intervals."""

import numpy as np

from annotation.bws.judgements import FloatArray, IntArray, summed, tallied
from curation.results.estimates import Estimate
from curation.statistics.intervals import percentile_interval

# Of two people, a resample holds one of them twice half of the time, and then there is no pair.
FEWEST_PEOPLE = 3  # to resample
RESAMPLES = 2_000


def choices_alike(best: IntArray, worst: IntArray, other_best: IntArray, other_worst: IntArray) -> FloatArray:
    """The share of the two choices, best and worst, that are alike: 0, .5 or 1 for each of n judgements, (n,).

    best, worst: (n,) one judgement's choices; other_best, other_worst: (n,) those of the judgement compared with it.
    Two ties (-1) are alike.
    """
    shares: FloatArray = ((best == other_best) * 1.0 + (worst == other_worst)) / 2
    return shares


def pairs_of_people(tuples: IntArray) -> tuple[IntArray, IntArray]:
    """Every two judgements of the same tuple, by their places among the n judgements: (q,) and (q,).

    tuples: (n,) the number of each judgement's tuple. A tuple with c judgements gives c (c - 1) / 2 pairs, so a tuple
    with one judgement gives none.
    """
    order = np.argsort(tuples, kind="stable")
    ones, twos = [], []
    for group in np.split(order, np.flatnonzero(np.diff(tuples[order])) + 1) if len(order) else []:
        first, second = np.triu_indices(len(group), 1)  # the (c - 1) c / 2 pairs of one tuple
        ones.append(group[first])
        twos.append(group[second])
    empty = np.zeros(0, dtype=np.int64)
    return np.concatenate([empty, *ones]), np.concatenate([empty, *twos])


class Draws:
    """Resamples of tuples and of people: how often each was drawn, (T, resamples) and (a, resamples)."""

    def __init__(self, tuples: IntArray, people: IntArray, resamples: int, rng: np.random.Generator) -> None:
        known = np.unique(people)
        self._tuple, self._person = tuples, np.searchsorted(known, people)  # (n,) each
        self._drawn_tuples = times_drawn(int(tuples.max(initial=-1)) + 1, resamples, rng)
        several = len(known) >= FEWEST_PEOPLE
        self._drawn_people = times_drawn(len(known), resamples, rng) if several else None

    def estimate(self, alike: FloatArray, one: IntArray, two: IntArray) -> Estimate | None:
        """The mean of agreements (q,): of the judgements in the places `one` with those in `two`, or with a machine,
        where both are the same places.
        """
        return widest(float(alike.mean()), self._means(alike, one, two)) if len(alike) else None

    def difference(
        self, machine: FloatArray, among: FloatArray, one: IntArray, two: IntArray
    ) -> Estimate | None:
        """Agreement with the machine (n,) less that among people (q,), on judgements whose tuple two people judged.

        one, two: (q,) the places of the two judgements that each figure of `among` compares.
        Returns None if no tuple was judged by two people.
        """
        shared = np.unique(np.concatenate([one, two]))
        # Both figures are of the same judgements and resamples, so the spread is that of a paired difference.
        if not len(shared):
            return None
        with_machine = self._means(machine[shared], shared, shared)
        with_each_other = self._means(among, one, two)
        drawn = [first - second for first, second in zip(with_machine, with_each_other, strict=True)]
        return widest(float(machine[shared].mean() - among.mean()), drawn)

    def _means(self, alike: FloatArray, one: IntArray, two: IntArray) -> list[FloatArray]:
        """The mean in each resample, (resamples,), of tuples and of people."""
        means = [_mean_drawn(self._tuple[one], alike, self._drawn_tuples)]
        if self._drawn_people is None:
            return means
        drawn, count = self._drawn_people, len(self._drawn_people)
        if np.array_equal(one, two):
            return [*means, _mean_drawn(self._person[one], alike, drawn)]
        # Two judgements of a tuple count as often as both people were drawn.
        # S (a, a): sums of agreements of person i with person j; N (a, a): how often they met.
        cells = self._person[one] * count + self._person[two]
        sums = summed(cells, alike, count**2).reshape(count, count)
        counts = tallied(cells, count**2).reshape(count, count)
        # With d (a,) the times drawn, sums are d^T S d and d^T N d, for all resamples at once.
        met = (drawn * (counts @ drawn)).sum(axis=0)
        return [*means, ratio((drawn * (sums @ drawn)).sum(axis=0), met)]


def _mean_drawn(unit: IntArray, alike: FloatArray, drawn: IntArray) -> FloatArray:
    """The mean of agreements (q,), each as often as its unit (q,) was drawn: (resamples,)."""
    count = len(drawn)
    return ratio(summed(unit, alike, count) @ drawn, tallied(unit, count) @ drawn)  # sum of d x / sum of d


def ratio(sums: FloatArray, counts: FloatArray | IntArray) -> FloatArray:
    """NaN where nothing was drawn."""
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


def times_drawn(units: int, resamples: int, rng: np.random.Generator) -> IntArray:
    """How often each unit is drawn if as many are drawn with replacement as there are: (units, resamples)."""
    if not units:
        return np.zeros((0, resamples), dtype=np.int64)
    # Counts of n draws among n units are multinomial with equal chances.
    return rng.multinomial(units, np.full(units, 1 / units), size=resamples).T


def widest(value: float, drawn: list[FloatArray]) -> Estimate:
    """The value with the widest of the percentile intervals of resamples."""
    intervals = [found for each in drawn if (found := percentile_interval(each)) is not None]
    widest = max(intervals, key=lambda found: found.high - found.low)
    return Estimate(value, widest.low, widest.high)
