"""Start a site in an empty folder, and send it a thousand hostile files wherever it takes one; `make attack` does.

    python docs/experiments/attack_files.py [--port 8150] [--files 1000] [--seed 13] [--only pairs]

Each file (tests/many_hostile_files.py) is uploaded, looked at, checked and imported, by requests or by a worker, as a
person or a program would go on. It must end in one of two ways: wholly imported, apart from rows that were named as
rejected; or refused in a sentence, with no row and no file left of it. The status is 1 where one ended otherwise, where
an answer had a status from 500, where an error is in the log, or where the programs took a gigabyte together.
"""

import argparse
import json
import re
import sqlite3
import sys
import time
from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from own_site import ROOT, Memory, Site, own_site
from requests import Response, Session

sys.path.insert(0, str(ROOT))
from tests.many_hostile_files import PLACES, Hostile, hostile_files

MOST_MB = 1024
SHOWN = 12
PATIENCE = 240.0
FILES_OF_ONE_DATASET = 50
FOR_PROGRAMS = """
from datetime import datetime, UTC
from curation.people.accounts.tokens import api_token_create
from curation.models import User
owner = User.objects.get(username="owner")
print(api_token_create(user=owner, name="attack", scope="write", expires_at=None, at=datetime.now(UTC)))
"""
# Rows that tell what was done, not what was imported.
NOTES = {
    "curation_importbatch", "curation_auditentry", "curation_dataset", "curation_membership", "curation_uploadday",
    "django_session", "mlworkers_run", "mlworkers_workerheartbeat", "mlworkers_diskuse",
}  # fmt: skip
# What names of Python in a sentence for people would be.
OF_PYTHON = re.compile(
    r"Traceback|\b[A-Z]\w+(?:Error|Exception)\b|<class |object at 0x|unexpected error|(?<!manage)\.py\b"
)


@dataclass
class Ending:
    """What became of a file. batch: its row, before what was refused is discarded."""

    imported: bool = False
    sentence: str = ""
    batch: dict[str, Any] = field(default_factory=dict)
    by_worker: bool = False
    statuses: list[int] = field(default_factory=list)


