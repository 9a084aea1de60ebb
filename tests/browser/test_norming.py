"""A norming session by keyboard alone, on the judging screen."""

import pytest
from django.utils.timezone import now
from playwright.sync_api import Page, expect

from annotation.campaigns.norming import discussion_begin, norming_start
from annotation.models import Judgement, NormingJudgement
from tests.browser.conftest import axe_findings
from tests.factories import CampaignFactory

pytestmark = pytest.mark.browser


@pytest.mark.exhaustive
def test_a_session_is_judged_by_keyboard_alone_and_undone_as_elsewhere(
    annotator_page: Page, dataset, annotator
) -> None:
    campaign = CampaignFactory(dataset=dataset, tuples=6)
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
    expect(page.get_by_text("1 of 2 answered in this calibration session")).to_be_visible()
    with page.expect_response("**/judge/undo/"):
        keys.press("u")
    expect(page.get_by_role("radio", name="Most related (pair 1)")).to_be_checked()
    keys.press("3")
    with page.expect_response("**/judge/answer/**"):
        keys.press("Enter")
    expect(page.get_by_text("1 of 2 answered in this calibration session")).to_be_visible()
    keys.press("2")
    keys.press("q")
    keys.press("Enter")

    expect(
        page.get_by_text("You have answered everything. Come back when the others have finished.")
    ).to_be_visible()
    assert axe_findings(page) == []
    assert NormingJudgement.objects.filter(tuple__session=session, round=1).count() == 2
    assert not Judgement.objects.exists()


@pytest.mark.exhaustive
@pytest.mark.parametrize("over", [False, True])
def test_answers_that_a_lost_connection_left_behind_are_sent_from_the_session_s_page(
    annotator_page: Page, dataset, annotator, over: bool
) -> None:
    campaign = CampaignFactory(dataset=dataset, tuples=6)
    session = norming_start(campaign=campaign, people=2, drawn=2)
    page = annotator_page
    with page.expect_response("**/judge/screen/"):
        page.goto(f"/campaigns/{campaign.pk}/norming/1/judge/")
    page.keyboard.press("Enter")  # the guidelines
    page.context.set_offline(True)
    for key in ("1", "w", "Enter"):
        page.keyboard.press(key)
    expect(page.locator("#trouble")).to_be_visible()
    if over:
        discussion_begin(session=session, at=now())
    page.on("dialog", lambda dialog: dialog.accept())  # something is not sent yet
    page.context.route("**/judge/answer/**", lambda route: route.abort())
    page.context.set_offline(False)
    page.goto(f"/campaigns/{campaign.pk}/norming/1/")
    expect(page.locator("#trouble")).to_be_visible()
    page.context.unroute_all()

    if over:
        late = "This part of the calibration session is over, so this answer is not kept."
        expect(page.get_by_text(late)).to_be_visible()
        assert not NormingJudgement.objects.exists()
    else:
        expect(page.get_by_role("link", name="Continue")).to_be_visible()
        assert NormingJudgement.objects.filter(round=1).count() == 1
    assert page.evaluate("Object.keys(localStorage).filter((key) => key.startsWith('judging:'))") == []
