"""Newton's method for the utilities of many items, with a Gaussian prior and a sparse Hessian."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
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
