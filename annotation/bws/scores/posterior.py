"""The posterior of the utilities of many items under a Gaussian prior, and the prior that fits them best.

The mode is found by Newton's method with a sparse Hessian. Around it the posterior is taken as normal.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

import numpy as np
import scipy

from annotation.bws.judgements import FloatArray

MOST_STEPS = 100
SMALLEST_STEP = 1e-9  # of a utility, where Newton's method ends
MOST_ITEMS_EXACT = 20_000  # a dense matrix of so many items fills 3.2 GB
# Random right sides for errors of more items: at least PROBES, and PROBES more until 95 of 100 standard errors have a
# standard error of at most 2 %. Where the prior is weak, the inverse has more beside its diagonal.
PROBES, MOST_PROBES = 100, 1_000
ERROR_ALLOWED, SHARE_WITHIN = 0.02, 0.95


class Likelihood(Protocol):
    """A concave log-likelihood of utilities (m,).

    `expand` returns its gradient (m,) and its curvature, the negative Hessian (m, m).
    """

    item_count: int

    def value(self, utilities: FloatArray) -> float: ...

    def expand(self, utilities: FloatArray) -> "tuple[FloatArray, scipy.sparse.csr_array]": ...


class ErrorKind(StrEnum):
    """How standard errors were found. Files and score sets of earlier versions have "exact" for the second or third."""

    COUNTED = "counted"  # from the counts of each item, and how alike the judgements of one tuple are
    VARIATIONAL = "variational"  # of the normal distribution that is nearest to the posterior
    LAPLACE = "laplace"  # from the curvature at the mode of the posterior
    ESTIMATED = "estimated"  # the same, but the inverse of the curvature is estimated from random right sides
    ANNOTATORS = "annotators"  # from how much the annotators differ (a sandwich)
    NONE = "none"


@dataclass(frozen=True, eq=False)
class Posterior:
    """utilities: (m,) the most likely ones, or their means (`variational`). precision: (m, m) of the normal
    distribution around them.

    prior_precision, prior_mean: of the prior, the mean (m,). shared: (m, r) further directions in which all
    utilities may be off together, each by a standard normal number times it, because something that they share, such
    as the prior's precision, is not known exactly; None if it is taken as known. kind: of the errors that follow.
    """

    utilities: FloatArray
    precision: "scipy.sparse.csr_array"
    prior_precision: float
    prior_mean: FloatArray
    shared: FloatArray | None = None
    kind: ErrorKind = ErrorKind.LAPLACE


def fit_utilities(
    likelihood: Likelihood,
    *,
    prior_precision: float,
    prior_mean: FloatArray | None = None,
    start: FloatArray | None = None,
    smallest_step: float = SMALLEST_STEP,
) -> Posterior:
    """Maximise the likelihood of utilities under the prior N(prior_mean, 1 / prior_precision) of each.

    prior_mean: (m,), 0 if it is not given. start: (m,) where the search begins, the prior's mean if it is not given.
    smallest_step: the search ends where a step would move no utility by so much.
    The prior fixes the origin, keeps an item that was always best finite, and makes every system of equations positive
    definite. Raises ValueError if its precision is not above 0.
    """
    if not prior_precision > 0:
        raise ValueError(f"The prior needs a precision above 0, not {prior_precision:g}.")
    mean = np.zeros(likelihood.item_count) if prior_mean is None else prior_mean
    prior = scipy.sparse.diags_array(np.full(likelihood.item_count, float(prior_precision))).tocsr()

    def log_posterior(utilities: FloatArray) -> float:
        away = utilities - mean
        # L(u) - l / 2 |u - mean|^2.
        return likelihood.value(utilities) - prior_precision / 2 * float(away @ away)

    utilities = mean if start is None else start
    here = log_posterior(utilities)
    for _ in range(MOST_STEPS):
        # With gradient g and negative Hessian H of the log-likelihood, Newton's step s of the log-posterior solves
        # (H + prior I) s = g - prior (u - mean).
        gradient, curvature = likelihood.expand(utilities)
        # H + l I is as sparse as the items that met, and positive definite through l.
        precision = scipy.sparse.csr_array(curvature + prior)  # (m, m)
        step = solve(precision, gradient - prior_precision * (utilities - mean))  # (m,)
        # The log-posterior is strictly concave, so a step of next to nothing is the one maximum.
        if np.abs(step).max(initial=0) < smallest_step:
            return Posterior(utilities, precision, prior_precision, mean)
        # The step, or half of it again and again until it does not lead down by more than rounding may.
        # Sums of many terms differ by rounding: a decrease within 1e-12 of the value is not one.
        slack = 1e-12 * max(1.0, abs(here))
        while (there := log_posterior(utilities + step)) < here - slack:
            step = step / 2
        utilities, here = utilities + step, there  # steps are halved only far from the mode
    raise ValueError(f"The utilities did not converge within {MOST_STEPS} steps.")


def solve(precision: "scipy.sparse.csr_array", right: FloatArray, *, tolerance: float = 1e-10) -> FloatArray:
    """Solve precision @ x = right by conjugate gradients, scaled by the diagonal.

    precision: (m, m), symmetric and positive definite. right: (m,). Returns x (m,).
    tolerance: the norm of what is left over, as a share of the norm of `right`.
    Raises ValueError if 10 m + 100 iterations do not reach the tolerance.
    """
    # Jacobi's preconditioner D^-1: items of many and of few judgements converge alike.
    diagonal = precision.diagonal()
    scaled = scipy.sparse.linalg.LinearOperator(
        precision.shape, matvec=lambda vector: vector / diagonal, dtype=np.float64
    )
    # Each iteration costs one product with the sparse matrix; in exact arithmetic m iterations are enough.
    solution, failed = scipy.sparse.linalg.cg(
        precision, right, rtol=tolerance, maxiter=10 * len(right) + 100, M=scaled
    )
    if failed:
        raise ValueError(
            "The equations of the utilities could not be solved; use a higher precision of the prior."
        )
    return np.asarray(solution, dtype=np.float64)


def posterior_errors(
    precision: "scipy.sparse.csr_array", *, seed: int = 1234
) -> tuple[FloatArray, ErrorKind]:
    """Standard deviations (m,) of the normal distribution with this precision (m, m), and how they were found.

    Exact up to 20,000 items. Beyond, the inverse does not fit into memory, and its diagonal is estimated, with an error
    of at most 2 % for most items (`estimated_inverse_diagonal`).
    """
    if precision.shape[0] <= MOST_ITEMS_EXACT:
        return np.sqrt(inverse_diagonal(precision)), ErrorKind.LAPLACE
    return np.sqrt(estimated_inverse_diagonal(precision, seed=seed)), ErrorKind.ESTIMATED


def inverse_diagonal(precision: "scipy.sparse.csr_array") -> FloatArray:
    """The diagonal of the inverse (m,)."""
    return np.diagonal(_upper_inverse(precision)).copy()


def inverse(precision: "scipy.sparse.csr_array") -> FloatArray:
    """The whole inverse (m, m)."""
    # dpotri fills the upper triangle alone; the lower one is its mirror image.
    upper = np.triu(_upper_inverse(precision))
    return upper + np.triu(upper, 1).T


def _upper_inverse(precision: "scipy.sparse.csr_array") -> FloatArray:
    """The inverse (m, m) on and above its diagonal, by Cholesky's factors instead of a dense copy."""
    # Column order, so that LAPACK overwrites this copy instead of making another one: m^2 numbers of 8 bytes.
    dense = precision.toarray(order="F")
    factor, failed = scipy.linalg.lapack.dpotrf(dense, overwrite_a=True)  # precision = factor.T @ factor
    if failed:
        raise ValueError(
            "The utilities' precision is not positive definite; use a higher precision of the prior."
        )
    # (R^T R)^-1 from R in place.
    upper: FloatArray = scipy.linalg.lapack.dpotri(factor, overwrite_c=True)[0]
    return upper


