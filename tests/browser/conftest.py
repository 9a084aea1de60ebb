"""Chromium against the live server: a page per role, logged in. Things on it are found by role and label.

With `--browser firefox` it is the Firefox on the search path (ADR 5).

Every test fails where the browser finds something on a page that the site's content security policy forbids.
With SITE_PATH=/a/b/ in the environment, every test of this folder runs on a site that is that part of its host, and
fails where a browser asks for anything outside of it.
"""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.conf import settings
from django.contrib.staticfiles.handlers import StaticFilesHandler
from playwright.sync_api import BrowserContext, ConsoleMessage, Page, Request, WebError, expect

from curation.models import User
from tests.factories import client_of
from tests.quick_figures import quick_figures
from tests.services_needed import CHROMIUM

__all__ = ["quick_figures"]

QUIET = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # A name of this machine that the browser does not take for this machine: pages of it are not secure.
    "--host-resolver-rules=MAP semblance.test 127.0.0.1",
]
FIREFOX = next((path for name in ("firefox-esr", "firefox") if (path := shutil.which(name))), None)
PATIENCE = 60_000  # milliseconds; a machine may be busy
OpenAs = Callable[..., Page]
expect.set_options(timeout=PATIENCE)


@pytest.fixture(scope="session", autouse=True)
def driver_for_firefox(browser_name: str) -> Iterator[None]:
    """Playwright's driver is a program of Node, and starts after this."""
    with pytest.MonkeyPatch.context() as changed:
        if browser_name == "firefox":
            changed.setenv("NODE_OPTIONS", f"--require {Path(__file__).with_name('firefox.cjs')}")
        yield


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any], browser_name: str) -> dict[str, Any]:
    if browser_name == "firefox":
        if FIREFOX is None:
            pytest.fail("These tests drive Firefox, and there is none on the search path.")
        # Through WebDriver BiDi: without this channel, Playwright drives only Firefoxes that it built.
        return browser_type_launch_args | {"executable_path": FIREFOX, "channel": "moz-firefox"}
    if CHROMIUM is None:
        pytest.fail("These tests drive Chromium, and there is none on the search path.")
    return browser_type_launch_args | {"executable_path": CHROMIUM, "args": QUIET}


@pytest.fixture(scope="session", autouse=True)
def static_files_of_the_site() -> Iterator[None]:
    """The site itself serves its static files, and not the server of the tests. It looks for each when it is asked for;
    an installation lists them when it starts, which the test of the wheel asks.
    """
    with pytest.MonkeyPatch.context() as changed:
        changed.setattr(StaticFilesHandler, "_should_handle", lambda handler, path: False)
        yield


@pytest.fixture(scope="session")
def base_url(live_server) -> str:
    return live_server.url


@pytest.fixture
def new_context(new_context, live_server, browser_name: str) -> Iterator[Callable[..., BrowserContext]]:
    escaped: list[str] = []
    refused: list[str] = []

    def look(request: Request) -> None:
        ours = request.url.startswith(live_server.url)
        if ours and not urlsplit(request.url).path.startswith(f"{settings.SITE_PATH}/"):
            escaped.append(request.url)

    def listen(message: ConsoleMessage) -> None:
        if "Content Security Policy" in message.text:
            refused.append(message.text)

    def listen_in_firefox(error: WebError) -> None:
        if "violates the following directive" in error.error.message:
            refused.append(error.error.message)

    def patient(**options: Any) -> BrowserContext:
        context = new_context(**options)
        context.set_default_timeout(PATIENCE)
        context.on("request", look)
        context.on("console", listen)
        context.on("weberror", listen_in_firefox)
        if browser_name == "firefox" and "color_scheme" in options:
            # Firefox has no command for it (firefox.cjs): the person has chosen it on this device.
            context.add_init_script(f"localStorage.setItem('theme', '{options['color_scheme']}')")
        return context

    yield patient
    assert escaped == []
    assert refused == []


@pytest.fixture(autouse=True)
def addresses_of_the_site(monkeypatch) -> None:
    """Tests name pages from the site's home page on: `page.goto("/datasets/")`, whatever the site's path is."""
    goto = Page.goto

    def go(page: Page, url: str, **options: Any) -> Any:
        return goto(page, f"{settings.SITE_PATH}{url}" if url.startswith("/") else url, **options)

    monkeypatch.setattr(Page, "goto", go)


@pytest.fixture
def open_as(live_server, new_context) -> OpenAs:
    """A page in a browser of the person's own, logged in: `open_as(user)`, or `open_as(user, width=390)`."""

    def open_page(user: User, *, width: int = 1280, height: int = 900, **context: Any) -> Page:
        client = client_of(user)
        session = client.cookies[settings.SESSION_COOKIE_NAME].value
        opened = new_context(viewport={"width": width, "height": height}, **context)
        home = f"{live_server.url}{settings.SITE_PATH}/"
        opened.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": session, "url": home}])
        return opened.new_page()

    return open_page


@pytest.fixture
def owner_page(open_as, owner) -> Page:
    return open_as(owner)


@pytest.fixture
def curator_page(open_as, curator) -> Page:
    return open_as(curator)


@pytest.fixture
def annotator_page(open_as, annotator) -> Page:
    return open_as(annotator)


@pytest.fixture
def staff_page(open_as, staff) -> Page:
    return open_as(staff)


def moment_passes(page: Page, milliseconds: float) -> None:
    """Wait until the page's own clock is so much further: for what the page decides by its clock.

    A page ignores a hurried second key for a moment, lets feedback slide in, or says that a save takes long. Everything
    else that a test waits for is on the page, and `expect` finds it as soon as it is there.
    """
    began = page.evaluate("performance.now()")
    page.wait_for_function("([began, most]) => performance.now() - began >= most", arg=[began, milliseconds])


def keys_used(page: Page, used: bool) -> None:
    """Switch the keys of a page on or off, in the list of them that its button opens."""
    page.get_by_role("button", name="Keys").click()
    listed = page.get_by_role("dialog", name="Keys")
    listed.get_by_label("Use these keys on this device").set_checked(used)
    listed.get_by_role("button", name="Close").click()


def sideways_overflow(page: Page) -> int:
    """How many pixels of the page lie beyond its right edge; more than 0 means that it scrolls sideways."""
    page.wait_for_load_state()  # after a click, the next document may have begun and be empty still
    return page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")


def small_targets(page: Page) -> list[str]:
    """Controls that a finger may miss: less than 44 pixels wide or high. A link within text may be smaller."""
    page.wait_for_load_state()
    return page.evaluate("""() =>
        [...document.querySelectorAll("a, button, summary, select, textarea, label:has(input)")]
        .filter((target) => target.checkVisibility({visibilityProperty: true}))
        .filter((target) => !target.matches(".skip-link, p a, td a"))
        .map((target) => [target.textContent.trim(), target.getBoundingClientRect()])
        .filter(([_, {width, height}]) => width < 43.5 || height < 43.5)
        .map(([text, {width, height}]) => `${text}: ${width} x ${height}`)""")


def axe_findings(page: Page, *rules: str) -> list[str]:
    """What axe-core finds wrong with the page as it is now: each rule of accessibility, and the parts that break it.
    rules: those alone.
    """
    options: dict[str, Any] = {"resultTypes": ["violations"]}
    if rules:
        options["runOnly"] = {"type": "rule", "values": list(rules)}
    found = Axe().run(page, options=options).response["violations"]
    return [
        f"{rule['id']}: {', '.join(str(node['target'][0]) for node in rule['nodes'][:3])}" for rule in found
    ]
