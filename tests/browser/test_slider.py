"""Rating pairs on a slider: by keyboard, by pointer, and while the network is away."""

import pytest
from playwright.sync_api import Page, expect

from annotation.campaigns.slider import raters_add, slider_start
from annotation.models import PairRating
from tests.browser.conftest import axe_findings, sideways_overflow
from tests.factories import CampaignFactory

pytestmark = pytest.mark.browser


@pytest.fixture
def campaign(dataset, annotator):
    campaign = CampaignFactory(dataset=dataset, tuples=3)
    arm = slider_start(
        campaign=campaign,
        question="How close in meaning are these two sentences?",
        low_label="Not related",
        high_label="The same",
        ratings_per_pair=2,
    )
    raters_add(arm=arm, chosen=[annotator.pk])
    return campaign


def open_screen(page: Page, campaign) -> None:
    with page.expect_response("**/rate/screen/"):
        page.goto(f"/campaigns/{campaign.pk}/rate/")


def handle_is_seen(page: Page) -> bool:
    return not page.locator("input[type=range]").evaluate("range => range.classList.contains('unchosen')")


def test_pairs_are_rated_by_keyboard_alone_and_never_without_a_choice(annotator_page, campaign) -> None:
    page, keys = annotator_page, annotator_page.keyboard
    open_screen(page, campaign)
    assert not handle_is_seen(page)

    keys.press("Enter")
    expect(page.get_by_text("Choose a place on the scale first.")).to_be_visible()
    keys.press("7")
    keys.press("3")
    expect(page.get_by_label("Number from 0 to 100")).to_have_value("73")
    assert handle_is_seen(page)
    with page.expect_response("**/rate/answer/"):
        keys.press("Enter")
    expect(page.get_by_text("1 rated, at most 11 left for you")).to_be_visible()
    assert not handle_is_seen(page)
    with page.expect_response("**/rate/undo/"):
        keys.press("u")
    expect(page.get_by_label("Number from 0 to 100")).to_have_value("73")
    expect(page.locator("#saved")).to_be_empty()
    keys.press("ArrowRight")
    keys.press("ArrowRight")
    with page.expect_response("**/rate/answer/"):
        keys.press("Enter")
    keys.press("ArrowLeft")
    with page.expect_response("**/rate/answer/"):
        keys.press("Enter")
    with page.expect_response("**/rate/answer/"):
        keys.press("s")

    expect(page.get_by_text("3 rated, at most 9 left for you")).to_be_visible()
    assert axe_findings(page) == []
    assert list(PairRating.objects.values_list("value", flat=True)) == [74, 50, None]


def test_a_click_in_the_middle_is_a_choice_and_a_double_click_saves_once(annotator_page, campaign) -> None:
    page = annotator_page
    open_screen(page, campaign)
    page.locator("input[type=range]").click()
    expect(page.get_by_label("Number from 0 to 100")).to_have_value("50")

    page.get_by_role("button", name="Next").dblclick()

    expect(page.get_by_text("1 rated, at most 11 left for you")).to_be_visible()
    expect(page.get_by_text("Choose a place on the scale first.")).to_be_visible()
    assert PairRating.objects.get().value == 50


@pytest.mark.exhaustive
def test_ratings_wait_on_the_device_while_the_network_is_away(annotator_page, campaign) -> None:
    page = annotator_page
    open_screen(page, campaign)
    page.context.set_offline(True)
    for digit in "12345":
        page.keyboard.press(digit)
        page.keyboard.press("Enter")
    expect(page.get_by_text("No connection.", exact=False)).to_be_visible()
    assert not PairRating.objects.exists()
    page.context.set_offline(False)
    expect(page.get_by_text("5 rated, at most 7 left for you")).to_be_visible()
    page.reload()

    expect(page.get_by_text("5 rated, at most 7 left for you")).to_be_visible()
    assert list(PairRating.objects.values_list("value", flat=True)) == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("width", [390, 1280])
def test_the_arabic_scale_runs_from_right_to_left(open_as, annotator, campaign, width) -> None:
    page = open_as(annotator, width=width, locale="ar")
    open_screen(page, campaign)
    box = page.locator("input[type=range]").bounding_box()

    page.mouse.click(box["x"] + 20, box["y"] + box["height"] / 2)
    page.keyboard.press("Enter")

    expect(page.locator("#progress")).to_contain_text("11")
    assert PairRating.objects.get().value > 90
    assert sideways_overflow(page) == 0
    assert axe_findings(page) == []
