"""Two hundred people judge over HTTP in a large campaign while a worker imports a million pairs and somebody watches.

A site of its own: gunicorn with two workers, a worker of the queue `default`, beat. Annotators think for five seconds
on average (2.5 to 7.5). A program sends a file of made-up pairs, and runs check and import it. A browser has the
campaign's dashboard open: it asks for the figures every ten seconds and for the study as the page does, and the page is
loaded every half minute and whenever it says that there are newer figures. The baseline is the same people alone,
before and after. All clients are threads of this process, which share the cores with the site; the notes say what each
takes. On PostgreSQL where DATABASE_URL names one; on SQLite, or with --quick, everything is smaller.

--nice N gives the worker a lower priority than the web server has. With --alternate it has N and the web server's own
in turn, fifteen seconds each, which compares them under the same conditions; on Linux, and with the rights of root.
"""

import argparse
import http.client
import itertools
import json
import os
import random
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from time import perf_counter, process_time, sleep
from typing import Any

import numpy as np
from _compare import Comparison, peak_mb, print_comparison
from _database import HOME
from _judging import POSTGRES, Annotator, campaign_of, pairs_made, served, settle, token_made, tokens_made
from _pairs import varied_pairs_file
from django.test import Client

from annotation.models import Campaign
from curation.exchange.importing import AT_ONCE_ROWS
from curation.foundation.roles import TokenScope
from curation.models import Dataset, User
from semblance.serving.processes import Group, Program
from semblance.serving.programs import beat, workers

TICK = 1 / os.sysconf("SC_CLK_TCK")
STUDY = re.compile(r'hx-post="([^"]+/study/[^"]*)"\s+hx-trigger="(load[^"]*)"')


@dataclass
class Crowd:
    """People who judge, each in a thread.

    sent: when somebody sent a judgement (`perf_counter`), and the seconds until its answer.
    """

    sent: list[tuple[float, float]] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    @contextmanager
    def judging(self, port: int, campaign: Campaign, tokens: list[str], thought: float) -> Iterator[None]:
        stop = threading.Event()

        def work(number: int, token: str) -> None:
            pauses = random.Random(number)
            stop.wait(pauses.uniform(0, 1.5 * thought))
            annotator: Annotator | None = None
            while not stop.is_set():
                began = perf_counter()
                try:
                    if annotator is None:
                        annotator = Annotator(port, campaign, token)
                    else:
                        annotator.judge()
                        self.sent.append((began, perf_counter() - began))
                except Exception as error:  # whatever it is, it is counted and said
                    self.errors.append(f"{type(error).__name__}: {error}"[:300])
                    annotator = None
                else:
                    annotator.hang_up()
                stop.wait(pauses.uniform(0.5, 1.5) * thought)

        threads = [threading.Thread(target=work, args=pair) for pair in enumerate(tokens)]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            stop.set()
            for thread in threads:
                thread.join()

    def waits(self, spans: "list[Span]") -> np.ndarray:
        """Milliseconds until the answers to what was sent within these spans."""
        return np.array(
            [1000 * wait for at, wait in self.sent if any(one.began <= at < one.ended for one in spans)]
        )


class Browser:
    """A person's session. `errors` gets each answer that is none of 200."""

    def __init__(self, port: int, user: User, errors: list[str]) -> None:
        client = Client()
        client.force_login(user)
        self._cookies = {name: morsel.value for name, morsel in client.cookies.items()}
        self._port, self._errors = port, errors

    def ask(self, method: str, path: str) -> str:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=120)
        headers = {"Cookie": "; ".join(f"{name}={value}" for name, value in self._cookies.items())}
        if method == "POST":
            headers |= {"X-CSRFToken": self._cookies["csrftoken"], "Content-Length": "0"}
        if not path.endswith("#page"):
            headers |= {"HX-Request": "true"}
        try:
            connection.request(method, path.removesuffix("#page"), headers=headers)
            answer = connection.getresponse()
            text = answer.read().decode()
        except (OSError, http.client.HTTPException) as error:
            self._errors.append(f"{method} {path}: {error!r}")
            return ""
        finally:
            connection.close()
        for name, value in answer.getheaders():
            if name.lower() == "set-cookie":
                key, _, rest = value.partition("=")
                self._cookies[key] = rest.partition(";")[0]
        if answer.status != 200:
            self._errors.append(f"{method} {path}: {answer.status} {text[:200]}")
        return text


