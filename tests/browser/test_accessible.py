"""axe-core finds nothing: on twenty-five pages in each run of the checks, on every page with EVERY_PAGE=1 alone.

Each page is looked at wide and narrow, light and dark, folded as it comes. The pages are those of the site in
tests/golden as its administrator sees them, the form of each kind of run, one's own account, and the guide.
"""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest
from django.conf import settings
from playwright.sync_api import Page

from mlworkers.plans.kinds import KINDS
from semblance.guide.rendering import page_files
from tests.browser.conftest import axe_findings
from tests.golden.visiting import ANSWERS, BACKUP
from tests.integration.mlworkers.installation import PATIENCE, ROOT, Installation

pytestmark = [pytest.mark.browser, pytest.mark.own_site]
WIDTHS = (1280, 390)
# One of each that people see most.
TWENTY_FIVE = (
    "/",
    "/datasets/",
    "/datasets/scenes/",
    "/datasets/scenes/pairs/56/",
    "/datasets/scenes/import/",
    "/datasets/scenes/publish/",
    "/datasets/scenes/settings/",
    "/datasets/scenes/score-sets/",
    "/realism/6/",
    "/campaigns/",
    "/campaigns/new/?dataset=scenes",
    "/campaigns/1/",
    "/campaigns/1/scores/",
    "/campaigns/1/analysis/",
    "/campaigns/1/gold/",
    "/campaigns/2/judge/",
    "/review/scenes/",
    "/runs/",
    "/runs/start/",
    "/runs/start/compare_weightings/?dataset=scenes",
    "/runs/workers/",
    "/compare/7/",
    "/runs/6/",
    "/guide/",
    "/guide/first-campaign/",
)
PARTS = 80
SESSION = """
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.test import Client
from curation.models import User
client = Client()
client.force_login(User.objects.filter(is_superuser=True).earliest("pk"))
print(client.cookies["sessionid"].value)
"""


def every_page() -> list[str]:
    kept = json.loads(ANSWERS.read_text())
    return [
        *sorted(address for address, (_status, kind, *_) in kept.items() if kind == "text/html"),
        # What is not listed has its form on a page of its own, which is among the answers.
        *(f"/runs/start/{name}/?dataset=scenes" for name, kind in KINDS.items() if kind.listed),
        *(f"/accounts/{page}/" for page in ("tokens", "sessions", "second-factor", "password")),
        *(f"/guide/{name}/" for name in page_files()),
        *TWENTY_FIVE,
    ]


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Iterator[tuple[str, str]]:
    """The address of the golden site, and its administrator's session."""
    installed = Installation(tmp_path_factory.mktemp("golden"), "")
    installed.manage("restore", str(BACKUP))
    session = installed.manage("shell", "-v", "0", given=SESSION).split()[-1]
    with socket.create_server(("127.0.0.1", 0)) as listener, (installed.home / "web.txt").open("wb") as log:
        process = subprocess.Popen(
            [
                *(sys.executable, "-m", "gunicorn", "semblance.wsgi:application", "--workers", "1"),
                *("--config", "python:semblance.serving.web_server", "--bind", f"fd://{listener.fileno()}"),
            ],
            cwd=ROOT,
            env=installed.environment | {"HTTPS": "false"},
            pass_fds=[listener.fileno()],
            stdout=log,
            stderr=log,
        )
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}", session
        finally:
            process.terminate()
            process.wait(PATIENCE)


@pytest.fixture
def findings(site, new_context) -> Callable[[str], list[str]]:
    """What axe-core finds wrong on the page at an address, in each state that it looks otherwise in."""
    home, session = site
    context = new_context()
    context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": session, "url": home}])
    page: Page = context.new_page()

    def look(address: str) -> list[str]:
        answer = page.goto(home + address)
        if answer is None or answer.status >= 400:
            return [f"{address}: answered {answer and answer.status}"]
        found = []
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            # In the dark, colours alone are others: one rule asks about them.
            for colours, rules in (("light", ()), ("dark", ("color-contrast",))):
                page.emulate_media(color_scheme=colours, reduced_motion="reduce")
                found += [f"{address}, {width} {colours}: {what}" for what in axe_findings(page, *rules)]
        return found

    return look


@pytest.mark.parametrize("address", TWENTY_FIVE)
def test_axe_finds_nothing_on_the_pages_that_people_see_most(findings, address) -> None:
    assert findings(address) == []


@pytest.mark.exhaustive
@pytest.mark.skipif(not os.environ.get("EVERY_PAGE"), reason="takes about an hour: .ci/everything accessible")
@pytest.mark.parametrize("part", range(PARTS))
def test_axe_finds_nothing_on_any_page(findings, part) -> None:
    assert [what for address in every_page()[part::PARTS] for what in findings(address)] == []
