"""Every state of the judging screen: axe-core finds nothing in it, and nothing moves while it is shown."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from annotation.campaigns.services import guideline_save
from annotation.models import Campaign, Participation
from tests.browser.conftest import axe_findings, moment_passes
from tests.factories import CampaignFactory, GoldFactory, TupleFactory

pytestmark = pytest.mark.browser

# Layout shifts as of Web Vitals: what moves within half a second of a key is left out, as the key asked for it.
WATCH = """
    window.shifted = 0;
    new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shifted += entry.value;
    }).observe({type: "layout-shift", buffered: true});
"""
MOST_SHIFT = 0.02


@pytest.fixture
def campaign(dataset, monkeypatch) -> Campaign:
    """Ordinary tuples, at every other turn a gold one, and a pause after every third; nobody is stopped."""
    monkeypatch.setattr("annotation.judging.screen.SITTING", 3)
    campaign = CampaignFactory(
        dataset=dataset, judgements_per_tuple=1, gold_every=2, gold_threshold=0.1, allows_ties=True
    )
    TupleFactory.create_batch(30, campaign=campaign)
    GoldFactory.create_batch(4, campaign=campaign)
    guideline_save(campaign=campaign, text="Judge the meaning. " * 40)
    return campaign


def judge(page: Page) -> None:
    with page.expect_response("**/judge/answer/"):
        for key in ("3", "r", "Enter"):
            page.keyboard.press(key)
    moment_passes(page, 100)  # the script reads what has arrived


def go_on(page: Page) -> None:
    """Past the feedback and the pause, where there are any."""
    if page.locator(".feedback").is_visible():
        moment_passes(page, 600)  # an Enter within half a second was meant for something else
        page.keyboard.press("Enter")
    if page.locator("#pause-dialog").is_visible():
        page.keyboard.press("Escape")


def states_of(page: Page, campaign: Campaign) -> Iterator[str]:
    """Bring the page from state to state, by the keyboard alone."""
    page.goto(f"/campaigns/{campaign.pk}/judge/")
    expect(page.locator("#guidelines")).to_be_visible()
    yield "guidelines"
    page.keyboard.press("Enter")
    expect(page.locator("#guidelines")).to_be_hidden()
    yield "screen"
    page.keyboard.press("0")
    expect(page.get_by_role("checkbox")).to_be_checked()
    yield "too close to call"
    page.keyboard.press("2")
    yield "best chosen"
    page.keyboard.press("Enter")
    yield "half an answer"
    for key, dialog in (("?", "help"), ("s", "skip"), ("f", "flag"), ("g", "guidelines")):
        page.keyboard.press(key)
        opened = page.locator(f"#{dialog}-dialog, #{dialog}").last
        expect(opened).to_be_visible()
        yield f"{dialog}, open"
        page.keyboard.press("Escape")
    seen = set()
    while seen != {".feedback", "#pause-dialog"}:
        judge(page)
        for part in (".feedback", "#pause-dialog"):
            if page.locator(part).is_visible() and part not in seen:
                seen.add(part)
                yield part
        go_on(page)
        go_on(page)
    page.context.set_offline(True)
    expect(page.locator("#trouble")).to_be_visible()
    yield "offline"
    for key in ("3", "r", "Enter"):
        page.keyboard.press(key)
    moment_passes(page, 3200)  # a save that takes longer than 3 s is announced
    yield "a save takes long"
    page.context.set_offline(False)
    expect(page.locator("#trouble")).to_be_hidden()
    moment_passes(page, 600)  # feedback may slide in, pale at first
    yield "back"
    Participation.objects.update(state="stopped", reason="Too fast.")
    for part in ("", "practice/", "practice/?tuple=2"):
        page.goto(f"/campaigns/{campaign.pk}/judge/{part}")
        yield part or "stopped"
    page.goto("/judge/")
    yield "campaigns"


@pytest.mark.parametrize(
    ("language", "width", "colours"),
    [
        ("ar", 390, "dark"),
        pytest.param("en", 1280, "light", marks=pytest.mark.exhaustive),
        pytest.param("de", 390, "light", marks=pytest.mark.exhaustive),
    ],
)
def test_no_state_breaks_a_rule_of_accessibility_or_moves_under_the_reader(
    open_as, annotator, campaign, language: str, width: int, colours: str
) -> None:
    page = open_as(annotator, width=width, locale=language, color_scheme=colours)
    page.add_init_script(WATCH)
    wrong: dict[str, list[str]] = {}

    for state in states_of(page, campaign):
        moment_passes(page, 100)
        found = axe_findings(page)
        if (shift := page.evaluate("[window.shifted, (window.shifted = 0)][0]")) >= MOST_SHIFT:
            found.append(f"layout shift {shift:.3f}")
        if found:
            wrong[state] = found

    assert wrong == {}
