"""An installation of its own, with real workers: what is killed here is a process, not an idea of one."""

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
import pytest

from tests.template_databases import database_of_its_own, file_copied

ROOT = Path(__file__).resolve().parents[3]
PATIENCE = 180.0  # seconds; a machine may be busy
STALE = 2.0
SILENT = "UPDATE {} SET heartbeat_at = '2000-01-01 00:00:00' WHERE state = 'running'"

# A worker whose imports have a middle though they are small.
WORKER = """
import sys
from celery.__main__ import main
from semblance.celery import app
app.loader.import_default_modules()
if app.conf.broker_url.startswith("filesystem"):  # which a worker would look into once a second
    app.conf.broker_transport_options |= {"polling_interval": 0.05}
import curation.exchange.importing as importing
importing.ONE_TRANSACTION_ROWS = importing.CHUNK_ROWS = 100
sys.argv[0] = "celery"
sys.exit(main())
"""


class Installation:
    """A folder and a database that share nothing with the test's own process but the code."""

    def __init__(self, home: Path, database_url: str, broker: str = "filesystem") -> None:
        self.home = home
        self.network: Path | None = None  # the network namespace of its programs, if they have their own
        self.sqlite = home / "semblance.sqlite3"
        self.database_url = database_url
        self.environment = {
            **{
                name: value for name, value in os.environ.items() if name not in {"DATABASE_URL", "REDIS_URL"}
            },
            "SEMBLANCE_HOME": str(home),
            "DATABASE_URL": database_url,
            "REDIS_URL": os.environ["REDIS_URL"] if broker == "redis" else "",
            "REDIS_PREFIX": f"{os.environ['REDIS_PREFIX']}-{uuid4().hex}",
            "SECRET_KEY": "tests-only",
            "ALLOWED_HOSTS": "localhost,127.0.0.1",
            "RUN_STALE_SECONDS": str(STALE),
            "LOG_LEVEL": "WARNING",
        }

    def manage(self, *arguments: str, given: str | None = None) -> str:
        """What `semblance` answers on standard output. An error of its own fails the test."""
        within = ["nsenter", f"--net={self.network}"] if self.network else []
        done = subprocess.run(
            [*within, sys.executable, str(ROOT / "manage.py"), *arguments],
            env=self.environment,
            input=given,
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    @contextmanager
    def worker(self, pool: str, program: str = WORKER) -> Iterator[subprocess.Popen[bytes]]:
        """A worker of the default queue, in a process group of its own."""
        arguments = ["-A", "semblance", "worker", "-Q", "default", "--pool", pool, "--concurrency", "1"]
        log = (self.home / "worker.log").open("ab")
        worker = subprocess.Popen(
            [sys.executable, "-c", program, *arguments],
            env=self.environment,
            cwd=ROOT,
            stdout=log,
            stderr=log,
            process_group=0,
        )
        try:
            with log:
                yield worker
        finally:
            kill(worker)

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """What the database holds, read by a program that knows nothing of Django."""
        if self.database_url:
            with psycopg.connect(self.database_url) as connection:
                return connection.execute(query).fetchall()
        with closing(sqlite3.connect(self.sqlite, timeout=20)) as connection:
            return connection.execute(query).fetchall()

    def write(self, statement: str) -> None:
        if self.database_url:
            with psycopg.connect(self.database_url) as connection:
                connection.execute(statement)
            return
        with closing(sqlite3.connect(self.sqlite, timeout=20)) as connection:
            connection.execute(statement)
            connection.commit()

    def fall_silent(self) -> None:
        """Nobody waits until the workers that were killed have been silent for long enough."""
        for table in ("mlworkers_run", "mlworkers_runshard"):
            self.write(SILENT.format(table))

    def row(self, query: str) -> tuple[Any, ...]:
        return self.rows(query)[0]

    def eventually(self, query: str, is_so: Callable[[list[tuple[Any, ...]]], bool]) -> list[tuple[Any, ...]]:
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            rows = self.rows(query)
            if is_so(rows):
                return rows
            time.sleep(0.02)
        pytest.fail(f"{query}: {rows}\n{self.worker_log()}")

    def worker_log(self) -> str:
        return (self.home / "worker.log").read_text(errors="replace")[-4000:]


def another_machine(installed: Installation, home: Path) -> Installation:
    """Of the same installation: with its database, its broker if that is Redis, and a folder of its own."""
    home.mkdir()
    other = Installation(home, installed.database_url)
    other.sqlite = installed.sqlite
    other.environment = {**installed.environment, "SEMBLANCE_HOME": str(home)}
    if not installed.database_url:
        other.environment["DATABASE_URL"] = f"sqlite:///{installed.sqlite}"
    return other


def kill(worker: subprocess.Popen[bytes]) -> None:
    """kill -9, the worker and its children."""
    with suppress(ProcessLookupError):
        os.killpg(worker.pid, signal.SIGKILL)
    worker.wait()


@contextmanager
def installation_with_tables(
    home: Path, database: str, tables: str, broker: str = "filesystem"
) -> Iterator[Installation]:
    """One that nobody has used. database: what it is called on PostgreSQL. tables: the template of its tables."""
    with database_of_its_own(database, template=tables) as url:
        if not url:
            file_copied(tables, home / "semblance.sqlite3")
        yield Installation(home, url, broker)


def copied(folder: Path, to: Path) -> Path:
    return Path(shutil.copytree(folder, to))
