"""The means of the utilities and their errors, where the posterior is not quite normal.

With few judgements the posterior of an item that was nearly always best has a long upper tail: its mean is beyond its
mode, and it is wider than the curvature at the mode says. The normal distribution N(u, C) that is nearest to the
posterior (least Kullback-Leibler divergence, Opper and Archambeau 2009) has its gradient 0 and its curvature equal to
C^-1 on the average over itself, and not at one point.
"""

from dataclasses import replace

import numpy as np
import scipy

from annotation.bws.judgements import FloatArray
from annotation.bws.scores import precision_prior
from annotation.bws.scores.maxdiff import MaxDiffLikelihood
from annotation.bws.scores.posterior import ErrorKind, Posterior, inverse, solve

MOST_ROUNDS = 200
CLOSE_ENOUGH = 1e-4  # of utilities, and of the log of the prior's precision
LARGEST_STEP = 1.0  # of a utility, and of log l, in one round
SMALLEST_SHARE = 1 / 8  # of what a round would change in C^-1 and log l
# Of log l at its maximum. With c its slope by s^2 and d its negative second derivative by s^2, the log marginal
# likelihood is c s^2 - d s^4 / 2 where s is small, and where its slope by log l is that of the prior, 1/2, its
# information on log l is 1/2 + d s^4.
LEAST_INFORMATION = 0.5


def averaged(likelihood: MaxDiffLikelihood, posterior: Posterior, *, precision_known: bool) -> Posterior:
    """The normal distribution nearest to the posterior whose mode is given, with `utilities` its mean.

    precision_known: keep the prior's precision l. Otherwise its logarithm is found again by Newton's method, at the
    maximum of the marginal likelihood times `precision_prior`, and what is not known of it is added as
    `Posterior.shared` (Kass and Steffey 1989, equation 3.2). A covariance (m, m) is needed in each round.
    Returns the posterior that was given, whose kind says so, where no such distribution is found in MOST_ROUNDS.
    """
    precision, mean = posterior.prior_precision, posterior.prior_mean
    utilities, around = posterior.utilities, posterior.precision  # u (m,), C^-1 (m, m)
    share, last = 1.0, np.inf
    for _ in range(MOST_ROUNDS):
        covariance = inverse(around)  # C (m, m): each round costs m^3
        moved = 0.0
        if not precision_known:
            # Newton's step of log l, no more than a factor e at once.
            slope, information = _of_log_precision(precision, utilities - mean, covariance)
            moved = float(np.clip(slope / information, -LARGEST_STEP, LARGEST_STEP))
            precision *= float(np.exp(share * moved))
        gradient, curvature = likelihood.expand_over(utilities, covariance)
        # C^-1 = E[H(u)] + l I, with the expectation over N(u, C); of the difference, `share` is taken.
        whole = curvature + precision * scipy.sparse.eye_array(len(utilities))
        around = scipy.sparse.csr_array(whole if share == 1 else share * whole + (1 - share) * around)
        # (E[H] + l I) s = E[gradient] - l (u - mean): at the end, the expected gradient of the log-posterior is 0.
        step = solve(around, gradient - precision * (utilities - mean))
        # A step is scaled as a whole, so that no utility moves by more than 1.
        utilities = utilities + step * min(1.0, LARGEST_STEP / np.abs(step).max(initial=1e-9))
        size = max(np.abs(step).max(initial=0), abs(moved))
        if size < CLOSE_ENOUGH:
            break
        # A wider C flattens E[H], and so widens C: where people choose decidedly, u, C and l swing around their
        # values without an end. A round that comes no nearer than the one before halves what later ones change.
        share = max(SMALLEST_SHARE, share / 2) if size > last else share
        last = size
    else:
        return posterior
    found = replace(
        posterior,
        utilities=utilities,
        precision=around,
        prior_precision=precision,
        kind=ErrorKind.VARIATIONAL,
    )
    if precision_known:
        return found
    _slope, information = _of_log_precision(precision, utilities - mean, covariance)
    # One more direction of uncertainty: C grows by (du / d log l)(du / d log l)^T / information.
    # d u / d log l = -l C (u - mean), times one standard deviation of log l.
    shared = -precision * (covariance @ (utilities - mean))[:, None] / np.sqrt(information)
    return replace(found, shared=shared if found.shared is None else np.hstack([found.shared, shared]))


def _of_log_precision(precision: float, away: FloatArray, covariance: FloatArray) -> tuple[float, float]:
    """The slope of the log marginal likelihood by log l, with l the prior's precision, and its information.

    away: (m,) the utilities' means from the prior's mean. Both are those of known utilities, m / 2 - l S / 2 and
    l S / 2 with S = |u - mean|^2, on the average over the posterior. Of the information, the variance of l S / 2 is
    missing, because the utilities are not known (Louis 1982). `precision_prior` is added to both.
    """
    log_precision, half = float(np.log(precision)), precision / 2
    # l E[S] / 2, with E[|u - mean|^2] = |E u - mean|^2 + tr C.
    known = half * float(away @ away + np.trace(covariance))
    # Var(l S / 2) of a normal u: (l / 2)^2 (2 tr C^2 + 4 a^T C a), with a = E u - mean.
    missing = 2 * half**2 * float((covariance**2).sum() + 2 * away @ covariance @ away)
    # m / 2 - l E[S] / 2 and the log density of s.
    slope = len(away) / 2 - known + precision_prior.slope(log_precision)
    information = known - missing + precision_prior.information(log_precision)
    # Where the judgements say little, known - missing can be near 0 or below it: see LEAST_INFORMATION.
    return slope, max(information, LEAST_INFORMATION)
