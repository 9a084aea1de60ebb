"""The guide in a browser, without an account."""

import pytest
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.browser


def test_what_is_typed_into_the_search_filters_the_guide_and_a_result_is_its_section(
    page: Page, live_server
) -> None:
    page.goto(f"{live_server.url}/guide/")

    page.get_by_role("searchbox", name="Search the guide").press_sequentially("token expires")
    result = page.get_by_role("link", name="Use the API: Get a token")
    expect(result).to_be_visible()
    result.click()

    expect(page.get_by_role("heading", name="Get a token")).to_be_in_viewport()
