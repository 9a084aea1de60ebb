"""A campaign of pairs of the STS benchmark on a site of its own, judged to the end over HTTP by simulated annotators.

    python docs/experiments/real_campaign.py DATA [--port 8150] [--pairs 200] [--noise 1.0] [--seed 1234]
                                             [--keep FOLDER]

DATA is a folder with stsb/. Nobody judges here: every judgement is drawn from the reference scores by the noise model
of Thurstone's case V, with a noise of each annotator's own. An annotator sees each pair at its reference score (0 to 5)
plus normal noise, whose standard deviation is --noise times a log-normal factor (.3) of the annotator's; best is the
highest, worst the lowest. Response times are drawn as well, and nobody waits: they are what the page would report.
Accounts are marked as simulated, and the site marks the scores.

Twelve annotators: eight careful ones, two who answer at random, one who answers with usual noise in .3 s, and one who
comes by a link as Prolific's, is asked for forty screens and leaves after twenty. A thirteenth, with usual noise, joins
and judges in Chromium by the keyboard alone: Tab, letters and Enter; nobody else waits for pages, so that its share is
small. Beside them a packaged encoder judges drawn tuples, apart from all scores. What is printed: scores against the
reference, reliability three ways, who was tagged and stopped, the machine, and the bundle.
"""

import argparse
import csv
import json
import os
import re
import secrets
import subprocess
import sys
import tempfile
import threading
import time
import uuid
import zipfile
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import numpy as np
from judge_over_http import (
    PASSWORD,
    Browser,
    annotator_join,
    design_awaited,
    gold_scores,
    golds_keep,
    invitation,
    plain,
)
from keyboard_person import keyboard_person
from own_site import OWNER, ROOT, started
from scipy.stats import pearsonr, spearmanr

SPREAD = 0.3  # of the logarithm of the noise between annotators
READING = 4.0  # words a second, silently
ENCODER = "packaged:all-MiniLM-L6-v2"
SCREENS = 40
UNDO_AFTER = 5
MARK = """
from curation.models import User
User.objects.exclude(username="owner").update(simulated=True)
"""
CONSENT = "Nobody takes part in this study: its annotators are simulated."
PROLIFIC = {
    "external_id_parameter": "PROLIFIC_PID",
    "study_parameter": "STUDY_ID",
    "submission_parameter": "SESSION_ID",
}


@dataclass
class Annotator:
    """noise: standard deviation in points of the reference, infinite for answers at random. pace: how many times the
    time of reading an answer takes; None for .3 s. leaves_after: screens.
    """

    name: str
    noise: float
    rng: np.random.Generator
    pace: float | None = 1.3
    leaves_after: int | None = None
    browser: Any = None
    tally: dict[str, Any] = field(default_factory=lambda: {"judgements": 0, "golds_missed": 0, "ended": ""})

    def choose(self, pairs: list[dict[str, str]], gold: dict[tuple[str, str], float]) -> tuple[int, int]:
        """Best and worst by their screen positions."""
        if np.isinf(self.noise):
            best, worst = self.rng.choice(len(pairs), 2, replace=False)
            return int(best), int(worst)
        true = np.array([gold[pair["a"], pair["b"]] for pair in pairs])
        seen = true + self.rng.normal(0, self.noise, len(true))
        return int(seen.argmax()), int(seen.argmin())

    def milliseconds(self, pairs: list[dict[str, str]]) -> int:
        if self.pace is None:
            return int(300 * self.rng.lognormal(0, 0.2))
        words = sum(len(pair[side].split()) for pair in pairs for side in "ab")
        return int(1000 * self.pace * words / READING * self.rng.lognormal(0, 0.4))

    def work(self, campaign: int, gold: dict[tuple[str, str], float]) -> None:
        """Judge until nothing is left, or until it is time to leave."""
        browser = self.browser
        while self.leaves_after is None or self.tally["judgements"] < self.leaves_after:
            claim = browser.post_json(f"/api/v1/campaigns/{campaign}/claim/", {})
            if claim["lease"] is None:
                if claim["nothing"] != "leased":
                    self.tally["ended"] = claim["nothing"]
                    return
                time.sleep(1)
                continue
            best, worst = self.choose(claim["pairs"], gold)
            taken = self.milliseconds(claim["pairs"])
            answered = browser.post(
                f"/campaigns/{campaign}/judge/answer/",
                lease=claim["lease"],
                best=best,
                worst=worst,
                client_id=uuid.UUID(bytes=self.rng.bytes(16), version=4),
                shown_ms=taken,
                touched_ms=taken // 3,
                active_ms=taken,
            )
            self.tally["judgements"] += 1
            self.tally["golds_missed"] += "answered" in json.loads(answered)
        browser.post(f"/campaigns/{campaign}/finish/")
        self.tally["ended"] = "left"


