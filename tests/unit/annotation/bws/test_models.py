"""The choice models: their mathematics, other libraries' answers, and known truths."""

from itertools import permutations

import choix
import numpy as np
import pytest
from scipy.optimize import approx_fprime
from scipy.stats import spearmanr

from annotation.bws.designs.design import design_tuples
from annotation.bws.judgements import Judgements
from annotation.bws.scores.bradley_terry import BradleyTerryLikelihood, implied_pairs
from annotation.bws.scores.maxdiff import MaxDiffLikelihood
from annotation.bws.scores.posterior import (
    ErrorKind,
    estimated_inverse_diagonal,
    fit_utilities,
    inverse_diagonal,
    posterior_errors,
)
from annotation.bws.scores.refitting import MaxDiffSettings
from annotation.bws.scores.scoring import Scale, bradley_terry_scores, counting_scores, maxdiff_scores
from annotation.bws.studies.simulation import SimulatedAnnotator, simulated_judgements


def random_judgements(seed: int = 0, *, items: int = 12, rows: int = 60, size: int = 4) -> Judgements:
    rng = np.random.default_rng(seed)
    drawn = np.array([rng.permutation(items)[:size] for _ in range(rows)])
    slots = np.array([rng.permutation(size)[:2] for _ in range(rows)])
    return Judgements.from_slots(drawn, slots[:, 0], slots[:, 1], item_count=items)


def chosen_by_maxdiff(tuples: np.ndarray, utilities: np.ndarray, seed: int) -> Judgements:
    """Judgements drawn from the MaxDiff model itself, one a tuple."""
    rng = np.random.default_rng(seed)
    pairs = np.array(list(permutations(range(tuples.shape[1]), 2)))
    values = utilities[tuples]
    weight = np.exp(values[:, pairs[:, 0]] - values[:, pairs[:, 1]])
    drawn = (rng.random(len(tuples))[:, None] > np.cumsum(weight / weight.sum(1, keepdims=True), axis=1)).sum(
        1
    )
    return Judgements.from_slots(tuples, pairs[drawn, 0], pairs[drawn, 1], item_count=len(utilities))