class Attack:
    def __init__(self, site: Site) -> None:
        self.site, self.session = site, Session()
        self.slug, self._ending = "", Ending()
        self._programs = Session()
        token = site.manage("shell", "-v", "0", "-c", FOR_PROGRAMS).split()[-1]
        self._programs.headers["Authorization"] = f"Token {token}"
        self._log_in()

    def _log_in(self) -> None:
        self.page("/accounts/login/")
        answer = self.page("/accounts/login/", {"username": "owner", "password": self.site.password})
        if "/accounts/login" in answer.url:
            raise SystemExit("The login was refused.")

    def dataset(self, slug: str) -> None:
        self.slug = slug
        self.api("POST", "datasets/", json={"name": slug, "slug": slug, "language": "en"})

    def asked(self, method: str, path: str, by: Session | None = None, **more: Any) -> Response:
        answer = (by or self.session).request(method, self.site.address + path, timeout=PATIENCE, **more)
        self._ending.statuses.append(answer.status_code)
        return answer

    def api(self, method: str, path: str, **more: Any) -> Response:
        """As a program asks, which has a token and no session."""
        return self.asked(method, f"/api/v1/{path}", self._programs, **more)

    def page(self, path: str, form: dict[str, Any] | None = None, file: Hostile | None = None) -> Response:
        if form is None:
            return self.asked("GET", path)
        form = {**form, "csrfmiddlewaretoken": self.session.cookies.get("csrftoken", "")}
        files = [("file", (file.name or "x", file.content))] if file else None
        headers = {"Referer": self.site.address}
        return self.asked("POST", path, data=form, files=files, headers=headers)

    def sent(self, hostile: Hostile) -> Ending:
        self._ending = Ending()
        ways = {
            "pairs": self.pairs,
            "sentences": self.sentences,
            "judgements": self.judgements,
            "text": self.running_text,
        }
        ways[hostile.place](hostile, self._ending)
        return self._ending

    # One way for each place

    def pairs(self, hostile: Hostile, ending: Ending) -> None:
        where = f"datasets/{self.slug}/imports/"
        if hostile.number % 3:
            answer = self.uploaded(where, hostile, filename=hostile.name)
            if answer.status_code != 201:
                ending.sentence = sentence_of(answer)
                return
            number = answer.json()["id"]
        else:
            answer = self.page(f"/datasets/{self.slug}/import/", {}, hostile)
            found = re.search(r"/import/(\d+)/", answer.url)
            if found is None:
                ending.sentence = sentence_of(answer)
                return
            number = int(found[1])
        self.page(f"/datasets/{self.slug}/import/{number}/")
        self._checked_and_applied(f"{where}{number}/", number, hostile, ending)
        self.page(f"/datasets/{self.slug}/import/{number}/")
        self._finished(ending, number, f"{where}{number}/")
        self.page(f"/datasets/{self.slug}/?search=dog+number+{hostile.number}")

    def _checked_and_applied(self, where: str, number: int, hostile: Hostile, ending: Ending) -> None:
        by_run = hostile.number % 5 == 0
        strict = {"rejected_rows": "nothing"} if hostile.strict else {}
        answer = self.api("POST", f"{where}check/", json=strict)
        preview = self.api("GET", where).json().get("preview") or {}
        columns = preview.get("columns", [])
        if answer.status_code == 400 and len(columns) > 1:
            chosen = {"a": columns[0], "b": columns[1], **strict}
            answer = self.api("POST", f"{where}check/", json=chosen)
        if answer.status_code != 200:
            ending.sentence = sentence_of(answer)
            return
        told = answer.json()
        if (not told["checked"] and told["as_run"]) or (told["checked"] and by_run):
            plan = {"dataset": self.slug, "batch": number}
            if not self._ran("check_import", plan, ending):
                return
            told = self.api("GET", where).json()
        if not told["checked"] or told["problem"]:
            ending.sentence = told["problem"]
            return
        if told["as_run"] or by_run:
            self._ran("import_pairs", {"dataset": self.slug, "batch": number}, ending)
            return
        applied = self.api("POST", f"{where}apply/")
        if applied.status_code != 200:
            ending.sentence = sentence_of(applied)

    def sentences(self, hostile: Hostile, ending: Ending) -> None:
        where, before = f"datasets/{self.slug}/compose/sentences/", self._last_batch()
        kind = "documents" if hostile.number % 2 else "lines"
        chosen = {"kind": kind, "rejected_rows": "nothing" if hostile.strict else "", "language": "en"}
        if hostile.number % 3:
            answer = self.uploaded(where, hostile, filename=hostile.name, **chosen)
        else:
            answer = self.page(f"/datasets/{self.slug}/compose/sentences/", chosen, hostile)
        number = self._last_batch()
        if number == before:
            ending.sentence = sentence_of(answer)
            return
        batch = self._batch(number)
        self.page(f"/datasets/{self.slug}/compose/sentences/{number}/")
        if batch["state"] == "uploaded":
            self._ran("import_sentences", {"dataset": self.slug, "batch": number}, ending)
        self._finished(ending, number, f"{where}{number}/")
        self.page(f"/datasets/{self.slug}/compose/")

    def judgements(self, hostile: Hostile, ending: Ending) -> None:
        answer = self.page(f"/datasets/{self.slug}/judgements/", {}, hostile)
        found = re.search(r"/judgements/(\d+)/", answer.url)
        if found is None:
            ending.sentence = sentence_of(answer)
            return
        number = int(found[1])
        where = f"/datasets/{self.slug}/judgements/{number}/"
        form = Form.of(answer.text, "check/")
        form["name"] = f"File {hostile.number}"
        answer = self.page(f"{where}check/", form)
        ending.sentence = sentence_of(answer)
        if self._awaited(number, ending)["report"].get("rows"):
            answer = self.page(f"{where}apply/", {})
            self._awaited(number, ending)
            ending.sentence = sentence_of(answer) or ending.sentence
        self.page(where)
        self._finished(ending, number, "")
        if not ending.imported:
            self.page(f"{where}discard/", {})

    def _awaited(self, number: int, ending: Ending) -> dict[str, Any]:
        """The upload, once no worker has it."""
        until = time.monotonic() + PATIENCE
        while (batch := self._batch(number))["state"] in {"waiting", "running"}:
            ending.by_worker = True
            if time.monotonic() > until:
                ending.sentence = "A worker did not come to an end."
                break
            time.sleep(0.1)
        return batch

    def running_text(self, hostile: Hostile, ending: Ending) -> None:
        where = f"datasets/{self.slug}/running-text/"
        form = ("text", "paragraphs", "sentences")[hostile.number % 3]
        if hostile.number % 4:
            answer = self.uploaded(where, hostile, filename=hostile.name, form=form, language="en")
            number = answer.json().get("id") if answer.status_code == 202 else None
        else:
            chosen = {"form": form, "language": "en"}
            answer = self.page(f"/datasets/{self.slug}/running-text/", chosen, hostile)
            found = re.search(r"/runs/(\d+)/", answer.url)
            number = int(found[1]) if found else None
        if number is None:
            ending.sentence = sentence_of(answer)
            return
        run = self._run_awaited(number, ending)
        ending.imported = run["state"] == "succeeded"
        ending.sentence = "" if ending.imported else run["message"]

    # Shared steps

    def uploaded(self, where: str, hostile: Hostile, **query: str) -> Response:
        headers = {"Content-Type": "application/octet-stream"}
        return self.api("POST", where, params=query, data=hostile.content, headers=headers)

    def _ran(self, kind: str, plan: dict[str, Any], ending: Ending) -> bool:
        answer = self.api("POST", "runs/", json={"kind": kind, "plan": plan})
        if answer.status_code != 201:
            ending.sentence = sentence_of(answer)
            return False
        run = self._run_awaited(answer.json()["id"], ending)
        if run["state"] != "succeeded":
            ending.sentence = run["message"] or "A run failed and does not say why."
        return run["state"] == "succeeded"

    def _run_awaited(self, number: int, ending: Ending) -> dict[str, Any]:
        ending.by_worker = True
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            run: dict[str, Any] = self.api("GET", f"runs/{number}/").json()
            if run["state"] in {"succeeded", "failed", "cancelled"}:
                self.page(f"/runs/{number}/")
                return run
            time.sleep(0.05)
        return {**run, "message": "A run did not come to an end."}

    def _finished(self, ending: Ending, number: int, discard: str) -> None:
        """Note what became of an upload. One that was not imported is discarded, as a person would."""
        ending.batch = self._batch(number)
        ending.imported = ending.batch["state"] == "done"
        if ending.imported:
            ending.sentence = ""
            return
        ending.sentence = ending.batch["report"].get("error") or ending.sentence
        if discard:
            self.api("DELETE", discard)

    def rows(self, query: str) -> list[Any]:
        with closing(
            sqlite3.connect(f"file:{self.site.database}?mode=ro", timeout=60, uri=True)
        ) as connection:
            return connection.execute(query).fetchall()

    def _last_batch(self) -> int:
        return self.rows("SELECT coalesce(max(id), 0) FROM curation_importbatch")[0][0]

    def _batch(self, number: int) -> dict[str, Any]:
        names = ("state", "rows", "added", "unchanged", "rejected", "report", "kind")
        found = self.rows(f"SELECT {', '.join(names)} FROM curation_importbatch WHERE id = {number}")  # noqa: S608
        return {**dict(zip(names, found[0], strict=True)), "report": json.loads(found[0][5] or "{}")}

    def counts(self) -> dict[str, int]:
        tables = [row[0] for row in self.rows("SELECT name FROM sqlite_master WHERE type = 'table'")]
        counted = sorted(set(tables) - NOTES - {"sqlite_sequence"})
        union = " UNION ALL ".join(f"SELECT '{table}', count(*) FROM {table}" for table in counted)  # noqa: S608
        return dict(self.rows(union))

    def files(self) -> set[str]:
        """Uploads, what was unpacked, and what runs made; not the lists of rejected rows, nor logs of runs."""
        home = self.site.home
        folders = [home / "imports", home / "runs", self.site.temporary]
        return {
            str(path.relative_to(home))
            for folder in folders
            for path in folder.rglob("*")
            if path.is_file() and not path.name.endswith((".errors.csv", "-rejected.csv", "log.txt"))
        }


