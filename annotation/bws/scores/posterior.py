"""The posterior of the utilities of many items under a Gaussian prior.

Its mode is found by Newton's method with a sparse Hessian. Its standard errors are the diagonal of the inverse of its
precision.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

import numpy as np
from scipy.linalg import lapack
from scipy.sparse import csr_array, diags_array
from scipy.sparse.linalg import LinearOperator, cg

from annotation.bws.judgements import FloatArray

MOST_STEPS = 100
SMALLEST_STEP = 1e-9


@dataclass(frozen=True)
class Expansion:
    """A log-likelihood around a point: its gradient (m,) and its curvature, the negative Hessian (m, m)."""

    gradient: FloatArray
    curvature: csr_array


class Likelihood(Protocol):
    """A concave log-likelihood of utilities (m,)."""

    item_count: int

    def value(self, utilities: FloatArray) -> float: ...

    def expand(self, utilities: FloatArray) -> Expansion: ...


@dataclass(frozen=True)
class Fit:
    """utilities: (m,) the most likely ones under the prior. precision: (m, m) of the posterior around them."""

    utilities: FloatArray
    precision: csr_array


def fit_utilities(
    likelihood: Likelihood, *, prior_precision: float, prior_mean: FloatArray | None = None
) -> Fit:
    """Maximise the likelihood of utilities under the prior N(prior_mean, 1 / prior_precision) of each.

    prior_mean: (m,), 0 where it is not given.
    The prior is what fixes the origin, keeps an item that was always best finite, and makes every system of
    equations positive definite. Raises ValueError where its precision is not above 0.
    """
    if not prior_precision > 0:
        raise ValueError(f"The prior needs a precision above 0, not {prior_precision:g}.")
    prior = diags_array(np.full(likelihood.item_count, float(prior_precision))).tocsr()
    mean = np.zeros(likelihood.item_count) if prior_mean is None else prior_mean
    utilities = mean
    for _ in range(MOST_STEPS):
        around = likelihood.expand(utilities)
        precision = csr_array(around.curvature + prior)
        step = solve(precision, around.gradient - prior_precision * (utilities - mean))
        if np.abs(step).max(initial=0) < SMALLEST_STEP:
            break
        utilities = _uphill(likelihood, utilities, step, prior_precision, mean)
    else:
        raise ValueError(f"The utilities did not settle within {MOST_STEPS} steps.")
    return Fit(utilities, precision)


def solve(precision: csr_array, right: FloatArray, *, tolerance: float = 1e-10) -> FloatArray:
    """Solve precision @ x = right by conjugate gradients, scaled by the diagonal."""
    diagonal = precision.diagonal()
    scaled = LinearOperator(precision.shape, matvec=lambda vector: vector / diagonal, dtype=np.float64)
    solution, failed = cg(precision, right, rtol=tolerance, maxiter=10 * len(right) + 100, M=scaled)
    if failed:
        raise ValueError("The equations of the utilities could not be solved; raise the prior's precision.")
    return np.asarray(solution, dtype=np.float64)


def _uphill(
    likelihood: Likelihood, at: FloatArray, step: FloatArray, prior_precision: float, mean: FloatArray
) -> FloatArray:
    """Go the step, or half of it again and again until it does not lead down."""

    def posterior(utilities: FloatArray) -> float:
        away = utilities - mean
        return likelihood.value(utilities) - prior_precision / 2 * float(away @ away)

    here = posterior(at)
    # What rounding alone may take away.
    slack = 1e-12 * max(1.0, abs(here))
    while posterior(at + step) < here - slack:
        step = step / 2
    return at + step


# A dense matrix of so many items fills 3.2 GB.
MOST_ITEMS_EXACT = 20_000
# Each more halves the variance of the estimate by no more than it costs time.
PROBES = 100


class ErrorKind(StrEnum):
    """How standard errors were found."""

    COUNTED = "counted"  # from the counts of each item alone
    EXACT = "exact"  # from the inverse of the whole precision
    ESTIMATED = "estimated"  # from solutions for random right sides
    NONE = "none"


def posterior_errors(precision: csr_array, *, seed: int = 1234) -> tuple[FloatArray, ErrorKind]:
    """Standard deviations (m,) of the normal distribution with this precision (m, m), and how they were found.

    Exact up to 20,000 items. Beyond, the inverse does not fit into memory, and its diagonal is estimated
    with a relative error of some per cent.
    """
    if precision.shape[0] <= MOST_ITEMS_EXACT:
        return np.sqrt(inverse_diagonal(precision)), ErrorKind.EXACT
    return np.sqrt(estimated_inverse_diagonal(precision, seed=seed)), ErrorKind.ESTIMATED


def inverse_diagonal(precision: csr_array) -> FloatArray:
    """The diagonal of the inverse (m,), by Cholesky's factors in place of a dense copy."""
    dense = precision.toarray(order="F")
    factor, failed = lapack.dpotrf(dense, overwrite_a=True)
    if failed:
        raise ValueError(
            "The precision of the utilities is not positive definite; raise the prior's precision."
        )
    inverse, _ = lapack.dpotri(factor, overwrite_c=True)
    diagonal: FloatArray = np.diagonal(inverse).copy()
    return diagonal


def estimated_inverse_diagonal(precision: csr_array, *, seed: int, probes: int = PROBES) -> FloatArray:
    """Estimate the diagonal of the inverse (m,) from solutions for random signs (Bekas et al. 2007).

    For signs z, the mean of z * (inverse @ z) is the diagonal. What is certain is taken out first, the
    first two terms of the inverse's series, and only the rest is left to chance. The items that chance
    leaves least sure, as many as there were probes, are then solved for one by one.
    """
    rng = np.random.default_rng(seed)
    scale = precision.diagonal()
    beside = csr_array(precision - diags_array(scale))
    total, squares = np.zeros(len(scale)), np.zeros(len(scale))
    for _ in range(probes):
        signs = rng.choice([-1.0, 1.0], size=len(scale))
        once = signs / scale
        # The terms 1/d and -1/d o 1/d, of which the second, o beside the diagonal, has none.
        rest = signs * (solve(precision, signs, tolerance=1e-6) - once + (beside @ once) / scale)
        total += rest
        squares += rest**2
    diagonal: FloatArray = 1 / scale + np.maximum(total / probes, 0)
    unsure = np.sqrt(squares / probes - (total / probes) ** 2) / diagonal
    for item in np.argsort(-unsure, kind="stable")[:probes]:
        diagonal[item] = solve(precision, _unit(len(scale), item), tolerance=1e-6)[item]
    return diagonal


def _unit(size: int, place: int) -> FloatArray:
    vector = np.zeros(size)
    vector[place] = 1.0
    return vector
