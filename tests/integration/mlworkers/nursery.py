"""Workers that need not load torch each time: a process loads the libraries once, and every worker is its copy.

What is copied has read no setting yet: a worker belongs to whichever installation it is started for. Only the nursery
of one installation loads the site too, so that its workers begin within a tenth of a second.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from tests.integration.mlworkers.installation import PATIENCE, ROOT, Installation

MOTHER = """
import ctypes, gc, json, os, signal, sys
import celery.bin.celery, django, numpy, torch, transformers
import sentence_transformers, transformers.models.bert.modeling_bert, transformers.models.gpt2.modeling_gpt2
import pyarrow.parquet, scipy.stats, celery.concurrency.solo
if "--site" in sys.argv:
    from semblance.celery import app
    app.loader.import_default_modules()
    from mlworkers.plans.kinds import KINDS
    for kind in KINDS.values():
        kind.function(kind.pipeline)
gc.freeze()  # a child that looked through its mother's memory for garbage would copy it first
signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the children
for line in sys.stdin:
    order = json.loads(line)
    child = os.fork()
    if child:
        print(child, flush=True)
        continue
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.setpgid(0, 0)
    log = os.open(order["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for number, descriptor in enumerate((os.open(os.devnull, os.O_RDONLY), log, log)):
        os.dup2(descriptor, number)
    if order["network"]:
        with open(order["network"]) as network:
            assert ctypes.CDLL(None).setns(network.fileno(), 0) == 0, order["network"]
    os.environ.clear()
    os.environ.update(order["environment"])
    sys.argv = ["celery", *order["arguments"]]
    exec(order["script"])
    os._exit(1)
"""

# A worker that sweeps often; where STOP_AT says so, its work comes to a point, makes a file, and goes no
# further, while its heartbeat goes on.
WORKER = """
import os, sys, threading, time
from pathlib import Path
from celery.__main__ import main
from semblance.celery import app
app.loader.import_default_modules()
if app.conf.broker_url.startswith("filesystem"):  # which a worker would look into once a second
    app.conf.broker_transport_options |= {"polling_interval": 0.05}
import curation.exchange.exporting as exporting
import mlworkers.runs.presence as presence
import mlworkers.runs.reporting as reporting
import mlworkers.tasks as tasks
import mlworkers.science.training.checkpoints as checkpoints
import curation.exchange.importing as importing
import curation.exchange.pool as pool
from tests.integration.mlworkers import moments
importing.ONE_TRANSACTION_ROWS = importing.CHUNK_ROWS = 10  # so that a small import has a middle
pool.ONE_TRANSACTION_ROWS = pool.CHUNK_ROWS = 10
exporting._ROWS_AT_ONCE = 20  # so that a small export has a middle
checkpoints.SECONDS_BETWEEN = 0
os.fsync = lambda descriptor: None  # what a killed process has written is there; nobody cuts the power
presence.SECONDS_BETWEEN_BEATS = 0.2
tasks.SECONDS_BETWEEN_TIDYINGS = float(os.environ.get("TIDY_EVERY", tasks.SECONDS_BETWEEN_TIDYINGS))

message, share, reached = os.environ.get("STOP_AT", "no such message|1|").split("|")

def stopping(report):
    def wrapped(*about):
        report(*about)
        done, total, sentence = about[-3:]
        if threading.current_thread() is not threading.main_thread():
            return
        time.sleep(float(os.environ.get("PAUSE", 0)))
        if message in sentence and total and done >= float(share) * total:
            Path(reached).touch()
            time.sleep(3600)
    return wrapped

reporting.Reporter.__call__ = stopping(reporting.Reporter.__call__)
reporting.AssistantReport.__call__ = stopping(reporting.AssistantReport.__call__)
moments.watch(os.environ.get("DIE_AT", ""))
sys.exit(main())
"""


class Nursery:
    """Starts workers of the queue gpu, whose libraries are loaded; of one installation, if it is named."""

    def __init__(self, only: Installation | None = None) -> None:
        self._mother = subprocess.Popen(
            [sys.executable, "-c", MOTHER, *(["--site"] if only else [])],
            env=only.environment if only else None,
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def close(self) -> None:
        self._mother.kill()  # at once: to take torch down in order takes seconds
        self._mother.communicate()

    @contextmanager
    def worker(self, installed: Installation, name: str = "worker", **environment: str) -> Iterator[int]:
        """A worker process, until the block ends. STOP_AT: "message|share of its total|file to say so"."""
        order = {
            "environment": {**installed.environment, **environment},
            "arguments": [
                "-A",
                "semblance",
                "worker",
                "-Q",
                "gpu,default",
                "--pool",
                "solo",
                "-n",
                f"{name}@test",
            ],
            "log": str(installed.home / "worker.log"),
            "network": str(installed.network) if installed.network else "",
            "script": WORKER,
        }
        self._mother.stdin.write(json.dumps(order) + "\n")
        self._mother.stdin.flush()
        process = int(self._mother.stdout.readline())
        try:
            yield process
        finally:
            kill_nine(process)

    @contextmanager
    def worker_that_stops(
        self, installed: Installation, message: str, share: float, name: str = "doomed"
    ) -> Iterator[int]:
        """A worker that has come to that point of its work, and will go no further."""
        reached = installed.home / f"{name}.reached"
        with self.worker(installed, name, STOP_AT=f"{message}|{share}|{reached}") as process:
            until = time.monotonic() + PATIENCE
            while not reached.exists() and lives(process) and time.monotonic() < until:
                time.sleep(0.02)
            assert reached.exists(), installed.worker_log()
            yield process


def until_gone(process: int) -> None:
    until = time.monotonic() + PATIENCE
    while lives(process) and time.monotonic() < until:
        time.sleep(0.01)


def kill_nine(process: int) -> None:
    """kill -9, and wait until the process is gone."""
    with suppress(ProcessLookupError):
        os.killpg(process, signal.SIGKILL)
    until_gone(process)


def lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True