class Form(HTMLParser):
    """What a browser would send of the form whose action ends so, if nobody changed anything."""

    def __init__(self, action: str) -> None:
        super().__init__()
        self._action, self._inside, self._select, self._area = action, False, "", ""
        self.fields: dict[str, Any] = {}

    @classmethod
    def of(cls, page: str, action: str) -> dict[str, Any]:
        form = cls(action)
        form.feed(page)
        return form.fields

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        name, value = given.get("name") or "", given.get("value") or ""
        if tag == "form":
            self._inside = (given.get("action") or "").endswith(self._action)
        if not self._inside:
            return
        if tag == "input" and name and ("checked" in given or given.get("type") not in {"checkbox", "radio"}):
            if given.get("type") == "checkbox":
                self.fields.setdefault(name, []).append(value)
            else:
                self.fields[name] = value
        elif tag == "select":
            self._select = name
        elif tag == "option" and ("selected" in given or self._select not in self.fields):
            self.fields[self._select] = value
        elif tag == "textarea":
            self._area, self.fields[name] = name, ""

    def handle_data(self, data: str) -> None:
        if self._area:
            self.fields[self._area] += data

    def handle_endtag(self, tag: str) -> None:
        if tag == "textarea":
            self._area = ""
        elif tag == "form":
            self._inside = False