@dataclass
class Watcher:
    """Somebody who has the dashboard open. Seconds of each page, and of what the page asks for."""

    pages: list[float] = field(default_factory=list)
    asked: list[float] = field(default_factory=list)
    newer: int = 0

    def watch(self, browser: Browser, campaign: Campaign, stop: threading.Event) -> None:
        home = f"/campaigns/{campaign.pk}/"
        reload = figures = study = 0.0
        ask_study: str | None = None
        while not stop.is_set():
            at = perf_counter()
            if at >= reload:
                page = self._timed(self.pages, browser, "GET", f"{home}#page")
                reload, figures = perf_counter() + 30, perf_counter() + 10
                ask_study, study = study_asked(page), 0.0
            elif ask_study and at >= study:
                state = self._timed(self.asked, browser, "POST", ask_study)
                ask_study, study = study_asked(state), perf_counter() + 5
                if 'href="' in state and not ask_study:  # “The new figures are ready. Show them”
                    self.newer += 1
                    reload = 0.0
            elif at >= figures:
                self._timed(self.asked, browser, "GET", f"{home}progress/")
                figures = perf_counter() + 10
            stop.wait(0.1)

    def _timed(self, taken: list[float], browser: Browser, method: str, path: str) -> str:
        began = perf_counter()
        text = browser.ask(method, path)
        taken.append(perf_counter() - began)
        return text


def study_asked(page: str) -> str | None:
    """Where the page's script asks for a newer study by itself."""
    found = STUDY.search(page)
    return found[1].replace("&amp;", "&") if found else None


class Importer:
    """A program that imports a file over HTTP: sends it, has it checked, has it imported. Seconds of each."""

    def __init__(self, port: int, token: str, seconds: dict[str, float]) -> None:
        self._port, self._seconds = port, seconds
        self._headers = {"Authorization": f"Token {token}", "Content-Type": "application/json"}

    def imported(self, slug: str, path: Path) -> Mapping[str, Any]:
        imports = f"/api/v1/datasets/{slug}/imports/"
        headers = {"Content-Type": "application/octet-stream", "Content-Length": str(path.stat().st_size)}
        with self._timed("sent"), path.open("rb") as file:
            batch = self._ask("POST", f"{imports}?filename=pairs.csv", file, **headers)
        here = f"{imports}{batch['id']}/"
        with self._timed("checked"):
            batch = self._done(self._ask("POST", f"{here}check/", "{}"), here)
        with self._timed("imported"):
            return self._done(batch if batch["as_run"] else self._ask("POST", f"{here}apply/", "{}"), here)

    def _done(self, batch: Mapping[str, Any], here: str) -> Mapping[str, Any]:
        """The import once the run that it needs next has ended."""
        if not batch["as_run"]:
            return batch
        run = self._ask("POST", "/api/v1/runs/", json.dumps(batch["as_run"]))
        while run["state"] in {"queued", "running"}:
            sleep(1)
            run = self._ask("GET", f"/api/v1/runs/{run['id']}/")
        assert run["state"] == "succeeded", run["message"]
        return self._ask("GET", here)

    def _ask(self, method: str, path: str, body: Any = None, **headers: str) -> dict[str, Any]:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=300)
        connection.request(method, path, body, self._headers | headers)
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        assert answer.status in {200, 201}, text[:500]
        return json.loads(text)

    @contextmanager
    def _timed(self, what: str) -> Iterator[None]:
        began = perf_counter()
        yield
        self._seconds[what] = perf_counter() - began


