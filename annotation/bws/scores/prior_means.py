"""Prior means of groups of items, estimated from the judgements: of pairs that joined a campaign at different times.

One prior mean for all items pulls the scores of a group that is better on the whole towards the scores of the others.
With a prior mean for each group, the differences within a group are shrunk, and those between the means next to not at
all: a mean b is taken to differ from that of all items as an item does from the mean of its group, by a normal
distribution with the precision l. It counts as one item more, and keeps the means finite where one group won always.
"""

from dataclasses import replace

import numpy as np
import scipy

from annotation.bws.judgements import FloatArray, IntArray, summed
from annotation.bws.scores.posterior import Posterior, solve

_SMALLEST_SHARE = 1e-6  # smaller eigenvalues, as a share, are 0 but for rounding


def likelier_means(posterior: Posterior, groups: IntArray) -> FloatArray:
    """One step of Newton's method towards the most likely prior means, for each item (m,).

    groups: (m,) a number from 0 for each item. With Z (m, g) the groups' members, l the precision, C the posterior's
    covariance and A b the means less that of all items, the log posterior of b has the slope
    l (Z^T (u - Z b) - A^T A b) and the curvature -K (`_information`), which leave the mean of all items open: it is set
    to 0.
    """
    information, _moved = _information(posterior, groups)  # K (g, g)
    count = len(information)
    means = np.zeros(count)
    means[groups] = posterior.prior_mean  # b (g,), from the prior mean of any item of the group
    spread = _less_the_mean(groups, count)
    away = summed(groups, posterior.utilities - posterior.prior_mean, count)  # Z^T (u - Z b) (g,)
    slope = posterior.prior_precision * (away - spread.T @ spread @ means)  # l (Z^T (u - Z b) - A^T A b)
    # K is singular along a common change of all means, which no judgement and no prior holds back: pinv leaves it at 0.
    step = np.linalg.pinv(information, rcond=_SMALLEST_SHARE, hermitian=True) @ slope
    mean = posterior.prior_mean + step[groups]
    return np.asarray(mean - mean.mean())


def with_uncertain_means(posterior: Posterior, groups: IntArray) -> Posterior:
    """The posterior with what is not known of the groups' prior means as directions that their items share.

    A prior mean b of a group moves the utilities by du / db = l C Z. With K the information on the means, their
    covariance is K^-1, and that of the utilities grows by l C Z K^-1 Z^T C l (Kass and Steffey 1989, equation 3.2).
    """
    information, moved = _information(posterior, groups)
    values, vectors = scipy.linalg.eigh(information)
    # Held against l times the largest group's items, which is what K would be without judgements: of a single group, K
    # is 0 but for rounding, and would be its own largest value.
    known = values > _SMALLEST_SHARE * posterior.prior_precision * np.bincount(groups).max(initial=0)
    # l C Z K^-1/2 on the directions that are known: times its transpose it is l C Z K^-1 Z^T C l.
    shared = moved @ (vectors[:, known] / np.sqrt(values[known]))  # (m, r)
    return replace(
        posterior, shared=shared if posterior.shared is None else np.hstack([posterior.shared, shared])
    )


def _information(posterior: Posterior, groups: IntArray) -> tuple[FloatArray, FloatArray]:
    """K = l (Z^T (I - l C) Z + A^T A) (g, g), what judgements and prior tell of the means, and l C Z (m, g)."""
    members = np.eye(int(groups.max(initial=-1)) + 1)[groups]  # Z (m, g)
    precision = posterior.prior_precision
    # l C Z (m, g): g systems of equations of m items
    moved = precision * np.column_stack([solve(posterior.precision, column) for column in members.T])
    spread = _less_the_mean(groups, members.shape[1])
    # Z^T (I - l C) Z = Z^T Z - Z^T (l C Z).
    return precision * (members.T @ (members - moved) + spread.T @ spread), moved


def _less_the_mean(groups: IntArray, count: int) -> FloatArray:
    """A (g, g), which takes from each group's mean the mean of all items."""
    # b_j - sum of n_i b_i / m for each group j.
    return np.asarray(np.eye(count) - np.bincount(groups, minlength=count) / len(groups))
