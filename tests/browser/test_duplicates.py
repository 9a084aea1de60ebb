"""Duplicates in a browser: searching, setting pairs aside after a preview, and undoing it. No click is done twice."""

import pytest
from playwright.sync_api import Page, expect

from curation.models import AuditEntry, DuplicateSearch, Pair
from tests.browser.conftest import sideways_overflow
from tests.factories import PairFactory, SentenceFactory

pytestmark = pytest.mark.browser


@pytest.fixture
def repeated(dataset):
    """A pair, the same again, and mirrored; two pairs in nearly the same words."""
    dog, rain = (SentenceFactory(dataset=dataset, text=text) for text in ("A dog runs.", "It rains."))
    PairFactory(dataset=dataset, a=dog, b=rain, external_id="first")
    PairFactory(dataset=dataset, a=dog, b=rain, external_id="again", source="elsewhere")
    PairFactory(dataset=dataset, a=rain, b=dog, external_id="mirrored")
    for name, ending in (("short", ""), ("long", " now")):
        text = f"The old bird sings by the wide river{ending}."
        PairFactory(dataset=dataset, a=SentenceFactory(dataset=dataset, text=text), b=rain, external_id=name)
    return dataset


def out_of_line(page: Page) -> list[str]:
    """Columns of a group that begin elsewhere than those of the first group, and ids that are not beside their box."""
    return page.evaluate("""() => {
        const [first, ...others] = [...document.querySelectorAll("table.alike")].map((table) =>
            [...table.querySelectorAll("thead th")].map((cell) => cell.getBoundingClientRect().left));
        const middle = (part) => { const {top, bottom} = part.getBoundingClientRect(); return (top + bottom) / 2; };
        const ids = [...document.querySelectorAll("table.alike tbody th")].filter((cell) =>
            Math.abs(middle(cell.querySelector("input")) - middle(cell.querySelector("a"))) > 3);
        const columns = others.flatMap((lefts) => lefts.filter((left, place) => Math.abs(left - first[place]) > 1));
        return [...ids.map((cell) => cell.textContent.trim()), ...columns.map(String)];
    }""")


@pytest.mark.exhaustive
@pytest.mark.parametrize("width", [390, 1280])
def test_duplicates_are_found_set_aside_and_brought_back(open_as, curator, repeated, width: int) -> None:
    page: Page = open_as(curator, width=width)
    page.goto(f"/datasets/{repeated.slug}/duplicates/")
    page.get_by_role("button", name="Search for duplicates").dblclick()
    expect(page.get_by_role("heading", name="2 groups with 5 pairs")).to_be_visible()
    assert DuplicateSearch.objects.count() == 1
    assert out_of_line(page) == []
    page.get_by_role("link", name="near 1").click()
    expect(page.get_by_role("heading", name="Group 2: 2 pairs")).to_be_visible()
    expect(page.get_by_role("heading", name="Group 1: 3 pairs")).to_have_count(0)
    page.get_by_role("link", name="all 2").click()
    expect(page.get_by_role("heading", name="Group 1: 3 pairs")).to_be_visible()
    assert sideways_overflow(page) == 0

    page.get_by_label("Select pair again").check()
    page.get_by_label("Exclude").select_option("the selected pairs")
    page.get_by_role("button", name="Preview").dblclick()
    expect(page.get_by_text("1 pair of 1 changes.")).to_be_visible()
    assert not Pair.objects.exclude(status="active").exists()
    page.get_by_role("button", name="Apply this edit").dblclick()

    expect(page.get_by_text("1 pair was edited.")).to_be_visible()
    assert [pair.external_id for pair in Pair.objects.filter(status="retired")] == ["again"]
    page.goto(f"/datasets/{repeated.slug}/duplicates/")
    expect(page.get_by_text("changed since this search. Search again")).to_be_visible()
    expect(page.get_by_label("Exclude")).to_have_count(0)

    page.goto(f"/datasets/{repeated.slug}/edits/")
    page.get_by_role("button", name="Undo").dblclick()
    expect(page.get_by_text("The pairs have the values back that they had before.")).to_be_visible()
    expect(page.get_by_role("alert")).to_have_count(0)
    assert not Pair.objects.exclude(status="active").exists()
    assert AuditEntry.objects.filter(action="pairs_edited").count() == 1
