"""A whole site as processes, each of which can be killed and started again: web, worker, beat and Redis."""

import json
import os
import random
import signal
import socket
import subprocess
import sys
import time
from contextlib import closing, suppress
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import psycopg
from redis import Redis
from redis.exceptions import RedisError

from tests.integration.mlworkers.installation import Installation

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 120.0  # seconds; a machine may be busy


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


class Site(Installation):
    def __init__(self, home: Path, database_url: str) -> None:
        super().__init__(home, database_url, broker="filesystem")
        self.port, self.redis_port = free_port(), free_port()
        self.environment |= {
            "REDIS_URL": f"redis://127.0.0.1:{self.redis_port}/0",
            "HTTPS": "false",
            "OMP_NUM_THREADS": "1",
        }
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self.manage("migrate", "-v", "0")

    def start(self, name: str) -> None:
        celery = (sys.executable, "-m", "celery", "-A", "semblance")
        commands: dict[str, tuple[str, ...]] = {
            "redis": ("redis-server", "--port", str(self.redis_port), "--save", "", "--appendonly", "no"),
            "web": (
                *(sys.executable, "-m", "gunicorn", "--config", "python:semblance.serving.web_server"),
                *("--bind", f"127.0.0.1:{self.port}", "--workers", "2", "semblance.wsgi:application"),
            ),
            "worker": (
                *celery, "worker", "-Q", "default", "--pool", "solo", "--without-gossip", "--without-mingle",
                "--without-heartbeat",
            ),
            "beat": (*celery, "beat"),
        }  # fmt: skip
        with (self.home / f"{name}.log").open("ab") as log:
            self.processes[name] = subprocess.Popen(
                commands[name], env=self.environment, cwd=ROOT, stdout=log, stderr=log, process_group=0
            )

    def kill(self, name: str) -> None:
        """kill -9, the program and its children, and wait until they are gone."""
        process = self.processes[name]
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def stop(self) -> None:
        for name in self.processes:
            self.kill(name)

    def log(self, name: str) -> str:
        return (self.home / f"{name}.log").read_text(errors="replace")[-3000:]

    def wait_until_it_answers(self) -> None:
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            with suppress(OSError), closing(HTTPConnection("127.0.0.1", self.port, timeout=5)) as connection:
                connection.request("GET", "/healthz")
                if connection.getresponse().status == 200:
                    return
            time.sleep(0.1)
        raise AssertionError(self.log("web"))

    def python(self, script: str) -> Any:
        """What a script with Django set up prints as JSON on its last line."""
        done = subprocess.run(
            [sys.executable, "-c", f"import django; django.setup()\n{script}"],
            env={**self.environment, "DJANGO_SETTINGS_MODULE": "semblance.settings"},
            cwd=ROOT, capture_output=True, text=True, check=False, timeout=PATIENCE,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr[-3000:]
        return json.loads(done.stdout.splitlines()[-1])

    # The faults

    def web_process_killed(self, rng: random.Random) -> None:
        """One of gunicorn's processes, which starts another."""
        parent = self.processes["web"].pid
        children = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
        if children:
            with suppress(ProcessLookupError):
                os.kill(int(rng.choice(children)), signal.SIGKILL)

    def web_killed(self, _rng: random.Random) -> None:
        self.kill("web")
        self.start("web")

    def worker_killed(self, _rng: random.Random) -> None:
        self.kill("worker")
        self.start("worker")

    def redis_killed(self, rng: random.Random) -> None:
        self.kill("redis")
        time.sleep(rng.uniform(0.0, 1.0))
        self.start("redis")

    def redis_emptied(self, _rng: random.Random) -> None:
        with suppress(RedisError), Redis(port=self.redis_port) as redis:
            redis.flushall()

    def connections_ended(self, _rng: random.Random) -> None:
        """Every connection to the database that is not ours."""
        with psycopg.connect(self.database_url, autocommit=True) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
