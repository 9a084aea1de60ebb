"""From a platform's link to its code, by a person with a browser."""

import pytest
from playwright.sync_api import expect

from annotation.crowds.services import crowd_change
from annotation.models import CrowdSubmission, Judgement
from tests.browser.conftest import sideways_overflow
from tests.factories import CampaignFactory

pytestmark = pytest.mark.browser


@pytest.fixture
def crowd(dataset):
    campaign = CampaignFactory(dataset=dataset, judgements_per_tuple=1, tuples=4)
    consent = "We are a laboratory.\n\nYou judge two screens and may stop at any time."
    codes = {"code_completed": "DONE", "code_stopped": "STOP", "code_left": "LEFT"}
    return crowd_change(
        campaign=campaign,
        consent=consent,
        is_open=True,
        screens=2,
        asks_about_person=True,
        external_id_parameter="pid",
        submission_parameter="sid",
        completion_address="",
        **codes,
    )


@pytest.mark.exhaustive
@pytest.mark.parametrize("width", [390, 1280])
def test_a_person_comes_by_the_link_judges_by_keyboard_and_leaves_with_the_code(
    new_context, crowd, width
) -> None:
    page = new_context(viewport={"width": width, "height": 900}).new_page()
    page.goto(f"/crowd/{crowd.token}/?pid=pia&sid=s1")
    assert "pia" not in page.url
    assert sideways_overflow(page) == 0
    page.get_by_label("I have read this and agree").press("Space")
    page.get_by_label("Age", exact=True).select_option("25 to 34")
    with page.expect_response("**/judge/screen/"):  # asked for by the script, which then listens to keys
        page.get_by_role("button", name="Take part").press("Enter")

    page.get_by_role("button", name="Start annotating").press("Enter")
    for number in (1, 2):
        page.keyboard.press("1")
        page.keyboard.press("w")
        page.keyboard.press("Enter")
        if number == 1:
            expect(page.locator("#progress")).to_contain_text("1 answered")
    page.get_by_role("link", name="Finish and get your code").click()
    expect(page.get_by_role("button", name="Finish and get your code")).to_be_visible()
    assert sideways_overflow(page) == 0
    page.get_by_role("button", name="Finish and get your code").click()

    expect(page.get_by_label("Code", exact=True)).to_have_value("DONE")
    assert sideways_overflow(page) == 0
    assert (Judgement.objects.count(), CrowdSubmission.objects.get().outcome) == (2, "completed")


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("part", ["crowd", "data"])
def test_pages_about_a_crowd_do_not_scroll_sideways(open_as, owner, crowd, width, part) -> None:
    page = open_as(owner, width=width)
    where = f"campaigns/{crowd.campaign_id}/crowd/" if part == "crowd" else "judge/data/"

    page.goto(f"/{where}")

    assert sideways_overflow(page) == 0
