"""Scores of items from judgements: by counting, by the MaxDiff model, by the Bradley-Terry model.

The models find a utility u for each item. On the scales of counting it is tanh(u / 2), signed, or 1 / (1 + exp(-u)),
unit: the inverse of how Marley, Islam and Hawkins (2016) estimate a utility from a counting score.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from scipy.special import expit

from annotation.bws.judgements import FloatArray, IntArray, Judgements, tallied
from annotation.bws.scores.bradley_terry import BradleyTerryLikelihood, implied_pairs
from annotation.bws.scores.maxdiff import MaxDiffLikelihood
from annotation.bws.scores.posterior import ErrorKind, Posterior, fit_utilities, posterior_errors


class Scale(StrEnum):
    """The range of scores: -1..1 as counted, or 0..1 by (score + 1) / 2."""

    SIGNED = "signed"
    UNIT = "unit"


@dataclass(frozen=True, eq=False)
class Scores:
    """One score for each of m items, with the counts behind it; NaN for an item that never appeared.

    error_kind: where the standard errors come from; they are all NaN if it is NONE.
    """

    values: FloatArray
    standard_errors: FloatArray
    appearances: IntArray
    best: IntArray
    worst: IntArray
    error_kind: ErrorKind = ErrorKind.COUNTED


def counting_scores(judgements: Judgements, *, scale: Scale = Scale.UNIT) -> Scores:
    """Score each item by (times best - times worst) / appearances (Orme 2009).

    Returns m scores in 0..1, or -1..1 when signed, on the scale of the standard errors beside them.
    An item that is in a row twice appears twice in it. A tie is an appearance of its items, neither best nor worst.
    """
    appearances, best, worst = counts(judgements)
    with np.errstate(invalid="ignore"):
        signed = np.where(appearances > 0, (best - worst) / appearances, np.nan)
    errors = counting_errors(appearances, best, worst)
    values, errors = (signed, errors) if scale is Scale.SIGNED else ((signed + 1) / 2, errors / 2)
    return Scores(values, errors, appearances, best, worst)


def counts(judgements: Judgements) -> tuple[IntArray, IntArray, IntArray]:
    """Count the appearances of each item (m,), and how often it was best and worst."""
    appearances, best, worst = (
        tallied(numbers, judgements.item_count)
        for numbers in (judgements.items, judgements.best, judgements.worst)
    )
    return appearances, best, worst


def counting_errors(appearances: IntArray, best: IntArray, worst: IntArray) -> FloatArray:
    """Standard errors (m,) of signed counting scores; NaN for an item that never appeared.

    An appearance is worth 1, 0 or -1. Each of the three is counted once more than it was seen (Laplace): an item that
    was best in all of its eight appearances is not therefore known without error.
    """
    seen = appearances + 3
    mean = (best - worst) / seen
    variance = (best + worst + 2) / seen - mean**2  # E[x^2] - E[x]^2
    errors = np.sqrt(variance / np.maximum(appearances, 1))
    return np.where(appearances > 0, errors, np.nan)


def maxdiff_scores(
    judgements: Judgements,
    *,
    scale: Scale = Scale.UNIT,
    prior_precision: float = 1.0,
    with_errors: bool = True,
) -> Scores:
    """Score each item by its utility in the MaxDiff model, with a Gaussian prior around 0.

    Uses which items an item met, which counting does not: as accurate with about half of the judgements.
    Standard errors are those of the normal approximation of the posterior; without them it takes a fraction of the
    time. NaN for an item that never appeared.
    """
    posterior = fit_utilities(MaxDiffLikelihood(judgements), prior_precision=prior_precision)
    errors, kind = posterior_errors(posterior.precision) if with_errors else (None, ErrorKind.NONE)
    return _model_scores(posterior, judgements, scale, errors, kind)


def bradley_terry_scores(
    judgements: Judgements, *, scale: Scale = Scale.UNIT, prior_precision: float = 1.0
) -> Scores:
    """Score each item by its utility in the Bradley-Terry model on the pairs that judgements imply.

    Has no standard errors: the pairs of one judgement are not independent, and errors that assume so would be too
    small. `maxdiff_scores` has them.
    """
    likelihood = BradleyTerryLikelihood(*implied_pairs(judgements), judgements.item_count)
    posterior = fit_utilities(likelihood, prior_precision=prior_precision)
    return _model_scores(posterior, judgements, scale, None, ErrorKind.NONE)


METHODS: dict[str, Callable[..., Scores]] = {
    "counting": counting_scores,
    "bradley-terry": bradley_terry_scores,
    "maxdiff": maxdiff_scores,
}


def _model_scores(
    posterior: Posterior, judgements: Judgements, scale: Scale, errors: FloatArray | None, kind: ErrorKind
) -> Scores:
    """Utilities and their errors (m,) on a scale of counting; errors by the slope of the scale at the utility."""
    appearances, best, worst = counts(judgements)
    unit = expit(posterior.utilities)
    unit_errors = unit * (1 - unit) * (np.nan if errors is None else errors)  # d expit(u) / du = p (1 - p)
    values, scaled = (unit, unit_errors) if scale is Scale.UNIT else (2 * unit - 1, 2 * unit_errors)
    seen = appearances > 0
    return Scores(
        np.where(seen, values, np.nan), np.where(seen, scaled, np.nan), appearances, best, worst, kind
    )
