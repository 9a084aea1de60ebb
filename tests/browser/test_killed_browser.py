"""Chromium is killed between Enter and the server's answer: no judgement is lost, none is there twice."""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from django.conf import settings
from playwright.sync_api import BrowserContext, Error, Page, Playwright, expect

from annotation.models import Campaign, Judgement
from tests.browser.conftest import PATIENCE, moment_passes
from tests.factories import CampaignFactory, client_of

pytestmark = pytest.mark.browser
MOMENTS_MS = (
    0,
    200,
)  # after the next pairs stand on the screen; what storage has is on the disk after five seconds


@pytest.fixture
def campaign(dataset) -> Campaign:
    return CampaignFactory(dataset=dataset, judgements_per_tuple=1, tuples=20)


@pytest.fixture
def start_browser(
    playwright: Playwright, browser_type_launch_args, live_server, annotator, campaign, tmp_path
) -> Iterator[Callable[[], Page]]:
    """The judging screen in a browser that always has the same profile on the disk."""
    client = client_of(annotator)
    session = client.cookies[settings.SESSION_COOKIE_NAME].value
    home = f"{live_server.url}{settings.SITE_PATH}/"
    opened: list[BrowserContext] = []

    def start() -> Page:
        context = playwright.chromium.launch_persistent_context(
            str(tmp_path / "profile"), **browser_type_launch_args
        )
        opened.append(context)
        context.set_default_timeout(PATIENCE)
        context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": session, "url": home}])
        page = context.pages[0]
        page.goto(f"{home}campaigns/{campaign.pk}/judge/")
        page.wait_for_load_state("networkidle")  # the script has begun: it asks for the tuples after this one
        begin = page.get_by_role("button", name="Start annotating")
        if begin.is_visible():
            begin.click()
        page.wait_for_load_state("networkidle")
        return page

    yield start
    with suppress(Error):  # that is killed already
        opened[-1].close()


def kill(page: Page, profile: Path) -> None:
    """End the browser at once, as the system does when memory runs out: it writes nothing any more."""
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            command = (process / "cmdline").read_bytes().decode(errors="replace")
            if f"--user-data-dir={profile}" in command and "--type=" not in command:
                os.kill(int(process.name), signal.SIGKILL)
    with suppress(Error):
        page.context.close()


def answer(page: Page) -> None:
    shown = page.locator("#stage input[name=lease]").input_value()
    for key in ("1", "w", "Enter"):
        page.keyboard.press(key)
    expect(page.locator("#stage input[name=lease]")).not_to_have_value(shown)


@pytest.mark.parametrize("connected", [False, pytest.param(True, marks=pytest.mark.exhaustive)])
def test_killing_the_browser_after_enter_loses_no_judgement_and_stores_none_twice(
    start_browser, campaign, tmp_path, connected
) -> None:
    page = start_browser()

    for moment in MOMENTS_MS:
        page.context.set_offline(not connected)
        answer(page)
        moment_passes(page, moment)
        kill(page, tmp_path / "profile")
        page = start_browser()
    page.reload(wait_until="networkidle")

    kept = list(Judgement.objects.values_list("tuple", "order_shown", "best_slot", "worst_slot"))
    assert len(kept) == len({tuple_id for tuple_id, *_ in kept}) == len(MOMENTS_MS)
    assert all(order[:2] == [best, worst] for _, order, best, worst in kept)
