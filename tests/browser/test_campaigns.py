"""A campaign from its form to its first figures, in a browser."""

import pytest
from playwright.sync_api import Page, Route, expect

from annotation.models import Campaign, Judgement, Participation
from curation.models import PairScore
from tests.browser.conftest import sideways_overflow
from tests.factories import CampaignFactory, PairFactory, ParticipationFactory, ScoreSetFactory

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
    expect(page.get_by_role("region", name="What it costs")).to_contain_text("Cost")

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


def test_sizes_that_are_compared_say_so_until_they_are_there(curator_page: Page, dataset, pairs) -> None:
    waits = curator_page.get_by_text("Simulating small campaigns.")
    curator_page.goto(f"/campaigns/new/?dataset={dataset.slug}")
    expect(waits).to_be_hidden()

    asked: list[Route] = []

    def hold(route: Route) -> None:
        asked.append(route)

    curator_page.route("**/sizes/*", hold)
    curator_page.get_by_role("button", name="Compare 3 to 6 pairs per question").click()
    expect(waits).to_be_visible()
    asked[0].continue_()

    expect(curator_page.get_by_text("In as many judgements")).to_be_visible()
    expect(waits).to_be_hidden()


def test_the_row_of_tabs_has_no_scrollbar(curator_page: Page, campaign) -> None:
    curator_page.goto(f"/campaigns/{campaign.pk}/")

    tabs = curator_page.locator("nav.tabs").last

    assert tabs.evaluate("tabs => tabs.scrollHeight - tabs.clientHeight") == 0


def test_two_clicks_make_an_attention_check_without_loading_the_page_again(
    curator_page: Page, campaign, pairs
) -> None:
    page = curator_page
    best, worst = campaign.dataset.pairs.order_by("pk")[:2]
    page.goto(f"/campaigns/{campaign.pk}/gold/new/")
    page.evaluate("document.documentElement.dataset.first = 'yes'")
    page.get_by_role("button", name=f"Most related {best.external_id}", exact=True).click()
    expect(page.get_by_role("region", name="Chosen").get_by_text(best.a.text)).to_be_visible()

    page.get_by_role("button", name=f"Least related {worst.external_id}", exact=True).click()

    expect(page.get_by_text("Attention check 2 is added.")).to_be_visible()
    assert page.evaluate("document.documentElement.dataset.first") == "yes"
    page.get_by_role("link", name="Read it and write its reason").click()
    page.get_by_label("Reason shown to annotators").fill("One says the same twice.")
    page.get_by_role("button", name="Save reason").click()
    expect(page.get_by_role("row", name="Attention check 2")).to_contain_text("One says the same twice.")


def test_keys_keep_and_leave_out_suggestions(curator_page: Page, campaign, dataset) -> None:
    scores = ScoreSetFactory(dataset=dataset, low=0, high=1)
    for value in [0.0] * 3 + [0.5] * 6 + [1.0] * 3:
        PairScore.objects.create(score_set=scores, pair=PairFactory(dataset=dataset), value=value)
    page = curator_page
    page.goto(f"/campaigns/{campaign.pk}/gold/suggest/")
    boxes = page.get_by_role("checkbox", name="Keep this tuple")
    expect(boxes).to_have_count(3)

    page.get_by_label("Reason shown to annotators").last.press("y")
    assert page.get_by_label("Reason shown to annotators").last.input_value().count("y") > 0
    page.locator(".suggestion").first.focus()
    for key in "yny":
        page.keyboard.press(key)

    assert [box.is_checked() for box in boxes.all()] == [True, False, True]
    expect(page.get_by_text("2 kept, 0 left to decide.")).to_be_visible()
    page.keyboard.press("Enter")
    expect(page.get_by_text("2 attention checks are added.")).to_be_visible()


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

    for part in [
        "",
        "scores/",
        "design/",
        "gold/",
        "gold/new/",
        "gold/suggest/",
        "guidelines/",
        "inbox/",
        "judgements/",
        "judge/",
    ]:
        page.goto(f"/campaigns/{campaign.pk}/{part}")
        overflow[part] = sideways_overflow(page)

    assert {part for part, pixels in overflow.items() if pixels > 0} == set()
