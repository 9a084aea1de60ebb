"""The tabs of a dataset on a telephone, what asks before it cannot be undone, and leaks that somebody allows."""

import re

import pytest
from playwright.sync_api import expect

from curation.models import PooledSentence
from tests.factories import PairFactory, SentenceFactory, token_of

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
