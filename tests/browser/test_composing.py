"""Composing pairs in a browser: the settings of the chosen strategy are shown, and the preview follows each change."""

import re

import pytest
from playwright.sync_api import Page, expect

from curation.exchange.pool import SentenceOptions, sentences_import
from curation.models import Pair
from tests.browser.conftest import sideways_overflow

pytestmark = pytest.mark.browser


@pytest.fixture
def pool(dataset, tmp_path) -> None:
    path = tmp_path / "news.txt"
    who, does = ("dog", "cat", "bird", "child", "horse", "fox"), ("runs", "sits", "sings", "waits", "hides")
    path.write_text("\n".join(f"The old {one} {verb} by the river now." for one in who for verb in does))
    sentences_import(dataset=dataset, path=path, options=SentenceOptions(), by=None)


@pytest.mark.parametrize("width", [390, 1280])
def test_pairs_are_composed_from_the_pool(open_as, curator, dataset, pool, width: int) -> None:
    page: Page = open_as(curator, width=width)
    page.goto(f"/datasets/{dataset.slug}/compose/")
    expect(page.get_by_label("Shared words, from (%)")).to_be_visible()
    expect(page.get_by_label("Buckets")).to_be_hidden()

    page.get_by_label("Strategy").select_option("percentiles")
    page.get_by_label("Buckets").fill("2")
    page.get_by_label("Pairs", exact=True).fill("6")
    page.get_by_label("Pairs", exact=True).blur()
    expect(page.get_by_role("heading", name="Preview: 6 pairs")).to_be_visible()
    page.get_by_label("Pairs", exact=True).fill("4")
    page.get_by_label("Pairs", exact=True).blur()
    expect(page.get_by_role("heading", name="Preview: 4 pairs")).to_be_visible()
    expect(page.get_by_label("Shared words, from (%)")).to_be_hidden()
    assert sideways_overflow(page) == 0
    page.get_by_role("button", name="Add these pairs").click()

    expect(page.get_by_text("4 pairs were added.")).to_be_visible()
    assert Pair.objects.filter(dataset=dataset, origin="sampled").count() == 4
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text(re.compile("Sampling is undone"))).to_be_visible()
    assert not Pair.objects.exists()
