"""Take the pictures of the guide in Chromium, on two sites of their own.

    python docs/experiments/pictures.py [--port 8160] [--to docs/guide/pictures] [--of campaign|runs]

The first site plays docs/guide/start/first-campaign.md. It is empty at first. An owner imports docs/examples/pairs.csv,
plans a campaign with 60 of its pairs and the guidelines of docs/examples/guidelines.md, keeps suggested attention
checks, and opens it. Four simulated annotators join by the invitation link and answer over HTTP: each sees the score of
a pair through noise. The owner publishes the scores and reads the methods section. The accounts are marked as
simulated, so every page says so. README's picture, whole-job.png, has a question beside the dashboard.

The second site is that of tests/golden, restored: it has a run of every kind. texts.json has the texts that each
picture shows (picture_texts.py).
"""

import argparse
import csv
import json
import re
import shutil
import threading
from base64 import b64encode
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from judge_over_http import PASSWORD, annotator_join
from keyboard_person import BROWSERS
from own_site import ROOT, Site, own_site
from picture_texts import LINES, SHOWN, TEXTS, texts_kept
from playwright.sync_api import Browser, Page, sync_playwright
from real_campaign import MARK, Annotator, Person, crowd_joined, scores_awaited, study_awaited

EXAMPLES = ROOT / "docs" / "examples"
PAIRS, ANNOTATORS, NOISE, SEED = 60, 4, 0.12, 13
WIDTH, HEIGHT = 1280, 560
MOST_BYTES = 120_000
PATIENCE = 120_000  # milliseconds
GOLDEN = ROOT / "tests" / "golden" / "site.zip"
# Of the second site: the picture's name, its page, and what is scrolled to the top.
OF_RUNS = (
    ("review", "/review/scenes/", ""),
    ("runs", "/runs/?dataset=scenes&state=succeeded", ""),
    ("comparison", "/compare/7/", "main figure"),
    ("human-likeness", "/runs/3/", ""),
)


class Tutorial:
    """One browser on the site, and the pictures that it takes. texts: what each picture shows."""

    def __init__(
        self, site: Site, browser: Browser, page: Page, folder: Path, texts: dict[str, list[str]]
    ) -> None:
        self.site, self.browser, self.page, self.folder, self.texts = site, browser, page, folder, texts
        page.set_default_timeout(PATIENCE)

    def beside(self, *, width: int = WIDTH, height: int = HEIGHT, **options: Any) -> "Tutorial":
        """Another browser on the site. options: of its context."""
        context = self.browser.new_context(viewport={"width": width, "height": height}, **options)
        return Tutorial(self.site, self.browser, context.new_page(), self.folder, self.texts)

    def go(self, path: str) -> None:
        answer = self.page.goto(f"{self.site.address}{path}")
        if answer is None or not answer.ok:
            raise SystemExit(f"{path} is not there.")

    def press(self, button: str = "main button.primary") -> None:
        """Press the button, and wait for the page that answers."""
        with self.page.expect_navigation():
            self.page.locator(button).first.click()

    def picture(self, name: str, *, at: str = "") -> None:
        """at: what to scroll to the top; without it the top of the page."""
        self.page.locator(at or "body").first.evaluate("(found) => found.scrollIntoView({block: 'start'})")
        path = self.folder / f"{name}.png"
        self.page.screenshot(path=path, animations="disabled")
        if path.stat().st_size > MOST_BYTES:
            raise SystemExit(
                f"{path.name} has {path.stat().st_size:,} bytes; at most {MOST_BYTES:,} are wanted."
            )
        self.texts[name] = texts_kept(self.page.locator(SHOWN).evaluate_all(LINES))

    def log_in(self, name: str, password: str) -> None:
        self.go("/accounts/login/")
        self.page.fill("[name=username]", name)
        self.page.fill("[name=password]", password)
        self.press("form:has([name=password]) button")

    def import_pairs(self) -> None:
        self.go("/datasets/new/")
        self.page.fill("[name=name]", "My first dataset")
        self.page.fill("[name=slug]", "first")
        self.press()
        self.page.set_input_files("[type=file]", EXAMPLES / "pairs.csv")
        self.press("form:has([type=file]) button.primary")
        self.picture("first-campaign-1")
        self.press()  # check
        self.press()  # import

    def plan_campaign(self) -> str:
        """The path of the campaign's page."""
        self.go("/campaigns/new/?dataset=first")
        self.page.fill("[name=name]", "Relatedness, first round")
        self.page.fill("[name=guideline]", (EXAMPLES / "guidelines.md").read_text("utf-8"))
        self.page.fill("[name=number]", str(PAIRS))
        self.page.fill("[name=judgements_per_tuple]", str(ANNOTATORS))
        with self.page.expect_response(lambda answer: "/estimate/" in answer.url):
            self.page.fill("[name=pay]", "12")
        self.page.wait_for_load_state("networkidle")
        self.picture("first-campaign-2")
        self.press(".campaign-form button.primary")
        return self.page.url.removeprefix(self.site.address)

    def keep_checks(self, campaign: str) -> None:
        self.go(f"{campaign}gold/suggest/")
        self.press("form.filters button")
        for box in self.page.locator("[name$=-keep]").all():
            box.check()
        self.picture("first-campaign-3")
        self.press("form[method=post] .buttons button.primary")

    def open_campaign(self, campaign: str) -> str:
        """The path of the invitation."""
        self.go(campaign)
        self.picture("first-campaign-4", at="main .columns")
        self.page.locator("details.confirm:has([value=open]) > summary").click()
        self.press("button[name=move][value=open]")
        self.go("/datasets/first/invitations/")
        self.page.select_option("[name=role]", "annotator")
        self.page.fill("[name=people]", str(ANNOTATORS))
        self.press("form.form button.primary")
        path = re.search(r"/invitations/[\w-]{20,}/", self.page.content())
        return path.group() if path else ""


