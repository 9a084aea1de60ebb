"""The prior of the utilities, estimated from the judgements themselves (empirical Bayes)."""

import numpy as np
import scipy

from annotation.bws.judgements import FloatArray, IntArray
from annotation.bws.scores import precision_prior
from annotation.bws.scores.maxdiff import MaxDiffLikelihood
from annotation.bws.scores.posterior import Likelihood, Posterior, fit_utilities
from annotation.bws.scores.prior_means import likelier_means

LOG_PRECISIONS = (-7.0, 8.0)  # the precision is looked for between .001 and 3,000
CLOSE_ENOUGH = 0.005  # of the log of the precision: chance moves it by sqrt(2 / m), .02 with 6,000 items
MOST_ROUNDS = 30
MOST_ITEMS_FACTORED = 800  # the determinant of a larger matrix is estimated
PROBES, STEPS = 20, 25  # random signs, and Lanczos steps (points of the quadrature) for each


def fit_with_prior(
    likelihood: MaxDiffLikelihood, *, prior_precision: float | None = None, groups: IntArray | None = None
) -> Posterior:
    """Fit utilities, the weight of ties, and what is not given of the prior.

    prior_precision: kept as it is if it is given, and otherwise the one with the highest marginal likelihood.
    groups: (m,) a number from 0 for each item. The prior mean of each group is estimated; without groups it is 0. The
    mean of all prior means is 0, because judgements say nothing about it.
    """
    precision, mean = prior_precision or 1.0, np.zeros(likelihood.item_count)
    for _ in range(MOST_ROUNDS):
        before = precision
        if prior_precision is None:
            precision = _likely_precision(likelihood, mean)
        # Fit the utilities, the tie weight and the groups' means in turn, until they stay.
        start: FloatArray | None = None
        for _round in range(MOST_ROUNDS):
            posterior = fit_utilities(likelihood, prior_precision=precision, prior_mean=mean, start=start)
            start, mean_before, weight = posterior.utilities, mean, likelihood.tie_weight
            likelihood.fit_tie_weight(posterior.utilities)
            if groups is not None:
                mean = likelier_means(posterior, groups)
            # A relative change of v; without ties both are 0, and so is the change.
            moved = np.abs(mean - mean_before).max(initial=0) + abs(
                likelihood.tie_weight / (weight or 1) - bool(weight)
            )
            if moved < CLOSE_ENOUGH / 100:
                break
        mean = posterior.prior_mean
        settled = groups is None and not likelihood.ties
        # Without groups and ties, the fit that found l is the final one; otherwise means and v change l again.
        if settled or abs(np.log(precision / before)) < CLOSE_ENOUGH:
            break
    return posterior


def _likely_precision(likelihood: MaxDiffLikelihood, mean: FloatArray) -> float:
    """The precision l that maximises the marginal likelihood (`log_evidence`) times `precision_prior`.

    That the curvature depends on u is kept: without it, and with few judgements, l comes out too high (.60 instead of
    .35 with eight of each item) and the intervals too narrow.
    """
    start = mean

    # Each search starts at the last mode: neighbouring precisions have neighbouring modes.
    def loss(log_precision: float) -> float:
        nonlocal start
        precision = float(np.exp(log_precision))
        posterior = fit_utilities(likelihood, prior_precision=precision, prior_mean=mean, start=start)
        start = posterior.utilities
        # Adding the log density of s keeps l finite where the judgements say nothing of the spread.
        return -log_evidence(likelihood, posterior) - precision_prior.log_density(log_precision)

    highest = scipy.optimize.minimize_scalar(
        loss, bounds=LOG_PRECISIONS, method="bounded", options={"xatol": CLOSE_ENOUGH}
    )
    return float(np.exp(highest.x))


def log_evidence(likelihood: Likelihood, posterior: Posterior) -> float:
    """Laplace's approximation of the log marginal likelihood of the judgements (MacKay 1992, equation 4.13).

    log p(judgements | l) = L(u) - l / 2 |u - mean|^2 + m / 2 log l - 1/2 log |H(u) + l I|, at the mode u for l.
    """
    away, precision = posterior.utilities - posterior.prior_mean, posterior.prior_precision  # u - mean (m,)
    # L(u) - l / 2 |u - mean|^2.
    height = likelihood.value(posterior.utilities) - precision / 2 * float(away @ away)
    # + (m log l - log |H + l I|) / 2; log(2 pi) cancels.
    return height + (len(away) * float(np.log(precision)) - log_determinant(posterior.precision)) / 2


def log_determinant(precision: "scipy.sparse.csr_array") -> float:
    """The log of the determinant, exact up to 800 rows.

    Beyond, by random signs z and Lanczos's method (Ubaru, Chen and Saad 2017). With A the matrix scaled by its
    diagonal, log |A| is the mean of z^T log(A) z, and each is a quadrature over the spectrum of a small tridiagonal
    matrix.
    """
    diagonal = precision.diagonal()
    if len(diagonal) <= MOST_ITEMS_FACTORED:
        # |P| = |R^T R| = (product of R_ii)^2.
        return float(2 * np.log(np.diagonal(np.linalg.cholesky(precision.toarray()))).sum())
    # A = D^-1/2 P D^-1/2 has ones on its diagonal and a narrow spectrum; log |P| = log |D| + log |A|.
    scale = scipy.sparse.diags_array(1 / np.sqrt(diagonal))
    # A fixed stream: the evidence at two precisions is compared on the same signs, so their noise cancels.
    signs = np.random.default_rng(1234).choice([-1.0, 1.0], size=(len(diagonal), PROBES))
    # Lanczos: the diagonals (STEPS, p) of the tridiagonal matrices T of all signs, and what is beside them.
    alphas, betas = np.empty((2, STEPS, PROBES))
    matrix = scipy.sparse.csr_array(scale @ precision @ scale)  # A (m, m)
    # Columns of (m, p): the vectors before and now, and beta of each start (p,).
    before, now, beta = np.zeros_like(signs), signs / np.linalg.norm(signs, axis=0), np.zeros(PROBES)
    for step in range(STEPS):
        # Three-term recurrence: beta_k q_{k+1} = A q_k - alpha_k q_k - beta_{k-1} q_{k-1}.
        after = matrix @ now - beta * before
        alphas[step] = (now * after).sum(axis=0)
        after = after - alphas[step] * now
        betas[step] = beta = np.linalg.norm(after, axis=0)
        # beta is 0 once the vectors of a start span all that they can.
        before, now = now, after / np.maximum(beta, 1e-300)
    total = 0.0
    for alpha, beta in zip(alphas.T, betas.T, strict=True):
        # Gauss quadrature: nodes are the eigenvalues of T, weights the squared first components of its eigenvectors.
        values, vectors = scipy.linalg.eigh_tridiagonal(alpha, beta[:-1])
        total += float(vectors[0] ** 2 @ np.log(np.maximum(values, 1e-300)))
    # |z|^2 = m, so each start of length 1 counts m times.
    return float(np.log(diagonal).sum()) + len(diagonal) * total / PROBES