class Person(Browser):
    """A browser that can also post as the judging screen's script does."""

    def post(self, path: str, **values: object) -> str:
        token = next(cookie.value for cookie in self.cookies if cookie.name.endswith("csrftoken"))
        body = urlencode({name: str(value) for name, value in values.items()}).encode()
        return self.open(path, body, **{"Accept": "application/json", "X-CSRFToken": str(token)})[1]

    def read(self, path: str) -> Any:
        return json.loads(self.open(path)[1])


def annotators_of(options: argparse.Namespace) -> list[Annotator]:
    rng = np.random.default_rng([options.seed, 0])
    noises = iter(options.noise * rng.lognormal(0, SPREAD, 12))

    def one(name: str, number: int, noise: float | None = None, **more: Any) -> Annotator:
        own = next(noises)
        return Annotator(
            name, own if noise is None else noise, np.random.default_rng([options.seed, number]), **more
        )

    return [
        *(one(f"simulated-careful-{number}", number) for number in range(1, 9)),
        *(one(f"simulated-careless-{number}", 8 + number, np.inf) for number in (1, 2)),
        one("simulated-too-fast", 11, pace=None),
        one("simulated-by-link", 12, leaves_after=SCREENS // 2),
    ]


def manage(home: Path, *arguments: str) -> str:
    environment = {**os.environ, "SEMBLANCE_HOME": str(home)}
    command = [sys.executable, "manage.py", *arguments]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        raise SystemExit(done.stderr)
    return done.stdout


def pairs_written(options: argparse.Namespace, path: Path) -> dict[tuple[str, str], float]:
    """So many distinct pairs of the train, dev and test files, drawn with the seed, written to `path`."""
    files = sorted((options.data / "stsb").glob("stsb-en-*.csv"))
    scores = gold_scores(files)
    rng = np.random.default_rng(options.seed)
    keys = sorted(scores)
    chosen = {
        keys[place]: scores[keys[place]] for place in rng.choice(len(keys), options.pairs, replace=False)
    }
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("a", "b", "score"), *((*pair, score) for pair, score in chosen.items())])
    return chosen


def campaign_made(owner: Person, options: argparse.Namespace) -> int:
    made = owner.post_json(
        "/api/v1/campaigns/",
        {"dataset": "stsb-simulated", "name": "Simulated annotators", "gold_every": 8, "seed": options.seed},
    )
    campaign = int(made["id"])
    golds_keep(owner, campaign)
    owner.post_json(f"/api/v1/campaigns/{campaign}/move/", {"move": "open"})
    design_awaited(owner, campaign)
    return campaign


def scores_awaited(owner: Person, campaign: int, method: str) -> None:
    """Publish scores, and wait for the worker that computes them where they are many."""
    api = f"/api/v1/campaigns/{campaign}/"
    made = owner.post_json(f"{api}results/", {"method": method})
    if isinstance(made, list):
        return
    while (work := owner.read(f"{api}works/{made['id']}/"))["state"] in {"waiting", "running"}:
        time.sleep(1)
    if work["state"] != "done":
        raise SystemExit(f"The scores by {method} were not published: {work['message']}")


def crowd_joined(owner: Person, campaign: int, base: str) -> Person:
    """Somebody who follows the entry link as Prolific fills it in, and agrees."""
    settings = {
        "consent": CONSENT,
        "is_open": True,
        "screens": SCREENS,
        "leavers_judged_again": True,
        **PROLIFIC,
    }
    entry = owner.post_json(f"/api/v1/campaigns/{campaign}/crowd/", settings, method="PATCH")["entry"]
    person = Person(base)
    query = {"PROLIFIC_PID": "simulated", "STUDY_ID": "simulated-study", "SESSION_ID": secrets.token_hex(8)}
    consent, _ = person.open(f"{entry}?{urlencode(query)}")
    person.submit(consent, "version", agree="on")
    return person


