"""Finished judgements become a campaign, in a browser."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Campaign, Judgement
from tests.browser.conftest import OpenAs, sideways_overflow

pytestmark = pytest.mark.browser

ROWS = (
    "left,middle,right,warmest,coldest,who\n"
    "sun,ice,rain,sun,ice,anna\n"
    "sun,ice,rain,sun,ice,ben\n"
    "fire,snow,rain,fire,snow,anna\n"
    "fire,snow,rain,stone,snow,ben\n"
)


@pytest.fixture
def file(tmp_path) -> Path:
    path = tmp_path / "warmth.csv"
    path.write_text(ROWS)
    return path


@pytest.mark.exhaustive
def test_judgements_are_uploaded_their_columns_chosen_and_a_campaign_made(
    curator_page: Page, dataset, file
) -> None:
    page = curator_page
    page.goto(f"/campaigns/?dataset={dataset.slug}")
    page.get_by_role("link", name="Import finished judgements").click()
    page.get_by_label("Files").set_input_files(file)
    page.get_by_role("button", name="Upload and preview").click()
    columns = page.get_by_role("group", name="Columns of the items")
    for name in ("left", "middle", "right"):
        columns.get_by_label(name).check()
    page.get_by_label("Column of the best item").select_option("warmest")
    page.get_by_label("Column of the worst item").select_option("coldest")
    page.get_by_label("Column of the annotator").select_option("who")
    page.get_by_role("button", name="Check the import").click()
    outcome = page.get_by_role("region", name="What the import will do")
    expect(outcome).to_contain_text("1 of 4 rows (25%) are not judgements and are left out")
    expect(outcome).to_contain_text("Every item" if dataset.pairs.exists() else "5 new pairs")

    page.get_by_role("button", name="Create the campaign “warmth” from 3 judgements").click()

    expect(page.get_by_role("heading", name="warmth")).to_be_visible()
    expect(page.get_by_text("then publish the scores")).to_be_visible()
    assert Campaign.objects.get().state == "closed"
    assert Judgement.objects.count() == 3


def test_the_import_fits_a_narrow_screen(open_as: OpenAs, curator, dataset, file) -> None:
    page = open_as(curator, width=390, height=844, color_scheme="dark")
    page.goto(f"/datasets/{dataset.slug}/judgements/")
    page.get_by_label("Files").set_input_files(file)
    listed = sideways_overflow(page)

    page.get_by_role("button", name="Upload and preview").click()
    expect(page.get_by_role("heading", name="warmth.csv")).to_be_visible()

    assert (listed, sideways_overflow(page)) == (0, 0)