def annotate(
    tutorial: Tutorial, campaign: str, invitation: str, scores: dict[tuple[str, str], float]
) -> None:
    """The annotators join and answer until nothing is left; one of them first looks at a question in the browser."""
    site, number = tutorial.site, int(campaign.split("/")[2])
    people = [
        Annotator(f"simulated-{one}", NOISE, np.random.default_rng([SEED, one]))
        for one in range(1, ANNOTATORS + 1)
    ]
    for one in people:
        one.browser = annotator_join(site.address, invitation, one.name, make=Person)
    site.manage("shell", "-v", "0", "-c", MARK)
    first = tutorial.beside(height=720)
    first.log_in(people[0].name, PASSWORD)
    first.go(f"{campaign}judge/")
    guidelines = first.page.locator("dialog#guidelines")  # they open once by themselves
    guidelines.wait_for(state="visible")
    first.page.keyboard.press("Escape")
    guidelines.wait_for(state="hidden")
    first.page.keyboard.press("1")
    first.page.keyboard.press("r")
    first.picture("first-campaign-5")
    first.page.set_viewport_size({"width": 390, "height": 844})
    first.picture("annotate-phone")
    first.page.context.close()
    threads = [threading.Thread(target=one.work, args=(number, scores)) for one in people]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def play(tutorial: Tutorial) -> None:
    with (EXAMPLES / "pairs.csv").open(encoding="utf-8", newline="") as file:
        scores = {(row["sentence1"], row["sentence2"]): float(row["score"]) for row in csv.DictReader(file)}
    tutorial.log_in("owner", tutorial.site.password)
    tutorial.import_pairs()
    campaign = tutorial.plan_campaign()
    tutorial.keep_checks(campaign)
    invitation = tutorial.open_campaign(campaign)
    annotate(tutorial, campaign, invitation, scores)
    owner = Person(tutorial.site.address)
    owner.submit("/accounts/login/", "username", username="owner", password=tutorial.site.password)
    number = int(campaign.split("/")[2])
    study_awaited(owner, number)
    tutorial.go(campaign)
    tutorial.picture("first-campaign-6")
    dark = tutorial.beside(color_scheme="dark", storage_state=tutorial.page.context.storage_state())
    dark.go(campaign)
    dark.picture("dashboard-dark")
    dark.page.context.close()
    scores_awaited(owner, number, "counting")
    tutorial.go(f"{campaign}scores/")
    tutorial.picture("first-campaign-7", at="main table")
    tutorial.go("/datasets/first/snapshots/")
    tutorial.press()
    tutorial.go("/datasets/first/publish/")
    tutorial.picture("publish", at="main form")
    tutorial.go("/datasets/first/publish/1/methods/")
    tutorial.picture("first-campaign-8")
    crowd_joined(owner, number, tutorial.site.address)
    tutorial.site.manage("shell", "-v", "0", "-c", MARK)
    tutorial.go(f"{campaign}crowd/")
    tutorial.picture("crowd", at="main h2")


def walk(tutorial: Tutorial) -> None:
    """The pictures of the second site."""
    tutorial.log_in("owner", tutorial.site.password)
    for name, path, at in OF_RUNS:
        tutorial.go(path)
        tutorial.page.wait_for_load_state("networkidle")
        tutorial.picture(name, at=at)


def side_by_side(page: Page, pictures: Sequence[Path], to: Path) -> None:
    """One picture of several, each as high as the others."""
    shown = [f"data:image/png;base64,{b64encode(path.read_bytes()).decode()}" for path in pictures]
    frame = "height: 480px; border: 1px solid #dedad1; border-radius: 6px"
    images = "".join(f'<img src="{one}" style="{frame}">' for one in shown)
    page.set_viewport_size({"width": 2040, "height": 560})
    page.set_content(f'<div style="display: inline-flex; gap: 20px; padding: 10px">{images}</div>')
    page.locator("div").screenshot(path=to)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--port", type=int, default=8160)
    parser.add_argument("--to", type=Path, default=ROOT / "docs" / "guide" / "pictures")
    parser.add_argument("--of", choices=("campaign", "runs"), help="the pictures of one site alone")
    options = parser.parse_args()
    options.to.mkdir(parents=True, exist_ok=True)
    found = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if found is None:
        raise SystemExit("The pictures need Chromium: apt-get install chromium")
    texts = json.loads(TEXTS.read_text("utf-8")) if TEXTS.exists() else {}
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=found, args=["--headless=new", "--no-sandbox"])
        for of, backup, taken in (("campaign", None, play), ("runs", GOLDEN, walk)):
            if options.of not in (of, None):
                continue
            with own_site(options.port, backup) as site:
                page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
                taken(Tutorial(site, browser, page, options.to, texts))
        if options.of != "runs":
            names = [f"first-campaign-{number}" for number in (5, 6)]
            both = [options.to / f"{name}.png" for name in names]
            side_by_side(browser.new_page(), both, options.to.parent / "whole-job.png")
        browser.close()
    (options.to / TEXTS.name).write_text(
        json.dumps(texts, indent=1, sort_keys=True, ensure_ascii=False) + "\n", "utf-8"
    )


if __name__ == "__main__":
    main()
