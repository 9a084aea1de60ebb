"""Simulated annotators judge a whole campaign on a running server, only over HTTP.

An owner logs in, creates a campaign with gold tuples from the pairs of a dataset, opens it and invites annotators.
Simulated annotators accept the invitation, create their accounts and judge through the API until nothing is left. Then
the owner publishes the scores. An annotator answers with the reference score of each pair plus noise; careless
annotators answer at random. The script uses only the standard library and numpy.

    python docs/experiments/judge_over_http.py http://127.0.0.1:8000 --user NAME --password PASSWORD --dataset stsb \\
        --pairs stsb-en-*.csv --split train --number 100
"""

import argparse
import csv
import http.cookiejar
import json
import re
import sys
import threading
import time
import unicodedata
import uuid
from html.parser import HTMLParser
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import urlencode, urljoin
from urllib.request import HTTPCookieProcessor, Request, build_opener

import numpy as np

PASSWORD = "drawn-from-numbers-4711"  # noqa: S105 - of accounts that this script makes for itself
TEXT_INPUTS = {"text", "number", "hidden", "password", "email", "url", "search", None}


class Forms(HTMLParser):
    """The forms of a page with the values that a browser would send."""

    def __init__(self) -> None:
        super().__init__()
        self.forms: list[dict] = []
        self._select: str | None = None
        self._textarea: str | None = None

    def handle_starttag(self, tag: str, attrs) -> None:
        given = dict(attrs)
        if tag == "form":
            self.forms.append({"action": given.get("action", ""), "values": {}})
        if not self.forms:
            return
        values, name = self.forms[-1]["values"], given.get("name")
        if tag == "input" and name and (given.get("type") in TEXT_INPUTS or "checked" in given):
            values[name] = given.get("value", "on" if "checked" in given else "")
        if tag == "select":
            self._select = name
        if tag == "option" and self._select and ("selected" in given or self._select not in values):
            values[self._select] = given.get("value", "")
        if tag == "textarea" and name:
            self._textarea = name
            values[name] = ""

    def handle_data(self, data: str) -> None:
        if self._textarea:
            self.forms[-1]["values"][self._textarea] += data

    def handle_endtag(self, tag: str) -> None:
        if tag == "select":
            self._select = None
        if tag == "textarea":
            self._textarea = None


def forms_of(page: str) -> list[dict]:
    reader = Forms()
    reader.feed(page)
    return reader.forms


class Browser:
    """One person's session."""

    def __init__(self, base: str) -> None:
        self.base = base
        self.cookies = http.cookiejar.CookieJar()
        self.opener = build_opener(HTTPCookieProcessor(self.cookies))

    def open(
        self, path: str, data: bytes | None = None, method: str | None = None, **headers: str
    ) -> tuple[str, str]:
        address = urljoin(self.base, path)
        request = Request(address, data=data, headers={"Referer": address, **headers}, method=method)
        try:
            with self.opener.open(request, timeout=60) as answer:
                return answer.url, answer.read().decode()
        except HTTPError as error:
            sys.exit(f"{path}: {error.code} {error.read().decode()[:500]}")

    def submit(self, path: str, wanted: str, **values: object) -> tuple[str, str]:
        """Fill in the form of a page that has a field of that name, or goes to such an address, and send it."""
        url, page = self.open(path)
        form = next(form for form in forms_of(page) if wanted in form["values"] or wanted in form["action"])
        filled = form["values"] | {name: str(value) for name, value in values.items()}
        return self.open(urljoin(url, form["action"]), urlencode(filled).encode())

    def post_json(self, path: str, body: object, method: str = "POST") -> dict:
        token = next(cookie.value for cookie in self.cookies if cookie.name.endswith("csrftoken"))
        headers = {"Content-Type": "application/json", "X-CSRFToken": str(token)}
        return json.loads(self.open(path, json.dumps(body).encode(), method, **headers)[1])


def gold_scores(paths: list[Path]) -> dict[tuple[str, str], float]:
    """Scores of files without header by their sentences, normalised as an import does."""
    scores = {}
    for path in paths:
        with path.open(encoding="utf-8", newline="") as file:
            scores |= {(plain(a), plain(b)): float(score) for a, b, score, *_ in csv.reader(file)}
    return scores


def plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).split())


def campaign_open(owner: Browser, options: argparse.Namespace) -> int:
    url, _ = owner.submit(
        f"/campaigns/new/?dataset={options.dataset}",
        "gold_threshold",
        name="Judged over HTTP",
        split=options.split,
        number=options.number,
        judgements_per_tuple=options.judgements,
        gold_every=options.gold_every,
        seed=options.seed,
    )
    campaign = int(url.split("/campaigns/")[1].split("/")[0])
    golds_keep(owner, campaign)
    owner.submit(f"/campaigns/{campaign}/", "/move/", move="open")
    design_awaited(owner, campaign)
    return campaign


