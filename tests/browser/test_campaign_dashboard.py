"""A campaign's analysis in a browser: the slider, the charts' tables, a narrow telephone."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import sideways_overflow
from tests.integration.annotation.crowd import CARELESS, STEADY, crowd_judge

pytestmark = pytest.mark.browser


@pytest.fixture
def campaign(dataset):
    return crowd_judge(dataset, people={"anna": STEADY, "ben": STEADY, "cleo": STEADY, "eve": CARELESS})


@pytest.mark.exhaustive
def test_the_slider_shows_what_a_threshold_would_do_and_changes_nothing(curator_page: Page, campaign) -> None:
    page = curator_page
    page.goto(f"/campaigns/{campaign.pk}/analysis/")
    slider = page.get_by_role("slider", name="Leave-one-out agreement")
    section = page.get_by_role("region", name="Exclusion sensitivity")
    expect(section.get_by_text("1 person is excluded; 240 judgements count (now 320)")).to_be_visible()

    slider.fill("0.9")

    expect(section.get_by_text("4 people are excluded; 0 judgements count (now 320)")).to_be_visible()
    slider.press("Home")
    expect(section.locator("output")).to_have_text("0.50")
    assert campaign.participations.filter(excluded=True).count() == 0


@pytest.mark.exhaustive
def test_a_person_is_excluded_and_the_page_shows_before_and_after(curator_page: Page, campaign) -> None:
    page = curator_page
    page.goto(f"/campaigns/{campaign.pk}/")
    page.get_by_role("link", name="Stop eve").click()
    page.get_by_text("Stop eve").first.click()
    page.get_by_label("Reason").fill("Answers at random.")
    page.get_by_role("button", name="Stop annotator").click()

    page.goto(f"/campaigns/{campaign.pk}/analysis/")

    row = page.get_by_role("region", name="Exclusions, before and after").get_by_role("row", name="eve")
    expect(row).to_contain_text("Answers at random. 320 240")


@pytest.mark.exhaustive
def test_every_chart_has_a_table_and_no_page_scrolls_sideways(open_as, curator, campaign) -> None:
    page = open_as(curator, width=390, height=800)
    page.goto(f"/campaigns/{campaign.pk}/analysis/")

    for chart in page.locator("figure.chart").all():
        chart.get_by_text("Table and files").click()
        expect(chart.get_by_role("table")).to_be_visible()
    for summary in page.get_by_text("All thresholds").all():
        summary.click()

    assert page.locator("figure.chart").count() == 4
    assert sideways_overflow(page) == 0