def by_keyboard(
    one: Annotator, base: str, address: str, campaign: int, gold: dict[tuple[str, str], float]
) -> None:
    """Joins and judges in a browser without a mouse, until nothing is left."""
    with keyboard_person() as person:
        person.join(f"{base}{address}", username=one.name, password=PASSWORD)
        one.tally = person.judge(
            f"{base}/campaigns/{campaign}/judge/",
            lambda pairs: one.choose([{side: plain(pair[side]) for side in "ab"} for pair in pairs], gold),
            undo_after=UNDO_AFTER,
        )


def people_shown(owner: Person, campaign: int) -> dict[str, tuple[str, list[str]]]:
    """By name: the state of each annotator on the dashboard, and the signs that need a look."""
    page = owner.open(f"/campaigns/{campaign}/")[1]
    shown = {}
    for row in page.split("<tr>"):
        name = re.search(r'/annotators/\d+/">([^<]+)</a>', row)
        state = re.search(r'data-label="State">\s*<span class="tag \w+">([^<]+)<', row)
        if name and state:
            signs = re.findall(r'<li>\s*<span class="tag doubtful">([^<]+)</span>', row)
            shown[unescape(name[1])] = (state[1], signs)
    return shown


def study_awaited(owner: Person, campaign: int) -> None:
    """Until the figures are those of the last judgement."""
    while "study-state" in owner.open(f"/campaigns/{campaign}/")[1]:
        owner.post(f"/campaigns/{campaign}/study/")
        time.sleep(2)


def machine_judged(owner: Person, campaign: int) -> dict[str, Any]:
    """An encoder judges drawn tuples; what the page says of it."""
    block = owner.post_json(f"/api/v1/campaigns/{campaign}/machines/", {"tuples": 100})["block"]
    plan = {"dataset": "stsb-simulated", "block": block, "model": ENCODER}
    run = owner.post_json("/api/v1/runs/", {"kind": "judge_tuples", "plan": plan})
    while run["state"] in ("queued", "running"):
        time.sleep(1)
        run = owner.read(f"/api/v1/runs/{run['id']}/")
    if run["state"] != "succeeded":
        raise SystemExit(f"The machine's run ended as {run['state']}: {run['message']}")
    machines: list[dict[str, Any]] = owner.read(f"/api/v1/campaigns/{campaign}/machines/")["machines"]
    return machines[0]


def figures_of(home: Path, bundle: Path, gold: dict[tuple[str, str], float]) -> dict[str, Any]:
    """Of the bundle's judgements, by the site's own commands: scores against the reference, and the reliability."""
    with zipfile.ZipFile(bundle) as packed:
        packed.extractall(home / "bundle")
    folder = next((home / "bundle").rglob("items.csv")).parent
    with (folder / "items.csv").open(encoding="utf-8", newline="") as file:
        items = {row["id"]: row for row in csv.DictReader(file)}
    reference = {item: gold[plain(row["sentence1"]), plain(row["sentence2"])] for item, row in items.items()}
    found: dict[str, Any] = {"files": len(list(folder.rglob("*.*"))), "bytes": bundle.stat().st_size}
    for method in ("counting", "maxdiff"):
        out = home / f"{method}.csv"
        manage(home, "bws", "score", str(folder / "judgements.csv"), "--out", str(out), "--method", method)
        with out.open(encoding="utf-8", newline="") as file:
            scores = {row["item"]: float(row["score"]) for row in csv.DictReader(file)}
        values = [(score, reference[item]) for item, score in scores.items()]
        spearman, pearson = spearmanr(*zip(*values, strict=True)), pearsonr(*zip(*values, strict=True))
        interval = interval_of(np.array(values))
        found[method] = {"items": len(values), "spearman": spearman.statistic, "interval": interval}
        found[method]["pearson"] = pearson.statistic
    for split in ("judgements", "tuples", "annotators"):
        command = ["bws", "reliability", str(folder / "judgements.csv"), "--split", split, "--json"]
        told = json.loads(manage(home, *command).splitlines()[-1])
        found[f"reliability by {split}"] = {name: told[name] for name in ("spearman_mean", "spearman_sd")}
    return found


