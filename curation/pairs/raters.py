"""How far raters agree who gave numbers to the same pairs: intraclass correlations and Krippendorff's alpha."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike

from curation.pairs.word_tables import Integers, Reals

LIMIT = 0.999_999  # Fisher's z of 1 would be infinite


@dataclass(frozen=True)
class Agreed:
    """A coefficient with its 95 % interval over pairs; the ends are None where they are not defined."""

    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class RaterAgreement:
    """Of the pairs that two or more people rated.

    pairs, ratings: their numbers.
    one, mean: ICC(1), how far one rating by any rater, or the mean of a pair's ratings, tells pairs apart
        (Shrout and Fleiss 1979). The mean is that of a pair with the mean number of ratings.
    two, two_mean: ICC(2), absolute agreement of raters who all rated all pairs; None for other ratings.
    alpha: Krippendorff's alpha for intervals (Krippendorff 2004, chapter 11).
    """

    pairs: int
    ratings: int
    one: Agreed
    mean: Agreed
    two: Agreed | None
    two_mean: Agreed | None
    alpha: Agreed

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def rater_agreement(pairs: ArrayLike, raters: ArrayLike, values: ArrayLike) -> RaterAgreement | None:
    """The agreement of n ratings: numbers of the pairs and of the raters (n,), and the values (n,).

    raters: -1 for somebody who is not known; a rater gives one value to a pair. The intervals are for other pairs by
    the same raters: on Fisher's z, with standard errors by the jackknife that leaves out one pair at a time, and
    Student's t (`docs/experiments/rater_agreement.py`). None where fewer than two pairs have two ratings, or all of
    these are equal.
    """
    every = np.asarray(pairs, dtype=np.int64)
    number = np.bincount(every)
    kept = number[every] >= 2
    number = number[number >= 2]
    given = np.asarray(values, dtype=np.float64)[kept]
    if len(number) < 2 or np.ptp(given) == 0:
        return None
    place = np.unique(every[kept], return_inverse=True)[1]
    given = given - given.mean()  # no figure depends on the origin, and sums of squares keep their digits
    total = np.bincount(place, given)  # S of each pair (m,)
    away = given - (total / number)[place]
    within = np.bincount(place, away**2)  # W, the sum of squares around the pair's mean
    columns = [number, number**2, total, total**2 / number, within, number * within / (number - 1)]
    by_rater = _by_rater(place, np.asarray(raters)[kept], given, len(number))
    if by_rater is not None:
        columns += list(by_rater)
    table = np.column_stack([np.ones(len(number)), *columns]).astype(np.float64)
    whole = table.sum(axis=0)[None]
    # Each coefficient of all pairs (1,), and without each pair in turn (m,).
    both = zip(_coefficients(whole), _coefficients(whole - table), strict=True)
    found = [_interval(*each) for each in both]
    one, mean, alpha, *two = found
    return RaterAgreement(
        pairs=len(number),
        ratings=int(number.sum()),
        one=one,
        mean=mean,
        two=two[0] if two else None,
        two_mean=two[1] if two else None,
        alpha=alpha,
    )


def _by_rater(place: Integers, raters: Integers, values: Reals, pairs: int) -> Reals | None:
    """The values of each rater (k, m), where all of them rated all pairs; else None."""
    known, column = np.unique(raters, return_inverse=True)
    if known[0] < 0 or len(values) != len(known) * pairs:
        return None
    table = np.full((len(known), pairs), np.nan)
    table[column, place] = values
    return None if np.isnan(table).any() else table


def _coefficients(sums: Reals) -> list[Reals]:
    """ICC(1) of one rating and of the mean, alpha, and, with columns of raters, ICC(2) of both: each (B,).

    sums: (B, 7) over pairs of 1, n, n^2, S, S^2 / n, W and n W / (n - 1), with n ratings of a pair, their sum S, and W
    the sum of their squares around their mean; then, of each of k raters, the sum of their values.
    """
    pairs, ratings, squares, total, between, within, disagreeing = sums.T[:7]
    with np.errstate(invalid="ignore", divide="ignore"):
        level = total**2 / ratings
        # One-way analysis of variance: mean squares between pairs, with m - 1 degrees of freedom, and within, N - m.
        msb, msw = (between - level) / (pairs - 1), within / (ratings - pairs)
        # n_0, the number of ratings of a pair where they differ (Donner 1986).
        each = (ratings - squares / ratings) / (pairs - 1)
        # ICC(1) = (MSB - MSW) / (MSB + (n_0 - 1) MSW); of the mean of n_0 ratings, (MSB - MSW) / MSB.
        one, mean = (msb - msw) / (msb + (each - 1) * msw), (msb - msw) / msb
        # alpha = 1 - D_o / D_e. D_o = 2 / N sum of n W / (n - 1): mean squared difference of two ratings of a pair.
        # D_e = 2 (SS of all) / (N - 1): of any two ratings.
        whole = between - level + within
        alpha = 1 - (ratings - 1) / ratings * disagreeing / whole
        found = [one, mean, alpha]
        if sums.shape[1] > 7:
            k = sums.shape[1] - 7
            # Two-way analysis of variance: raters take (k - 1) degrees of freedom from what is within pairs.
            of_raters = (sums[:, 7:] ** 2).sum(axis=1) / pairs - level
            msc, mse = of_raters / (k - 1), (within - of_raters) / ((pairs - 1) * (k - 1))
            # ICC(2,1) = (MSR - MSE) / (MSR + (k - 1) MSE + k (MSC - MSE) / m); of the mean of all raters,
            # (MSR - MSE) / (MSR + (MSC - MSE) / m).
            found.append((msb - mse) / (msb + (k - 1) * mse + k * (msc - mse) / pairs))
            found.append((msb - mse) / (msb + (msc - mse) / pairs))
    return found


def _interval(value: Reals, without: Reals) -> Agreed:
    """The coefficient (1,) with its interval. without: the coefficient without each of m pairs (m,)."""
    estimate, count = float(value[0]), len(without)
    middle, z = (np.arctanh(np.clip(each, -LIMIT, LIMIT)) for each in (value, without))
    # Var(z) = (m - 1) / m sum of (z_i - mean z)^2.
    error = float(np.sqrt((count - 1) * z.var()))
    if np.isnan(error):
        return Agreed(estimate, None, None)
    margin = float(scipy.special.stdtrit(count - 1, 0.975)) * error
    return Agreed(estimate, float(np.tanh(middle[0] - margin)), float(np.tanh(middle[0] + margin)))
