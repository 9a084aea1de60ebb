"""Invitations in a browser: a link by one click, and its copy, on HTTPS or this machine and elsewhere."""

import re
from collections.abc import Iterator

import pytest
from django.test import Client
from playwright.sync_api import Page, expect

from annotation.campaigns.services import campaign_create, guideline_save
from curation.models import Invitation
from tests.browser.conftest import PATIENCE
from tests.factories import CampaignFactory, PairFactory

pytestmark = pytest.mark.browser


@pytest.fixture
def campaign(dataset):
    return CampaignFactory(dataset=dataset, name="Pilot", tuples=2)


@pytest.fixture
def page_by_name(live_server, browser, owner, settings) -> Iterator[Page]:
    """The owner's page of a site that has neither HTTPS nor an address of this machine, as in a house's own network."""
    settings.ALLOWED_HOSTS = ["semblance.test"]
    client = Client(headers={"host": "semblance.test"})
    client.force_login(owner)
    port = live_server.url.rsplit(":", 1)[1]
    site = f"http://semblance.test:{port}"
    context = browser.new_context(base_url=site)
    context.set_default_timeout(PATIENCE)
    session = client.cookies[settings.SESSION_COOKIE_NAME].value
    context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": session, "url": site}])
    yield context.new_page()
    context.close()


def pasted(page: Page) -> str:
    """What the clipboard holds, as a person finds out."""
    page.evaluate("document.body.insertAdjacentHTML('beforeend', '<textarea id=\"paper\"></textarea>')")
    page.locator("#paper").press("Control+V")
    return page.locator("#paper").input_value()


def link_copied(page: Page) -> str:
    link = page.get_by_label("Invitation link").input_value()
    page.get_by_role("button", name="Copy", exact=True).click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    return link


def test_the_link_of_an_invitation_is_copied(owner_page: Page, dataset) -> None:
    owner_page.goto(f"/datasets/{dataset.slug}/invitations/")
    owner_page.get_by_role("button", name="Create the link").click()

    link = link_copied(owner_page)

    assert link.startswith("http")
    assert pasted(owner_page) == link


def test_it_is_copied_where_the_browser_has_no_clipboard_for_scripts(page_by_name: Page, dataset) -> None:
    page_by_name.goto(f"/datasets/{dataset.slug}/invitations/")
    assert page_by_name.evaluate("[isSecureContext, typeof navigator.clipboard]") == [False, "undefined"]
    page_by_name.get_by_role("button", name="Create the link").click()

    link = link_copied(page_by_name)

    assert link.startswith("http://semblance.test")
    assert pasted(page_by_name) == link


def test_where_nothing_can_be_copied_the_link_is_selected_and_the_button_does_not_pretend(
    page_by_name: Page, dataset
) -> None:
    page_by_name.goto(f"/datasets/{dataset.slug}/invitations/")
    page_by_name.get_by_role("button", name="Create the link").click()
    expect(page_by_name.get_by_role("button", name="Copy", exact=True)).to_be_visible()
    page_by_name.evaluate("document.execCommand = () => false")

    page_by_name.get_by_role("button", name="Copy", exact=True).click()

    expect(page_by_name.get_by_role("button", name="Selected: press Ctrl+C")).to_be_visible()
    selected = page_by_name.evaluate(
        "document.activeElement.selectionEnd - document.activeElement.selectionStart"
    )
    assert selected == len(page_by_name.get_by_label("Invitation link").input_value())


def test_a_click_on_the_campaign_s_page_makes_a_link_that_can_be_copied(
    owner_page: Page, campaign, new_context
) -> None:
    owner_page.goto(f"/campaigns/{campaign.pk}/")
    owner_page.get_by_role("button", name="Make an invitation link").click()

    link = link_copied(owner_page)

    assert pasted(owner_page) == link
    assert owner_page.url.endswith(f"/campaigns/{campaign.pk}/")
    assert (Invitation.objects.get().role, Invitation.objects.get().note) == (
        "annotator",
        "For the campaign Pilot",
    )
    guest = new_context().new_page()
    guest.goto(link)
    expect(guest.get_by_text("You are invited as an annotator")).to_be_visible()


def test_a_link_stays_when_the_campaign_is_opened_until_it_is_dismissed(owner_page: Page, dataset) -> None:
    PairFactory.create_batch(12, dataset=dataset)
    draft = campaign_create(dataset=dataset, name="Pilot", judgements_per_tuple=5)
    guideline_save(campaign=draft, text="Read both sentences.")
    shown = owner_page.get_by_label("Invitation link")
    owner_page.goto(f"/campaigns/{draft.pk}/")
    owner_page.get_by_role("button", name="Make an invitation link").click()
    link = link_copied(owner_page)

    owner_page.get_by_text("Open campaign").click()
    owner_page.get_by_role("button", name="Open it now").click()

    expect(owner_page.get_by_text("Nobody has annotated yet.")).to_be_visible()
    expect(shown).to_have_value(link)
    owner_page.get_by_role("button", name="Dismiss").click()
    expect(shown).to_have_count(0)
    owner_page.reload()
    expect(owner_page.get_by_text("Nobody has annotated yet.")).to_be_visible()
    expect(shown).to_have_count(0)


def test_without_scripts_there_is_a_link_and_no_button_that_does_nothing(open_as, owner, campaign) -> None:
    page = open_as(owner, java_script_enabled=False)
    page.goto(f"/campaigns/{campaign.pk}/")

    page.get_by_role("button", name="Make an invitation link").click()

    expect(page.get_by_label("Invitation link")).to_have_value(re.compile("/invitations/.{20}"))
    expect(page.get_by_role("button", name="Copy", exact=True)).to_be_hidden()


@pytest.mark.parametrize("seen", ["again", "open"])
def test_the_link_goes_once_the_invitation_is_used_up(owner_page: Page, campaign, seen) -> None:
    """Where the page is opened again, and where it stays open and fetches its figures."""
    shown = owner_page.get_by_label("Invitation link")
    owner_page.clock.install()
    owner_page.goto(f"/campaigns/{campaign.pk}/")
    owner_page.get_by_role("button", name="Make an invitation link").click()
    expect(shown).to_have_count(1)
    owner_page.reload()
    expect(shown).to_have_value(re.compile("/invitations/.{20}"))

    Invitation.objects.update(uses_left=0)
    if seen == "again":
        owner_page.reload()
    else:
        owner_page.clock.fast_forward(11_000)

    expect(shown).to_have_count(0)
    owner_page.reload()
    expect(owner_page.get_by_text("Nobody has annotated yet.")).to_be_visible()
    expect(shown).to_have_count(0)


def test_the_button_of_the_next_step_leads_to_the_button_that_invites(owner_page: Page, campaign) -> None:
    owner_page.goto(f"/campaigns/{campaign.pk}/")

    owner_page.get_by_role("link", name="Invite annotators").click()

    expect(owner_page.get_by_role("button", name="Make an invitation link")).to_be_focused()
    expect(owner_page.get_by_role("button", name="Make an invitation link")).to_be_in_viewport()