def interval_of(values: Any, draws: int = 1000) -> list[float]:
    """95 %, over resampled pairs."""
    rng = np.random.default_rng(0)
    drawn = (values[rng.integers(len(values), size=len(values))] for _ in range(draws))
    return [
        float(bound) for bound in np.quantile([spearmanr(one).statistic for one in drawn], [0.025, 0.975])
    ]


def played(home: Path, options: argparse.Namespace, password: str, base: str) -> dict[str, Any]:
    gold = pairs_written(options, home / "pairs.csv")
    columns = ["--a", "a", "--b", "b", "--score", "score", "--scale", "0", "5"]
    manage(home, "import_pairs", str(home / "pairs.csv"), "--dataset", "stsb-simulated", "--create", *columns)
    owner = Person(base)
    owner.submit("/accounts/login/", "username", username="owner", password=password)
    campaign = campaign_made(owner, options)
    annotators = annotators_of(options)
    joins = argparse.Namespace(dataset="stsb-simulated", annotators=len(annotators))
    address = invitation(owner, joins)
    for one in annotators[:-1]:
        one.browser = annotator_join(base, address, one.name, make=Person)
    annotators[-1].browser = crowd_joined(owner, campaign, base)
    manage(home, "shell", "-v", "0", "-c", MARK)
    at_keyboard = Annotator("simulated-keyboard", options.noise, np.random.default_rng([options.seed, 13]))
    manage(home, "shell", "-v", "0", "-c", MARK)
    began = time.monotonic()
    threads = [threading.Thread(target=one.work, args=(campaign, gold)) for one in annotators]
    threads.append(threading.Thread(target=by_keyboard, args=(at_keyboard, base, address, campaign, gold)))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seconds = time.monotonic() - began
    manage(home, "shell", "-v", "0", "-c", MARK)
    study_awaited(owner, campaign)
    machine = machine_judged(owner, campaign)
    for method in ("counting", "maxdiff"):
        scores_awaited(owner, campaign, method)
    with owner.opener.open(f"{base}/campaigns/{campaign}/bundle.zip", timeout=120) as answer:
        (home / "bundle.zip").write_bytes(answer.read())
    return {
        "seconds": round(seconds, 1),
        "progress": owner.read(f"/api/v1/campaigns/{campaign}/progress/"),
        "annotators": {
            one.name: {"noise": round(one.noise, 2), **one.tally} for one in (*annotators, at_keyboard)
        },
        "on the dashboard": people_shown(owner, campaign),
        "crowd": owner.read(f"/api/v1/campaigns/{campaign}/crowd/")["outcomes"],
        "machine": machine,
        "published": [one["name"] for one in owner.read(f"/api/v1/campaigns/{campaign}/results/")],
        **figures_of(home, home / "bundle.zip", gold),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("data", type=Path, help="the folder with stsb/")
    parser.add_argument("--port", type=int, default=8150)
    parser.add_argument("--pairs", type=int, default=200)
    parser.add_argument("--noise", type=float, default=1.0, help="in points of the reference, 0 to 5")
    parser.add_argument("--seed", type=int, default=1234)
    parser.add_argument(
        "--keep", type=Path, help="a folder for the site, which stays; else one that is removed"
    )
    options = parser.parse_args()
    password = secrets.token_hex(12)
    with tempfile.TemporaryDirectory() as folder:
        home = options.keep or Path(folder)
        home.mkdir(parents=True, exist_ok=True)
        site = started(home, options.port, workers="default,gpu")
        try:
            manage(home, "shell", "-v", "0", "-c", OWNER.format(password=password))
            found = played(home, options, password, f"http://127.0.0.1:{options.port}")
        finally:
            site.terminate()
            site.wait()
    print(json.dumps(found, indent=1, default=float))


if __name__ == "__main__":
    main()
