"""What a campaign costs."""

import pytest

from annotation.bws.studies.costs import SECONDS_PER_JUDGEMENT, campaign_costs, seconds_at_size
from annotation.bws.studies.forecast import ForecastPlan


def test_gold_and_repeats_are_shares_of_all_answers() -> None:
    costs = campaign_costs(850, seconds_per_judgement=36, gold_every=10, repeat_every=20)

    assert (costs.judgements, costs.gold, costs.repeats) == (850, 100, 50)
    assert costs.answers == pytest.approx(1000)
    assert costs.hours == pytest.approx(10)


def test_a_campaign_without_gold_and_repeats_costs_its_judgements() -> None:
    costs = campaign_costs(144)

    assert (costs.gold, costs.repeats, costs.answers, costs.hours) == (0, 0, 144, 1.0)


def test_a_forecast_counts_the_seconds_of_the_cost_model() -> None:
    assert ForecastPlan(items=10).seconds_per_judgement == SECONDS_PER_JUDGEMENT == 25


def test_the_seconds_of_a_judgement_are_in_proportion_to_its_items() -> None:
    assert [seconds_at_size(size) for size in (2, 4, 6)] == [12.5, SECONDS_PER_JUDGEMENT, 37.5]
