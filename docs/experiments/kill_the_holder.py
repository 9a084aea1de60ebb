"""How long a run has no holder if its holder is killed while another worker assists with a long shard.

Two workers of the queue default (pool solo) share a run of twelve shards. Each shard only waits for some seconds. When
the other worker has a shard, the holder is killed with kill -9. The script prints the seconds until a worker claimed
the run again, what the run's row reported as done every five seconds meanwhile, and how the run ended.

Run it in the project's folder. DATABASE_URL must name a PostgreSQL database that the script may write to:

    DATABASE_URL=postgres://user@127.0.0.1:5432/trial SECRET_KEY=x ALLOWED_HOSTS=127.0.0.1 \\
        python docs/experiments/kill_the_holder.py --seconds 15
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import psycopg

SHARDS = 12
PATIENCE = 400.0  # seconds for all of it
RUN = "SELECT state, attempt, done FROM mlworkers_run WHERE id = {}"
SHARDS_OF = (
    "SELECT count(*) FROM mlworkers_runshard WHERE run_id = {} AND state = 'running' AND worker LIKE '{}@%'"
)
WORKER = f"""
import os, sys, time
from celery.__main__ import main
from semblance.celery import app
app.loader.import_default_modules()
from mlworkers.kinds.exchange import pairs
from mlworkers.runs.jobs import Outcome

def waiting(plan, work):
    def do(number, path, report):
        time.sleep(float(os.environ["SHARD_SECONDS"]))
        path.write_text(str(number))
    work.shards.all("wait", [1] * {SHARDS}, do, message="Waiting")
    return Outcome("waited", {{}})

pairs.export_dataset = waiting
sys.argv[0] = "celery"
sys.exit(main())
"""
START = """
from curation.datasets.services import dataset_create
from mlworkers.runs.services import run_start
from uuid import uuid4
slug = f"trial-{uuid4().hex[:8]}"
dataset_create(slug=slug, name="Trial")
print(run_start(kind="export_dataset", plan={"dataset": slug}, by=None).pk)
"""


def celery(*arguments: str, script: str) -> subprocess.Popen[bytes]:
    log = (Path(os.environ["SEMBLANCE_HOME"]) / "trial.log").open("ab")
    command = [sys.executable, "-c", script, "-A", "semblance", *arguments]
    return subprocess.Popen(command, stdout=log, stderr=log, process_group=0)  # noqa: S603 - our own


def worker(name: str) -> subprocess.Popen[bytes]:
    return celery(
        "worker", "--queues", "default", "--pool", "solo", "--hostname", f"{name}@%h", script=WORKER
    )


def beat() -> subprocess.Popen[bytes]:
    return celery(
        "beat", script="import sys; from celery.__main__ import main; sys.argv[0] = 'celery'; main()"
    )


def manage(*arguments: str, given: str | None = None) -> str:
    command = [sys.executable, "manage.py", *arguments]
    return subprocess.run(command, input=given, capture_output=True, text=True, check=True).stdout  # noqa: S603


def row(query: str) -> tuple[Any, ...]:
    with psycopg.connect(os.environ["DATABASE_URL"]) as connection:
        return connection.execute(query).fetchone() or ()


def wait_for(query: str, until: float) -> None:
    while row(query)[0] == 0:
        if time.monotonic() > until:
            raise SystemExit(f"It did not come about: {query}")
        time.sleep(0.2)


def trial(until: float) -> dict[str, Any]:
    processes = [beat(), holder := worker("holder")]
    try:
        run = int(manage("shell", "-v", "0", given=START).split()[-1])
        wait_for(SHARDS_OF.format(run, "holder"), until)
        processes.append(worker("assistant"))
        wait_for(SHARDS_OF.format(run, "assistant"), until)
        os.killpg(holder.pid, signal.SIGKILL)
        return watched(run, until)
    finally:
        for process in processes:
            process.kill()
            process.wait()


def watched(run: int, until: float) -> dict[str, Any]:
    begin, claimed, done = time.monotonic(), None, []
    while time.monotonic() < until:
        state, attempt, count = row(RUN.format(run))
        if attempt > 1 and claimed is None:
            claimed = round(time.monotonic() - begin, 1)
        if time.monotonic() - begin >= 5 * len(done):
            done.append(count)
        if state not in ("queued", "running"):
            break
        time.sleep(0.2)
    seconds = round(time.monotonic() - begin, 1)
    return {"claimed again after": claimed, "state": state, "ended after": seconds, "done every 5 s": done}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seconds", default="15", help="that each shard takes")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        os.environ.update(SEMBLANCE_HOME=home, SHARD_SECONDS=options.seconds)
        manage("migrate", "-v", "0")
        print(json.dumps(trial(time.monotonic() + PATIENCE)), flush=True)


if __name__ == "__main__":
    main()
