"""Databases of tests, each a copy of one template. What takes long to make is made once in a test run.

The processes of a test run share a folder, in which the first one that needs a thing leaves it for the others.
"""

import fcntl
import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import psycopg

ROOT = Path(__file__).resolve().parents[1]
TO_DROP = "databases to drop"  # a file in the shared folder


def postgres_url() -> str:
    """DATABASE_URL if it names a PostgreSQL database, else "", which means SQLite."""
    url = os.environ.get("DATABASE_URL", "")
    return url if url.startswith("postgres") else ""


def url_of(name: str) -> str:
    return urlsplit(postgres_url())._replace(path=f"/{name}").geturl()


def shared_folder(base: Path) -> Path:
    """Of all processes of this test run: those of pytest-xdist, or the jobs of `.ci/jobs`, which name the folder.

    base: the process's own folder for temporary files.
    """
    if named := os.environ.get("SEMBLANCE_TESTS_SHARED"):
        return Path(named)
    return base.parent if "PYTEST_XDIST_WORKER" in os.environ else base


def once(shared: Path, name: str, make: Callable[[], Any]) -> Any:
    """What `make` returns, as JSON has it. The first process that asks makes it; those that ask meanwhile wait."""
    told = shared / f"{name}.json"
    with (shared / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not told.exists():
            made = json.dumps(make())
            told.write_text(made)
        return json.loads(told.read_text())


def tables_template(shared: Path, url: str | None = None) -> str:
    """A database with all tables and no rows: the path of a SQLite file, or a PostgreSQL database's name.

    url: a PostgreSQL server's database, or "" for SQLite; without, what DATABASE_URL says.
    """
    url = postgres_url() if url is None else url
    return once(shared, "tables of PostgreSQL" if url else "tables", lambda: _template_make(shared, url))


def _template_make(shared: Path, url: str) -> str:
    name = f"semblance_tables_{uuid4().hex}" if url else str(shared / "tables.sqlite3")
    if url:
        database_make(shared, name)
    environment = {
        **os.environ,
        "DATABASE_URL": url_of(name) if url else f"sqlite:///{name}",
        "SEMBLANCE_HOME": str(shared / "tables"),
        "SECRET_KEY": "tests-only",
        "ALLOWED_HOSTS": "localhost",
    }
    subprocess.run(
        [sys.executable, "manage.py", "migrate", "--verbosity", "0"], env=environment, cwd=ROOT, check=True
    )
    return name


def database_make(shared: Path, name: str, template: str = "") -> str:
    """Make a PostgreSQL database that is dropped when the test run ends, and return its name."""
    with (shared / TO_DROP).open("a") as file:
        file.write(f"{name}\n")
    with psycopg.connect(postgres_url(), autocommit=True) as server:
        _create(server, name, template)
    return name


def databases_drop(shared: Path) -> None:
    """Those that processes of this test run made for each other."""
    if (shared / TO_DROP).exists():
        with psycopg.connect(postgres_url(), autocommit=True) as server:
            for name in (shared / TO_DROP).read_text().split():
                server.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')


@contextmanager
def database_of_its_own(name: str, template: str = "") -> Iterator[str]:
    """The address of a new PostgreSQL database beside the one that DATABASE_URL names; "" means SQLite."""
    url = postgres_url()
    if not url:
        yield ""
        return
    with psycopg.connect(url, autocommit=True) as server:
        server.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
        _create(server, name, template)
        try:
            yield url_of(name)
        finally:
            server.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')


def _create(server: psycopg.Connection[Any], name: str, template: str) -> None:
    """Its commits do not wait for the disk: tests kill those who ask a server, and not the server. Nor are queries
    compiled, which PostgreSQL does where it takes small tables for large ones.
    """
    server.execute(f'CREATE DATABASE "{name}"' + (f' TEMPLATE "{template}"' if template else ""))
    server.execute(f'ALTER DATABASE "{name}" SET synchronous_commit = off')
    server.execute(f'ALTER DATABASE "{name}" SET jit = off')


def file_copied(template: str, to: str | Path) -> None:
    """A SQLite database that nobody has open, copied with what still lies beside it."""
    with closing(sqlite3.connect(template)) as source, closing(sqlite3.connect(to)) as target:
        source.backup(target)
