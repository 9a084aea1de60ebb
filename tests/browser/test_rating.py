"""Rating candidates by the keyboard, in a browser."""

import pytest
from playwright.sync_api import expect

from mlworkers.models import CandidateRating
from mlworkers.runs.ratings import candidates_draw
from tests.browser.conftest import keys_used
from tests.integration.mlworkers.test_round_trip_pages import translated

pytestmark = pytest.mark.browser


def test_three_digits_and_enter_rate_a_candidate_and_u_takes_it_back(open_as, annotator, dataset) -> None:
    run = translated(dataset)
    candidates_draw(run=run, most=2)
    page = open_as(annotator)
    page.goto(f"/round-trips/{run.pk}/rate/")
    expect(page.get_by_text("0 of 4 rated")).to_be_visible()

    for key in ("4", "5", "2", "Enter"):
        page.keyboard.press(key)
    expect(page.get_by_text("1 of 4 rated")).to_be_visible()

    rating = CandidateRating.objects.get()
    assert (rating.fluency, rating.meaning, rating.wording) == (4, 5, 2)
    page.keyboard.press("u")
    expect(page.get_by_text("0 of 4 rated")).to_be_visible()
    assert not CandidateRating.objects.exists()


def test_without_keys_digits_do_nothing(open_as, annotator, dataset) -> None:
    run = translated(dataset)
    candidates_draw(run=run, most=2)
    page = open_as(annotator)
    page.goto(f"/round-trips/{run.pk}/rate/")
    keys_used(page, False)

    page.keyboard.press("4")

    assert page.locator("input[type=radio]:checked").count() == 0
