"""Prior means of groups of items, estimated from the judgements: of pairs that joined a campaign at different times.

One prior mean for all items pulls the scores of a group that is better on the whole towards the scores of the others.
With a prior mean for each group, only the differences within a group are shrunk.
"""

from dataclasses import replace

import numpy as np
from scipy.linalg import eigh

from annotation.bws.judgements import FloatArray, IntArray, summed
from annotation.bws.scores.posterior import Posterior, solve

_SMALLEST_SHARE = 1e-6  # eigenvalues below this share of the largest are 0 but for rounding


def likelier_means(posterior: Posterior, groups: IntArray) -> FloatArray:
    """One step of Newton's method towards the most likely prior means, for each item (m,).

    groups: (m,) a number from 0 for each item. With Z (m, g) the groups' members, l the precision and C the posterior's
    covariance, the log marginal likelihood has the slope l Z^T (u - mean) and the curvature -l Z^T (I - l C) Z, which
    leaves the mean of all means open: it is set to 0.
    """
    information, _moved = _information(posterior, groups)
    away = posterior.utilities - posterior.prior_mean
    slope = posterior.prior_precision * summed(groups, away, len(information))
    step = np.linalg.pinv(information, rcond=_SMALLEST_SHARE, hermitian=True) @ slope
    mean = posterior.prior_mean + step[groups]
    return np.asarray(mean - mean.mean())


def with_uncertain_means(posterior: Posterior, groups: IntArray) -> Posterior:
    """The posterior with what is not known of the groups' prior means as directions that their items share.

    A prior mean b of a group moves the utilities by du / db = l C Z (as in `likelier_means`). If nothing was known of
    the means before, and K = l Z^T (I - l C) Z is what the judgements tell of them, their covariance is K^-1, and that
    of the utilities grows by l C Z K^-1 Z^T C l (Kass and Steffey 1989, equation 3.2).
    """
    information, moved = _information(posterior, groups)
    values, vectors = eigh(information)
    known = values > _SMALLEST_SHARE * values.max(initial=0)
    shared = moved @ (vectors[:, known] / np.sqrt(values[known]))  # (m, r)
    return replace(
        posterior, shared=shared if posterior.shared is None else np.hstack([posterior.shared, shared])
    )


def _information(posterior: Posterior, groups: IntArray) -> tuple[FloatArray, FloatArray]:
    """K (g, g), what the judgements tell of the groups' prior means, and l C Z (m, g)."""
    members = np.eye(int(groups.max(initial=-1)) + 1)[groups]  # Z (m, g)
    precision = posterior.prior_precision
    moved = precision * np.column_stack([solve(posterior.precision, column) for column in members.T])
    return precision * members.T @ (members - moved), moved
