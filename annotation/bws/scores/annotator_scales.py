"""A scale per annotator in the MaxDiff model: how decidedly each of them distinguishes the items.

Annotator a chooses by the utilities s_a u. log s_a is normal with mean 0 and a spread (a standard deviation) that is
estimated, so that the scale of somebody who judged little stays near 1. The geometric mean of all scales is 1: another
one would only multiply the utilities. This is the scale heterogeneity of Fiebig, Keane, Louviere and Wasi (2010), with
normal approximations instead of simulation.
"""

from dataclasses import dataclass, replace

import numpy as np
import scipy

from annotation.bws.judgements import FloatArray, IntArray, Judgements
from annotation.bws.scores.contrasts import MOST_ITEMS_JOINT
from annotation.bws.scores.empirical_bayes import fit_with_prior, log_evidence
from annotation.bws.scores.maxdiff import MaxDiffLikelihood
from annotation.bws.scores.posterior import Posterior, inverse, solve

LOG_SPREADS = (-4.0, 0.7)  # the spread of log scales is looked for between .02 and 2, and at 0
MOST_ROUNDS = 60
CLOSE_ENOUGH = 1e-3  # of log scales: a thousandth of a scale is less than any error of one
PRECISION_CLOSE_ENOUGH = 0.01  # of its logarithm
LEAST_INFORMATION = 1e-6  # of somebody whose answers say nothing


@dataclass(frozen=True, eq=False)
class AnnotatorScales:
    """scales: (a,) of the annotators `people` (a,), with geometric mean 1. errors: (a,) of their logarithms, which an
    estimated spread does not make smaller, because it is uncertain itself.

    spread: the standard deviation of log scales, estimated or given; 0 if nothing shows that annotators differ.
    evidence_gain: by how much the log marginal likelihood is above that with one scale for everybody.
    likelihood_gain: the same of the log-likelihood.
    """

    people: IntArray
    scales: FloatArray
    errors: FloatArray
    spread: float
    evidence_gain: float
    likelihood_gain: float


@dataclass(frozen=True, eq=False)
class _Step:
    """log_scales: (a,) after one step. roots: (a, a - 1), which times its transpose is their covariance.
    errors: (a,) of them if their spread is the largest possible one.

    moved: (m, a) how the utilities move with them, d u / d t. evidence: what scales add to the log marginal likelihood.
    """

    log_scales: FloatArray
    errors: FloatArray
    roots: FloatArray
    moved: FloatArray
    spread: float
    evidence: float


def fit_with_scales(
    judgements: Judgements,
    *,
    prior_precision: float | None = None,
    groups: IntArray | None = None,
    spread: float | None = None,
) -> tuple[MaxDiffLikelihood, Posterior, AnnotatorScales]:
    """Fit utilities for given scales, and scales for given utilities, in turn until they stay; and then their prior.

    spread: of log scales, estimated if it is not given. The other arguments are those of `fit_with_prior`.
    `Posterior.shared` has what is not known of the scales.
    Raises ValueError if annotators are not known, or fewer than two, or the spread is not above 0, or if the scales do
    not stay within MOST_ROUNDS.
    """
    if spread is not None and not spread > 0:
        raise ValueError(f"The spread of the annotators' scales needs to be above 0, not {spread:g}.")
    # A best that is its own worst contains no order, so it says nothing about a scale.
    kept = judgements.only((judgements.best != judgements.worst) | judgements.ties)
    people, person = np.unique(kept.people, return_inverse=True)  # (a,), (n,)
    if len(people) < 2:
        raise ValueError("A scale per annotator needs at least two annotators.")
    # Both start from one scale of 1 for everybody; `plain` stays there, for the gains.
    plain = scaled = MaxDiffLikelihood(kept)
    plain_fit = posterior = fit_with_prior(plain, prior_precision=prior_precision, groups=groups)
    log_scales = np.zeros(len(people))  # t = log s (a,)
    last, share = np.zeros(len(people)), 1.0
    for _ in range(MOST_ROUNDS):
        step = _step(scaled, posterior, person, log_scales, spread, precision_free=prior_precision is None)
        change = step.log_scales - log_scales
        settled = np.abs(change).max() < CLOSE_ENOUGH
        # With few and decided judgements the scales of a round overshoot, and the next ones swing back, without an end:
        # each time that the direction turns, later rounds go half as far.
        share = share / 2 if change @ last < 0 else share
        log_scales, last, precision = log_scales + share * change, change, posterior.prior_precision
        scaled = MaxDiffLikelihood(kept, np.exp(log_scales)[person])  # s_a of each judgement (n,)
        # The precision of the prior is estimated again only when the scales have settled, because it takes longer.
        # None lets `fit_with_prior` estimate l again; a number keeps it.
        known = prior_precision if settled else precision
        posterior = fit_with_prior(scaled, prior_precision=known, groups=groups)
        if settled and abs(np.log(posterior.prior_precision / precision)) < PRECISION_CLOSE_ENOUGH:
            break
    else:
        raise ValueError(
            f"The annotators' scales did not settle within {MOST_ROUNDS} rounds; score without a scale for each."
        )
    found = AnnotatorScales(
        people,
        scales=np.exp(log_scales),
        errors=step.errors,
        spread=step.spread,
        # Scales of 1 have the evidence of the plain fit; `step.evidence` is their prior's part (Laplace over t).
        evidence_gain=step.evidence + log_evidence(scaled, posterior) - log_evidence(plain, plain_fit),
        likelihood_gain=scaled.value(posterior.utilities) - plain.value(plain_fit.utilities),
    )
    return scaled, replace(posterior, shared=step.moved @ step.roots), found


