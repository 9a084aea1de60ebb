"""Ratings of single items on a scale, their scores, and scores of random halves of them."""

from dataclasses import dataclass, replace

import numpy as np
import scipy

from annotation.bws.judgements import FloatArray, IntArray, Mask, summed, tallied
from annotation.bws.reliability.drawing import random_ranks


@dataclass(frozen=True, eq=False)
class Ratings:
    """n ratings: in each, one person rated one of m items; nobody rates an item twice.

    items: (n,) item numbers from 0. people: (n,) numbers from 0. values: (n,) on one scale. item_count: m.
    Raises ValueError if the arrays do not fit together, or somebody rated an item twice.
    """

    items: IntArray
    people: IntArray
    values: FloatArray
    item_count: int

    def __post_init__(self) -> None:
        if not self.items.shape == self.people.shape == self.values.shape == (len(self),):
            raise ValueError(
                f"ratings need items, people and values (n,), not {self.items.shape}, {self.people.shape} and "
                f"{self.values.shape}"
            )
        if len(self) and not 0 <= self.items.min() <= self.items.max() < self.item_count:
            raise ValueError(f"item numbers must lie between 0 and {self.item_count - 1}")
        if len(np.unique(np.stack([self.items, self.people]), axis=1).T) < len(self):
            raise ValueError("somebody rated an item twice")

    def __len__(self) -> int:
        return len(self.items)

    def standardised(self) -> "Ratings":
        """Each person's values less their mean and divided by their standard deviation (of all their ratings, n - 1).

        It takes out that people use different parts of the scale. It is fair where people rated the same items, or
        items drawn by chance. All values of somebody who always gave the same one become 0.
        """
        count = int(self.people.max(initial=-1)) + 1
        number = np.maximum(1, tallied(self.people, count))
        # x - mean of the person (n,).
        centred = self.values - (summed(self.people, self.values, count) / number)[self.people]
        # sd = sqrt(sum (x - mean)^2 / (n - 1)) of each rating's person.
        spread = np.sqrt(summed(self.people, centred**2, count) / np.maximum(1, number - 1))[self.people]
        # Rounding leaves a spread just above 0 where somebody's values are all equal.
        return replace(
            self, values=np.divide(centred, spread, out=np.zeros_like(centred), where=spread > 1e-12)
        )


def rating_scores(ratings: Ratings) -> FloatArray:
    """The mean rating (m,) of each item; NaN where nobody rated it."""
    counts = tallied(ratings.items, ratings.item_count)
    sums = summed(ratings.items, ratings.values, ratings.item_count)
    scores = np.full(ratings.item_count, np.nan)
    np.divide(sums, counts, out=scores, where=counts > 0)
    return scores


@dataclass(frozen=True, eq=False)
class Halves:
    """Random halves of n answers, for B trials.

    first: (n, B) whether the answer is in the first half. turn: (n, B) when the answer is taken if a half is
    made smaller: a number that rises, first one answer of each item or tuple, then a second one.
    """

    first: Mask
    turn: FloatArray

    def smaller(self, number: int) -> Mask:
        """Which answers (n, B) are kept if each half has `number` answers, or all that it has."""
        kept = np.zeros_like(self.first)
        for half in (self.first, ~self.first):
            turns = np.where(half, self.turn, np.inf)  # those of the other half come last
            # argpartition finds the `number` smallest in linear time; their order does not matter.
            order = np.argpartition(turns, min(number, len(turns)) - 1, axis=0)[:number]  # (number, B)
            early = np.zeros_like(half)
            np.put_along_axis(early, order, values=True, axis=0)
            # `number` may be more than the half has: turns of the other half are then among them, and are taken off.
            kept |= early & half
        return kept


def halves_of_ratings(ratings: Ratings, trials: int, rng: np.random.Generator) -> Halves:
    """Split the ratings of each item in half; of an odd number, the odd one goes to either half."""
    place = random_ranks(ratings.items, trials, rng)  # (n, B)
    # One coin for each item and trial.
    side = rng.integers(0, 2, size=(ratings.item_count, trials))[ratings.items]
    # Even places go to one half and odd ones to the other; place // 2 counts an item's ratings within its half.
    return Halves(place % 2 == side, place // 2 + rng.random(place.shape))


class HalfMeans:
    """Mean ratings of both halves of the same ratings in many trials at once."""

    def __init__(self, ratings: Ratings) -> None:
        ones = np.ones(len(ratings))
        # S (m, n): 1 where a rating is of an item, so S w and S (w x) are all counts and sums at once.
        self._item = scipy.sparse.csr_array(
            (ones, (ratings.items, np.arange(len(ratings)))), shape=(ratings.item_count, len(ratings))
        )
        self._values = ratings.values[:, None]

    def count(self, first: Mask, weights: FloatArray | IntArray | Mask) -> tuple[FloatArray, FloatArray]:
        """Mean ratings (B, m) of either half. weights: (n, B) how often each rating counts in each trial.

        An item without a rating in a half gets the mean of the half's items: nothing is known of it.
        """
        one, two = (self._means(np.where(half, weights, 0)) for half in (first, ~first))
        return one, two

    def _means(self, weights: FloatArray) -> FloatArray:
        # Of each item, sum of w and sum of w x.
        counts = np.asarray(self._item @ weights.astype(np.float64)).T  # (B, m)
        sums = np.asarray(self._item @ (weights * self._values)).T
        seen = counts > 0
        means = sums / np.where(seen, counts, 1)
        middle = np.where(seen, means, 0).sum(axis=1) / np.maximum(1, seen.sum(axis=1))
        filled: FloatArray = np.where(seen, means, middle[:, None])
        return filled
