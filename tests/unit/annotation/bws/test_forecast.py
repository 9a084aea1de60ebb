"""Forecasts are held against campaigns that then happen."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy.stats import spearmanr

from annotation.bws.designs.design import design_tuples
from annotation.bws.judgements import Judgements
from annotation.bws.reliability.split_half import split_half_reliability
from annotation.bws.scores.scoring import counting_scores
from annotation.bws.studies.forecast import ForecastPlan, fitted_noise, forecast
from annotation.bws.studies.simulation import SimulatedAnnotator, simulated_judgements

PLAN = ForecastPlan(items=80, judgements_per_tuple=3, noise=0.8)


@cache
def tuples_of(items: int) -> np.ndarray:
    return design_tuples(items, seed=77).tuples


def campaign(seed: int, *, noise: float, items: int = 80, each: int = 3) -> tuple[Judgements, np.ndarray]:
    latent = np.random.default_rng(seed).standard_normal(items)
    judgements = simulated_judgements(
        tuples_of(items),
        latent,
        annotators=[SimulatedAnnotator(noise)] * 6,
        judgements_per_tuple=each,
        seed=seed,
    )
    return judgements, latent


def test_at_least_ninety_of_a_hundred_campaigns_come_to_what_was_forecast() -> None:
    foretold = forecast(PLAN)

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


def test_a_forecast_from_a_running_campaign_holds_for_its_end() -> None:
    held = 0
    for seed in range(8):
        running, _ = campaign(seed, noise=0.6, each=2)
        noise, error = fitted_noise(running, trials=5)
        foretold = forecast(
            replace(PLAN, judgements_per_tuple=4, noise=noise, noise_error=error, campaigns=20, trials=5)
        )
        ended, _ = campaign(seed + 100, noise=0.6, each=4)
        assert foretold.reliability is not None
        spearman = split_half_reliability(ended, trials=50).spearman_mean
        held += foretold.reliability.low <= spearman <= foretold.reliability.high
    assert held >= 7


@pytest.mark.parametrize("noise", [0.3, 0.7, 1.5])
def test_the_noise_of_simulated_annotators_is_found_again(noise) -> None:
    judgements, _ = campaign(1, noise=noise, items=300, each=4)

    found, error = fitted_noise(judgements)

    assert abs(np.log(found / noise)) < max(0.1, 3 * error)


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


def test_maxdiff_needs_a_part_of_the_judgements_and_a_larger_one_where_people_are_noisy() -> None:
    steady, noisy = (
        forecast(ForecastPlan(items=200, judgements_per_tuple=4, noise=noise, campaigns=2, trials=2))
        for noise in (0.5, 1.0)
    )

    assert steady.maxdiff_share is not None
    assert noisy.maxdiff_share is not None
    assert 0.3 < steady.maxdiff_share < 0.6
    assert steady.maxdiff_share < noisy.maxdiff_share < 0.95


def test_the_same_plan_gives_the_same_forecast() -> None:
    plan = replace(PLAN, campaigns=5)

    assert forecast(plan) == forecast(plan)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"noise": 0.0}, "needs noise above 0, not 0"),
        ({"judgements_per_tuple": 0}, "needs judgements per tuple above 0"),
        ({"items": -5}, "needs items above 0, not -5"),
        ({"campaigns": 1}, "at least 2 simulated campaigns"),
        ({"items": 3}, "Tuples of 4 need at least 4 items"),
    ],
)
def test_a_plan_that_cannot_be_carried_out_says_why(change, reason) -> None:
    with pytest.raises(ValueError, match=reason):
        forecast(replace(PLAN, **change))
