"""How uncertain utilities are beside each other: the likelihood leaves open where their common origin is.

The error of a single utility would contain the uncertainty of the origin, which no difference has. So errors here are
those of a utility minus the mean of all.
"""

from dataclasses import dataclass

import numpy as np
import scipy

from annotation.bws.judgements import FloatArray, IntArray
from annotation.bws.scores.posterior import ErrorKind, Posterior, inverse, posterior_errors, solve

MOST_ITEMS_JOINT = 3_000  # a covariance of so many items fills 72 MB and takes some seconds
PROBES = 200  # random signs for diagonals; the error of an estimate falls with 1 / sqrt(PROBES)


@dataclass(frozen=True, eq=False)
class Contrasts:
    """errors: (m,) of each utility minus the mean of all. kind: where they come from.

    covariance: (m, m) of the utilities minus their mean. None for more than 3,000 items, which are taken as
    independent: the covariance of two of so many items that have not met is next to nothing.
    """

    errors: FloatArray
    kind: ErrorKind
    covariance: FloatArray | None

    def of_differences(self, left: IntArray, right: IntArray) -> FloatArray:
        """The standard error (p,) of each difference between two items (p,)."""
        variances = self.errors**2
        total = variances[left] + variances[right]
        if self.covariance is not None:
            # Var(u_i - u_j) = Var(u_i) + Var(u_j) - 2 Cov(u_i, u_j).
            total = total - 2 * self.covariance[left, right]
        return np.sqrt(np.maximum(total, 0))


def contrasts(
    posterior: Posterior,
    *,
    gradients: "scipy.sparse.csr_array | None" = None,
    kind: ErrorKind = ErrorKind.ANNOTATORS,
) -> Contrasts:
    """The errors of a posterior, or those by how much groups of judgements differ.

    gradients: (a, m) of the log-likelihood at the utilities, one row g for each annotator, whose judgements may depend
    on each other in any way. With C the inverse of the posterior's precision and l that of the prior, the covariance is
    the sandwich C (J + l I) C, where J = a / (a - 1) sum of (g - mean)(g - mean)^T (Liang and Zeger 1986). The prior is
    a further independent source: with J as the model expects it, this is C. kind: the name of these errors.
    What is not known of the prior or of annotators' scales (`Posterior.shared`) is added to both.
    Raises ValueError for fewer than two rows.
    """
    count = posterior.precision.shape[0]
    if gradients is not None and gradients.shape[0] < 2:
        raise ValueError("Errors from how much the annotators differ need at least two annotators.")
    if count > MOST_ITEMS_JOINT:
        return _of_many(posterior, gradients, kind)
    covariance = inverse(posterior.precision)  # C (m, m); its cost grows with m^3
    if gradients is None:
        kind = posterior.kind
    else:
        middle = _spread(gradients).toarray() + posterior.prior_precision * np.eye(count)  # J + l I (m, m)
        covariance = covariance @ middle @ covariance
    # The directions S z, with z standard normal (r,), add S S^T.
    if posterior.shared is not None:
        covariance += posterior.shared @ posterior.shared.T
    # With P = I - 11^T / m, the covariance of u minus its mean is P C P: less the mean of the row and of the column,
    # plus the mean of all.
    means = covariance.mean(axis=0)
    covariance += means.mean() - means[:, None] - means
    return Contrasts(np.sqrt(np.maximum(np.diagonal(covariance), 0)), kind, covariance)


def _centred(gradients: "scipy.sparse.csr_array") -> "scipy.sparse.csr_array":
    """sqrt(a / (a - 1)) (g - mean) for each row g (a, m)."""
    # a / (a - 1) corrects for the a rows that were centred by their own mean.
    rows, mean = gradients.shape[0], np.asarray(gradients.mean(axis=0))
    return scipy.sparse.csr_array((gradients.toarray() - mean) * np.sqrt(rows / (rows - 1)))


def _spread(gradients: "scipy.sparse.csr_array") -> "scipy.sparse.csr_array":
    """J (m, m)."""
    rows = _centred(gradients)
    spread: scipy.sparse.csr_array = rows.T @ rows
    return spread


def _of_many(posterior: Posterior, gradients: "scipy.sparse.csr_array | None", kind: ErrorKind) -> Contrasts:
    """The errors without their covariances, by solving equations instead of inverting the precision."""
    precision, prior = posterior.precision, posterior.prior_precision
    deviations, how = posterior_errors(precision)
    variances, ones = deviations**2, np.ones(len(deviations))
    row_means = solve(precision, ones) / len(ones)  # C 1 / m (m,): the covariance of each u with the mean
    if gradients is None:
        kind = how
    else:
        spread = _spread(gradients)
        # The same with the sandwich in the middle: C (J + l I) C 1 / m.
        row_means = solve(precision, spread @ row_means + prior * row_means)
        # The diagonal of C J C is the sum over annotators of (C g)^2; of many annotators, random sums of their g are
        # as good: with random signs e, E[(sum of e_a g_a)(sum of e_a g_a)^T] = sum of g_a g_a^T.
        rng = np.random.default_rng(1234)
        rows = _centred(gradients)
        if rows.shape[0] > PROBES:
            signs = rng.choice([-1.0, 1.0], size=(PROBES, rows.shape[0]))
            rows = scipy.sparse.csr_array(signs @ rows / np.sqrt(PROBES))
        inner = variances  # of C alone
        variances = inner**2 * prior  # l C_ii^2, the known part of l (C C)_ii
        for row in range(rows.shape[0]):
            # (C g)_i^2 of one annotator or one random sum.
            variances += solve(precision, rows[[row]].toarray()[0], tolerance=1e-6) ** 2
        # The diagonal of C C is C_ii^2, and a little more, which random signs z estimate:
        # (C z - C_ii z)_i = sum over j != i of C_ij z_j; its mean square is the sum over j != i of C_ij^2.
        for _ in range(PROBES):
            signs = rng.choice([-1.0, 1.0], size=len(inner))
            beside = solve(precision, signs, tolerance=1e-6) - inner * signs
            variances += prior * beside**2 / PROBES
    # Var(u_i - mean) = C_ii - 2 (C 1)_i / m + 1^T C 1 / m^2.
    variances = variances - 2 * row_means + row_means.mean()
    if posterior.shared is not None:
        variances += ((posterior.shared - posterior.shared.mean(axis=0)) ** 2).sum(axis=1)
    return Contrasts(np.sqrt(np.maximum(variances, 0)), kind, None)
