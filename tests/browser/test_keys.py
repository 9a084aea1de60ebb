"""The list of a page's keys, and the key that goes to its search, in a browser."""

import pytest
from playwright.sync_api import Locator, Page, expect

from mlworkers.runs.ratings import candidates_draw
from tests.browser.conftest import axe_findings, sideways_overflow
from tests.factories import GeneratedPairFactory, PairFactory, run_score_set
from tests.integration.mlworkers.test_round_trip_pages import translated

pytestmark = pytest.mark.browser


def listed(page: Page) -> Locator:
    return page.get_by_role("dialog", name="Keys")


def rows(page: Page) -> dict[str, str]:
    """What the open list says that each key does."""
    found = page.locator("dialog[open] dl > div")
    expect(found.first).to_be_visible()
    return {
        row.locator("dt").inner_text().strip(): row.locator("dd").inner_text().strip() for row in found.all()
    }


@pytest.mark.parametrize("address", ["/guide/", "/datasets/{slug}/", "/datasets/{slug}/log/?search=x"])
def test_a_slash_goes_to_the_search_of_a_page_and_a_second_one_is_typed(owner_page, dataset, address) -> None:
    PairFactory.create_batch(2, dataset=dataset)
    page = owner_page
    page.goto(address.format(slug=dataset.slug))
    field = page.locator("#main input[type=search]").first

    page.keyboard.press("/")
    expect(field).to_be_focused()
    page.keyboard.type("/?")

    expect(field).to_have_value("/?")
    expect(listed(page)).to_be_hidden()


def test_a_question_mark_lists_the_keys_of_the_page_until_they_are_switched_off(
    curator_page, dataset
) -> None:
    PairFactory(dataset=dataset)
    page = curator_page
    page.goto(f"/datasets/{dataset.slug}/")

    page.keyboard.press("?")
    assert rows(page) == {"/": "Words", "?": "This list"}
    listed(page).get_by_label("Use these keys on this device").uncheck()
    page.keyboard.press("Escape")
    page.reload()
    page.keyboard.press("?")
    page.keyboard.press("/")

    expect(listed(page)).to_be_hidden()
    expect(page.get_by_role("searchbox", name="Words")).not_to_be_focused()
    page.locator("details.account summary").click()
    page.get_by_role("button", name="Keys").click()
    expect(listed(page).get_by_label("Use these keys on this device")).not_to_be_checked()


def test_the_review_lists_its_keys_and_none_acts_while_the_list_is_open(curator_page, dataset) -> None:
    GeneratedPairFactory(dataset=dataset, p_d=0.2, intended=0.5)
    run_score_set(dataset, "realism", "p_D")
    page = curator_page
    with page.expect_response("**/screen/**"):
        page.goto(f"/review/{dataset.slug}/?share=1.0")

    page.keyboard.press("?")
    found = rows(page)
    page.keyboard.press("r")

    assert {key: found[key] for key in "KREUB"} == {
        "K": "Keep", "R": "Reject", "E": "Edit", "U": "Undo", "B": "Blind",
    }  # fmt: skip
    assert "1" in found
    expect(page.get_by_role("group", name="Why is it rejected?")).to_be_hidden()


@pytest.mark.parametrize(("width", "colours"), [(390, "light"), (1280, "dark")])
def test_an_annotator_reads_the_list_from_right_to_left(
    open_as, annotator, dataset, width: int, colours: str
) -> None:
    run = translated(dataset)
    candidates_draw(run=run, most=2)
    page = open_as(annotator, width=width, color_scheme=colours, locale="ar")
    page.goto(f"/round-trips/{run.pk}/rate/")

    page.keyboard.press("?")

    said = rows(page)
    assert said["1 2 3 4 5"] == "الإجابة عن المقياس والانتقال إلى التالي"
    assert page.locator("dialog[open]").evaluate("dialog => getComputedStyle(dialog).direction") == "rtl"
    assert axe_findings(page) == []
    assert sideways_overflow(page) == 0
