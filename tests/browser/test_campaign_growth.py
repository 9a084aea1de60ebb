"""A campaign that grows, on a narrow telephone: extra judgements, and pairs that join."""

import pytest
from playwright.sync_api import Page, expect

from annotation.campaigns.adapting import blocks_make
from tests.browser.conftest import sideways_overflow
from tests.factories import PairFactory
from tests.integration.annotation.crowd import crowd_judge

pytestmark = pytest.mark.browser


@pytest.fixture
def campaign(dataset):
    campaign = crowd_judge(dataset, each=2)
    PairFactory.create_batch(8, dataset=dataset)
    return campaign


@pytest.fixture
def page(open_as, curator) -> Page:
    return open_as(curator, width=390, height=800)


@pytest.mark.exhaustive
def test_a_curator_spends_judgements_and_withdraws_the_rest(page: Page, campaign) -> None:
    page.goto(f"/campaigns/{campaign.pk}/")
    page.locator(".tabs-row summary").click()
    page.get_by_role("link", name="Design", exact=True).click()
    page.get_by_role("link", name="Spend more judgements").click()
    page.get_by_label("Extra judgements").fill("20")
    page.get_by_role("button", name="Spend them").click()
    expect(page.get_by_text("0 of 20 extra judgements")).to_be_visible()
    assert sideways_overflow(page) == 0
    blocks_make()

    page.get_by_role("button", name="Withdraw the rest").click()

    expect(page.get_by_text("No extra judgements were asked for.")).to_be_visible()


@pytest.mark.exhaustive
def test_a_curator_sees_what_joins_and_adds_it(page: Page, campaign) -> None:
    page.goto(f"/campaigns/{campaign.pk}/design/")
    page.get_by_role("link", name="Add pairs").click()
    page.get_by_label("Number of pairs").fill("6")
    page.get_by_role("button", name="Calculate").click()
    expect(page.get_by_role("button", name="Add 6 pairs")).to_be_visible()
    assert sideways_overflow(page) == 0

    page.get_by_role("button", name="Add 6 pairs").click()

    expect(page.get_by_text("6 pairs joined, in 24 tuples.")).to_be_visible()
    expect(page.get_by_text("0 of 48 judgements of tuples with linking items")).to_be_visible()
    assert sideways_overflow(page) == 0
