"""How long a run stays queued if Redis is restarted twice around its start.

The script starts a Redis without persistence, and `semblance serve` with it. In every trial it restarts Redis twice
within a few seconds, and starts an export at a random moment of that time. It prints the seconds that starting took,
and the seconds until a worker claimed the run. A trial always ends after --patience seconds.

Run it in the project's folder. DATABASE_URL must name a PostgreSQL database that the script may write to:

    DATABASE_URL=postgres://user@127.0.0.1:5432/trial python docs/experiments/restart_redis.py --trials 20
"""

import argparse
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

DOWN = 1.0  # seconds that Redis is away at each restart
UP = (0.5, 3.0)  # seconds that it is there between the two
SERVE = ("--workers", "default", "--web-workers", "1")


class Redis:
    """A server that forgets everything when it is stopped."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._process = self._started()

    def _started(self) -> subprocess.Popen[bytes]:
        arguments = ["redis-server", "--port", str(self._port), "--save", "", "--appendonly", "no"]
        return subprocess.Popen(arguments, stdout=subprocess.DEVNULL)  # noqa: S603 - our own arguments

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait()

    def start(self) -> None:
        self._process = self._started()


@contextmanager
def site(port: int) -> Iterator[None]:
    """`semblance serve` of this folder, until the block ends."""
    subprocess.run([sys.executable, "manage.py", "migrate", "-v", "0"], check=True)
    log = (Path(os.environ["SEMBLANCE_HOME"]) / "serve.log").open("ab")
    served = subprocess.Popen(  # noqa: S603 - our own arguments
        [sys.executable, "manage.py", "serve", "--port", str(port), *SERVE], stdout=log, stderr=log
    )
    try:
        wait_for_answer(f"http://127.0.0.1:{port}/healthz")
        yield
    finally:
        served.send_signal(signal.SIGTERM)
        served.wait()


def wait_for_answer(address: str) -> None:
    for _attempt in range(600):
        try:
            urlopen(address, timeout=1).close()
        except HTTPError:
            return
        except OSError:
            time.sleep(0.2)
        else:
            return
    raise SystemExit("The site does not answer; serve.log in SEMBLANCE_HOME says why.")


class Trials:
    """Starts runs in this process, as the web process does."""

    def __init__(self, redis: Redis, *, seed: int, patience: float) -> None:
        sys.path.insert(0, str(Path.cwd()))
        os.environ["DJANGO_SETTINGS_MODULE"] = "semblance.settings"
        import django  # noqa: PLC0415 - the environment is complete only now

        django.setup()
        import semblance.celery  # noqa: F401, PLC0415
        from curation.datasets.services import dataset_create  # noqa: PLC0415
        from curation.models import Dataset  # noqa: PLC0415

        if not Dataset.objects.filter(slug="trial").exists():
            dataset_create(slug="trial", name="Trial")
        self._redis = redis
        self._random = random.Random(seed)  # noqa: S311 - nothing secret
        self._patience = patience

    def one(self) -> dict[str, float | None]:
        between = self._random.uniform(*UP)
        moments = [(0.0, self._redis.stop), (DOWN, self._redis.start)]
        moments += [(DOWN + between, self._redis.stop), (2 * DOWN + between, self._redis.start)]
        queued = self._random.uniform(0, 2 * DOWN + between + 1)
        moments.append((queued, self._start))
        begin = time.monotonic()
        for moment, does in sorted(moments, key=lambda each: each[0]):
            time.sleep(max(0.0, begin + moment - time.monotonic()))
            does()
        return {"queued at": round(queued, 2), "between": round(between, 2), **self._claimed()}

    def _start(self) -> None:
        from mlworkers.runs.services import run_start  # noqa: PLC0415

        before = time.monotonic()
        self._run = run_start(kind="export_dataset", plan={"dataset": "trial"}, by=None)
        self._took = time.monotonic() - before

    def _claimed(self) -> dict[str, float | None]:
        until = time.monotonic() + self._patience
        while time.monotonic() < until:
            self._run.refresh_from_db()
            if self._run.ended:
                waited = (self._run.started_at - self._run.created_at).total_seconds()
                return {"starting took": round(self._took, 2), "queued for": round(waited, 1)}
            time.sleep(0.2)
        return {"starting took": round(self._took, 2), "queued for": None}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("--patience", type=float, default=150, help="seconds that one trial may wait at most")
    parser.add_argument("--redis-port", type=int, default=8169)
    parser.add_argument("--port", type=int, default=8168, help="of the site")
    parser.add_argument("--seed", type=int, default=13)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        os.environ.update(
            SEMBLANCE_HOME=home,
            REDIS_URL=f"redis://127.0.0.1:{options.redis_port}/0",
            SECRET_KEY="of a trial",  # noqa: S106
            ALLOWED_HOSTS="127.0.0.1",
        )
        redis = Redis(options.redis_port)
        try:
            with site(options.port):
                report(Trials(redis, seed=options.seed, patience=options.patience), options.trials)
        finally:
            redis.stop()


def report(trials: Trials, number: int) -> None:
    waits = []
    for trial in range(number):
        found = trials.one()
        print(json.dumps({"trial": trial + 1, **found}), flush=True)
        waits.append(found["queued for"])
    known = [wait for wait in waits if wait is not None]
    print(f"{len(known)} of {number} were claimed; median {statistics.median(known):.1f} s, ", end="")
    print(f"longest {max(known):.1f} s, over 20 s: {sum(wait > 20 for wait in known)}")


if __name__ == "__main__":
    main()
