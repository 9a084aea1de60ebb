"""Attack a running site with hostile files, rows that repeat, a huge design and a killed import.

The script measures how long requests take and how much memory the web processes need, and checks whether people can
continue afterwards.

    python docs/experiments/attack_site.py http://127.0.0.1:8000/ --user NAME --password PASSWORD --web PID

The user must be allowed to create datasets. PID is the process id of gunicorn's parent: the script watches its
children and kills one of them. Use a new site. The hostile files come from tests/hostile_files.py.
"""

import argparse
import json
import os
import re
import signal
import sys
import tempfile
import threading
import time
import urllib.request
from contextlib import suppress
from http.cookiejar import CookieJar
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import urlencode, urljoin

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tests.hostile_files import HOSTILE, lines_of_csv, lines_of_json

PATIENCE = 300.0
CHOSEN = {"header": "yes", "delimiter": ",", "a": "sentence1", "b": "sentence2", "score_set": "reference"}


class Person:
    """Somebody with a browser, as far as HTTP goes."""

    def __init__(self, address: str, user: str, password: str) -> None:
        self.address = address
        self._open = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))
        self.ask("accounts/login/")
        status, page, _ = self.ask("accounts/login/", {"username": user, "password": password})
        if 'name="password"' in page or status != 200:
            raise SystemExit("The login was refused.")

    def ask(
        self, place: str, form: dict[str, str] | None = None, file: Path | None = None
    ) -> tuple[int, str, float]:
        """The status, where it led to with what was there, and the seconds it took."""
        request = urllib.request.Request(urljoin(self.address, place))
        if form is not None:
            fields = {"csrfmiddlewaretoken": self.token, **form}
            request.data, kind = (
                multipart(fields, file)
                if file
                else (urlencode(fields).encode(), "application/x-www-form-urlencoded")
            )
            request.add_header("Content-Type", kind)
            request.add_header("Referer", self.address)
        began = time.monotonic()
        try:
            answer = self._open.open(request, timeout=PATIENCE)
        except HTTPError as error:
            answer = error
        except OSError as error:
            return 0, repr(error), time.monotonic() - began
        body = answer.read().decode(errors="replace")
        if found := re.search(r'csrfmiddlewaretoken" value="([^"]+)"', body):
            self.token = found[1]
        return answer.status, f"{answer.url}\n{body}", time.monotonic() - began


def multipart(fields: dict[str, str], file: Path) -> tuple[bytes, str]:
    parts = [
        f'--x\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()
        for name, value in fields.items()
    ]
    parts.append(
        f'--x\r\nContent-Disposition: form-data; name="file"; filename="{file.name}"\r\n\r\n'.encode()
    )
    return b"".join([*parts, file.read_bytes(), b"\r\n--x--\r\n"]), "multipart/form-data; boundary=x"


class Memory:
    """The most memory that the children of a process have together, in MB, while the block lasts."""

    def __init__(self, parent: int) -> None:
        self.parent, self.peak, self._done = parent, 0.0, threading.Event()

    def now(self) -> float:
        total = 0.0
        for child in children_of(self.parent):
            with suppress(OSError, ValueError, IndexError):
                status = Path(f"/proc/{child}/status").read_text()
                total += int(status.split("VmRSS:")[1].split()[0]) / 1024
        return total

    def __enter__(self) -> "Memory":
        self.start = self.peak = self.now()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()
        return self

    def _watch(self) -> None:
        while not self._done.wait(0.02):
            self.peak = max(self.peak, self.now())

    def __exit__(self, *_error: object) -> None:
        self._done.set()
        self._thread.join()


