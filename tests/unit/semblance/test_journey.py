"""The step that a dataset is at."""

from dataclasses import replace

import pytest

from semblance.journey import Standing, Step, step_of

EMPTY = Standing(pairs=0, campaign="", published=False, scored=False, kept=False)
FILLED = replace(EMPTY, pairs=300)


@pytest.mark.parametrize(
    ("standing", "step"),
    [
        (EMPTY, Step.IMPORT),
        (FILLED, Step.CAMPAIGN),
        (replace(FILLED, campaign="draft"), Step.CAMPAIGN),
        (replace(FILLED, campaign="open"), Step.JUDGE),
        (replace(FILLED, campaign="paused"), Step.JUDGE),
        (replace(FILLED, campaign="closed"), Step.PUBLISH),
        (replace(FILLED, campaign="closed", published=True, scored=True), Step.EXPORT),
        (replace(FILLED, campaign="open", published=True, scored=True), Step.EXPORT),
    ],
)
def test_the_way_goes_on_with_each_step(standing: Standing, step: Step) -> None:
    assert step_of(standing) == step


def test_scores_from_a_file_need_no_campaign() -> None:
    assert step_of(replace(FILLED, scored=True)) == Step.EXPORT


def test_a_newer_campaign_begins_the_way_anew() -> None:
    assert step_of(replace(FILLED, scored=True, campaign="open")) == Step.JUDGE