def design_awaited(owner: Browser, campaign: int) -> None:
    """Wait until the campaign is open: a worker makes a large design."""
    while json.loads(owner.open(f"/api/v1/campaigns/{campaign}/")[1])["state"] == "draft":
        time.sleep(1)


def golds_keep(owner: Browser, campaign: int, number: int = 20) -> None:
    """Keep every gold tuple that the site suggests, with its drafted reason."""
    suggest = f"/campaigns/{campaign}/gold/suggest/"
    form = next(form for form in forms_of(owner.open(suggest)[1]) if "score_set" in form["values"])
    keep = {f"form-{one}-keep": "on" for one in range(number)}
    owner.submit(
        f"{suggest}?score_set={form['values']['score_set']}&number={number}", "form-TOTAL_FORMS", **keep
    )


def invitation(owner: Browser, options: argparse.Namespace) -> str:
    page = f"/datasets/{options.dataset}/invitations/"
    _, answer = owner.submit(page, "days", role="annotator", people=options.annotators)
    return re.search(r"/invitations/[\w-]{20,}/", answer).group()


def annotator_join(base: str, address: str, username: str, make: type[Browser] = Browser) -> Browser:
    browser = make(base)
    url, _ = browser.submit(address, "username", username=username, password1=PASSWORD, password2=PASSWORD)
    if address in url:
        sys.exit(f"{username} was not admitted by {address}.")
    return browser


def annotator_work(
    browser: Browser, campaign: int, *, gold: dict, noise: float, rng: np.random.Generator, tally: dict
) -> None:
    """Judge until nothing is left. A noise of infinity answers at random."""
    while True:
        claim = browser.post_json(f"/api/v1/campaigns/{campaign}/claim/", {})
        if claim["lease"] is None:
            if claim["nothing"] != "leased":
                tally["ended"] = claim["nothing"]
                return
            time.sleep(1)
            continue
        true = np.array([gold[pair["a"], pair["b"]] for pair in claim["pairs"]])
        seen = rng.random(len(true)) if np.isinf(noise) else true + rng.normal(0, noise, len(true))
        answer = {"lease": claim["lease"], "best": int(seen.argmax()), "worst": int(seen.argmin())}
        body = answer | {"client_id": str(uuid.UUID(bytes=rng.bytes(16), version=4))}
        kept = browser.post_json(f"/api/v1/campaigns/{campaign}/judgements/", body)
        tally["judgements"] += 1
        tally["golds"] += kept["gold"] is not None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("base")
    parser.add_argument("--user", required=True)
    parser.add_argument("--password", required=True)
    parser.add_argument("--dataset", required=True)
    parser.add_argument(
        "--pairs", type=Path, nargs="+", required=True, help="the imported files: two sentences and a score"
    )
    parser.add_argument("--split", default="train")
    parser.add_argument("--number", type=int, default=100)
    parser.add_argument("--judgements", type=int, default=4)
    parser.add_argument("--gold-every", type=int, default=6)
    parser.add_argument("--annotators", type=int, default=6)
    parser.add_argument("--careless", type=int, default=2)
    parser.add_argument("--noise", type=float, default=0.7, help="standard deviation, on the file's scale")
    parser.add_argument("--seed", type=int, default=1234)
    options = parser.parse_args()
    gold = gold_scores(options.pairs)
    owner = Browser(options.base)
    owner.submit("/accounts/login/", "username", username=options.user, password=options.password)
    campaign = campaign_open(owner, options)
    address = invitation(owner, options)
    tallies = [{"judgements": 0, "golds": 0, "ended": ""} for _ in range(options.annotators)]
    threads = []
    began = time.monotonic()
    for number, tally in enumerate(tallies):
        noise = np.inf if number >= options.annotators - options.careless else options.noise
        browser = annotator_join(options.base, address, f"simulated-http-{campaign}-{number + 1}")
        rng = np.random.default_rng([options.seed, number])
        threads.append(
            threading.Thread(
                target=annotator_work,
                args=(browser, campaign),
                kwargs={"gold": gold, "noise": noise, "rng": rng, "tally": tally},
            )
        )
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seconds = time.monotonic() - began
    owner.submit(f"/campaigns/{campaign}/", "/publish/")
    progress = json.loads(owner.open(f"/api/v1/campaigns/{campaign}/progress/")[1])
    print(
        json.dumps(
            {"campaign": campaign, "seconds": round(seconds, 1), "annotators": tallies, "progress": progress}
        )
    )


if __name__ == "__main__":
    main()
