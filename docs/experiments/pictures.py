"""Play the steps of docs/guide/start/first-campaign.md in Chromium on a site of its own, and write their pictures.

    python docs/experiments/pictures.py [--port 8160] [--to docs/guide/pictures]

The site is empty at first. An owner imports docs/examples/pairs.csv, plans a campaign with 60 of its pairs and the
guidelines of docs/examples/guidelines.md, keeps suggested attention checks, and opens it. Four simulated annotators
join by the invitation link and answer over HTTP: each sees the score of a pair through noise. The owner publishes the
scores and reads the methods section. The accounts are marked as simulated, so every page says so. README's picture,
whole-job.png, has a question beside the dashboard.
"""

import argparse
import csv
import re
import shutil
import threading
from base64 import b64encode
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from judge_over_http import PASSWORD, annotator_join
from keyboard_person import BROWSERS
from own_site import ROOT, Site, own_site
from playwright.sync_api import Browser, Page, sync_playwright
from real_campaign import MARK, Annotator, Person, study_awaited

EXAMPLES = ROOT / "docs" / "examples"
PAIRS, ANNOTATORS, NOISE, SEED = 60, 4, 0.12, 13
WIDTH, HEIGHT = 1280, 560
MOST_BYTES = 120_000
PATIENCE = 120_000  # milliseconds


class Tutorial:
    """One browser on the site, and the pictures that it takes."""

    def __init__(self, site: Site, browser: Browser, page: Page, folder: Path) -> None:
        self.site, self.browser, self.page, self.folder = site, browser, page, folder

    def go(self, path: str) -> None:
        answer = self.page.goto(f"{self.site.address}{path}")
        if answer is None or not answer.ok:
            raise SystemExit(f"{path} is not there.")

    def press(self, button: str = "main button.primary") -> None:
        """Press the button, and wait for the page that answers."""
        with self.page.expect_navigation():
            self.page.locator(button).first.click()

    def picture(self, number: int, *, at: str = "") -> None:
        """at: what to scroll to the top; without it the top of the page."""
        self.page.locator(at or "body").first.evaluate("(found) => found.scrollIntoView({block: 'start'})")
        path = self.folder / f"first-campaign-{number}.png"
        self.page.screenshot(path=path, animations="disabled")
        if path.stat().st_size > MOST_BYTES:
            raise SystemExit(
                f"{path.name} has {path.stat().st_size:,} bytes; at most {MOST_BYTES:,} are wanted."
            )

    def log_in(self) -> None:
        self.go("/accounts/login/")
        self.page.fill("[name=username]", "owner")
        self.page.fill("[name=password]", self.site.password)
        self.press("form:has([name=password]) button")

    def import_pairs(self) -> None:
        self.go("/datasets/new/")
        self.page.fill("[name=name]", "My first dataset")
        self.page.fill("[name=slug]", "first")
        self.press()
        self.page.set_input_files("[type=file]", EXAMPLES / "pairs.csv")
        self.press("form:has([type=file]) button.primary")
        self.picture(1)
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
        self.picture(2)
        self.press(".campaign-form button.primary")
        return self.page.url.removeprefix(self.site.address)

    def keep_checks(self, campaign: str) -> None:
        self.go(f"{campaign}gold/suggest/")
        self.press("form.filters button")
        for box in self.page.locator("[name$=-keep]").all():
            box.check()
        self.picture(3)
        self.press("form[method=post] .buttons button.primary")

    def open_campaign(self, campaign: str) -> str:
        """The path of the invitation."""
        self.go(campaign)
        self.picture(4, at="main .columns")
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
    context = tutorial.browser.new_context(viewport={"width": WIDTH, "height": 720})
    first = Tutorial(site, tutorial.browser, context.new_page(), tutorial.folder)
    first.go("/accounts/login/")
    first.page.fill("[name=username]", people[0].name)
    first.page.fill("[name=password]", PASSWORD)
    first.press("form:has([name=password]) button")
    first.go(f"{campaign}judge/")
    guidelines = first.page.locator("dialog#guidelines")  # they open once by themselves
    guidelines.wait_for(state="visible")
    first.page.keyboard.press("Escape")
    guidelines.wait_for(state="hidden")
    first.page.keyboard.press("1")
    first.page.keyboard.press("r")
    first.picture(5)
    context.close()
    threads = [threading.Thread(target=one.work, args=(number, scores)) for one in people]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def play(tutorial: Tutorial) -> None:
    with (EXAMPLES / "pairs.csv").open(encoding="utf-8", newline="") as file:
        scores = {(row["sentence1"], row["sentence2"]): float(row["score"]) for row in csv.DictReader(file)}
    tutorial.log_in()
    tutorial.import_pairs()
    campaign = tutorial.plan_campaign()
    tutorial.keep_checks(campaign)
    invitation = tutorial.open_campaign(campaign)
    annotate(tutorial, campaign, invitation, scores)
    owner = Person(tutorial.site.address)
    owner.submit("/accounts/login/", "username", username="owner", password=tutorial.site.password)
    study_awaited(owner, int(campaign.split("/")[2]))
    tutorial.go(campaign)
    tutorial.picture(6)
    tutorial.go(f"{campaign}publish/")
    tutorial.press("form:has([name=method]) button.primary")
    tutorial.go(f"{campaign}scores/")
    tutorial.picture(7, at="main table")
    tutorial.go("/datasets/first/snapshots/")
    tutorial.press()
    tutorial.go("/datasets/first/publish/1/methods/")
    tutorial.picture(8)


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
    options = parser.parse_args()
    options.to.mkdir(parents=True, exist_ok=True)
    found = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if found is None:
        raise SystemExit("The pictures need Chromium: apt-get install chromium")
    with own_site(options.port) as site, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=found, args=["--headless=new", "--no-sandbox"])
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        page.set_default_timeout(PATIENCE)
        play(Tutorial(site, browser, page, options.to))
        both = [options.to / f"first-campaign-{number}.png" for number in (5, 6)]
        side_by_side(browser.new_page(), both, options.to.parent / "whole-job.png")
        browser.close()


if __name__ == "__main__":
    main()
