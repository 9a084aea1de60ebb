"""A norming session by keyboard alone, on the judging screen."""

import pytest
from playwright.sync_api import Page, expect

from annotation.campaigns.norming import norming_start
from annotation.models import Judgement, NormingJudgement
from tests.browser.conftest import axe_findings
from tests.factories import CampaignFactory, TupleFactory

pytestmark = pytest.mark.browser


def test_a_session_is_judged_by_keyboard_alone_and_undone_as_elsewhere(
    annotator_page: Page, dataset, annotator
) -> None:
    campaign = CampaignFactory(dataset=dataset)
    TupleFactory.create_batch(6, campaign=campaign)
    session = norming_start(campaign=campaign, people=2, drawn=2)
    page = annotator_page
    with page.expect_response("**/judge/screen/"):
        page.goto(f"/campaigns/{campaign.pk}/norming/1/judge/")
    keys = page.keyboard
    keys.press("Enter")  # the guidelines
    keys.press("s")  # everybody judges the same: nothing can be skipped
    keys.press("1")
    keys.press("w")
    with page.expect_response("**/judge/answer/**"):
        keys.press("Enter")
    expect(page.get_by_text("1 of 2 judged in this norming session")).to_be_visible()
    with page.expect_response("**/judge/undo/"):
        keys.press("u")
    expect(page.get_by_role("radio", name="Most related (pair 1)")).to_be_checked()
    keys.press("3")
    with page.expect_response("**/judge/answer/**"):
        keys.press("Enter")
    expect(page.get_by_text("1 of 2 judged in this norming session")).to_be_visible()
    keys.press("2")
    keys.press("q")
    keys.press("Enter")

    expect(
        page.get_by_text("You have judged everything. Come back when the others have finished.")
    ).to_be_visible()
    assert axe_findings(page) == []
    assert NormingJudgement.objects.filter(tuple__session=session, round=1).count() == 2
    assert not Judgement.objects.exists()
