"""The description of the API in a browser, under the site's content security policy."""

import pytest
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.browser


def test_the_addresses_of_the_api_open_and_can_be_tried_out(curator_page: Page, dataset) -> None:
    refused: list[str] = []
    elsewhere: list[str] = []
    curator_page.on("console", lambda line: refused.append(line.text) if line.type == "error" else None)
    curator_page.on("request", lambda sent: elsewhere.append(sent.url))

    curator_page.goto("/api/v1/docs/")
    curator_page.get_by_role("link", name="datasets", exact=True).click()
    curator_page.get_by_role("button", name="get /api/v1/datasets/", exact=True).click()
    curator_page.get_by_role("button", name="Try it out").click()
    curator_page.get_by_role("button", name="Execute").click()

    expect(curator_page.get_by_text(f'"slug": "{dataset.slug}"').first).to_be_visible()
    assert refused == []
    own = curator_page.url.partition("/api/")[0]
    assert [url for url in elsewhere if not url.startswith((own, "data:"))] == []
