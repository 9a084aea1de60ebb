"""The means of the utilities and their errors, where the posterior is not quite normal.

With few judgements the posterior of an item that was nearly always best has a long upper tail: its mean is beyond its
mode, and it is wider than the curvature at the mode says. The normal distribution N(u, C) that is nearest to the
posterior (least Kullback-Leibler divergence, Opper and Archambeau 2009) has its gradient 0 and its curvature equal to
C^-1 on the average over itself, and not at one point.
"""

from dataclasses import replace

import numpy as np
from scipy.sparse import csr_array, eye_array

from annotation.bws.judgements import FloatArray
from annotation.bws.scores.maxdiff import MaxDiffLikelihood
from annotation.bws.scores.posterior import Posterior, inverse, solve

ITEMS_ADDED = 2.0  # to the items from which the precision of the prior is found, as in `empirical_bayes`
MOST_ROUNDS = 60
CLOSE_ENOUGH = 1e-4  # of utilities, and of the log of the prior's precision
FURTHER = 1.5  # how much further than its own step EM goes: it converges slowly where little is known
LARGEST_STEP = 1.0


def averaged(likelihood: MaxDiffLikelihood, posterior: Posterior, *, precision_known: bool) -> Posterior:
    """The normal distribution nearest to the posterior whose mode is given, with `utilities` its mean.

    precision_known: keep the prior's precision l. Otherwise it is found again by EM, where each round has
    l = (m + 2) / (E|u - mean|^2 + 2), and what is not known of log l is added as `Posterior.shared` (Kass and Steffey
    1989, equation 3.2). A covariance (m, m) is needed in each round.
    """
    precision, mean = posterior.prior_precision, posterior.prior_mean
    utilities, around = posterior.utilities, posterior.precision
    for _ in range(MOST_ROUNDS):
        covariance = inverse(around)
        moved = 0.0
        if not precision_known:
            likely = _likely_precision(utilities - mean, covariance)
            moved = FURTHER * float(np.log(likely / precision))
            precision *= float(np.exp(moved))
        gradient, curvature = likelihood.expand_over(utilities, covariance)
        around = csr_array(curvature + precision * eye_array(len(utilities)))
        step = solve(around, gradient - precision * (utilities - mean))
        utilities = utilities + step * min(1.0, LARGEST_STEP / np.abs(step).max(initial=1e-9))
        if max(np.abs(step).max(initial=0), abs(moved)) < CLOSE_ENOUGH:
            break
    found = replace(posterior, utilities=utilities, precision=around, prior_precision=precision)
    if precision_known:
        return found
    shared = _of_precision(found, covariance)[:, None]
    return replace(found, shared=shared if found.shared is None else np.hstack([found.shared, shared]))


def _likely_precision(away: FloatArray, covariance: FloatArray) -> float:
    """The precision under which utilities as far from the prior's mean as these (m,) are most likely."""
    return float((len(away) + ITEMS_ADDED) / (away @ away + np.trace(covariance) + ITEMS_ADDED))


def _of_precision(posterior: Posterior, covariance: FloatArray) -> FloatArray:
    """What one standard deviation of log l, with l the prior's precision, moves of the utilities (m,).

    d u / d log l = -l C (u - mean). The information on log l is that of known utilities, (m + 2) / 2, less what is
    missing because they are not known, the variance of l / 2 |u - mean|^2 (Louis 1982).
    """
    away, precision = posterior.utilities - posterior.prior_mean, posterior.prior_precision
    moved = -precision * (covariance @ away)
    missing = precision**2 / 2 * float((covariance**2).sum()) - precision * float(away @ moved)
    complete = (len(away) + ITEMS_ADDED) / 2
    return np.asarray(moved / np.sqrt(max(complete - missing, complete / 100)))
