"""How long a run waits after its worker was asked to stop and released it.

An import starts, and its worker is stopped in the middle with SIGTERM. Either the whole site is restarted
(`semblance serve`), or one of two workers of the queue is stopped and the other continues. The script prints the
seconds from the signal until the worker released the run, and from there until a worker claimed it again. For the
restart it also prints how long the new site took until its worker lived.

Run it in the project's folder. DATABASE_URL must name a PostgreSQL database that the script may write to. REDIS_URL may
be set; without it, messages use the file system:

    DATABASE_URL=postgres://user@127.0.0.1:5432/trial SECRET_KEY=x ALLOWED_HOSTS=127.0.0.1 \\
        python docs/experiments/hand_back.py --trials 3
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import psycopg

ROWS = 150_000
PATIENCE = 150.0  # seconds that each step may take
RUN = "SELECT state, attempt, done, heartbeat_at FROM mlworkers_run WHERE id = {}"
LIVE = "SELECT count(*) FROM mlworkers_workerheartbeat"
UPLOAD = """
import sys
from django.conf import settings
from django.core.files import File
from curation.exchange.importing import ImportOptions
from curation.datasets.services import dataset_create
from curation.exchange.uploads import import_check, import_upload
from mlworkers.runs.services import run_start
from uuid import uuid4
slug = f"trial-{uuid4().hex[:8]}"
with (settings.SEMBLANCE_HOME / "pairs.tsv").open("rb") as file:
    batch = import_upload(dataset=dataset_create(slug=slug, name="Trial"), files=[File(file, "pairs.tsv")], by=None)
import_check(batch=batch, options=ImportOptions(scale=(0, 5)))
print("run", run_start(kind="import_pairs", plan={"dataset": slug, "batch": batch.pk}, by=None).pk)
"""


def started(*arguments: str) -> subprocess.Popen[bytes]:
    log = (Path(os.environ["SEMBLANCE_HOME"]) / "trial.log").open("ab")
    return subprocess.Popen([sys.executable, *arguments], stdout=log, stderr=log)  # noqa: S603 - our own


def worker(name: str) -> subprocess.Popen[bytes]:
    serving = ("--queues", "default", "--pool", "threads", "--concurrency", "4", "--hostname", f"{name}@%h")
    return started("-m", "celery", "-A", "semblance", "worker", *serving)


def site(port: int) -> subprocess.Popen[bytes]:
    return started("manage.py", "serve", "--port", str(port), "--workers", "default", "--web-workers", "1")


def manage(*arguments: str, given: str | None = None) -> str:
    made = subprocess.run(  # noqa: S603 - our own
        [sys.executable, "manage.py", *arguments], input=given, capture_output=True, text=True, check=True
    )
    return made.stdout


def row(query: str) -> tuple[Any, ...]:
    with psycopg.connect(os.environ["DATABASE_URL"]) as connection:
        found = connection.execute(query).fetchone()
    return found or ()


def seconds_until(query: str, is_so: Callable[[tuple[Any, ...]], bool]) -> float:
    begin = time.monotonic()
    while time.monotonic() < begin + PATIENCE:
        if is_so(row(query)):
            return time.monotonic() - begin
        time.sleep(0.05)
    raise SystemExit(f"It did not come about: {query}: {row(query)}")


def ended(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGTERM)
    process.wait()


def begun() -> int:
    """An import that is in its middle."""
    run = int(manage("shell", "-v", "0", given=UPLOAD).split()[-1])
    seconds_until(RUN.format(run), lambda found: found[0] == "running" and found[2] > 0)
    return run


def let_go(found: tuple[Any, ...]) -> bool:
    return found[0] == "running" and found[3] is None


def claimed_again(found: tuple[Any, ...]) -> bool:
    return bool(found[1] > 1)


def restart_of_the_site(port: int) -> dict[str, float]:
    served = site(port)
    try:
        run = begun()
        before = time.monotonic()
        ended(served)
        stopped = time.monotonic() - before
        served = site(port)
        living = seconds_until(LIVE, lambda found: found[0] > 0)
        claimed = seconds_until(RUN.format(run), claimed_again)
        return {"stopped after": stopped, "worker lives after": living, "claimed after": claimed}
    finally:
        ended(served)
        cancel()


def end_of_one_of_two(port: int) -> dict[str, float]:
    with ExitStack() as stack:
        first = worker("first")
        stack.callback(ended, first)
        seconds_until(LIVE, lambda found: found[0] > 0)
        run = begun()
        second = worker("second")
        stack.callback(ended, second)
        seconds_until(LIVE, lambda found: found[0] > 1)
        time.sleep(2.0)  # its first sweep is over
        first.send_signal(signal.SIGTERM)
        left = seconds_until(RUN.format(run), lambda found: let_go(found) or claimed_again(found))
        claimed = seconds_until(RUN.format(run), claimed_again)
        cancel()
        return {"let go after": left, "claimed after": claimed}


def cancel() -> None:
    with psycopg.connect(os.environ["DATABASE_URL"]) as connection:
        connection.execute(
            "UPDATE mlworkers_run SET state = 'cancelled' WHERE state IN ('queued', 'running')"
        )
        connection.execute("DELETE FROM mlworkers_workerheartbeat")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--trials", type=int, default=3)
    parser.add_argument("--port", type=int, default=8167, help="of the site")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        os.environ["SEMBLANCE_HOME"] = home
        lines = [f"A dog runs past house {n}.\tA cat sleeps on roof {n}.\t{n % 6}" for n in range(ROWS)]
        (Path(home) / "pairs.tsv").write_text("\n".join(["sentence1\tsentence2\tscore", *lines]))
        manage("migrate", "-v", "0")
        cancel()
        for what in (restart_of_the_site, end_of_one_of_two):
            for trial in range(options.trials):
                found = {name: round(seconds, 1) for name, seconds in what(options.port).items()}
                print(json.dumps({"what": what.__name__, "trial": trial + 1, **found}), flush=True)


if __name__ == "__main__":
    main()
