"""Prior means of groups of items: against the joint normal distribution of utilities and means."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array

from annotation.bws.designs.design import design_tuples
from annotation.bws.judgements import Judgements
from annotation.bws.scores.posterior import Posterior
from annotation.bws.scores.prior_means import likelier_means, with_uncertain_means
from annotation.bws.scores.scoring import ErrorSource, Scores, maxdiff_scores
from annotation.bws.studies.simulation import SimulatedAnnotator, simulated_judgements

GROUPS = np.array([0, 0, 0, 1, 1, 2, 2, 2])
PRECISION = 0.7
AWAY = np.eye(3) - np.array([3, 2, 3]) / 8  # A: from each mean the mean of all items


def information(seed: int = 3) -> np.ndarray:
    """Of differences between utilities alone: the Laplacian of a weighted graph."""
    weight = np.triu(np.random.default_rng(seed).uniform(0.2, 2, (8, 8)), 1)
    weight = weight + weight.T
    return np.diag(weight.sum(axis=0)) - weight


def posterior_of(utilities: np.ndarray, mean: np.ndarray) -> Posterior:
    return Posterior(utilities, csr_array(information() + PRECISION * np.eye(8)), PRECISION, mean)


def centred(covariance: np.ndarray) -> np.ndarray:
    away = np.eye(len(covariance)) - 1 / len(covariance)
    return away @ covariance @ away


def test_what_is_not_known_of_the_means_is_part_of_the_errors_of_differences() -> None:
    posterior = with_uncertain_means(posterior_of(np.zeros(8), np.zeros(8)), GROUPS)

    # With b integrated out, u has the precision H + l (I - Z (Z^T Z + A^T A)^-1 Z^T).
    members = np.eye(3)[GROUPS]
    of_means = members.T @ members + AWAY.T @ AWAY
    within = np.eye(8) - members @ np.linalg.inv(of_means) @ members.T
    expected = np.linalg.pinv(information() + PRECISION * within)  # nothing is known of the common origin
    assert posterior.shared is not None
    found = np.linalg.inv(posterior.precision.toarray()) + posterior.shared @ posterior.shared.T
    assert centred(found) == pytest.approx(centred(expected), abs=1e-9)


def test_what_was_shared_before_stays() -> None:
    before = np.arange(8.0)[:, None]

    posterior = with_uncertain_means(replace(posterior_of(np.zeros(8), np.zeros(8)), shared=before), GROUPS)

    assert posterior.shared is not None
    assert posterior.shared.shape == (8, 3)
    assert (posterior.shared[:, :1] == before).all()


def test_one_step_finds_the_means_of_a_normal_likelihood() -> None:
    observed = np.array([1.0, 1.4, 0.7, -0.5, -0.2, 2.0, 2.9, 2.4])
    precision = information() + PRECISION * np.eye(8)
    utilities = np.linalg.solve(precision, information() @ observed)  # the mode with prior means of 0

    means = likelier_means(posterior_of(utilities, np.zeros(8)), GROUPS)

    # The observed differences have the covariance H^+ + I / l; with the prior of the means, this is a ridge regression.
    members = np.eye(3)[GROUPS]
    weight = np.linalg.pinv(np.linalg.pinv(information()) + centred(np.eye(8)) / PRECISION)
    ridge = PRECISION * AWAY.T @ AWAY
    squares = np.linalg.pinv(members.T @ weight @ members + ridge, rcond=1e-9)
    expected = (members @ squares @ members.T @ weight @ observed)[[0, 3, 5]]
    found = means[[0, 3, 5]]
    assert found - found.mean() == pytest.approx(expected - expected.mean(), abs=1e-9)
    assert means.mean() == pytest.approx(0, abs=1e-12)


def scored(groups: np.ndarray | None, **how) -> Scores:
    latent = np.random.default_rng(4).standard_normal(40)
    judged = simulated_judgements(
        design_tuples(40, seed=2).tuples,
        latent=latent,
        annotators=[SimulatedAnnotator(0.7)] * 3,
        judgements_per_tuple=2,
        seed=5,
    )
    wider = Judgements(
        judged.items, judged.best, judged.worst, 42, judged.annotators
    )  # two were never asked about
    return maxdiff_scores(wider, groups=groups, **how)


@pytest.mark.parametrize("how", [{}, {"annotator_scales": True}, {"errors": ErrorSource.ANNOTATORS}])
def test_a_mean_is_given_for_each_group_that_appeared(how) -> None:
    scores = scored(np.repeat([0, 1, 2], [20, 20, 2]), **how)

    assert scores.fit is not None
    assert scores.fit.group_means is not None
    assert np.isnan(scores.fit.group_means).tolist() == [False, False, True]
    assert scores.means_of_groups(["1", "2", "3"]).keys() == {"prior_means"}
    assert np.isfinite(scores.standard_errors[:40]).all()


def test_one_group_of_all_changes_nothing() -> None:
    plain, grouped = scored(None), scored(np.zeros(42, dtype=np.int64))

    assert grouped.values[:40] == pytest.approx(plain.values[:40], abs=1e-6)
    assert grouped.standard_errors[:40] == pytest.approx(plain.standard_errors[:40], abs=1e-6)
    assert plain.means_of_groups([]) == {}


@pytest.mark.exhaustive
def test_a_group_that_always_won_has_a_finite_mean() -> None:
    order = np.arange(24)  # nobody ever errs, and the last eight are best
    tuples = design_tuples(24, seed=1).tuples
    judged = Judgements.from_slots(
        tuples, order[tuples].argmax(axis=1), order[tuples].argmin(axis=1), item_count=24
    )

    scores = maxdiff_scores(judged, groups=np.repeat([0, 1], [16, 8]))

    assert scores.fit is not None
    assert np.abs(scores.fit.utilities).max() < 100
    assert np.isfinite(scores.standard_errors).all()
    assert scores.values[16:].mean() > scores.values[:16].mean()
