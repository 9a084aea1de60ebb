"""The step that a dataset is at."""

from dataclasses import replace

import pytest

from annotation.results.stages import Stage, stage_of
from semblance.journey import Standing, Step, step_of

EMPTY = Standing(pairs=0, stage=None, scored=False, kept=False)
FILLED = replace(EMPTY, pairs=300)


@pytest.mark.parametrize(
    ("standing", "step"),
    [
        (EMPTY, Step.IMPORT),
        (FILLED, Step.CAMPAIGN),
        (replace(FILLED, stage=Stage.OPEN), Step.CAMPAIGN),
        (replace(FILLED, stage=Stage.JUDGE), Step.JUDGE),
        (replace(FILLED, stage=Stage.PUBLISH), Step.PUBLISH),
        (replace(FILLED, stage=Stage.EXPORT), Step.EXPORT),
    ],
)
def test_the_way_goes_on_with_each_step(standing: Standing, step: Step) -> None:
    assert step_of(standing) == step


@pytest.mark.parametrize(
    ("state", "complete", "judged", "published", "stage"),
    [
        ("draft", False, False, False, Stage.OPEN),
        ("open", False, True, False, Stage.JUDGE),
        ("paused", False, True, False, Stage.JUDGE),
        ("open", False, True, True, Stage.JUDGE),  # published before the end: judging goes on
        ("open", True, True, False, Stage.PUBLISH),
        ("open", True, True, True, Stage.EXPORT),
        ("closed", False, True, False, Stage.PUBLISH),
        ("closed", False, True, True, Stage.EXPORT),
        ("closed", False, False, False, Stage.JUDGE),
    ],
)
def test_the_stage_follows_from_what_is_there(state, complete, judged, published, stage) -> None:
    assert stage_of(state=state, complete=complete, judged=judged, published=published) == stage


def test_scores_of_people_need_no_campaign() -> None:
    assert step_of(replace(FILLED, scored=True)) == Step.EXPORT


def test_a_newer_campaign_begins_the_way_anew() -> None:
    assert step_of(replace(FILLED, scored=True, stage=Stage.JUDGE)) == Step.JUDGE