def estimated_inverse_diagonal(precision: "scipy.sparse.csr_array", *, seed: int) -> FloatArray:
    """Estimate the diagonal of the inverse (m,) from solutions for random signs (Bekas et al. 2007).

    For random signs z, the mean of z * (inverse @ z) is the diagonal. What is certain is taken out first, and only the
    rest is left to chance: the first two terms of the inverse's series, and the common origin of all utilities, of
    which only the prior knows. Signs are drawn until the standard error of 95 of 100 roots of the diagonal is at most
    2 %, but no more than 1,000 times. The 100 items with the least certain estimates are then solved for one by one.
    """
    rng = np.random.default_rng(seed)
    # precision = d + o, with d its diagonal and o what is beside it; inverse = 1/d - 1/d o 1/d + ...
    scale = precision.diagonal()  # d (m,)
    # Rows of o times a vector need only the items that met.
    beside = scipy.sparse.csr_array(precision - scipy.sparse.diags_array(scale))  # o (m, m)

    # 1 / (l m) if the sum of every row is the prior's precision l, because only differences are judged, and else 0.
    # Then a vector of ones is an eigenvector, and 1 / (l m) is its part of each element of the inverse.
    # P 1 = l 1 means P^-1 1 = 1 / l.
    sums = np.asarray(precision.sum(axis=1)).ravel()
    level = float(sums.mean())
    alike = level > 0 and float(np.abs(sums - level).max()) < 1e-6 * level
    origin = 1 / (level * len(sums)) if alike else 0.0

    total, squares, drawn = np.zeros(len(scale)), np.zeros(len(scale)), 0
    while True:
        for _ in range(PROBES):
            signs = rng.choice([-1.0, 1.0], size=len(scale))  # z (m,)
            once = signs / scale
            # The diagonal of the first term is 1/d, that of the second is 0, and that of the origin the same for all.
            # P^-1 z less the origin's part, (1^T z) / (l m).
            solved = solve(precision, signs, tolerance=1e-6) - origin * signs.sum()
            # z * (P^-1 z - z / d + D^-1 o D^-1 z): its mean is the diagonal of P^-1, less 1 / d and the origin.
            rest = signs * (solved - once + (beside @ once) / scale)
            total += rest
            squares += rest**2
        drawn += PROBES
        mean = total / drawn
        # The diagonal of an inverse is nowhere below 1 / d: an estimate below is chance, and is raised to it.
        diagonal: FloatArray = 1 / scale + np.maximum(origin + mean, 0)
        # Of the root of the diagonal, the relative error is half of that of the diagonal.
        # SE of the mean of `drawn` values by the mean (sum of squares / n - mean^2) / n.
        uncertain = np.sqrt(np.maximum(squares / drawn - mean**2, 0) / drawn) / diagonal / 2
        if drawn >= MOST_PROBES or np.quantile(uncertain, SHARE_WITHIN) <= ERROR_ALLOWED:
            break
    # The least certain: column i of the inverse solves P x = e_i, and x_i is its diagonal.
    for item in np.argsort(-uncertain, kind="stable")[:PROBES]:
        unit = np.zeros(len(scale))
        unit[item] = 1.0
        diagonal[item] = solve(precision, unit, tolerance=1e-6)[item]
    return diagonal
