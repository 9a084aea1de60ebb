"""The normal distribution nearest to the posterior: against sums over a fine grid of utilities."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp
from scipy.stats import gamma

from annotation.bws.designs.design import design_tuples
from annotation.bws.judgements import Judgements
from annotation.bws.scores import precision_prior
from annotation.bws.scores.contrasts import contrasts
from annotation.bws.scores.empirical_bayes import fit_with_prior
from annotation.bws.scores.maxdiff import MaxDiffLikelihood
from annotation.bws.scores.posterior import ErrorKind, Posterior, fit_utilities, inverse
from annotation.bws.scores.scoring import maxdiff_scores
from annotation.bws.scores.variational import averaged
from annotation.bws.studies.simulation import differing_annotators, simulated_judgements
from tests.unit.annotation.bws.test_prior_and_contrasts import drawn, some_ties

# Six judgements of three items, of which the first was never worst and nearly always best.
SKEWED = Judgements(np.tile([0, 1, 2], (6, 1)), np.array([0, 0, 0, 0, 0, 1]), np.array([2, 1, 2, 2, 1, 2]), 3)
AXIS = np.linspace(-8, 10, 61)
GRID = np.array(np.meshgrid(AXIS, AXIS, AXIS)).reshape(3, -1)  # (3, 226981)


def log_joint(precision: float) -> np.ndarray:
    """Of the judgements and of utilities at each point of the grid, up to a constant."""
    total = logsumexp([GRID[a] - GRID[b] for a in range(3) for b in range(3) if a != b], axis=0)
    chosen = (GRID[SKEWED.best] - GRID[SKEWED.worst]).sum(axis=0) - len(SKEWED) * total
    return chosen - precision / 2 * (GRID**2).sum(axis=0) + 1.5 * np.log(precision)


def fitted(precision: float) -> tuple[MaxDiffLikelihood, Posterior]:
    likelihood = MaxDiffLikelihood(SKEWED)
    return likelihood, fit_utilities(likelihood, prior_precision=precision)


def test_means_and_deviations_are_nearer_to_the_exact_ones_than_those_at_the_mode() -> None:
    likelihood, mode = fitted(0.3)
    log = log_joint(0.3)
    weights = np.exp(log - logsumexp(log))
    centred = GRID - GRID.mean(axis=0)  # their origin is left to the prior, which is normal
    mean = centred @ weights
    deviations = np.sqrt((centred - mean[:, None]) ** 2 @ weights)

    found = averaged(likelihood, mode, precision_known=True)

    assert found.utilities - found.utilities.mean() == pytest.approx(mean, abs=0.04)
    assert np.abs(mode.utilities - mode.utilities.mean() - mean).max() > 0.15
    short, shorter = (deviations[0] - contrasts(posterior).errors[0] for posterior in (found, mode))
    assert 0 < short < 0.1 * deviations[0]
    assert shorter > short


def test_the_precision_is_the_most_likely_one_and_its_uncertainty_is_in_the_errors() -> None:
    likelihood, mode = fitted(1.0)

    found = averaged(likelihood, mode, precision_known=False)

    def loss(log: float) -> float:
        return -float(logsumexp(log_joint(np.exp(log)))) - gamma.logpdf(np.exp(-log / 2), 2)

    best = minimize_scalar(loss, bounds=(-4, 3), method="bounded", options={"xatol": 0.01}).x
    curvature = (loss(best + 0.2) - 2 * loss(best) + loss(best - 0.2)) / 0.2**2
    assert np.log(found.prior_precision) == pytest.approx(best, abs=0.1)
    assert found.shared is not None
    lower, upper = (
        averaged(*fitted(float(np.exp(best + step))), precision_known=True).utilities for step in (-0.1, 0.1)
    )
    # What one standard deviation of log l moves of the utilities, at a curvature that does not move with them.
    assert found.shared[:, 0] == pytest.approx((upper - lower) / 0.2 / np.sqrt(curvature), abs=0.1)


def test_the_information_on_the_precision_lacks_the_variance_of_utilities_that_are_not_known() -> None:
    found = averaged(*fitted(1.0), precision_known=False)
    precision, covariance = found.prior_precision, inverse(found.precision)

    # The column is one standard deviation of log l times l C u, so that it says the information.
    moved = precision * covariance @ found.utilities
    information = (moved @ moved) / (found.shared[:, 0] @ found.shared[:, 0])

    drawn_utilities = np.random.default_rng(0).multivariate_normal(found.utilities, covariance, 400_000)
    of_known = precision / 2 * (drawn_utilities**2).sum(axis=1)
    expected = of_known.mean() - of_known.var() + precision_prior.information(np.log(precision))
    assert information == pytest.approx(expected, abs=0.02)


def test_with_many_judgements_the_mean_is_the_mode() -> None:
    tuples = np.vstack([np.random.default_rng(seed).permutation(20).reshape(5, 4) for seed in range(400)])
    likelihood = MaxDiffLikelihood(drawn(tuples, np.linspace(-1, 1, 20), 6))
    mode = fit_utilities(likelihood, prior_precision=1.0)

    found = averaged(likelihood, mode, precision_known=True)

    assert found.utilities == pytest.approx(mode.utilities, abs=0.01)
    assert found.precision.diagonal() == pytest.approx(mode.precision.diagonal(), rel=0.01)


def test_ties_and_tuples_of_mixed_size_have_means_too() -> None:
    likelihood = MaxDiffLikelihood(some_ties(1))
    mode = fit_with_prior(likelihood)

    found = averaged(likelihood, mode, precision_known=False)

    assert found.utilities == pytest.approx(mode.utilities, abs=0.2)
    assert np.corrcoef(found.utilities, mode.utilities)[0, 1] > 0.99


@pytest.mark.exhaustive
def test_intervals_hold_the_truth_with_a_single_judgement_of_each_tuple() -> None:
    held, rng, tuples = [], np.random.default_rng(11), design_tuples(100).tuples
    for seed in range(12):
        utilities = 1.7 * rng.standard_normal(100)
        scores = maxdiff_scores(drawn(tuples, utilities, seed))
        assert scores.fit is not None
        assert scores.fit.contrasts is not None
        away = np.abs(scores.fit.utilities - (utilities - utilities.mean()))
        held.append((away < 1.96 * scores.fit.contrasts.errors).mean())

    assert 0.93 < np.mean(held) < 0.97


def decided(
    seed: int, *, items: int, per_tuple: int, noise: float, people: int = 4, spread: float = 0.3
) -> Judgements:
    """Judgements of random tuples by people who see nearly the true values."""
    rng = np.random.default_rng(seed)
    tuples = np.array([rng.choice(items, 4, replace=False) for _ in range(2 * items)])
    crowd = differing_annotators(people, noise=noise, spread=spread, careless=0.0, rng=rng)
    values = rng.standard_normal(items)
    return simulated_judgements(tuples, values, annotators=crowd, judgements_per_tuple=per_tuple, seed=seed)


@pytest.mark.parametrize("precision_known", [True, False])
def test_where_people_choose_decidedly_the_rounds_do_not_swing_around_the_nearest_distribution(
    precision_known,
) -> None:
    likelihood = MaxDiffLikelihood(decided(2, items=16, per_tuple=3, noise=0.05))

    found = averaged(likelihood, fit_with_prior(likelihood), precision_known=precision_known)

    assert found.kind == ErrorKind.VARIATIONAL
    gradient, curvature = likelihood.expand_over(found.utilities, inverse(found.precision))
    at_mean = gradient - found.prior_precision * (found.utilities - found.prior_mean)
    step = np.linalg.solve(found.precision.toarray(), at_mean)
    assert np.abs(step).max() < 1e-3
    expected = curvature.toarray() + found.prior_precision * np.eye(16)
    assert found.precision.toarray() == pytest.approx(expected, abs=1e-3 * np.abs(expected).max())


def test_what_does_not_settle_in_the_rounds_it_has_stays_the_posterior_at_the_mode(monkeypatch) -> None:
    likelihood, mode = fitted(0.3)
    monkeypatch.setattr("annotation.bws.scores.variational.MOST_ROUNDS", 2)

    assert averaged(likelihood, mode, precision_known=True) is mode
