"""Forecasts are held against campaigns that then happen."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy.stats import spearmanr

from annotation.bws.designs.design import design_tuples
from annotation.bws.judgements import Judgements
from annotation.bws.reliability.split_half import Reliability, split_half_reliability
from annotation.bws.scores.empirical_bayes import fit_with_prior
from annotation.bws.scores.maxdiff import MaxDiffLikelihood
from annotation.bws.scores.refitting import MaxDiffSettings
from annotation.bws.scores.scoring import counting_scores
from annotation.bws.studies.forecast import (
    CAMPAIGNS_FITTED,
    ForecastPlan,
    _settings,
    fitted_noise,
    forecast,
    forecast_sizes,
)
from annotation.bws.studies.simulation import (
    SimulatedAnnotator,
    differing_annotators,
    simulated_judgements,
)

PLAN = ForecastPlan(items=80, judgements_per_tuple=3, noise=0.8)
ALIKE = {
    "noise_error": 0.0,
    "noise_spread": 0.0,
    "careless": 0.0,
}


@cache
def tuples_of(items: int) -> np.ndarray:
    return design_tuples(items, seed=77).tuples


def campaign(
    seed: int,
    *,
    noise: float = 0.7,
    items: int = 80,
    each: int = 3,
    people: Sequence[SimulatedAnnotator] = (),
) -> tuple[Judgements, np.ndarray]:
    latent = np.random.default_rng(seed).standard_normal(items)
    judgements = simulated_judgements(
        tuples_of(items),
        latent,
        annotators=people or [SimulatedAnnotator(noise)] * 6,
        judgements_per_tuple=each,
        seed=seed,
    )
    return judgements, latent


@pytest.mark.exhaustive
def test_at_least_ninety_of_a_hundred_campaigns_come_to_what_was_forecast() -> None:
    foretold = forecast(replace(PLAN, **ALIKE))

    assert foretold.reliability is not None
    reliable = accurate = 0
    for seed in range(100):
        judgements, latent = campaign(seed, noise=0.8)
        spearman = split_half_reliability(judgements, trials=25).spearman_mean
        reliable += foretold.reliability.low <= spearman <= foretold.reliability.high
        accuracy = spearmanr(counting_scores(judgements).values, latent).statistic
        accurate += foretold.counting_accuracy.low <= accuracy <= foretold.counting_accuracy.high
    assert reliable >= 90
    assert accurate >= 90


@pytest.mark.exhaustive
def test_forecasts_hold_for_campaigns_whose_people_differ_and_are_careless_now_and_then() -> None:
    foretold = forecast(replace(PLAN, noise=0.7))

    assert foretold.reliability is not None
    reliable = accurate = 0
    for seed in range(100):
        rng = np.random.default_rng([seed, 9])
        median = 0.7 * np.exp(0.35 * rng.standard_normal())
        people = differing_annotators(12, noise=median, spread=0.5, careless=0.05, rng=rng)
        judgements, latent = campaign(seed, people=people)
        spearman = split_half_reliability(judgements, trials=10).spearman_mean
        reliable += foretold.reliability.low <= spearman <= foretold.reliability.high
        accuracy = spearmanr(counting_scores(judgements).values, latent).statistic
        accurate += foretold.counting_accuracy.low <= accuracy <= foretold.counting_accuracy.high
    assert reliable >= 90
    assert accurate >= 90


def test_careless_people_are_told_from_noisy_ones_by_their_share() -> None:
    careful, careless = np.mean([_log_noises_of_careless_people(seed) for seed in range(4)], axis=0)

    assert abs(careless) < 0.15
    assert careful > careless + np.log(1.3)  # carelessness looks like noise to those who do not expect it


def _log_noises_of_careless_people(seed: int) -> list[float]:
    """What is fitted if carelessness is not expected, and if it is, beside the true noise."""
    people = differing_annotators(6, noise=0.7, spread=0.3, careless=0.2, rng=np.random.default_rng(seed))
    judgements, _ = campaign(seed, people=people, items=300, each=4)
    plan = replace(PLAN, noise_spread=0.3, seed=seed)
    fitted = [fitted_noise(judgements, replace(plan, careless=share))[0] for share in (0.0, 0.2)]
    return np.log(np.array(fitted) / 0.7).tolist()


def test_as_much_time_gives_larger_tuples_fewer_judgements() -> None:
    sizes = forecast_sizes(replace(PLAN, items=120, factor=1.0, campaigns=2, trials=1))

    # Three judgements of 120 tuples of 4 take 360 x 25 seconds = 2.5 hours; a tuple of 3 takes 18.75 seconds.
    assert [
        (each.same_time, each.plan.size, each.judgements, round(each.hours, 3))
        for each in sizes
        if each.plan.size in {3, 4, 6}
    ] == [
        (False, 3, 360, 1.875),
        (False, 4, 360, 2.5),
        (False, 6, 360, 3.75),
        (True, 3, 480, 2.5),
        (True, 4, 360, 2.5),
        (True, 6, 240, 2.5),
    ]


@pytest.mark.exhaustive
def test_a_forecast_from_a_running_campaign_holds_for_its_end() -> None:
    held = 0
    for seed in range(8):
        running, _ = campaign(seed, noise=0.6, each=2)
        plan = replace(PLAN, judgements_per_tuple=4, campaigns=20, trials=5)
        noise, error = fitted_noise(running, plan)
        foretold = forecast(replace(plan, noise=noise, noise_error=error))
        ended, _ = campaign(seed + 100, noise=0.6, each=4)
        assert foretold.reliability is not None
        spearman = split_half_reliability(ended, trials=50).spearman_mean
        held += foretold.reliability.low <= spearman <= foretold.reliability.high
    assert held >= 7


@pytest.mark.parametrize("noise", [0.3, 0.7, 1.5])
def test_the_noise_of_simulated_annotators_is_found_again(noise) -> None:
    judgements, _ = campaign(2, noise=noise, items=300, each=4)

    found, error = fitted_noise(judgements, replace(PLAN, **ALIKE))

    assert abs(np.log(found / noise)) < max(0.1, 3 * error)


def test_the_noise_is_refined_in_other_campaigns_than_it_was_searched_in(monkeypatch) -> None:
    judgements, _ = campaign(1)
    searched, refined = set(), set()

    def reliabilities(_judgements, noise, campaigns, _plan, rng) -> list[float]:
        (searched if campaigns == CAMPAIGNS_FITTED else refined).add(rng.random())
        return [1 / (1 + noise)] * campaigns

    monkeypatch.setattr("annotation.bws.studies.forecast._reliabilities", reliabilities)
    fitted_noise(judgements, replace(PLAN, trials=2))

    assert len(searched) == len(refined) == 1  # the search asks the same people at every noise
    assert not searched & refined


def test_people_who_contradict_each_other_have_the_most_noise_that_is_tried() -> None:
    # Two people answer each tuple the other way round, so every two halves rank the items in opposite orders.
    tuples = np.repeat(tuples_of(80), 2, axis=0)
    best = np.where(np.arange(len(tuples)) % 2, tuples.min(axis=1), tuples.max(axis=1))
    worst = tuples.min(axis=1) + tuples.max(axis=1) - best
    judgements = Judgements(tuples, best, worst, 80, np.arange(len(tuples)) % 2)

    noise, _error = fitted_noise(judgements, replace(PLAN, trials=2))

    assert noise == pytest.approx(6.0)


@pytest.mark.parametrize("noise", [0.5, 1.0])
def test_simulated_utilities_spread_as_their_noise_says(noise) -> None:
    # Haley's 1.702: of noise s, the difference of two items of deviation 1 is as steep as a logistic one of 1.702 / (s
    # sqrt(2)). The prior's precision is one over the square.
    assert _settings(noise).prior_precision == pytest.approx((noise * np.sqrt(2) / 1.702) ** 2)


def test_work_and_hours_are_those_of_the_whole_campaign_even_where_fewer_items_are_simulated() -> None:
    found = forecast(
        ForecastPlan(items=2000, judgements_per_tuple=2, seconds_per_judgement=18, campaigns=3, trials=2)
    )

    assert (found.tuples, found.judgements, found.hours) == (4000, 8000, 40.0)


def test_more_judgements_are_worth_more() -> None:
    few, many = (forecast(replace(PLAN, judgements_per_tuple=each, campaigns=15)) for each in (2, 6))

    assert few.reliability is not None
    assert many.reliability is not None
    assert few.reliability.mean < many.reliability.mean
    assert few.maxdiff_accuracy.mean < many.maxdiff_accuracy.mean


def test_ties_are_worth_nothing_and_take_their_time() -> None:
    decided, tied = (forecast(replace(PLAN, ties=share, campaigns=15)) for share in (0.0, 0.4))

    assert decided.reliability is not None
    assert tied.reliability is not None
    assert tied.reliability.mean < decided.reliability.mean - 0.05
    assert (tied.judgements, tied.hours) == (decided.judgements, decided.hours)


def test_ties_that_leave_most_tuples_one_judgement_leave_no_reliability() -> None:
    found = forecast(replace(PLAN, judgements_per_tuple=2, ties=0.6, campaigns=2, trials=1))

    assert found.reliability is None
    assert found.counting_accuracy.mean > 0


def test_maxdiff_needs_a_part_of_the_judgements_and_a_larger_one_where_people_are_noisy() -> None:
    steady, noisy = (
        forecast(ForecastPlan(items=200, judgements_per_tuple=4, noise=noise, campaigns=2, trials=2, **ALIKE))
        for noise in (0.5, 1.0)
    )

    assert steady.maxdiff_share is not None
    assert noisy.maxdiff_share is not None
    assert 0.3 < steady.maxdiff_share < 0.6
    assert steady.maxdiff_share < noisy.maxdiff_share < 0.95


def test_the_range_of_two_campaigns_is_as_wide_as_howe_s_factor_says() -> None:
    range_of_two = forecast(ForecastPlan(items=20, factor=0.5, campaigns=2, trials=1)).counting_accuracy

    low, high = np.arctanh([range_of_two.low, range_of_two.high])
    middle, mean = np.tanh((low + high) / 2), range_of_two.mean
    # Both accuracies from their mean and the mean of their z, which lie d apart:
    # mean = (tanh(z + d/2) + tanh(z - d/2)) / 2 = T (1 - t^2) / (1 - T^2 t^2), T = tanh z and t = tanh(d/2).
    apart = 2 * np.arctanh(np.sqrt((middle - mean) / (middle * (1 - mean * middle))))
    # Of two numbers the standard deviation is d / sqrt(2). chi2_{.1, 1} = .01579, so
    # k = 1.96 sqrt(1 * 1.5 / .01579) = 19.10.
    assert (high - low) / 2 / (apart / np.sqrt(2)) == pytest.approx(19.10, rel=1e-3)


def test_a_forecast_scores_by_the_precision_that_a_fit_finds_for_people_as_noisy(monkeypatch) -> None:
    precisions = []

    def settings(precision: float) -> MaxDiffSettings:
        precisions.append(precision)
        return MaxDiffSettings(precision)

    monkeypatch.setattr("annotation.bws.studies.forecast.MaxDiffSettings", settings)
    judgements, _ = campaign(2, noise=0.7, items=100, each=4)

    forecast(ForecastPlan(items=20, factor=0.5, noise=0.7, campaigns=2, trials=1, **ALIKE))

    found = fit_with_prior(MaxDiffLikelihood(judgements)).prior_precision
    assert precisions == pytest.approx([found] * len(precisions), rel=0.2)


def test_every_half_behind_a_fitted_noise_is_drawn_by_the_seed_of_the_plan(monkeypatch) -> None:
    seeds = []

    def split(judgements: Judgements, *, trials: int, seed: int = -1) -> Reliability:
        seeds.append(seed)
        return split_half_reliability(judgements, trials=trials, seed=seed)

    monkeypatch.setattr("annotation.bws.studies.forecast.split_half_reliability", split)

    fitted_noise(campaign(2)[0], replace(PLAN, trials=1, seed=5))

    assert set(seeds) == {5}


def test_the_same_plan_gives_the_same_forecast() -> None:
    plan = replace(PLAN, campaigns=5)

    assert forecast(plan) == forecast(plan)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"noise": 0.0}, "needs noise above 0, not 0"),
        ({"judgements_per_tuple": 0}, "needs judgements per tuple above 0"),
        ({"items": -5}, "needs items above 0, not -5"),
        ({"people": 0}, "needs people above 0"),
        ({"careless": 1.5}, "careless answers is between 0 and 1, not 1.5"),
        ({"ties": 1.0}, "ties is at least 0 and below 1, not 1"),
        ({"noise_spread": -0.1}, "needs noise spread of at least 0"),
        ({"noise_error": float("inf")}, "needs noise error of at least 0, not inf"),
        ({"campaigns": 1}, "at least 2 simulated campaigns"),
        ({"items": 3}, "Tuples of 4 need at least 4 items"),
    ],
)
def test_a_plan_that_cannot_be_carried_out_says_why(change, reason) -> None:
    with pytest.raises(ValueError, match=reason):
        forecast(replace(PLAN, **change))
