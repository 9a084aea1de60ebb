"""A campaign from its form to its first figures, in a browser."""

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Campaign, Judgement, Participation
from tests.browser.conftest import sideways_overflow
from tests.factories import CampaignFactory, PairFactory, ParticipationFactory

pytestmark = pytest.mark.browser


@pytest.fixture
def pairs(dataset):
    return PairFactory.create_batch(12, dataset=dataset)


@pytest.fixture
def campaign(dataset) -> Campaign:
    return CampaignFactory(dataset=dataset, tuples=3, gold=1)


def test_a_campaign_is_made_previewed_and_opened(curator_page: Page, dataset, pairs) -> None:
    page = curator_page
    page.goto(f"/campaigns/new/?dataset={dataset.slug}")
    page.get_by_label("Name").fill("Pilot")
    page.get_by_label("Pay per hour").fill("12")
    expect(page.get_by_role("region", name="Estimate")).to_contain_text("Cost")
    page.get_by_role("button", name="Make draft").click()
    expect(page.get_by_role("region", name="What the design guarantees")).to_contain_text("exactly 8 tuples")

    page.get_by_role("link", name="Preview").click()
    page.get_by_role("button", name="Start annotating").click()
    expect(page.get_by_text("Preview. Nothing is stored here.")).to_be_visible()
    for _ in range(5):  # the first tuples of the design
        expect(page.get_by_role("radio", name="Most related (pair 1)")).to_be_visible()
        for key in ("1", "w", "Enter"):
            page.keyboard.press(key)
    expect(page.get_by_role("heading", name="This was the preview")).to_be_visible()
    assert not Judgement.objects.exists()
    page.get_by_role("link", name="Back to the campaign").click()
    page.get_by_text("Open campaign").click()
    page.get_by_role("button", name="Open without guidelines").click()

    expect(page.get_by_text("0 / 48")).to_be_visible()
    assert Campaign.objects.get().state == "open"


@pytest.mark.exhaustive
def test_a_gold_tuple_is_chosen_pair_by_pair(curator_page: Page, campaign, pairs) -> None:
    page = curator_page
    page.goto(f"/campaigns/{campaign.pk}/gold/new/")
    for pair in pairs[:4]:
        page.get_by_role("link", name=f"Take {pair.external_id}", exact=True).click()
    page.get_by_role("radio", name="Most related (pair 2)").check()
    page.get_by_role("radio", name="Least related (pair 3)").check()
    page.get_by_label("Reason shown to annotators").fill("One says the same twice.")
    page.get_by_role("button", name="Add attention check").click()

    expect(page.get_by_role("heading", name="Attention check 2")).to_be_visible()
    expect(page.get_by_text("One says the same twice.")).to_be_visible()


def test_an_annotator_is_stopped_with_a_reason_and_reinstated(
    curator_page: Page, campaign, annotator
) -> None:
    ParticipationFactory(campaign=campaign, user=annotator)
    page = curator_page
    page.goto(f"/campaigns/{campaign.pk}/")
    page.get_by_role("link", name="Stop annotator").click()
    page.get_by_text("Stop annotator").first.click()
    page.get_by_label("Reason").fill("Every answer is the first pair.")
    page.get_by_role("button", name="Stop annotator").click()
    expect(page.get_by_text("stopped, excluded")).to_be_visible()

    page.get_by_role("button", name="Reinstate").click()

    expect(page.get_by_role("row", name="annotator").get_by_text("active")).to_be_visible()
    assert Participation.objects.get().state == "active"


def test_no_page_of_a_campaign_scrolls_sideways_on_a_narrow_telephone(open_as, curator, campaign) -> None:
    page = open_as(curator, width=320, height=640)
    overflow = {}

    for part in ["", "scores/", "gold/", "gold/new/", "guidelines/", "inbox/", "judgements/", "judge/"]:
        page.goto(f"/campaigns/{campaign.pk}/{part}")
        overflow[part] = sideways_overflow(page)

    assert {part for part, pixels in overflow.items() if pixels > 0} == set()