def processor_seconds(group: Group) -> dict[str, float]:
    """What this process and the site's programs have taken, with their children that live."""
    taken = {name: _with_children(process.pid) for name, process in group.processes.items()}
    return taken | {"clients": process_time()}


def _with_children(process: int) -> float:
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    except OSError:  # not Linux, or it has ended
        return 0.0
    return TICK * (int(fields[11]) + int(fields[12])) + sum(_with_children(int(child)) for child in children)


@dataclass
class Span:
    """A time in which something was measured: its bounds, the load at its end, and what each program took of a core."""

    began: float
    ended: float
    load: float
    shares: dict[str, float]


@contextmanager
def span(group: Group, spans: list[Span]) -> Iterator[None]:
    began, before = perf_counter(), processor_seconds(group)
    yield
    ended, after = perf_counter(), processor_seconds(group)
    shares = {name: (after[name] - before[name]) / (ended - began) for name in after}
    spans.append(Span(began, ended, os.getloadavg()[0], shares))


@dataclass
class Measured:
    """What was seen. errors: of those who judge and of who watches. alone: without the import and the dashboard."""

    options: argparse.Namespace
    crowd: Crowd = field(default_factory=Crowd)
    watcher: Watcher = field(default_factory=Watcher)
    errors: list[str] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    alone: list[Span] = field(default_factory=list)
    together: list[Span] = field(default_factory=list)
    by_niceness: dict[int, list[Span]] = field(default_factory=dict)

    def comparison(self) -> Comparison:
        for error in self.errors[:10]:
            print(error)
        for niceness, spans in self.by_niceness.items():
            print(f"worker's niceness {niceness:+d}: {rated(self.crowd.waits(spans), spans)}")
        busy, quiet = self.crowd.waits(self.together), self.crowd.waits(self.alone)
        figure, baseline = float(np.percentile(busy, 95)), float(np.percentile(quiet, 95))
        return Comparison(
            name="site_load",
            figure=figure,
            unit="ms at the 95th percentile",
            baseline="the same people without the import and the dashboard",
            baseline_figure=baseline,
            ratio=baseline / figure,
            peak_mb=peak_mb(),
            cores=len(os.sched_getaffinity(0)),
            device="cpu",
            notes=self._notes(busy, quiet),
        )

    def _notes(self, busy: np.ndarray, quiet: np.ndarray) -> str:
        asked, watcher = self.options, self.watcher
        pages, others = (1000 * np.array(taken) for taken in (watcher.pages, watcher.asked))
        steps = ", ".join(f"{what} in {taken:.0f} s" for what, taken in self.seconds.items())
        return (
            f"{asked.annotators} annotators who think for {asked.thought:g} s among {asked.tuples:,} tuples on "
            f"{'PostgreSQL' if POSTGRES else 'SQLite'}. While {asked.pairs:,} pairs were imported ({steps}, all of "
            f"them there) and a dashboard was open: {rated(busy, self.together)}. Without: {rated(quiet, self.alone)}. "
            f"{len(pages)} dashboards, median {np.median(pages):.0f}, longest {pages.max():.0f} ms; {len(others)} "
            f"requests of the page, median {np.median(others):.0f}, longest {others.max():.0f} ms; newer studies "
            f"{watcher.newer}. Errors: {len(self.errors)}."
        )


def rated(waits: np.ndarray, spans: list[Span]) -> str:
    seconds = sum(one.ended - one.began for one in spans)
    load = sum(one.load for one in spans) / len(spans)
    shares = ", ".join(
        f"{name} {sum(one.shares[name] for one in spans) / len(spans):.2f}" for name in spans[0].shares
    )
    rate = f"{len(waits):,} judgements, {len(waits) / seconds:.1f} a second"
    return f"{rate}, {quantiles(waits)} (of a core {shares}; load {load:.1f})"


