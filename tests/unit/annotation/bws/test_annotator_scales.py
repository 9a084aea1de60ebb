"""A scale per annotator: its derivatives, a marginal likelihood by quadrature, and scales that are known."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime, minimize_scalar
from scipy.special import logsumexp

from annotation.bws.designs.design import design_tuples
from annotation.bws.judgements import Judgements
from annotation.bws.scores.annotator_scales import fit_with_scales
from annotation.bws.scores.empirical_bayes import fit_with_prior
from annotation.bws.scores.maxdiff import MaxDiffLikelihood
from annotation.bws.scores.scoring import ErrorSource, maxdiff_scores
from annotation.bws.studies.simulation import SimulatedAnnotator, simulated_judgements
from tests.unit.annotation.bws.test_prior_and_contrasts import SIX, drawn, log_probability, some_ties


def judged_by(utilities: np.ndarray, scales: np.ndarray, *, each: int, seed: int) -> Judgements:
    """Every tuple of a design judged `each` times, by people with these scales in turn."""
    tuples = np.repeat(design_tuples(len(utilities), seed=seed).tuples, each, axis=0)
    person = np.random.default_rng(seed).permutation(len(tuples)) % len(scales)
    parts = [
        drawn(tuples[person == number], scale * utilities, seed + number)
        for number, scale in enumerate(scales)
    ]
    return Judgements(
        *(np.concatenate([getattr(part, name) for part in parts]) for name in ("items", "best", "worst")),
        item_count=len(utilities),
        annotators=np.repeat(np.arange(len(scales)), [len(part) for part in parts]),
    )


def three_items(scales: tuple[float, float], rows: int = 60) -> Judgements:
    tuples = np.tile([0, 1, 2], (rows, 1))
    low, high = (drawn(tuples, scale * np.array([0.8, 0.0, -0.8]), 3 + int(2 * scale)) for scale in scales)
    chosen = [np.concatenate([low.best, high.best]), np.concatenate([low.worst, high.worst])]
    return Judgements(np.vstack([tuples, tuples]), *chosen, 3, np.repeat([0, 1], rows))


def test_the_derivatives_by_log_scales_are_those_of_the_formula() -> None:
    judgements, scales = some_ties(4), np.array([0.5, 1.0, 2.0])
    likelihood = MaxDiffLikelihood(judgements, scales[judgements.people])

    def value(log_scales: np.ndarray) -> float:
        parts = [judgements.only(judgements.people == person) for person in range(3)]
        return sum(
            log_probability(part, np.exp(t) * SIX, 1.0) for part, t in zip(parts, log_scales, strict=True)
        )

    slope, information, cross, whole = likelihood.expand_scales(SIX, judgements.people)

    assert slope == pytest.approx(approx_fprime(np.log(scales), value, 1e-7), abs=1e-3)
    for person in range(3):
        own = judgements.people == person
        curvature = MaxDiffLikelihood(judgements.only(own), scales[judgements.people][own]).expand(SIX)[1]
        assert cross[[person]].toarray()[0] == pytest.approx(curvature @ SIX)
        assert information[person] == pytest.approx(SIX @ curvature @ SIX)
    assert whole.toarray() == pytest.approx(likelihood.expand(SIX)[1].toarray())


@pytest.mark.exhaustive
def test_scales_are_those_of_the_marginal_likelihood_by_quadrature() -> None:
    judgements = three_items((0.5, 2.0))
    axis = np.linspace(-2.5, 2.5, 51)
    grid = np.array(np.meshgrid(axis, axis, axis)).reshape(3, -1)  # (3, 132651) utilities
    prior = -(grid**2).sum(axis=0) / 2  # N(0, 1)

    def log_likelihood(person: int, t: float) -> np.ndarray:
        own, u = judgements.only(judgements.people == person), np.exp(t) * grid
        total = logsumexp([u[a] - u[b] for a in range(3) for b in range(3) if a != b], axis=0)
        return (u[own.best] - u[own.worst]).sum(axis=0) - len(own) * total

    def log_posterior(t: float) -> float:
        # Log scales t and -t, which sum to zero, each under N(0, .5^2).
        return logsumexp(log_likelihood(0, -t) + log_likelihood(1, t) + prior) - (t / 0.5) ** 2

    exact = minimize_scalar(lambda t: -log_posterior(t), bounds=(-2, 2), method="bounded").x
    curvature = (
        -(log_posterior(exact + 0.05) - 2 * log_posterior(exact) + log_posterior(exact - 0.05)) / 0.05**2
    )

    _likelihood, _posterior, found = fit_with_scales(judgements, prior_precision=1.0, spread=0.5)

    assert np.log(found.scales) == pytest.approx([-exact, exact], abs=0.1)
    assert found.errors == pytest.approx(np.full(2, curvature**-0.5), rel=0.15)


def test_known_scales_are_found_again_and_bring_the_utilities_nearer_to_the_truth() -> None:
    rng = np.random.default_rng(3)
    utilities, log_scales = 1.5 * rng.standard_normal(80), np.linspace(-1.0, 1.0, 9)
    judgements = judged_by(utilities, np.exp(log_scales), each=5, seed=40)

    scores = maxdiff_scores(judgements, annotator_scales=True)
    alike = maxdiff_scores(judgements)

    assert scores.fit is not None
    assert scores.fit.scale_effect is not None
    assert alike.fit is not None
    found = scores.fit.scale_effect.scales
    away = (np.log(found.scales) - log_scales) / found.errors
    assert np.log(found.scales).mean() == pytest.approx(0)
    assert np.abs(away).max() < 3
    assert found.spread == pytest.approx(log_scales.std(), rel=0.35)
    assert found.evidence_gain > 10
    right, wrong = (np.corrcoef(fit.utilities, utilities)[0, 1] for fit in (scores.fit, alike.fit))
    assert right > wrong
    both = np.corrcoef(scores.fit.utilities, alike.fit.utilities)[0, 1]
    assert scores.fit.scale_effect.correlation == pytest.approx(both)


def test_somebody_who_guesses_has_a_scale_near_0_and_does_not_move_those_of_others() -> None:
    utilities = 1.5 * np.random.default_rng(8).standard_normal(80)
    log_scales = np.array([-0.5, -0.3, -0.1, 0.0, 0.1, 0.3, 0.5])
    judgements = judged_by(utilities, np.exp(np.append(log_scales, -9)), each=4, seed=80)

    found = fit_with_scales(judgements)[2]

    *others, guessing = np.log(found.scales)
    assert guessing < min(others) - 1
    assert np.array(others) - np.mean(others) == pytest.approx(log_scales, abs=0.4)
    assert found.scales[-1] > 0.001


def test_equal_annotators_have_scale_1_and_the_scores_of_one_scale() -> None:
    utilities = 1.5 * np.random.default_rng(4).standard_normal(60)
    judgements = judged_by(utilities, np.ones(12), each=4, seed=50)

    scores, alike = (maxdiff_scores(judgements, annotator_scales=scaled) for scaled in (True, False))

    assert scores.fit is not None
    assert scores.fit.scale_effect is not None
    found = scores.fit.scale_effect
    assert found.scales.spread == 0
    assert found.scales.scales == pytest.approx(np.ones(12), abs=0.05)
    assert scores.values == pytest.approx(alike.values, abs=0.01)
    assert found.facts()["evidence_gain"] < 1


@pytest.mark.exhaustive
def test_what_is_not_known_of_the_scales_is_in_the_errors_of_many_items_as_of_few(monkeypatch) -> None:
    utilities = 1.5 * np.random.default_rng(5).standard_normal(60)
    judgements = judged_by(utilities, np.array([0.4, 0.8, 1.0, 1.2, 2.5]), each=4, seed=60)

    few = maxdiff_scores(judgements, annotator_scales=True)
    for room in ("annotator_scales", "contrasts", "scoring"):
        monkeypatch.setattr(f"annotation.bws.scores.{room}.MOST_ITEMS_JOINT", 5)
    many = maxdiff_scores(judgements, annotator_scales=True)

    assert many.fit is not None
    assert many.fit.contrasts is not None
    assert few.fit is not None
    assert many.fit.contrasts.covariance is None
    assert np.corrcoef(few.fit.utilities, many.fit.utilities)[0, 1] > 0.995
    assert many.standard_errors == pytest.approx(few.standard_errors, rel=0.3)


@pytest.mark.parametrize(
    ("options", "says"),
    [({"errors": ErrorSource.ANNOTATORS}, "one scale for all"), ({}, "at least two annotators")],
)
def test_scales_are_refused_with_errors_from_annotators_and_for_a_single_one(options, says) -> None:
    judgements = some_ties(9)
    alone = judgements.only(judgements.people == 0)

    with pytest.raises(ValueError, match=says):
        maxdiff_scores(alone, annotator_scales=True, **options)


def test_a_spread_that_is_given_is_kept_and_has_to_be_above_0() -> None:
    _likelihood, _posterior, found = fit_with_scales(some_ties(9), spread=0.3)

    assert found.spread == 0.3
    with pytest.raises(ValueError, match="above 0, not 0"):
        fit_with_scales(some_ties(9), spread=0.0)


def test_what_is_not_known_of_two_scales_moves_the_utilities_as_far_as_such_scales_do() -> None:
    utilities = np.linspace(-1.5, 1.5, 8)
    judgements = judged_by(utilities, np.array([0.7, 1.4]), each=10, seed=2)

    _likelihood, posterior, found = fit_with_scales(judgements, prior_precision=1.0, spread=1.0)

    # One standard error of a log scale up, and that of the other as far down, with another fit of the utilities.
    up, down = (
        fit_with_prior(
            MaxDiffLikelihood(
                judgements, (found.scales * np.exp(sign * found.errors * [1, -1]))[judgements.people]
            ),
            prior_precision=1.0,
        ).utilities
        for sign in (1, -1)
    )
    assert np.linalg.norm(posterior.shared) == pytest.approx(np.linalg.norm(up - down) / 2, rel=0.1)


def test_next_to_a_spread_of_nearly_nothing_judgements_do_not_make_scales_more_certain() -> None:
    found = fit_with_scales(some_ties(9), spread=1e-3)[2]

    # The prior alone: independent normal numbers of deviation s less the mean of the three, s sqrt(1 - 1/3).
    assert found.errors == pytest.approx(np.full(3, 1e-3 * np.sqrt(2 / 3)), rel=1e-3)


def test_scales_of_people_who_choose_decidedly_settle() -> None:
    random = np.random.default_rng(0)
    people = [SimulatedAnnotator(noise) for noise in (0.1, 0.1, 0.4, 2.0)]
    latent = random.standard_normal(10)
    tuples = np.array([random.permutation(10)[:4] for _ in range(24)])
    judged = simulated_judgements(tuples, latent, annotators=people, judgements_per_tuple=2, seed=0)

    found = fit_with_scales(judged)[2]

    assert found.scales.argmin() == 3
    assert np.isfinite(found.errors).all()


def test_scales_that_overshoot_in_turn_settle() -> None:
    random = np.random.default_rng(0)
    latent = random.standard_normal(5)
    tuples = np.array([random.permutation(5)[:4] for _ in range(20)])
    people = [SimulatedAnnotator(0.01), SimulatedAnnotator(1.0)]
    judged = simulated_judgements(tuples, latent, annotators=people, judgements_per_tuple=2, seed=0)

    found = fit_with_scales(judged)[2]

    assert found.scales[0] > 2 > found.scales[1]
    assert found.scales.prod() == pytest.approx(1)


def test_scales_have_settled_to_less_than_a_hundredth(monkeypatch) -> None:
    utilities = 1.5 * np.random.default_rng(2).standard_normal(12)
    judgements = judged_by(utilities, np.array([0.2, 0.5, 1.0, 4.0]), each=3, seed=2)

    found = fit_with_scales(judgements)[2]
    monkeypatch.setattr("annotation.bws.scores.annotator_scales.CLOSE_ENOUGH", 1e-4)
    monkeypatch.setattr("annotation.bws.scores.annotator_scales.PRECISION_CLOSE_ENOUGH", 1e-4)
    settled = fit_with_scales(judgements)[2]

    assert found.scales == pytest.approx(settled.scales, rel=0.01)


def test_scales_that_do_not_settle_are_refused_in_place_of_those_of_the_last_round(monkeypatch) -> None:
    monkeypatch.setattr("annotation.bws.scores.annotator_scales.MOST_ROUNDS", 2)

    with pytest.raises(ValueError, match="did not settle within 2 rounds; score without a scale for each"):
        fit_with_scales(judged_by(np.linspace(-2, 2, 10), np.array([0.3, 1.0, 3.0]), each=3, seed=1))
