"""Which of two methods gives more reliable scores in the same time: Best-Worst judgements, or ratings on a scale."""

import math
from dataclasses import dataclass

import numpy as np

from annotation.bws.judgements import FloatArray, IntArray, Judgements, Mask, tuple_numbers
from annotation.bws.reliability.correlation import spearman
from annotation.bws.reliability.drawing import halves_of_units, random_ranks
from annotation.bws.reliability.interval import FEWEST_PEOPLE
from annotation.bws.reliability.ratings import HalfMeans, Halves, Ratings, halves_of_ratings, rating_scores
from annotation.bws.reliability.split_half import HalfScores, TooFewJudgements
from annotation.bws.scores.scoring import counting_scores
from annotation.bws.studies.costs import PAUSE_MINUTES
from curation.results.estimates import Estimate
from curation.statistics.influence import Correlation, spearman_by_pair, spearman_within

POINTS = 5  # of the curve over time
CELLS = 2_000_000  # of an array (answers, trials); with more answers there are fewer trials
MOST_TRIALS, FEWEST_TRIALS = 100, 20
SHARED_TRIALS, MOST_GROUPS = 20, 30  # of the jackknife over people


@dataclass(frozen=True, eq=False)
class Timed:
    """When n answers of people were shown and given, in seconds of one clock.

    people: (n,) numbers. shown: (n,) NaN where nobody measured. given: (n,).
    """

    people: IntArray
    shown: FloatArray
    given: FloatArray

    def seconds(self, *, pause: float = 60 * PAUSE_MINUTES) -> FloatArray:
        """How long each answer took (n,): since the same person's answer before, or since it was shown where that one
        is longer ago than a pause. NaN where neither is known. Together they are the person's sittings.
        """
        seconds = np.full(len(self.given), np.nan)
        for person in np.unique(self.people):
            own = np.flatnonzero(self.people == person)
            own = own[np.argsort(self.given[own], kind="stable")]
            # In order of arrival: the first answer has nothing before it.
            since_last = np.diff(self.given[own], prepend=-np.inf)
            since_shown = self.given[own] - self.shown[own]
            known = (since_shown >= 0) & (since_shown <= pause)
            seconds[own] = np.where(since_last <= pause, since_last, np.where(known, since_shown, np.nan))
        return seconds


@dataclass(frozen=True)
class MethodsPoint:
    """What each method reaches if each half has `seconds` of work per pair.

    judgements, ratings: answers in each half. best_worst, slider: split-half reliability. difference: the first less
    the second.
    """

    seconds: float
    judgements: int
    ratings: int
    best_worst: Estimate
    slider: Estimate
    difference: Estimate


@dataclass(frozen=True)
class MethodsCompared:
    """pairs: that were rated. points: with growing time; at the last one the method with less work has used all.

    judgement_seconds, rating_seconds: of one answer. people: whether the intervals are for other people too.
    correlation: of the scores of both methods.
    """

    pairs: int
    judgement_seconds: float
    rating_seconds: float
    points: tuple[MethodsPoint, ...]
    people: bool
    correlation: Correlation

    @property
    def last(self) -> MethodsPoint:
        return self.points[-1]


