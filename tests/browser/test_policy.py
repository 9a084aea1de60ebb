"""The content security policy in a browser: what somebody gets into a page does nothing, and charts have their size."""

import pytest
from playwright.sync_api import Page

from tests.integration.annotation.crowd import STEADY, crowd_judge

pytestmark = pytest.mark.browser

# Each would turn the page's title red or change its text.
INJECTED = {
    "a style attribute": """<p id="injected" style="color: rgb(255, 0, 0)">x</p>""",
    "a style element": """<style>#injected { color: rgb(255, 0, 0) }</style><p id="injected">x</p>""",
    "a handler": """<p id="injected">x</p><img src="/none" onerror="injected.style.color = 'rgb(255, 0, 0)'">""",
    "a frame": """<p id="injected">x</p>
        <iframe srcdoc="<script>parent.injected.style.color = 'rgb(255, 0, 0)'</script>"></iframe>""",
}
PUT_IN = """(html) => new Promise((done) => {
    document.querySelector("main").insertAdjacentHTML("beforeend", html);
    setTimeout(() => done(getComputedStyle(document.querySelector("#injected")).color), 500);
})"""


@pytest.mark.parametrize("html", INJECTED.values(), ids=INJECTED)
def test_markup_that_got_into_a_page_does_nothing(browser, live_server, html) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{live_server.url}/accounts/login/")

    colour = page.evaluate(PUT_IN, html)
    context.close()

    assert colour != "rgb(255, 0, 0)"


@pytest.mark.exhaustive
def test_a_chart_knows_how_large_it_was_drawn(curator_page: Page, dataset) -> None:
    campaign = crowd_judge(dataset, people={"anna": STEADY, "ben": STEADY, "cleo": STEADY}, each=2)
    curator_page.goto(f"/campaigns/{campaign.pk}/analysis/")

    sizes = curator_page.locator("figure.chart").evaluate_all(
        """(charts) => charts.map((chart) => [
            getComputedStyle(chart).getPropertyValue("--drawn-width"),
            `${chart.querySelector("svg").viewBox.baseVal.width}px`,
        ])"""
    )

    assert sizes
    assert all(known == drawn for known, drawn in sizes), sizes
