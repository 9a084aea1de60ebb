"""The seconds from a run's start to its claim by an idle worker, of 20 runs that follow each other.

Run in an empty installation, with the settings of the set-up in the environment:

    SEMBLANCE_HOME=$(mktemp -d) python docs/experiments/start_to_running.py
"""

import os
import random
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "semblance.settings")
RUNS = 20

import django  # noqa: E402

django.setup()

from django.core.management import call_command  # noqa: E402

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


def main() -> None:
    call_command("migrate", verbosity=0)
    Dataset.objects.get_or_create(slug="empty", defaults={"name": "Empty"})
    Run.objects.all().delete()
    worker = subprocess.Popen([sys.executable, "manage.py", "worker", "--queues", "default"], cwd=ROOT)
    try:
        while not WorkerHeartbeat.objects.exists():
            time.sleep(0.2)
        rng = random.Random(13)  # noqa: S311 - the worker may look once a second: starts must not follow its rhythm
        waits = []
        for _number in range(RUNS):
            time.sleep(rng.uniform(1, 2))
            waits.append(seconds_until_claimed())
    finally:
        worker.terminate()
        worker.wait()
    waits.sort()
    print(f"median {statistics.median(waits):.2f} s, lowest {waits[0]:.2f} s, highest {waits[-1]:.2f} s")


main()