def methods_compared(
    judgements: Judgements,
    ratings: Ratings,
    *,
    judgement_seconds: float,
    rating_seconds: float,
    trials: int = MOST_TRIALS,
    seed: int = 1234,
) -> MethodsCompared:
    """Correlate the scores of two halves of either method, each half with the same time for each pair.

    judgement_seconds, rating_seconds: of one answer. Items have the same numbers in both, and ratings may be of some of
    them; correlations are over those, while the time of the judgements is shared by all items that they ask about.

    A half of the judgements has half of the tuples: the other half shares no tuple with it, as another campaign would
    not, because tuples that are shared make halves alike that are not reliable. A half of the ratings has half of the
    ratings of each item. Smaller halves keep random answers, one of each tuple or item before a second one. An item
    that a half says nothing about gets the middle of its scores. Judgements are scored by counting, ratings by their
    mean; correlations are Spearman's, means over the trials.

    Intervals (95 %, normal; those of a reliability on Fisher's z) are for other pairs and for other people: from each
    pair's influence (the infinitesimal jackknife), paired in the difference, and from leaving out people one by one if
    a method has three or more. The larger standard error of the two counts. People are not resampled with replacement:
    fewer different people rate a pair then, which lowers the reliability by far more than other people would.
    Raises TooFewJudgements if the halves have less than one judgement and one rating for each pair.
    """
    rated = np.unique(ratings.items)
    asked = len(np.unique(judgements.items[judgements.items >= 0]))
    if len(rated) < 3 or not asked:
        raise TooFewJudgements("A comparison needs judgements, and ratings of three pairs.")
    # Seconds of each pair's time that one answer takes: all pairs share the time of an answer evenly.
    per_judgement, per_rating = judgement_seconds / asked, rating_seconds / len(rated)  # of each pair's time
    # The method with less work in one half ends the curve.
    most = min(len(judgements) / 2 * per_judgement, len(ratings) / 2 * per_rating)
    # asked / k judgements hold each pair once: seconds / k of a pair's time; one rating of each pair: its seconds.
    fewest = max(judgement_seconds / judgements.size, rating_seconds)
    if most < fewest * (1 - 1e-9):
        raise TooFewJudgements(
            "Each half needs time for one rating of every pair and for every pair in one judgement; "
            "there is too little yet."
        )
    # Memory: arrays (answers, trials) of at most two million cells.
    trials = max(min(trials, FEWEST_TRIALS), min(trials, CELLS // (len(judgements) + len(ratings))))
    rng = np.random.default_rng(seed)
    sides = (_Judged(judgements, rated, trials, rng), _Rated(ratings, rated, trials, rng))
    points = []
    for seconds in np.linspace(fewest, most, POINTS) if most > 1.05 * fewest else [most]:
        # Answers of each half in the same seconds per pair.
        numbers = round(seconds / per_judgement), round(seconds / per_rating)
        points.append(_point(float(seconds), numbers, sides))
    scores = counting_scores(judgements, with_errors=False).values[rated]
    known = ~np.isnan(scores)
    return MethodsCompared(
        pairs=len(rated),
        judgement_seconds=judgement_seconds,
        rating_seconds=rating_seconds,
        points=tuple(points),
        people=all(side.groups is not None for side in sides),
        correlation=spearman_within(scores[known], rating_scores(ratings)[rated][known]),
    )


class _Side:
    """One method: random halves of its n answers, and to which group of people each answer belongs (n,), if known."""

    def __init__(
        self, halves: Halves, people: IntArray | None, rated: IntArray, rng: np.random.Generator
    ) -> None:
        self.halves, self.groups, self.rated = halves, _groups(people, rng), rated

    def scores(self, first: Mask, kept: Mask) -> tuple[FloatArray, FloatArray]:
        """Scores (B, m) of either half from the answers (n, B) that are kept."""
        raise NotImplementedError

    def reliability(self, number: int) -> tuple[FloatArray, float | None]:
        """With `number` answers in each half: pseudo-values (pairs,) with it as mean, and its variance over people."""
        kept = self.halves.smaller(number)
        one, two = self.scores(self.halves.first, kept)
        found = [
            values
            # Pseudo-values of each split (pairs,), averaged over splits: the mean over pairs is the mean reliability.
            for left, right in zip(one[:, self.rated], two[:, self.rated], strict=True)
            if (values := spearman_by_pair(left, right)) is not None
        ]
        if len(found) < len(one) / 2:
            raise TooFewJudgements("The halves have nothing to compare: nearly all scores are equal.")
        pseudo_values = np.mean(found, axis=0)
        if self.groups is None:
            return pseudo_values, None
        # The variance over people, by the jackknife that leaves out one group of people at a time (Wolter 2007,
        # chapter 4). All of them share the splits, so that only the people differ.
        first, kept = self.halves.first[:, :SHARED_TRIALS], kept[:, :SHARED_TRIALS]
        without = []
        for group in range(int(self.groups.max()) + 1):
            one, two = self.scores(first, kept & (self.groups != group)[:, None])
            one, two = one[:, self.rated], two[:, self.rated]
            # Without the group's answers, on the same halves; undefined correlations count as 0.
            without.append(np.nan_to_num(spearman(one, two, np.ones(one.shape, dtype=np.bool_))).mean())
        # Jackknife: Var = (G - 1) / G sum (r_-g - mean)^2 = (G - 1) times the variance with divisor G.
        return pseudo_values, (len(without) - 1) * float(np.var(without))


class _Judged(_Side):
    def __init__(
        self, judgements: Judgements, rated: IntArray, trials: int, rng: np.random.Generator
    ) -> None:
        self._scores = HalfScores(judgements)
        tuples = tuple_numbers(judgements.items)
        # The judgement's rank within its tuple, then chance: one of each tuple before a second one.
        turn = random_ranks(tuples, trials, rng) + rng.random((len(tuples), trials))
        halves = Halves(halves_of_units(tuples)(trials, rng), turn)
        super().__init__(halves, judgements.annotators, rated, rng)

    def scores(self, first: Mask, kept: Mask) -> tuple[FloatArray, FloatArray]:
        one, two, _seen = self._scores.count(first, kept.astype(np.int64))
        return one, two


class _Rated(_Side):
    def __init__(self, ratings: Ratings, rated: IntArray, trials: int, rng: np.random.Generator) -> None:
        self._means = HalfMeans(ratings)
        super().__init__(halves_of_ratings(ratings, trials, rng), ratings.people, rated, rng)

    def scores(self, first: Mask, kept: Mask) -> tuple[FloatArray, FloatArray]:
        return self._means.count(first, kept)


def _groups(people: IntArray | None, rng: np.random.Generator) -> IntArray | None:
    """Each answer's person (n,), or its group of people where there are very many; None if they are too few."""
    if people is None:
        return None
    number = np.unique(people, return_inverse=True)[1]
    count = int(number.max(initial=-1)) + 1
    if count < FEWEST_PEOPLE:
        return None
    # At most 30 groups, equally large but for one.
    grouped: IntArray = (rng.permutation(count) % MOST_GROUPS)[number]
    return grouped


def _point(seconds: float, numbers: tuple[int, int], sides: tuple[_Side, _Side]) -> MethodsPoint:
    found = [side.reliability(number) for side, number in zip(sides, numbers, strict=True)]
    pairs, people = zip(*found, strict=True)
    estimates = [
        # Var over pairs or over people, the larger one.
        _reliability(float(each.mean()), max(_variance(each), variance or 0.0))
        for each, variance in zip(pairs, people, strict=True)
    ]
    change = pairs[0] - pairs[1]
    # Of a difference: paired over pairs; over people the two variances add, as for methods with different people.
    margin = 1.96 * math.sqrt(max(_variance(change), sum(each or 0.0 for each in people)))
    difference = float(change.mean())
    return MethodsPoint(
        seconds=seconds,
        judgements=numbers[0],
        ratings=numbers[1],
        best_worst=estimates[0],
        slider=estimates[1],
        difference=Estimate(difference, difference - margin, difference + margin),
    )


def _variance(pseudo_values: FloatArray) -> float:
    """Of their mean."""
    return float(pseudo_values.var(ddof=1)) / len(pseudo_values)


def _reliability(value: float, variance: float) -> Estimate:
    """With its interval, which is normal on Fisher's z."""
    inside = 1 - value**2  # 1 - r^2 = dr / dz, so SE(z) = SE(r) / (1 - r^2)
    if inside < 1e-12:
        return Estimate(value, value, value)
    margin, middle = 1.96 * math.sqrt(variance) / inside, math.atanh(value)
    return Estimate(value, math.tanh(middle - margin), math.tanh(middle + margin))
