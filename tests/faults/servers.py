"""A PostgreSQL and a Redis of the test's own, on ports of their own: they can be killed, emptied and restarted."""

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import psycopg
from redis import Redis
from redis.exceptions import RedisError

from tests.services_needed import program_of_postgres

PATIENCE = 180.0  # seconds; a machine may be busy
QUICK = "fsync=off", "full_page_writes=off"  # what is killed is a process; the machine keeps its power


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
        return port


def wait_until(is_so: Callable[[], bool], what: str) -> None:
    until = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < until, f"It did not happen: {what}"
        time.sleep(0.02)


class PostgreSQL:
    """A cluster in a folder of its own. The server refuses root, whose tests run it as the user postgres."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="semblance-faults-", dir="/tmp"))
        self.port = free_port()
        self.user = "postgres" if os.geteuid() == 0 else ""
        if self.user:
            shutil.chown(self.folder, self.user, self.user)
        self._data = self.folder / "data"
        self._call(
            "initdb", "--pgdata", str(self._data), "--auth", "trust", "--username", "tests", "--no-sync"
        )
        self.start()

    def url(self, name: str) -> str:
        return f"postgres://tests@127.0.0.1:{self.port}/{name}"

    def start(self) -> None:
        settings = [
            f"port={self.port}",
            "listen_addresses=127.0.0.1",
            f"unix_socket_directories={self.folder}",
        ]
        options = " ".join(f"-c {each}" for each in (*settings, "max_connections=200", *QUICK))
        self._control("start", "--wait", "--options", options)

    def crash(self) -> None:
        """Every process of it ends without tidying up; what was committed is found again at the next start."""
        self._control("stop", "--mode", "immediate")

    def drop_connections(self, name: str) -> None:
        with psycopg.connect(self.url("postgres"), autocommit=True) as server:
            ours = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s"
            server.execute(ours, [name])

    def database_make(self, name: str, *, place: Path) -> None:
        """A database whose tables are at that place."""
        with psycopg.connect(self.url("postgres"), autocommit=True) as server:
            server.execute(f"""CREATE TABLESPACE "{name}" LOCATION '{place}'""")
            server.execute(f'CREATE DATABASE "{name}" TABLESPACE "{name}"')

    def remove(self) -> None:
        with suppress(subprocess.CalledProcessError):
            self.crash()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _control(self, *arguments: str) -> None:
        self._call("pg_ctl", "--pgdata", str(self._data), "--log", str(self.folder / "log"), *arguments)

    def _call(self, name: str, *arguments: str) -> None:
        command = [program_of_postgres(name), *arguments]
        # The server inherits the output and keeps it open, so that a pipe would never end.
        with (self.folder / "commands.log").open("ab") as log:
            done = subprocess.run(
                command,
                user=self.user or None,
                group=self.user or None,
                extra_groups=[] if self.user else None,
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                check=False,
                timeout=PATIENCE,
            )
        assert done.returncode == 0, (command, (self.folder / "commands.log").read_text()[-2000:])


class RedisServer:
    """Keeps nothing on the disk: killed, it forgets everything."""

    def __init__(self) -> None:
        self.port = free_port()
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self.start()

    def start(self) -> None:
        arguments = ["redis-server", "--port", str(self.port), "--save", "", "--appendonly", "no"]
        self._process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL)
        wait_until(self._answers, "Redis answers")

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def forget_everything(self) -> int:
        """FLUSHALL; how many keys that were."""
        with Redis.from_url(self.url) as connection:
            keys: int = connection.dbsize()
            connection.flushall()
            return keys

    def _answers(self) -> bool:
        with suppress(RedisError), Redis.from_url(self.url) as connection:
            return bool(connection.ping())
        return False