def children_of(process: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def sentence_in(page: str) -> str:
    found = re.search(r'class="(?:errorlist|error|notice)[^>]*>(.*?)</(?:ul|div|section)>', page, re.DOTALL)
    return re.sub(r"<[^>]+>|\s+", " ", found[1]).strip()[:160] if found else ""


def say(**figures: object) -> None:
    print(json.dumps(figures), flush=True)


def uploaded(  # noqa: PLR0917
    person: Person, slug: str, file: Path, parent: int, name: str, chosen: dict[str, str]
) -> str:
    """Send a file, look at it and try the import; returns the import's address."""
    with Memory(parent) as memory:
        status, page, seconds = person.ask(f"datasets/{slug}/import/", {}, file)
        where, tried, took = page.split("\n")[0], 0, 0.0
        if re.search(r"/import/\d+/$", where):
            tried, page, took = person.ask(f"{where}check/", chosen)
            where = page.split("\n")[0] if "/import/" in page.split("\n")[0] else where
    say(
        file=name, bytes=file.stat().st_size, upload=status, upload_s=round(seconds, 2), check=tried,
        check_s=round(took, 2), more_mb=round(memory.peak - memory.start), says=sentence_in(page),
    )  # fmt: skip
    return where.removesuffix("check/")


def hostile_files(person: Person, slug: str, parent: int, folder: Path) -> None:
    for name, make in HOSTILE.items():
        file = folder / f"{name}.parquet"
        make(file)
        uploaded(person, slug, file, parent, name, CHOSEN)
        file.unlink()
    for name, lines in {
        "long.jsonl": lines_of_json(150 * 10**6),
        "long.csv": lines_of_csv(190 * 10**6),
    }.items():
        file = folder / name
        file.write_text("".join(lines), encoding="utf-8")
        uploaded(person, slug, file, parent, name, CHOSEN | {"a": "a", "b": "b"})
        file.unlink()


def repeated_rows(person: Person, slug: str, parent: int, folder: Path) -> None:
    """20,000 rows `a,b`, the most that a request imports, and 20,000 more of another source against them."""
    for source in ("one", "two"):
        file = folder / f"{source}.csv"
        file.write_text("sentence1,sentence2\n" + "a,b\n" * 20_000)
        where = uploaded(
            person, slug, file, parent, f"repeated rows {source}", CHOSEN | {"source_name": source}
        )
        status, page, seconds = person.ask(f"{where}apply/", {})
        say(apply=source, status=status, seconds=round(seconds, 2), says=sentence_in(page))


def killed_import(person: Person, slug: str, parent: int, folder: Path) -> None:
    """The web process is killed while it imports; afterwards the import is offered again, and ends."""
    file = folder / "killed.csv"
    file.write_text("sentence1,sentence2\n" + "".join(f"A {n}.,B {n}.\n" for n in range(19_000)))
    where = uploaded(person, slug, file, parent, "import to be killed", CHOSEN)
    asking = threading.Thread(target=person.ask, args=[f"{where}apply/", {}])
    asking.start()
    time.sleep(1.0)
    for child in children_of(parent):
        os.kill(child, signal.SIGKILL)
    asking.join()
    began = time.monotonic()
    while time.monotonic() - began < 150:
        _status, page, _seconds = person.ask(where)
        if "import_discard" in page or "/discard/" in page:
            break
        time.sleep(2)
    offered = time.monotonic() - began
    status, page, seconds = person.ask(f"{where}apply/", {})
    say(
        killed_import=status,
        offered_again_s=round(offered, 1),
        seconds=round(seconds, 2),
        done="View the pairs" in page,
    )


def huge_design(person: Person, slug: str, parent: int, folder: Path) -> None:
    """A campaign of 8,000 pairs, each of them in 240 tuples on average."""
    file = folder / "many.csv"
    file.write_text("sentence1,sentence2\n" + "".join(f"C {n}.,D {n}.\n" for n in range(8_000)))
    where = uploaded(person, slug, file, parent, "8,000 pairs", CHOSEN | {"source_name": "many"})
    person.ask(f"{where}apply/", {})
    _status, page, _seconds = person.ask(f"campaigns/new/?dataset={slug}")
    form = dict(re.findall(r'name="(\w+)"[^>]*?value="([^"]*)"', page))
    form |= {
        "dataset": slug,
        "name": "Huge",
        "factor": "60",
        "source": "many",
        "tuple_size": "4",
        "question": "Which?",
    }
    form |= {
        "best_label": "Most related",
        "worst_label": "Least related",
        "judgements_per_tuple": "2",
        "gold_every": "15",
    }
    form |= {
        "gold_minimum": "10",
        "gold_threshold": "0.7",
        "repeat_every": "0",
        "seed": "13",
        "guideline": "",
    }
    status, page, seconds = person.ask(f"campaigns/new/?dataset={slug}", form)
    campaign = page.split("\n")[0]
    say(campaign_saved=status, seconds=round(seconds, 2), at=re.sub(r"^https?://[^/]+", "", campaign))
    for place, asked in (("", None), ("preview/", None), ("design/", {}), ("", None)):
        status, page, seconds = person.ask(urljoin(campaign, place), asked)
        say(page=place or "campaign", status=status, seconds=round(seconds, 2))


def main() -> None:
    parser = argparse.ArgumentParser()
    for name in ("address", "--user", "--password"):
        parser.add_argument(name)
    parser.add_argument("--web", type=int, required=True)
    parser.add_argument("--only", default="")
    asked = parser.parse_args()
    person = Person(asked.address, asked.user, asked.password)
    slug = f"attacked-{int(time.time())}"
    person.ask("datasets/new/")
    person.ask(
        "datasets/new/",
        {"name": slug, "slug": slug, "language": "en", "licence": "", "description": "", "source": ""},
    )
    with tempfile.TemporaryDirectory() as folder:
        for attack in (hostile_files, repeated_rows, huge_design, killed_import):
            if asked.only in attack.__name__:
                attack(person, slug, asked.web, Path(folder))


if __name__ == "__main__":
    main()
