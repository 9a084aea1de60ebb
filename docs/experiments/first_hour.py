#!/usr/bin/env python3
"""What the first hour asks of a newcomer: lines and words to read, clicks, fields to fill in and links to choose from.

usage: PYTHONPATH=. python docs/experiments/first_hour.py [--no-clicks]      (two minutes; the clicks need Chromium)

Pages are those of the site in tests/golden, as its administrator sees them with scripts off. A field is a control that
shows before anything is unfolded; controls that share a name, as radio buttons do, are one. Links are counted outside
tables, and before the list of judgements, of which each links its annotator. Clicks are those of
tests/browser/test_from_login_to_export.py, from the login page to a downloaded export. The script fails where a figure
is missed; tests/golden runs it.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from textwrap import wrap

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs" / "experiments"))
LINE = 100  # characters of a line that somebody reads
FIRST_TABLE = 6  # lines of `first_table` in semblance/demo/results.py
WALK = "tests/browser/test_from_login_to_export.py"
# What a PhD student reads up to published scores, in order.
READ = (
    "README.md",
    "docs/guide/start/first-campaign.md",
    "docs/guide/how-to/size-and-cost.md",
    "docs/guide/how-to/publish-scores.md",
)
MOST_FIELDS, MOST_LINKS = 12, 25
EMPTY = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}


@dataclass
class Figure:
    """most: the number that it may not exceed. where: the page or file that it is of."""

    name: str
    value: int
    most: int
    where: str = ""

    @property
    def met(self) -> bool:
        return self.value <= self.most

    def __str__(self) -> str:
        verdict = "met" if self.met else "MISSED"
        return f"{self.name:<58}{self.value:>7,}{self.most:>7,}  {verdict:<7}{self.where}"


@dataclass
class Page(HTMLParser):
    """What a page shows before anything is unfolded. open: names of the elements around, and whether each is folded."""

    fields: set[str] = field(default_factory=set)
    links: int = 0
    judgements: bool = False  # in or after the list of judgements, which ends the page
    around: list[tuple[str, bool]] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        has = dict(attributes)
        folded = self.folded or "hidden" in has or (tag in {"details", "dialog"} and "open" not in has)
        if tag == "summary" and self.around and self.around[-1][0] == "details":
            folded = any(is_folded for _name, is_folded in self.around[:-1])
        inside = {name for name, _folded in self.around}
        self.judgements = self.judgements or has.get("class") == "bare judgements"
        if tag == "a" and "href" in has and not folded and "table" not in inside and not self.judgements:
            self.links += has["href"] != "#main"
        is_button = has.get("type") in {"hidden", "submit", "button", "image", "reset"}
        if tag in {"input", "select", "textarea"} and not folded and not is_button and "header" not in inside:
            self.fields.add(has.get("name") or "")
        if tag not in EMPTY:
            self.around.append((tag, folded))

    def handle_endtag(self, tag: str) -> None:
        if tag in {name for name, _folded in self.around}:
            while self.around.pop()[0] != tag:
                pass

    @property
    def folded(self) -> bool:
        return bool(self.around) and self.around[-1][1]


def lines_read() -> int:
    """Of README's section “Try it”, wrapped at 100 columns, and of the table with which the demonstration ends.

    The table has a title, a head and the four pages to open first. The first page is a question to answer.
    """
    section = (ROOT / "README.md").read_text("utf-8").split("## Try it\n")[1].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.strip() and not line.startswith("```")]
    return sum(len(wrap(line, LINE)) for line in lines) + FIRST_TABLE


def words() -> Iterator[Figure]:
    import words as counted  # noqa: PLC0415  (the script beside this one)

    read = [counted.document(ROOT / name).words for name in READ]
    yield Figure("lines read before the first judged tuple", lines_read(), 12, "README, Try it")
    yield Figure("words of README", len((ROOT / "README.md").read_text("utf-8").split()), 450)
    yield Figure("pages up to published scores", len(READ), 4)
    yield Figure("words up to published scores", sum(read), 5_000)
    yield Figure("words of the guide outside Reference and Evidence", counted.words_read(), 25_000)
    yield Figure("words of the guide", counted.words_in_all(), 40_000)


def clicks() -> Figure:
    test = [sys.executable, "-m", "pytest", "-q", "-s", "-p", "no:xdist", "-p", "no:testmon", WALK]
    ran = subprocess.run(test, cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S603 - a test of this repository
    made = re.search(r"clicks: (\d+)", ran.stdout)
    if made is None:
        raise SystemExit(f"{WALK} failed, or found no Chromium:\n{ran.stdout[-2000:]}")
    return Figure("clicks from login to export", int(made[1]), 15)


def pages() -> Iterator[tuple[str, Page]]:
    """Every page of the golden site, and the forms of a campaign and of each kind of run."""
    import django  # noqa: PLC0415

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "semblance.settings")
    django.setup()
    from django.core.management import call_command  # noqa: PLC0415
    from django.test import Client  # noqa: PLC0415
    from django.urls import reverse  # noqa: PLC0415

    from curation.models import User  # noqa: PLC0415
    from mlworkers.plans.kinds import KINDS  # noqa: PLC0415

    call_command("restore", str(ROOT / "tests" / "golden" / "site.zip"), verbosity=0, stdout=sys.stderr)
    client = Client(HTTP_HOST="127.0.0.1")
    client.force_login(User.objects.filter(is_superuser=True).earliest("pk"))
    known = json.loads((ROOT / "tests" / "golden" / "answers.json").read_text("utf-8"))
    addresses = {address for address, answer in known.items() if answer[1] == "text/html"}
    addresses |= {f"{reverse('mlworkers:run_start', args=[kind])}?dataset=scenes" for kind in KINDS}
    addresses.add(f"{reverse('annotation:campaign_new')}?dataset=scenes")
    for address in sorted(addresses):
        answer = client.get(address, follow=True)
        if answer.status_code == 200 and answer.headers["Content-Type"].startswith("text/html"):
            page = Page()
            page.feed(answer.content.decode())
            yield address, page


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--no-clicks", action="store_true")
    parser.add_argument("--pages", type=int, default=3, help="pages listed of each kind (default 3)")
    asked = parser.parse_args()
    figures = list(words())
    if not asked.no_clicks:
        figures.append(clicks())
    with tempfile.TemporaryDirectory() as home:
        os.environ.update(SEMBLANCE_HOME=home, ENV_FILE=os.devnull)
        found = list(pages())
    forms = [
        Figure("fields of a form at first", len(page.fields), MOST_FIELDS, address)
        for address, page in found
        if "/start/" in address or "/campaigns/new" in address
    ]
    links = [
        Figure("links of a page outside tables", page.links, MOST_LINKS, address) for address, page in found
    ]
    print(f"{'':<58}{'now':>7}{'most':>7}")
    for figure in figures:
        print(figure)
    for each in (forms, links):
        for figure in sorted(each, key=lambda one: -one.value)[: asked.pages]:
            print(figure)
    print(f"{len(forms)} forms and {len(found)} pages.")
    sys.exit(not all(figure.met for figure in [*figures, *forms, *links]))


if __name__ == "__main__":
    main()