def measured(options: argparse.Namespace) -> Measured:
    dataset = pairs_made()
    imported_into = Dataset.objects.create(slug="imported", name="Imported")
    owner = User.objects.create_superuser("owner")
    tokens = tokens_made(dataset, options.annotators)
    token = token_made(owner, TokenScope.WRITE)
    campaign = campaign_of(dataset, options.tuples)
    path = varied_pairs_file(Path(HOME) / "pairs.csv", options.pairs, seed=1)
    settle()
    seen = Measured(options)
    [worker] = workers("default")
    with served(worker, beat()) as (port, group):
        if options.nice:
            priority_set(group.processes[worker.name].pid, options.nice)
        browser, importer = Browser(port, owner, seen.errors), Importer(port, token, seen.seconds)
        with seen.crowd.judging(port, campaign, tokens, options.thought):
            sleep(2 * options.thought)  # everybody has come, caches and plans are warm
            with span(group, seen.alone):
                sleep(options.seconds)
            with (
                span(group, seen.together),
                beside(partial(seen.watcher.watch, browser, campaign)),
                beside(partial(alternate, group, worker, seen)) if options.alternate else nullcontext(),
            ):
                batch = importer.imported(imported_into.slug, path)
                sleep(max(0.0, options.seconds - (perf_counter() - seen.alone[0].ended)))
            with span(group, seen.alone):
                sleep(options.seconds)
    seen.errors += seen.crowd.errors
    assert batch["state"] == "done", batch
    assert batch["added"] == imported_into.pairs.count() == options.pairs, batch
    return seen


@contextmanager
def beside(work: Callable[[threading.Event], None]) -> Iterator[None]:
    """A thread does the work, until the block ends and sets the event that the work looks at."""
    stop = threading.Event()
    thread = threading.Thread(target=work, args=(stop,))
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def alternate(group: Group, worker: Program, seen: Measured, stop: threading.Event) -> None:
    process = group.processes[worker.name].pid
    for niceness in itertools.cycle((0, seen.options.nice)):
        if stop.is_set():
            return
        priority_set(process, niceness)
        with span(group, seen.by_niceness.setdefault(niceness, [])):
            stop.wait(15)


def priority_set(process: int, niceness: int) -> None:
    """How much lower the priority of the process is than ours, of each of its threads."""
    own = os.getpriority(os.PRIO_PROCESS, 0)
    for thread in Path(f"/proc/{process}/task").iterdir():
        with suppress(ProcessLookupError):
            os.setpriority(os.PRIO_PROCESS, int(thread.name), min(19, own + niceness))


def quantiles(waits: np.ndarray) -> str:
    middle, late, latest = np.percentile(waits, [50, 95, 99])
    return f"median {middle:.0f}, 95th percentile {late:.0f}, 99th {latest:.0f}, longest {waits.max():.0f} ms"


def asked_for() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help="20,000 pairs and 20 annotators, in some seconds"
    )
    parser.add_argument("--pairs", type=int, help="how many are imported")
    parser.add_argument("--tuples", type=int, help="of the campaign")
    parser.add_argument("--annotators", type=int)
    parser.add_argument("--seconds", type=float, help="without the import, before it and again after it")
    parser.add_argument("--nice", type=int, default=0, help="how much lower the worker's priority is")
    parser.add_argument("--alternate", action="store_true", help="the worker has that and none in turn")
    options = parser.parse_args()
    options.thought = 5.0
    small = options.quick or not POSTGRES
    # One more than a request imports by itself.
    usual = (AT_ONCE_ROWS + 1, 20_000, 20, 10.0) if small else (1_000_000, 1_000_000, 200, 60.0)
    for name, value in zip(("pairs", "tuples", "annotators", "seconds"), usual, strict=True):
        if getattr(options, name) is None:
            setattr(options, name, value)
    return options


def main() -> None:
    print_comparison(measured(asked_for()).comparison())


if __name__ == "__main__":
    main()
