"""Standard errors of fitted utilities: the diagonal of the inverse of their posterior's precision."""

from enum import StrEnum

import numpy as np
from scipy.linalg import lapack
from scipy.sparse import csr_array, diags_array

from annotation.bws.judgements import FloatArray
from annotation.bws.newton import solve

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
