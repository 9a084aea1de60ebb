"""The seconds from a run's start to its claim by an idle worker, of 20 runs that follow each other.

Then the seconds from the moment when a run of a silent worker becomes free to its claim, of 8 runs.

Run in an empty installation, with the settings of the set-up in the environment:

    SEMBLANCE_HOME=$(mktemp -d) python docs/experiments/start_to_running.py
"""

import os
import random
import statistics
import subprocess
import sys
import time
from datetime import timedelta
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "semblance.settings")
RUNS, SILENT = 20, 8

import django  # noqa: E402

django.setup()

from django.core.management import call_command  # noqa: E402

from curation.foundation.heartbeats import database_now, stale_after  # noqa: E402
from curation.models import Dataset  # noqa: E402
from mlworkers.models import Run, WorkerHeartbeat  # noqa: E402
from mlworkers.runs.services import run_start  # noqa: E402


def seconds_until_claimed() -> float:
    """Start an export of no pairs, and wait until it has ended."""
    run = run_start(kind="export_dataset", plan={"dataset": "empty"}, by=None)
    while not run.ended:
        time.sleep(0.1)
        run.refresh_from_db()
    if run.started_at is None:
        raise SystemExit(run.message)
    return (run.started_at - run.created_at).total_seconds()


def seconds_until_taken_over(plan: dict[str, object], dataset: Dataset, *, free_in: float) -> float:
    """A run whose worker was heard for the last time some while ago, so that it becomes free in so many seconds."""
    heard = database_now() - stale_after() + timedelta(seconds=free_in)
    held = {"state": Run.State.RUNNING, "attempt": 1, "worker": "silent", "started_at": heard}
    run = Run.objects.create(
        kind="export_dataset", plan=plan, dataset=dataset, heartbeat_at=heard, claimed_at=heard, **held
    )
    while run.attempt == 1:
        time.sleep(0.02)
        run.refresh_from_db()
    if run.progressed_at is None:
        raise SystemExit(run.message)
    return (run.progressed_at - heard - stale_after()).total_seconds()


def report(what: str, seconds: list[float]) -> None:
    middle = statistics.median(seconds)
    print(f"{what}: median {middle:.2f} s, lowest {min(seconds):.2f} s, highest {max(seconds):.2f} s")


def main() -> None:
    call_command("migrate", verbosity=0)
    dataset, _made = Dataset.objects.get_or_create(slug="empty", defaults={"name": "Empty"})
    Run.objects.all().delete()
    worker = subprocess.Popen([sys.executable, "manage.py", "worker", "--queues", "default"], cwd=ROOT)
    try:
        while not WorkerHeartbeat.objects.exists():
            time.sleep(0.2)
        rng = random.Random(13)  # noqa: S311 - the worker may look once a second: starts must not follow its rhythm
        started, taken_over = [], []
        for _number in range(RUNS):
            time.sleep(rng.uniform(1, 2))
            started.append(seconds_until_claimed())
        plan = Run.objects.values_list("plan", flat=True)[0]
        for _number in range(SILENT):
            seconds = seconds_until_taken_over(plan, dataset, free_in=rng.uniform(8, 14))
            taken_over.append(seconds)
    finally:
        worker.terminate()
        worker.wait()
    report("started", started)
    report("taken over", taken_over)


main()