def _step(
    likelihood: MaxDiffLikelihood,
    posterior: Posterior,
    person: IntArray,
    log_scales: FloatArray,
    spread: float | None,
    *,
    precision_free: bool,
) -> _Step:
    """One step of Newton's method for the log scales t under their prior, on the marginal likelihood.

    With D the information on t, B the cross information and C the posterior's covariance of the utilities, the slope is
    the average over that posterior (EM), and the information is S = D - B C B^T (Louis 1982), as the model expects them
    both. Along an eigenvector of S among the directions that sum to zero, with the eigenvalue h, a free estimate is
    t + slope / h, normal around the true one with the variance 1 / h.
    """
    # With more items the slope is taken at the mode: C (m, m) would not fit, and C B^T is solved row by row.
    few = likelihood.item_count <= MOST_ITEMS_JOINT
    around = inverse(posterior.precision) if few else None
    # slope and D (a,), B (a, m).
    slope, information, cross, curvature = likelihood.expand_scales(posterior.utilities, person, around)
    # C is that of the curvature over the same points as D and B: only then is S nowhere negative.
    prior = posterior.prior_precision * scipy.sparse.eye_array(likelihood.item_count)
    precision = scipy.sparse.csr_array(curvature + prior)
    moved = (
        np.asarray(cross @ inverse(precision)).T
        if few
        else np.column_stack([solve(precision, row, tolerance=1e-6) for row in cross.toarray()])
    )  # (m, a)
    # S = D - B C B^T (a, a): what is left of the information on t if the utilities are not known either.
    observed = np.diag(information) - cross @ moved
    if precision_free:
        # A common change of all scales is then one of the prior's precision, which belongs to no annotator: otherwise
        # everybody else is drawn up and a person who guesses down, without end.
        common = observed.sum(axis=1)  # (a,)
        slope = slope - common * slope.sum() / common.sum()
        observed = observed - np.outer(common, common) / common.sum()
    # An orthonormal basis (a, a - 1) of {t : sum t = 0}: the last singular vector is that of ones, with the value 0.
    basis = np.linalg.svd(np.eye(len(slope)) - 1 / len(slope))[0][:, :-1]
    values, vectors = np.linalg.eigh(basis.T @ observed @ basis)  # h (a - 1,)
    directions = basis @ vectors
    rise = directions.T @ slope  # the slope along each eigenvector (a - 1,)
    # Of somebody who guesses, the model expects next to no information, and a free estimate would be far away. It is
    # never further than 1, because the log-likelihood bends as much as it falls.
    known = np.maximum(np.maximum(values, np.abs(rise)), LEAST_INFORMATION)
    free = directions.T @ log_scales + rise / known  # t + slope / h, N(true, 1 / h) without a prior
    widest = float(np.exp(LOG_SPREADS[1])) if spread is None else spread
    if spread is None:
        spread = _likely_spread(free, 1 / known)
    # The mean of t under N(0, s^2) and N(free, 1 / h), and its deviation 1 / sqrt(h + 1 / s^2), which may be 0.
    shrunk = free * spread**2 / (spread**2 + 1 / known)
    deviations = spread / np.sqrt(1 + spread**2 * known)
    away = shrunk / (spread or 1.0)
    # What integrating over t adds to the log-likelihood at t: -(|t|^2 / s^2 + sum of log(1 + s^2 h)) / 2.
    evidence = -float(away @ away + np.log1p(spread**2 * known).sum()) / 2
    change = np.clip(directions @ shrunk - log_scales, -1, 1)  # a factor of e at once, at most
    stepped = log_scales + change - change.mean()  # sums to 0, so the geometric mean of the scales stays 1
    errors = np.sqrt(directions**2 @ (1 / (known + widest**-2)))  # of V diag(1 / (h + 1 / s_max^2)) V^T
    return _Step(stepped, errors, directions * deviations, -moved, spread, evidence)


def _likely_spread(free: FloatArray, variances: FloatArray) -> float:
    """The spread s with the highest likelihood of free estimates, each N(0, s^2 + variance); 0 if none is higher.

    A common mean was taken off before, so this is restricted maximum likelihood.
    """

    def loss(variance: float) -> float:
        # -log density of all free estimates: sum of (x^2 / (s^2 + v) + log(s^2 + v)) / 2, without log(2 pi).
        return float((free**2 / (variance + variances) + np.log(variance + variances)).sum() / 2)

    # A spread of 0 is at minus infinity on this scale, so it is compared separately.
    best = scipy.optimize.minimize_scalar(
        lambda log: loss(np.exp(2 * log)), bounds=LOG_SPREADS, method="bounded"
    )
    return float(np.exp(best.x)) if best.fun < loss(0.0) - 1e-9 else 0.0
