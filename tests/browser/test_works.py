"""What a worker publishes, followed in a browser."""

import pytest
from playwright.sync_api import Page, expect

from annotation.results import kept_bundles, publishing
from annotation.results.works import work_carry_out
from curation.models import ScoreSet
from tests.browser.conftest import sideways_overflow
from tests.integration.annotation.crowd import crowd_judge

pytestmark = pytest.mark.browser


@pytest.fixture
def campaign(dataset, monkeypatch):
    monkeypatch.setattr(publishing, "AT_ONCE", dict.fromkeys(publishing.AT_ONCE, 10))
    return crowd_judge(dataset)


@pytest.mark.exhaustive
def test_a_page_follows_the_worker_that_publishes_and_two_clicks_publish_once(
    curator_page: Page, campaign
) -> None:
    page = curator_page
    page.goto(f"/campaigns/{campaign.pk}/publish/")
    page.get_by_role("button", name="Publish scores").dblclick()
    notice = page.get_by_text("A worker computes the scores and publishes them.")
    expect(notice).to_be_visible()
    expect(page.get_by_text("No worker serves the queue “default”")).to_be_visible()
    page.reload()
    expect(notice).to_be_visible()
    page.set_viewport_size({"width": 390, "height": 800})
    assert sideways_overflow(page) == 0

    work_carry_out(work_pk=campaign.works.get().pk, beats=False)

    expect(page.get_by_text("Published as the score set")).to_be_visible(timeout=30_000)
    expect(notice).to_be_hidden()
    assert ScoreSet.objects.count() == 1


def test_work_is_withdrawn_by_a_button(curator_page: Page, campaign) -> None:
    page = curator_page
    page.goto(f"/campaigns/{campaign.pk}/publish/")
    page.get_by_role("button", name="Publish scores").click()

    page.get_by_role("button", name="Cancel").click()

    expect(page.get_by_text("A worker computes the scores")).to_be_hidden()
    assert not campaign.works.exists()


@pytest.mark.exhaustive
def test_a_bundle_is_made_by_a_worker_followed_and_downloaded(
    curator_page: Page, campaign, monkeypatch
) -> None:
    monkeypatch.setattr(kept_bundles, "JUDGEMENTS_AT_ONCE", 10)
    page = curator_page
    page.goto(f"/campaigns/{campaign.pk}/scores/")
    page.get_by_role("button", name="Make the bundle").dblclick()
    notice = page.get_by_text("A worker makes the bundle.")
    expect(notice).to_be_visible()
    page.set_viewport_size({"width": 390, "height": 800})
    assert sideways_overflow(page) == 0

    work_carry_out(work_pk=campaign.works.get().pk, beats=False)

    expect(page.get_by_text("The bundle is ready.")).to_be_visible(timeout=30_000)
    expect(notice).to_be_hidden()
    assert sideways_overflow(page) == 0
    with page.expect_download() as download:
        page.get_by_role("link", name="Download bundle (zip)").last.click()
    assert download.value.suggested_filename == "relatedness-bundle.zip"
