"""Whatever people do in whatever order, the rules hold: schedules by their seeds (`schedules`).

The first lane runs some of them, and `make schedules` runs SCHEDULES from FIRST on in several processes. Twenty steps
take half a second: each is a transaction or several, as people cause them.
"""

import os

import pytest

from annotation.judging import repeats
from tests.integration.annotation.schedules import BETWEEN, place, schedule_run

STEPS = 20
IN_THE_FIRST_LANE = 30
FIRST, SCHEDULES = (int(os.environ.get(name, "0")) for name in ("FIRST_SCHEDULE", "SCHEDULES"))
AT_ONCE = 100


@pytest.fixture
def campaign_and_people(db, dataset, monkeypatch):
    monkeypatch.setattr(repeats, "JUDGED_BETWEEN", BETWEEN)
    return place(dataset)


def run(campaign_and_people, seeds: range, *, steps: int = STEPS) -> int:
    """How often somebody met a tuple again."""
    return sum(schedule_run(*campaign_and_people, seed=seed, steps=steps).repeats_met for seed in seeds)


def test_the_rules_hold_in_some_schedules(campaign_and_people) -> None:
    assert run(campaign_and_people, range(IN_THE_FIRST_LANE))


@pytest.mark.exhaustive
def test_the_rules_hold_in_a_few_long_schedules(campaign_and_people) -> None:
    assert run(campaign_and_people, range(20), steps=100)


@pytest.mark.skipif(not SCHEDULES, reason="make schedules runs many of them")
@pytest.mark.parametrize("first", range(FIRST, FIRST + SCHEDULES, AT_ONCE))
def test_the_rules_hold_in_many_schedules(campaign_and_people, first: int) -> None:
    run(campaign_and_people, range(first, min(first + AT_ONCE, FIRST + SCHEDULES)))
