"""Judgements over HTTP in a large campaign, against the same in one of 1,000 tuples.

gunicorn with two workers, the database and the annotators share this machine. First as fast as they can, then fifty
annotators who think for a second: how long they wait for an answer that keeps their judgement and brings the next
tuple. On PostgreSQL where DATABASE_URL names one (a million tuples), on SQLite otherwise (20,000).
"""

import os
import threading
from pathlib import Path
from time import perf_counter, sleep

import _database  # noqa: F401  (importing it makes the installation)
import numpy as np
from _compare import is_quick, print_comparison, rates_compared
from _judging import POSTGRES, Annotator, campaign_of, pairs_made, served, settle, tokens_made
from django.db import connection

from annotation.models import Campaign

SMALL = 1_000
THINKING, HURRIED, SECONDS_OF_THOUGHT = 50, 8, 1.0


def waits(port: int, campaign: Campaign, tokens: list[str], *, seconds: float, thought: float) -> list[float]:
    """Seconds that each judgement of these people took to be answered."""
    people = [Annotator(port, campaign, token) for token in tokens]
    taken: list[float] = []
    end = perf_counter() + seconds

    def work(annotator: Annotator, first: float) -> None:
        sleep(first)
        while perf_counter() < end:
            began = perf_counter()
            annotator.judge()
            taken.append(perf_counter() - began)
            sleep(thought)

    starts = np.linspace(0, thought, len(people), endpoint=False)
    threads = [threading.Thread(target=work, args=pair) for pair in zip(people, starts, strict=True)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return taken


class Processor:
    """Seconds of the processor that the web server's processes and the database's for this site have used so far.

    Read from /proc, so on Linux, and of the database only where PostgreSQL is on this machine; else 0.
    """

    def __init__(self) -> None:
        self._began = self._now()

    def milliseconds(self, judgements: int) -> tuple[float, float]:
        """Per judgement since this was made: of the web server, and of the database."""
        both = zip(self._now(), self._began, strict=True)
        web, database = (1000 * (now_ - before) / max(judgements, 1) for now_, before in both)
        return web, database

    @staticmethod
    def _now() -> tuple[float, float]:
        backends = []
        if POSTGRES:
            with connection.cursor() as cursor:
                cursor.execute(
                    "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
                )
                backends = [pid for (pid,) in cursor.fetchall()]
        return sum(map(seconds_of, children_of(os.getpid()))), sum(map(seconds_of, backends))


def stat_of(pid: int | str) -> list[str]:
    """What /proc says of a process from its state on (man 5 proc: field 3 is the first here); nothing if it is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except OSError:
        return []


def seconds_of(pid: int) -> float:
    return sum(map(int, stat_of(pid)[11:13])) / os.sysconf("SC_CLK_TCK")


def children_of(pid: int) -> list[int]:
    """And their children."""
    parents = {int(path.name): stat_of(path.name)[1:2] for path in Path("/proc").glob("[0-9]*")}
    found = [child for child, parent in parents.items() if parent == [str(pid)]]
    return found + [each for child in found for each in children_of(child)]


def main() -> None:
    quick = is_quick(__doc__)
    tuples = 20_000 if quick or not POSTGRES else 1_000_000
    seconds, rounds = (3.0, 1) if quick else (15.0, 3)
    dataset = pairs_made()
    tokens = tokens_made(dataset, THINKING)
    campaigns = [campaign_of(dataset, tuples), *(campaign_of(dataset, SMALL) for _ in range(rounds))]
    settle()
    spent: list[tuple[float, float]] = []
    rates: dict[bool, list[float]] = {True: [], False: []}
    thoughtful: dict[bool, list[float]] = {True: [], False: []}
    with served() as (port, _programs):
        waits(port, campaigns[0], tokens[:HURRIED], seconds=2.0, thought=0.0)  # caches and plans are warm
        for number in range(rounds):
            # Eight hurried people finish the 2,000 judgements of a small campaign within the measured time.
            for campaign, long in ((campaigns[0], seconds), (campaigns[1 + number], min(seconds, 6.0))):
                large = campaign == campaigns[0]
                processor = Processor()
                hurried = waits(port, campaign, tokens[:HURRIED], seconds=long, thought=0.0)
                if large:
                    spent.append(processor.milliseconds(len(hurried)))
                rates[large].append(len(hurried) / long)
                thoughtful[large] += waits(port, campaign, tokens, seconds=long, thought=SECONDS_OF_THOUGHT)
    web_ms, database_ms = (min(spent)[place] for place in (0, 1))
    late, late_small = (1000 * float(np.percentile(thoughtful[large], 95)) for large in (True, False))
    comparison = rates_compared(
        "assignment",
        work=1,
        unit="judgements/s",
        seconds=1 / max(rates[True]),
        baseline=f"the same among {SMALL:,} tuples",
        baseline_seconds=1 / max(rates[False]),
        notes=f"{tuples:,} tuples on {connection.vendor}, gunicorn with two workers, over HTTP; best of {rounds}. "
        f"Of the processor {web_ms:.1f} ms of the web server and {database_ms:.1f} ms of the database per judgement. "
        f"{THINKING} annotators who think for a second wait {late:.0f} ms at the 95th percentile for the answer that "
        f"keeps a judgement and brings the next tuple, {late_small:.0f} ms among {SMALL:,} tuples.",
    )
    print_comparison(comparison)


if __name__ == "__main__":
    main()
