"""Judging in Arabic, from right to left, and in German, whose words are long."""

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Judgement
from tests.browser.conftest import sideways_overflow
from tests.factories import CampaignFactory

pytestmark = pytest.mark.browser
START = {"ar": "ابدأ التقييم", "de": "Beginnen"}


@pytest.fixture
def campaign(dataset):
    return CampaignFactory(dataset=dataset, judgements_per_tuple=1, tuples=3)


def start(page: Page, language: str) -> None:
    page.get_by_role("button", name=START[language]).click()
    expect(page.get_by_role("dialog")).to_have_count(0)


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("language", START)
def test_pages_of_annotators_do_not_scroll_sideways(open_as, annotator, campaign, language, width) -> None:
    page = open_as(annotator, width=width, locale=language)

    page.goto(f"/campaigns/{campaign.pk}/judge/")
    assert sideways_overflow(page) == 0
    start(page, language)
    for dialog in ("skip", "flag", "help"):
        page.locator(f"[data-dialog={dialog}-dialog]").click()
        assert sideways_overflow(page) == 0, dialog
        page.keyboard.press("Escape")
    page.goto("/judge/")
    page.locator(".account summary").click()

    assert sideways_overflow(page) == 0


def test_an_arabic_screen_runs_from_right_to_left_and_the_same_keys_judge(
    open_as, annotator, campaign
) -> None:
    page = open_as(annotator, locale="ar")
    page.goto(f"/campaigns/{campaign.pk}/judge/")
    start(page, "ar")
    first, second = (page.locator(".card").nth(place).bounding_box() for place in (0, 1))

    page.keyboard.press("1")
    page.keyboard.press("w")
    page.keyboard.press("Enter")

    assert first["x"] > second["x"]
    expect(page.locator("#progress")).to_contain_text("(1)")
    judgement = Judgement.objects.get()
    assert [judgement.order_shown.index(slot) for slot in (judgement.best_slot, judgement.worst_slot)] == [
        0,
        1,
    ]


def test_the_language_is_chosen_in_the_menu(open_as, annotator, campaign) -> None:
    page = open_as(annotator)
    page.goto("/judge/")

    page.locator(".account summary").click()
    page.get_by_role("button", name="Deutsch").click()

    expect(page.get_by_role("heading", level=1)).to_have_text("Ihre Kampagnen")