def sentence_of(answer: Response) -> str:
    if "json" in answer.headers.get("Content-Type", ""):
        return " ".join(texts_in(answer.json()))
    kinds = "errorlist|error|notice|messages|problem|callout"
    found = re.findall(
        rf'class="(?:[^"]* )?(?:{kinds})[" ][^>]*>(.*?)</(?:ul|div|section|p)>', answer.text, re.DOTALL
    )
    return unescape(" ".join(re.sub(r"<[^>]+>|\s+", " ", " ".join(found)).split()))


def texts_in(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for each in value.values() for text in texts_in(each)]
    return [text for each in value for text in texts_in(each)] if isinstance(value, list) else [str(value)]


def faults_of(hostile: Hostile, ending: Ending, more: Counter[str], files: set[str]) -> list[str]:
    """What is wrong with how a file ended. more: rows that came or went, by table; files: those that came."""
    found = [f"status {status}" for status in ending.statuses if status >= 500]
    rows, batch = {table: n for table, n in more.items() if n}, ending.batch
    if ending.imported:
        tables = {
            "pairs": "curation_pair",
            "sentences": "curation_pooledsentence",
            "judgements": "annotation_judgement",
        }
        came = more.get(tables.get(hostile.place, ""), 0)
        if hostile.place in tables and came != batch["added"]:
            found.append(f"{batch['added']} rows were reported and {came} came: {rows}")
        if hostile.strict and batch.get("rejected") and hostile.place in {"pairs", "sentences"}:
            found.append("rows were rejected and others imported, though nothing should have been")
        if hostile.place == "judgements" and more["annotation_campaign"] != 1:
            found.append(f"campaigns: {more['annotation_campaign']}")
        if hostile.place != "text" and files:
            found.append(f"files were left: {sorted(files)[:3]}")
    else:
        if rows:
            found.append(f"half an import: {rows}")
        kept = {file for file in files if not (hostile.place == "text" and file.startswith("imports/"))}
        if kept:
            found.append(f"files were left: {sorted(kept)[:3]}")
        if len(ending.sentence) < 15:
            found.append(f"no sentence: {ending.sentence!r}")
        if OF_PYTHON.search(ending.sentence) or ending.sentence.endswith("not come to an end."):
            found.append(f"no sentence for people: {ending.sentence[:200]}")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--port", type=int, default=8150)
    parser.add_argument("--files", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=13)
    parser.add_argument("--first", type=int, default=0, help="the number of the first file that is sent")
    parser.add_argument("--only", default="", choices=["", *PLACES], help="the files of one place")
    parser.add_argument("--sentences", type=Path, help="a file for what was said about each")
    options = parser.parse_args()
    faults, endings = [], Counter[str]()
    began = time.monotonic()
    with own_site(options.port) as site, Memory(site.process.pid) as memory:
        attack = Attack(site)
        for sent, hostile in enumerate(hostile_files(options.files, options.seed)):
            if sent % FILES_OF_ONE_DATASET == 0:
                attack.dataset(shared := f"attacked-{sent}")
            if sent < options.first or options.only not in hostile.place:
                continue
            if hostile.place == "judgements":  # each brings its pairs, so it needs a dataset without any
                attack.dataset(f"judged-{sent}")
            else:
                attack.slug = shared
            before, files = Counter(attack.counts()), attack.files()
            at = time.monotonic()
            ending = attack.sent(hostile)
            seconds = time.monotonic() - at
            more = Counter(attack.counts())
            more.subtract(before)
            what = f"{hostile.number} {hostile.place}, {hostile.what}"
            wrong = faults_of(hostile, ending, more, attack.files() - files)
            for each in wrong:
                faults.append(f"{what}: {each}")
                print(faults[-1], flush=True)
            how = "imported" if ending.imported else "refused"
            endings[f"{hostile.place}, {how}{' by a worker' if ending.by_worker else ''}"] += 1
            if options.sentences:
                with options.sentences.open("a") as told:
                    told.write(f"{what} | {how} | {seconds:.1f} s | {ending.sentence}\n")
        lives, errors = site.answers(), site.errors()
    for error in errors[:SHOWN]:
        print(error[:300], error[-1500:], sep="\n...\n")
    for ending_of, number in sorted(endings.items()):
        print(f"{ending_of}: {number}")
    print(
        f"{sum(endings.values())} files in {time.monotonic() - began:.0f} s; faults: {len(faults)}", end="; "
    )
    print(f"errors in the log: {len(errors)}")
    print(
        f"memory at most {memory.together:.0f} MB in all programs of the site, {memory.alone:.0f} MB in one"
    )
    print(f"The site answers afterwards: {lives}.")
    if faults or errors or memory.together >= MOST_MB or not lives:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
