"""Fewer simulations and shorter searches, for tests that ask whether a figure is there and not what it is."""

from dataclasses import dataclass

import pytest

from annotation.bws.designs import swapping
from annotation.bws.studies import forecast
from annotation.bws.studies.study import StudyPlan
from annotation.results import figures, study


@dataclass(frozen=True)
class QuickStudyPlan(StudyPlan):
    trials: int = 50
    curve_points: int = 3
    curve_trials: int = 10
    scenario_trials: int = 10
    random_choices: int = 2
    random_trials: int = 3
    campaigns: int = 3


@pytest.fixture(autouse=True)
def quick_figures(monkeypatch) -> None:
    """A design of a few pairs can seldom be as even as it could be of many, and is sought for seconds."""
    for module in (study, figures):
        monkeypatch.setattr(module, "RESAMPLES", 40)
    monkeypatch.setattr(study, "StudyPlan", QuickStudyPlan)
    monkeypatch.setattr(swapping, "LOOKS_WITHOUT_GAIN", 1)
    monkeypatch.setattr(swapping, "ROUNDS_BETWEEN_LOOKS", 5)
    monkeypatch.setattr(forecast, "CAMPAIGNS_SHARED", 1)
