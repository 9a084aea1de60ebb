"""The tabs of a dataset on a telephone, what asks before it cannot be undone, and leaks that somebody allows."""

import re

import pytest
from playwright.sync_api import expect

from annotation.results.publishing import scores_publish
from curation.models import PooledSentence, User
from tests.factories import PairFactory, SentenceFactory, token_of
from tests.integration.annotation.crowd import STEADY, crowd_judge

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("page_of", ["", "snapshots/", "settings/"])
def test_the_tabs_of_a_dataset_are_one_row_with_that_of_the_page_in_sight(
    open_as, owner, dataset, page_of
) -> None:
    page = open_as(owner, width=390)

    page.goto(f"/datasets/{dataset.slug}/{page_of}")

    tabs = page.get_by_role("navigation", name=dataset.name)
    assert tabs.bounding_box()["height"] < 60
    expect(tabs.locator("[aria-current]")).to_be_in_viewport(ratio=1)
    tabs.get_by_role("link").last.focus()
    expect(tabs.get_by_role("link").last).to_be_in_viewport(ratio=1)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.parametrize("scripts", [True, False])
def test_on_a_phone_the_navigation_is_a_menu_that_keys_open_and_close(
    open_as, owner, dataset, scripts
) -> None:
    page = open_as(owner, width=390, java_script_enabled=scripts)
    page.goto(f"/datasets/{dataset.slug}/")
    models = page.get_by_role("navigation", name="Main").get_by_role("link", name="Models")
    expect(models).to_be_hidden()

    page.get_by_role("button", name="Menu").press("Enter")

    expect(models).to_be_in_viewport(ratio=1)
    page.keyboard.press("Escape")
    expect(models).to_be_hidden()
    page.get_by_role("button", name="Menu").press("Space")
    for _link in range(3):
        page.keyboard.press("Tab")
    expect(models).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Models", exact=True)).to_be_visible()


def test_on_a_wide_screen_the_navigation_is_no_menu(owner_page, dataset) -> None:
    owner_page.goto(f"/datasets/{dataset.slug}/")

    main = owner_page.get_by_role("navigation", name="Main")

    expect(main.get_by_role("link", name="Models")).to_be_in_viewport(ratio=1)
    expect(owner_page.get_by_role("button", name="Menu")).to_be_hidden()
    assert main.bounding_box()["y"] < owner_page.get_by_role("region", name="Dataset").bounding_box()["y"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_head_of_a_dataset_is_one_row_where_it_has_all_its_facts_and_a_button(
    open_as, admin, dataset, scheme
) -> None:
    dataset.name = "Scenes"
    dataset.save()
    campaign = crowd_judge(dataset, people=dict.fromkeys(("anna", "ben"), STEADY), each=2)
    User.objects.filter(username__in=["anna", "ben"]).update(simulated=True)
    scores_publish(campaign=campaign)
    page = open_as(admin, width=1280, color_scheme=scheme)

    page.goto(f"/campaigns/{campaign.pk}/scores/")

    head = page.get_by_role("region", name="Dataset")
    expect(head.get_by_text("simulated annotators")).to_be_visible()
    facts = head.get_by_role("link", name="Scenes").bounding_box()
    button = head.get_by_role("link", name="Keep a snapshot and export").bounding_box()
    assert button["y"] < facts["y"] + facts["height"]
    assert head.get_by_role("listitem").count() == 5


def test_the_pool_is_emptied_after_a_question(curator_page, dataset) -> None:
    sentence = SentenceFactory(dataset=dataset)
    PooledSentence.objects.create(dataset=dataset, sentence=sentence)
    page = curator_page
    page.goto(f"/datasets/{dataset.slug}/compose/")

    page.get_by_text("Remove them", exact=True).click()
    expect(page.get_by_text("There is no undo.")).to_be_visible()
    kept = PooledSentence.objects.count()
    page.get_by_role("button", name="Remove them now").click()

    expect(page.get_by_text(re.compile(r"\d single sentences?:"))).to_have_count(0)
    assert (kept, PooledSentence.objects.count()) == (1, 0)


def test_a_token_is_revoked_after_a_question(curator_page, curator) -> None:
    token_of(curator)
    page = curator_page
    page.goto("/accounts/tokens/")

    expect(page.get_by_role("button", name="Revoke it now")).to_be_hidden()
    page.get_by_text("Revoke", exact=True).click()
    page.get_by_role("button", name="Revoke it now").click()

    expect(page.get_by_text("You have no token yet.")).to_be_visible()
    assert not curator.api_tokens.exists()


def test_an_edit_that_leaks_is_applied_after_the_box_was_ticked(curator_page, dataset) -> None:
    sentence = SentenceFactory(dataset=dataset)
    PairFactory(dataset=dataset, a=sentence, split="train")
    PairFactory(dataset=dataset, external_id="open", a=sentence)
    page = curator_page
    page.goto(f"/datasets/{dataset.slug}/")
    page.get_by_text("Edit pairs").first.click()
    page.get_by_label("Select pair open").check()
    page.get_by_label("To", exact=True).fill("test")
    page.get_by_role("button", name="Preview").click()

    page.get_by_role("button", name="Apply this edit").click()  # the browser asks for the box
    expect(page.get_by_role("heading", name="Preview: nothing has changed yet")).to_be_visible()
    page.get_by_label("These splits may share sentences").check()
    page.get_by_role("button", name="Apply this edit").click()

    expect(page.get_by_text("1 pair was edited.")).to_be_visible()
    assert dataset.pairs.get(external_id="open").split == "test"