def mixed_judgements(seed: int) -> Judgements:
    """Tuples of four, of three and of two items."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 5, 60)
    items = np.where(np.arange(4) < sizes[:, None], [rng.permutation(12)[:4] for _ in sizes], -1)
    slots = np.array([rng.permutation(size)[:2] for size in sizes])
    return Judgements.from_slots(items, slots[:, 0], slots[:, 1], item_count=12)


def log_probability(judgements: Judgements, utilities: np.ndarray) -> float:
    """The MaxDiff log-likelihood as its formula reads, judgement by judgement."""
    total = 0.0
    for row, best, worst in zip(judgements.items, judgements.best, judgements.worst, strict=True):
        ways = sum(np.exp(utilities[a] - utilities[b]) for a, b in permutations(row[row >= 0], 2))
        total += utilities[best] - utilities[worst] - np.log(ways)
    return total


@pytest.mark.parametrize(
    "judgements", [*(random_judgements(1, size=size) for size in (2, 3, 4, 6)), mixed_judgements(1)]
)
def test_the_maxdiff_likelihood_is_its_formula_with_its_derivatives(judgements) -> None:
    likelihood = MaxDiffLikelihood(judgements)
    at = np.random.default_rng(2).standard_normal(12)

    gradient, curvature = likelihood.expand(at)

    assert likelihood.value(at) == pytest.approx(log_probability(judgements, at))
    assert gradient == pytest.approx(approx_fprime(at, likelihood.value, 1e-7), abs=1e-4)
    slope = approx_fprime(at, lambda u: likelihood.expand(u)[0], 1e-7)
    assert curvature.toarray() == pytest.approx(-slope, abs=1e-4)


def test_an_item_that_stands_twice_in_a_tuple_keeps_the_derivatives_right() -> None:
    judgements = Judgements(
        np.array([[0, 0, 1, 2], [1, 2, 0, 0], [2, 1, 3, 0]]), np.array([0, 1, 3]), np.array([2, 0, 0]), 4
    )
    likelihood = MaxDiffLikelihood(judgements)
    at = np.array([0.4, -0.2, 0.1, 0.9])

    gradient, curvature = likelihood.expand(at)

    slope = approx_fprime(at, lambda u: likelihood.expand(u)[0], 1e-7)
    assert gradient == pytest.approx(approx_fprime(at, likelihood.value, 1e-7), abs=1e-4)
    assert curvature.toarray() == pytest.approx(-slope, abs=1e-4)


def test_a_set_of_items_is_computed_once_however_often_it_was_judged() -> None:
    items = np.array([[0, 1], [2, 3], [1, 0], [3, 2], [2, 3], [0, 2]])

    likelihood = MaxDiffLikelihood(Judgements(items, items[:, 0], items[:, 1], 4))

    assert likelihood.tuples.tolist() == [[0, 1], [0, 2], [2, 3]]
    assert likelihood.times.tolist() == [2, 1, 3]


def test_far_apart_utilities_do_not_overflow() -> None:
    likelihood = MaxDiffLikelihood(random_judgements(3))

    value = likelihood.value(np.linspace(-300, 300, 12))

    assert np.isfinite(value)


def test_where_utilities_begin_does_not_matter_however_far_from_0() -> None:
    likelihood = MaxDiffLikelihood(random_judgements(3))
    at = np.linspace(-1, 1, 12)

    # Beyond 709.8 an exponential overflows.
    assert likelihood.value(at + 2000) == pytest.approx(likelihood.value(at))


def test_the_derivatives_of_bradley_terry_are_those_of_its_likelihood() -> None:
    likelihood = BradleyTerryLikelihood(*implied_pairs(random_judgements(4)), 12)
    at = np.random.default_rng(2).standard_normal(12)

    gradient, curvature = likelihood.expand(at)

    assert gradient == pytest.approx(approx_fprime(at, likelihood.value, 1e-7), abs=1e-4)
    slope = approx_fprime(at, lambda u: likelihood.expand(u)[0], 1e-7)
    assert curvature.toarray() == pytest.approx(-slope, abs=1e-4)


@pytest.mark.parametrize("alpha", [0.05, 0.5, 3.0])
def test_bradley_terry_gives_what_choix_gives(alpha) -> None:
    judgements = random_judgements(4, items=15, rows=90)
    winners, losers = implied_pairs(judgements)

    ours = fit_utilities(BradleyTerryLikelihood(winners, losers, 15), prior_precision=2 * alpha).utilities

    theirs = choix.opt_pairwise(
        15, list(zip(winners.tolist(), losers.tolist(), strict=True)), alpha=alpha, tol=1e-12
    )
    assert ours == pytest.approx(theirs, abs=1e-6)


def test_maxdiff_on_pairs_is_bradley_terry() -> None:
    judgements = random_judgements(5, items=8, rows=50, size=2)

    # With two items a choice has twice the utilities' difference, exp(2 d), where Bradley-Terry has exp(d).
    doubled = fit_utilities(MaxDiffLikelihood(judgements), prior_precision=4.0).utilities * 2
    single = fit_utilities(
        BradleyTerryLikelihood(*implied_pairs(judgements), 8), prior_precision=1.0
    ).utilities
    assert doubled == pytest.approx(single, abs=1e-8)


def test_the_pairs_a_judgement_implies_by_hand() -> None:
    judgements = Judgements(np.array([[7, 3, 5, 1], [0, 0, 2, 4]]), np.array([3, 0]), np.array([1, 4]), 8)

    pairs = sorted(zip(*(side.tolist() for side in implied_pairs(judgements)), strict=True))

    assert pairs == [(0, 2), (0, 4), (2, 4), (3, 1), (3, 5), (3, 7), (5, 1), (7, 1)]


def test_a_fit_lies_where_judgements_and_prior_pull_alike() -> None:
    likelihood = MaxDiffLikelihood(random_judgements(8))
    mean = np.linspace(-2, 2, 12)

    around = fit_utilities(likelihood, prior_precision=0.7, prior_mean=mean).utilities
    firm = fit_utilities(likelihood, prior_precision=1e9, prior_mean=mean).utilities

    slope = approx_fprime(around, likelihood.value, 1e-6)
    assert slope == pytest.approx(0.7 * (around - mean), abs=1e-3)
    assert firm == pytest.approx(mean, abs=1e-6)


@pytest.mark.exhaustive
def test_known_utilities_are_found_again_within_their_errors() -> None:
    truth = np.random.default_rng(6).standard_normal(60)
    tuples = np.vstack([design_tuples(60, seed=seed).tuples for seed in range(8)])
    judgements = chosen_by_maxdiff(tuples, truth, seed=7)

    fit = fit_utilities(MaxDiffLikelihood(judgements), prior_precision=1.0)
    errors, kind = posterior_errors(fit.precision)

    off = (fit.utilities - truth) / errors
    assert kind is ErrorKind.LAPLACE
    assert (np.abs(off) < 1.96).mean() > 0.85
    assert 0.7 < np.sqrt((off**2).mean()) < 1.3


@pytest.mark.exhaustive
def test_errors_are_the_spread_over_many_campaigns() -> None:
    truth = np.random.default_rng(8).standard_normal(30)
    tuples = np.vstack([design_tuples(30, size=3, seed=seed).tuples for seed in range(6)])

    fits = [
        fit_utilities(MaxDiffLikelihood(chosen_by_maxdiff(tuples, truth, seed=seed)), prior_precision=1e-3)
        for seed in range(150)
    ]

    found = np.array([fit.utilities - fit.utilities.mean() for fit in fits])
    # Taken about the mean of all items, which the likelihood leaves open.
    covariance = np.mean(
        [np.linalg.pinv(fit.precision.toarray() - 1e-3 * np.eye(30)) for fit in fits], axis=0
    )
    assert found.std(axis=0).mean() == pytest.approx(np.sqrt(np.diag(covariance)).mean(), rel=0.1)


def test_maxdiff_is_nearer_the_truth_than_counting_on_the_same_judgements() -> None:
    truth = np.random.default_rng(9).standard_normal(200)
    people = [SimulatedAnnotator(noise=0.5)] * 8
    judgements = simulated_judgements(
        design_tuples(200).tuples, truth, annotators=people, judgements_per_tuple=4, seed=1
    )

    accuracy = {
        method: spearmanr(method(judgements).values, truth).statistic
        for method in (counting_scores, bradley_terry_scores, maxdiff_scores)
    }

    assert accuracy[maxdiff_scores] > accuracy[counting_scores] + 0.01
    assert accuracy[bradley_terry_scores] > accuracy[counting_scores] + 0.01


def test_the_scales_are_those_of_counting() -> None:
    judgements = random_judgements(10)

    signed, unit = (maxdiff_scores(judgements, scale=scale) for scale in (Scale.SIGNED, Scale.UNIT))

    assert signed.fit is not None
    assert signed.values == pytest.approx(np.tanh(signed.fit.utilities / 2))
    assert unit.values == pytest.approx((signed.values + 1) / 2)
    assert unit.standard_errors == pytest.approx(signed.standard_errors / 2)


def test_an_item_that_never_appeared_has_no_score() -> None:
    judgements = Judgements(np.array([[0, 1, 2]]), np.array([0]), np.array([2]), 4)

    scores = maxdiff_scores(judgements)

    assert np.isnan(scores.values).tolist() == [False, False, False, True]
    assert np.isnan(scores.standard_errors[3])


def test_of_an_odd_number_of_items_one_may_never_have_appeared() -> None:
    items = np.array([[0, 1, 3], [4, 3, 1], [0, 4, 1]])
    renumbered = np.array([0, 1, -1, 2, 3])

    scores = maxdiff_scores(Judgements(items, items[:, 0], items[:, 2], 5))

    alone = maxdiff_scores(Judgements(renumbered[items], renumbered[items[:, 0]], renumbered[items[:, 2]], 4))
    assert np.isnan(scores.values[2])
    assert np.delete(scores.values, 2) == pytest.approx(alone.values)


def test_two_items_are_distinguished_by_the_error_of_their_difference() -> None:
    # 0 before 1 in seven of nine is no more than chance: twice P(7 or more of 9) = 2 * 46 / 512 = .18. The errors of
    # the two scores, as if they were independent, would distinguish them.
    best = np.array([0] * 7 + [1] * 2)

    scores = maxdiff_scores(Judgements(np.tile([0, 1], (9, 1)), best, 1 - best, 2))

    assert np.ptp(scores.values) > 1.96 * np.hypot(*scores.standard_errors)
    assert scores.distinction().distinguishable == 0


def test_judgements_without_an_order_change_nothing_but_appearances() -> None:
    telling = random_judgements(11)
    silent = Judgements(telling.items[:5], telling.items[:5, 1], telling.items[:5, 1], 12)
    both = Judgements(
        np.vstack([telling.items, silent.items]),
        np.concatenate([telling.best, silent.best]),
        np.concatenate([telling.worst, silent.worst]),
        12,
    )

    for method in (maxdiff_scores, bradley_terry_scores):
        assert method(both).values == pytest.approx(method(telling).values)
    assert maxdiff_scores(both).appearances.sum() == both.items.size


def test_bradley_terry_claims_no_errors() -> None:
    scores = bradley_terry_scores(random_judgements(12))

    assert np.isnan(scores.standard_errors).all()
    assert scores.error_kind is ErrorKind.NONE


def test_the_inverse_diagonal_is_that_of_the_inverse() -> None:
    fit = fit_utilities(MaxDiffLikelihood(random_judgements(13)), prior_precision=0.3)

    assert inverse_diagonal(fit.precision) == pytest.approx(np.diag(np.linalg.inv(fit.precision.toarray())))


@pytest.mark.parametrize("prior_precision", [1.0, 0.01])
def test_estimated_errors_are_within_some_per_cent_of_the_exact_ones(prior_precision) -> None:
    tuples = np.vstack(
        [
            design_tuples(400, seed=1).tuples,
            np.column_stack(
                [np.zeros((300, 1), int), np.arange(1, 301), np.arange(50, 350), np.arange(99, 399)]
            ),
        ]
    )
    judgements = simulated_judgements(
        tuples,
        np.random.default_rng(1).standard_normal(400),
        annotators=[SimulatedAnnotator()] * 2,
        judgements_per_tuple=2,
        seed=2,
    )
    precision = fit_utilities(MaxDiffLikelihood(judgements), prior_precision=prior_precision).precision

    ratio = np.sqrt(estimated_inverse_diagonal(precision, seed=3) / inverse_diagonal(precision))

    assert np.abs(ratio - 1).max() < 0.06
    # Two standard errors that were allowed for 95 of 100 items.
    assert np.quantile(np.abs(ratio - 1), 0.95) < 0.04
    assert np.abs(ratio - 1).mean() < 0.02


@pytest.mark.parametrize("unit", [1 / 1024, 1024])
def test_estimated_errors_do_not_depend_on_the_unit_of_the_utilities(unit) -> None:
    judgements = random_judgements(3, items=300, rows=300)
    precision = fit_utilities(MaxDiffLikelihood(judgements), prior_precision=0.1).precision

    found = estimated_inverse_diagonal(precision * unit, seed=3) * unit

    # A power of two changes no digit: the same signs are drawn, and the same items are solved for one by one.
    assert found == pytest.approx(estimated_inverse_diagonal(precision, seed=3), rel=1e-9)


def test_beyond_the_limit_errors_are_estimated_and_say_so(monkeypatch) -> None:
    monkeypatch.setattr("annotation.bws.scores.posterior.MOST_ITEMS_EXACT", 5)
    monkeypatch.setattr("annotation.bws.scores.contrasts.MOST_ITEMS_JOINT", 5)

    scores = maxdiff_scores(random_judgements(14))

    assert scores.error_kind is ErrorKind.ESTIMATED
    assert (scores.standard_errors > 0).all()


def test_a_prior_without_precision_is_refused() -> None:
    with pytest.raises(ValueError, match="precision above 0, not 0"):
        maxdiff_scores(random_judgements(), prior_precision=0)


def test_a_fit_for_ranks_is_the_fit_to_a_ten_thousandth() -> None:
    judgements = simulated_judgements(
        design_tuples(60).tuples,
        np.random.default_rng(3).standard_normal(60),
        annotators=[SimulatedAnnotator(noise=0.6)] * 3,
        judgements_per_tuple=3,
        seed=3,
    )
    some = judgements.only(np.arange(40))

    quick = MaxDiffSettings(prior_precision=0.4).utilities(some)

    scores = maxdiff_scores(some, prior_precision=0.4, with_errors=False)
    assert (np.isnan(quick) == np.isnan(scores.values)).all()
    assert quick[~np.isnan(quick)] == pytest.approx(scores.fit.utilities, abs=2e-4)
