"""MaxDiff with ties, the estimated prior, and the errors of differences: by hand, by derivatives, by other ways."""

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
import scipy
from scipy.optimize import approx_fprime, minimize
from scipy.stats import gamma

from annotation.bws.designs.design import design_tuples
from annotation.bws.judgements import Judgements
from annotation.bws.scores import precision_prior
from annotation.bws.scores.contrasts import Contrasts, contrasts
from annotation.bws.scores.empirical_bayes import fit_with_prior, log_determinant
from annotation.bws.scores.maxdiff import MaxDiffLikelihood
from annotation.bws.scores.posterior import ErrorKind, fit_utilities
from annotation.bws.scores.scoring import ErrorSource, maxdiff_scores
from annotation.bws.studies.simulation import SimulatedAnnotator, simulated_judgements

SIX = np.array([0.4, -0.2, 0.1, 0.9, -1.0, 0.3])


def some_ties(seed: int, rows: int = 40) -> Judgements:
    """Tuples of four and of three of six items, some of them too close to call, by three people."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(3, 5, rows)
    items = np.where(np.arange(4) < sizes[:, None], [rng.permutation(6)[:4] for _ in sizes], -1)
    slots = np.array([rng.permutation(size)[:2] for size in sizes])
    slots[rng.random(rows) < 0.3] = -1
    return Judgements.from_slots(
        items, slots[:, 0], slots[:, 1], item_count=6, annotators=rng.integers(0, 3, rows)
    )


def drawn(tuples: np.ndarray, utilities: np.ndarray, seed: int) -> Judgements:
    """Judgements drawn from the MaxDiff model itself, one a tuple."""
    rng = np.random.default_rng(seed)
    pairs = np.array(list(permutations(range(tuples.shape[1]), 2)))
    weight = np.exp(utilities[tuples][:, pairs[:, 0]] - utilities[tuples][:, pairs[:, 1]])
    shares = np.cumsum(weight / weight.sum(axis=1, keepdims=True), axis=1)
    chosen = pairs[(rng.random(len(tuples))[:, None] > shares).sum(axis=1)]
    return Judgements.from_slots(tuples, chosen[:, 0], chosen[:, 1], item_count=len(utilities))


def log_probability(judgements: Judgements, utilities: np.ndarray, tie_weight: float) -> float:
    """Judgement by judgement, with a tie beside the k (k - 1) choices."""
    total = 0.0
    for row, best, worst in zip(judgements.items, judgements.best, judgements.worst, strict=True):
        options = [np.exp(utilities[a] - utilities[b]) for a, b in permutations(row[row >= 0], 2)]
        tie = tie_weight * len(options)
        chosen = tie if best < 0 else np.exp(utilities[best] - utilities[worst])
        total += np.log(chosen / (sum(options) + tie))
    return total


def test_the_likelihood_with_ties_is_its_formula_with_its_derivatives() -> None:
    likelihood = MaxDiffLikelihood(some_ties(1))
    likelihood.tie_weight = 0.7

    gradient, curvature = likelihood.expand(SIX)

    assert likelihood.value(SIX) == pytest.approx(log_probability(some_ties(1), SIX, 0.7))
    assert gradient == pytest.approx(approx_fprime(SIX, likelihood.value, 1e-7), abs=1e-4)
    slope = approx_fprime(SIX, lambda u: likelihood.expand(u)[0], 1e-7)
    assert curvature.toarray() == pytest.approx(-slope, abs=1e-4)


def test_of_two_items_the_tie_is_davidsons() -> None:
    pair = Judgements(np.array([[0, 1]]), np.array([-1]), np.array([-1]), 2)
    likelihood = MaxDiffLikelihood(pair)
    likelihood.tie_weight = 0.4
    utilities = np.array([0.3, -0.5])

    # Davidson 1970: v sqrt(p q) / (p + q + v sqrt(p q)), here with p = exp(.8), q = exp(-.8) and two options' weight.
    p, q = np.exp(0.8), np.exp(-0.8)
    expected = 0.8 * np.sqrt(p * q) / (p + q + 0.8 * np.sqrt(p * q))
    assert np.exp(likelihood.value(utilities)) == pytest.approx(expected)


def test_the_tie_weight_is_the_most_likely_one() -> None:
    judgements = some_ties(2)
    likelihood = MaxDiffLikelihood(judgements)

    likelihood.fit_tie_weight(SIX)

    best = minimize(lambda log: -log_probability(judgements, SIX, np.exp(log[0])), [0.0])
    assert likelihood.tie_weight == pytest.approx(np.exp(best.x[0]), rel=1e-3)


def test_without_ties_the_weight_is_0_and_with_ties_alone_all_items_are_equal() -> None:
    tuples = design_tuples(12).tuples
    nothing = np.full(len(tuples), -1)

    ordered = maxdiff_scores(Judgements(tuples, tuples[:, 0], tuples[:, 1], 12))
    tied = maxdiff_scores(Judgements(tuples, nothing, nothing, 12))

    assert ordered.fit is not None
    assert ordered.fit.tie_weight == 0
    assert tied.values == pytest.approx(np.full(12, 0.5))


def test_gradients_of_people_are_derivatives_of_what_each_answered() -> None:
    judgements = some_ties(3)
    likelihood = MaxDiffLikelihood(judgements)
    likelihood.tie_weight = 0.5

    rows = likelihood.gradients(SIX, judgements.people).toarray()

    for person in range(3):
        own = judgements.only(judgements.people == person)
        slope = approx_fprime(SIX, lambda u, own=own: log_probability(own, u, 0.5), 1e-7)
        assert rows[person] == pytest.approx(slope, abs=1e-4)


def test_scales_of_annotators_multiply_the_utilities() -> None:
    judgements = some_ties(4)
    scales = np.array([0.5, 1.0, 2.0])[judgements.people]
    likelihood = MaxDiffLikelihood(judgements, scales)

    gradient, curvature = likelihood.expand(SIX)

    expected = sum(
        log_probability(judgements.only(scales == scale), scale * SIX, 1.0) for scale in (0.5, 1.0, 2.0)
    )
    slope = approx_fprime(SIX, lambda u: likelihood.expand(u)[0], 1e-7)
    assert likelihood.value(SIX) == pytest.approx(expected)
    assert gradient == pytest.approx(approx_fprime(SIX, likelihood.value, 1e-7), abs=1e-4)
    assert curvature.toarray() == pytest.approx(-slope, abs=1e-4)


def test_the_prior_of_the_precision_is_a_gamma_density_of_the_standard_deviation() -> None:
    logs = np.linspace(-3, 6, 10)
    densities = np.array([precision_prior.log_density(log) for log in logs])

    assert densities == pytest.approx(gamma.logpdf(np.exp(-logs / 2), 2))  # shape 2, rate 1
    for log in logs:
        slope = approx_fprime([log], lambda at: precision_prior.log_density(at[0]), 1e-6)[0]
        bend = approx_fprime([log], lambda at: precision_prior.slope(at[0]), 1e-6)[0]
        assert precision_prior.slope(log) == pytest.approx(slope, abs=1e-4)
        assert precision_prior.information(log) == pytest.approx(-bend, abs=1e-4)


@pytest.mark.exhaustive
@pytest.mark.parametrize("spread", [0.6, 1.7])
def test_the_precision_of_the_prior_is_found_again(spread) -> None:
    rng = np.random.default_rng(5)
    found = []
    for seed in range(6):
        utilities = spread * rng.standard_normal(150)
        judgements = drawn(design_tuples(150, seed=seed).tuples, utilities, seed)
        found.append(fit_with_prior(MaxDiffLikelihood(judgements)).prior_precision)

    assert np.exp(np.mean(np.log(found))) == pytest.approx(1 / spread**2, rel=0.15)


def test_a_single_judgement_leaves_the_prior_where_it_was() -> None:
    alone = Judgements(np.array([[0, 1, 2]]), np.array([0]), np.array([2]), 3)

    assert 0.5 < fit_with_prior(MaxDiffLikelihood(alone)).prior_precision < 2


def test_a_precision_that_is_given_is_kept() -> None:
    scores = maxdiff_scores(some_ties(6), prior_precision=0.25)

    assert scores.fit is not None
    assert scores.fit.prior_precision == 0.25


def test_with_many_ties_the_precision_is_that_for_the_weight_of_ties_that_was_found() -> None:
    rng = np.random.default_rng(1)
    tuples = np.array([rng.permutation(6)[:4] for _ in range(60)])
    chosen = drawn(tuples, 1.5 * rng.standard_normal(6), 1)
    tied = np.arange(60) % 5 < 3
    judgements = Judgements(tuples, np.where(tied, -1, chosen.best), np.where(tied, -1, chosen.worst), 6)
    likelihood = MaxDiffLikelihood(judgements)

    found = fit_with_prior(likelihood)
    again = fit_with_prior(likelihood)  # begins with the weight of ties at which the first one ended

    assert likelihood.tie_weight > 1.5
    assert again.prior_precision == pytest.approx(found.prior_precision, rel=0.01)


def test_the_prior_means_of_groups_are_found_again() -> None:
    rng = np.random.default_rng(7)
    groups = np.repeat([0, 1], 60)
    utilities = rng.standard_normal(120) + np.where(groups == 0, -1.0, 1.0)
    bridges = rng.permutation(60).reshape(-1, 2)
    tuples = np.vstack(
        [
            design_tuples(60, seed=1).tuples,
            60 + design_tuples(60, seed=2).tuples,
            np.hstack([bridges, 60 + bridges]),
        ]
    )

    posterior = fit_with_prior(MaxDiffLikelihood(drawn(tuples, utilities, 3)), groups=groups)

    assert posterior.prior_mean.mean() == pytest.approx(0, abs=1e-9)
    low, high = np.unique(posterior.prior_mean)
    assert high - low == pytest.approx(2, abs=0.7)
    # The mean of each group is that of its 60 utilities and of one item more, which is at the mean of all, 0.
    assert posterior.utilities[groups == 1].mean() * 60 / 61 == pytest.approx(high, abs=1e-4)


def test_a_large_determinant_is_estimated_closely(monkeypatch) -> None:
    tuples = design_tuples(300).tuples
    precision = fit_utilities(
        MaxDiffLikelihood(drawn(tuples, np.zeros(300), 1)), prior_precision=0.5
    ).precision
    monkeypatch.setattr("annotation.bws.scores.empirical_bayes.MOST_ITEMS_FACTORED", 10)

    assert log_determinant(precision) == pytest.approx(np.linalg.slogdet(precision.toarray())[1], rel=0.01)


def test_a_small_determinant_is_exact() -> None:
    # |P| = 2 (4 - 1) - 1 * 2 = 4.
    precision = scipy.sparse.csr_array([[2.0, 1.0, 0.0], [1.0, 2.0, 1.0], [0.0, 1.0, 2.0]])

    assert log_determinant(precision) == pytest.approx(np.log(4), rel=1e-12)


def test_the_error_of_a_difference_lacks_twice_the_covariance() -> None:
    covariance = np.array([[2.0, 0.5, -0.25], [0.5, 1.0, 0.0], [-0.25, 0.0, 0.5]])
    found = Contrasts(np.sqrt(np.diag(covariance)), ErrorKind.LAPLACE, covariance)

    errors = found.of_differences(np.array([0, 0, 1]), np.array([1, 2, 2]))

    assert errors**2 == pytest.approx([2 + 1 - 1, 2 + 0.5 + 0.5, 1 + 0.5])


@pytest.mark.exhaustive
def test_errors_are_those_of_sum_to_zero_contrasts() -> None:
    judgements = drawn(np.vstack([design_tuples(20, seed=seed).tuples for seed in range(4)]), np.zeros(20), 4)
    posterior = fit_utilities(MaxDiffLikelihood(judgements), prior_precision=1e-6)

    found = contrasts(posterior)

    # Without a prior, the covariance of utilities that sum to zero is the pseudo-inverse of the curvature.
    curvature = posterior.precision.toarray() - 1e-6 * np.eye(20)
    covariance = np.linalg.pinv(curvature, hermitian=True)
    left, right = np.array([0, 3]), np.array([7, 19])
    expected = np.sqrt(np.diag(covariance)[left] + np.diag(covariance)[right] - 2 * covariance[left, right])
    assert found.errors == pytest.approx(np.sqrt(np.diag(covariance)), rel=1e-3)
    assert found.of_differences(left, right) == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize("by_people", [False, True])
def test_errors_of_many_items_are_those_of_few(monkeypatch, by_people) -> None:
    people = [SimulatedAnnotator()] * 30
    latent = np.random.default_rng(2).standard_normal(200)
    judgements = simulated_judgements(
        design_tuples(200).tuples, latent, annotators=people, judgements_per_tuple=2, seed=2
    )
    likelihood = MaxDiffLikelihood(judgements)
    posterior = fit_utilities(likelihood, prior_precision=0.5)
    gradients = likelihood.gradients(posterior.utilities, judgements.people) if by_people else None

    few = contrasts(posterior, gradients=gradients)
    monkeypatch.setattr("annotation.bws.scores.contrasts.MOST_ITEMS_JOINT", 5)
    many = contrasts(posterior, gradients=gradients)

    assert many.covariance is None
    assert few.kind is many.kind is (ErrorKind.ANNOTATORS if by_people else ErrorKind.LAPLACE)
    assert many.errors == pytest.approx(few.errors, rel=0.03 if by_people else 1e-6)


def test_what_is_not_known_of_the_prior_is_part_of_the_errors_of_many_items_as_of_those_of_few(
    monkeypatch,
) -> None:
    known = fit_utilities(MaxDiffLikelihood(some_ties(11)), prior_precision=0.5)
    unsure = replace(known, shared=np.random.default_rng(1).normal(size=(6, 2)))

    few = contrasts(unsure)
    monkeypatch.setattr("annotation.bws.scores.contrasts.MOST_ITEMS_JOINT", 5)
    many = contrasts(unsure)

    assert (many.errors > contrasts(known).errors).all()
    assert many.errors == pytest.approx(few.errors, rel=1e-6)


def test_random_sums_of_many_peoples_gradients_serve_as_well_as_all_of_them(monkeypatch) -> None:
    rng = np.random.default_rng(3)
    tuples = np.repeat(design_tuples(100).tuples, 3, axis=0)
    judgements = drawn(tuples, rng.standard_normal(100), 3)
    likelihood = MaxDiffLikelihood(judgements)
    posterior = fit_utilities(likelihood, prior_precision=0.5)
    gradients = likelihood.gradients(posterior.utilities, np.arange(len(tuples)) % 250)  # of 250 people

    few = contrasts(posterior, gradients=gradients)
    monkeypatch.setattr("annotation.bws.scores.contrasts.MOST_ITEMS_JOINT", 5)
    many = contrasts(posterior, gradients=gradients)

    # A variance from 200 random sums has the relative error sqrt(2 / 200), and its root half of that: .05.
    assert many.errors == pytest.approx(few.errors, rel=0.25)
    assert many.errors.mean() == pytest.approx(few.errors.mean(), rel=0.05)


def test_the_sandwich_by_hand() -> None:
    judgements = some_ties(8)
    likelihood = MaxDiffLikelihood(judgements)
    posterior = fit_with_prior(likelihood, prior_precision=2.0)
    gradients = likelihood.gradients(posterior.utilities, judgements.people)

    found = contrasts(posterior, gradients=gradients)

    inverse = np.linalg.inv(posterior.precision.toarray())
    centre = np.eye(6) - 1 / 6
    # numpy's covariance of three rows divides by 2; the sum of squares is multiplied by 3 / 2.
    middle = 3 * np.cov(gradients.toarray().T) + 2 * np.eye(6)
    assert found.covariance == pytest.approx(centre @ inverse @ middle @ inverse @ centre)


def test_errors_from_annotators_need_two_of_them() -> None:
    judgements = some_ties(9)
    alone = judgements.only(judgements.people == 0)

    with pytest.raises(ValueError, match="at least two annotators"):
        maxdiff_scores(alone, errors=ErrorSource.ANNOTATORS)


def test_people_who_differ_make_errors_from_annotators_larger() -> None:
    rng, tuples = np.random.default_rng(10), design_tuples(60).tuples
    own = rng.standard_normal(60) + 0.8 * rng.standard_normal((20, 60))
    answers = [drawn(tuples, 1.5 * values, seed) for seed, values in enumerate(own)]
    judgements = Judgements(
        np.vstack([answer.items for answer in answers]),
        np.concatenate([answer.best for answer in answers]),
        np.concatenate([answer.worst for answer in answers]),
        60,
        np.repeat(np.arange(20), len(tuples)),
    )

    model, annotators = (maxdiff_scores(judgements, errors=source) for source in ErrorSource)

    assert np.median(annotators.standard_errors) > 1.15 * np.median(model.standard_errors)
    assert annotators.values == pytest.approx(model.values)
