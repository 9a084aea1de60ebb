"""`semblance serve`, as a process: everything starts together, and nothing stays behind."""

import os
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from urllib.request import urlopen

import pytest

pytestmark = pytest.mark.own_site
ROOT = Path(__file__).resolve().parents[3]
PATIENCE = 90.0  # seconds; a machine may be busy
HERE = "Semblance is at "


class Served:
    """A `semblance serve` of an installation of its own, started in a folder that is not the project's."""

    def __init__(self, home: Path, *arguments: str, **environment: str) -> None:
        inherited = {
            name: value for name, value in os.environ.items() if name not in {"DATABASE_URL", "REDIS_URL"}
        }
        self.output = home / "serve.txt"
        with self.output.open("wb") as output:
            self.process = subprocess.Popen(
                [
                    sys.executable,
                    str(ROOT / "manage.py"),
                    "serve",
                    "--port",
                    "0",
                    "--web-workers",
                    "1",
                    *arguments,
                ],
                env={**inherited, "SEMBLANCE_HOME": str(home), **environment},
                cwd=home,
                stdout=output,
                stderr=subprocess.STDOUT,
            )

    def text(self) -> str:
        return self.output.read_text(errors="replace")

    def address(self) -> str:
        """Where the site is, once it answers."""
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until and self.process.poll() is None:
            if HERE in self.text():
                return self.text().split(HERE)[1].split(" ")[0]
            time.sleep(0.05)
        pytest.fail(self.text())

    def children(self) -> dict[str, int]:
        """The process number of each program it runs, by the library that it is."""
        return {library_of(child): child for child in children_of(self.process.pid)}

    def ended(self) -> int:
        return self.process.wait(PATIENCE)


def children_of(process: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def family_of(process: int) -> list[int]:
    return [member for child in children_of(process) for member in (child, *family_of(child))]


def library_of(process: int) -> str:
    words = Path(f"/proc/{process}/cmdline").read_bytes().decode().split("\0")
    return "beat" if "beat" in words else words[words.index("-m") + 1]


def umask_of(process: int) -> str:
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next(line.split()[1] for line in lines if line.startswith("Umask:"))


def all_end(processes: list[int]) -> bool:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        if not any(lives(process) for process in processes):
            return True
        time.sleep(0.1)
    return False


def lives(process: int) -> bool:
    """A process that has ended, and waits for its parent to hear of it, lives no more."""
    with suppress(FileNotFoundError, ProcessLookupError):
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


@pytest.fixture(scope="module")
def installed(tmp_path_factory) -> Path:
    """One folder for all these tests: the first start migrates its database."""
    return tmp_path_factory.mktemp("installed")


@pytest.fixture
def serve(installed) -> Iterator[Callable[..., Served]]:
    started: list[Served] = []

    def start(*arguments: str, **environment: str) -> Served:
        started.append(Served(installed, *arguments, **environment))
        return started[-1]

    yield start
    for served in started:
        if served.process.poll() is None:
            served.process.terminate()
            served.process.wait(PATIENCE)


@pytest.mark.exhaustive
def test_it_answers_from_a_bare_folder_and_leaves_nothing_behind_when_it_is_stopped(serve) -> None:
    served = serve()
    with urlopen(f"{served.address()}healthz") as answer:  # noqa: S310 - our own address
        status = answer.status
    family = family_of(served.process.pid)
    masks = {umask_of(process) for process in family}

    served.process.send_signal(signal.SIGINT)

    assert status == 200
    assert masks == {"0077"}, "what they write would be open to others"
    assert len(family) == 6, served.text()  # gunicorn and its worker, three workers of runs, beat
    assert served.ended() == 0
    assert all_end(family)


@pytest.mark.exhaustive
def test_a_site_that_starts_says_so_before_its_workers_answer(serve, installed) -> None:
    served = serve("--workers", "gpu")
    until, names = time.monotonic() + PATIENCE, []
    while "starting/gpu" not in names and time.monotonic() < until and served.process.poll() is None:
        with (
            suppress(sqlite3.OperationalError),
            closing(sqlite3.connect(installed / "semblance.sqlite3")) as database,
        ):
            names = [name for (name,) in database.execute("SELECT name FROM mlworkers_workerheartbeat")]
        time.sleep(0.05)

    assert names == ["starting/gpu"], served.text()


@pytest.mark.exhaustive
def test_where_one_program_dies_the_others_stop_and_it_says_which(serve) -> None:
    served = serve("--workers", "default")
    served.address()
    family = family_of(served.process.pid)

    os.kill(served.children()["beat"], signal.SIGKILL)

    assert served.ended() == 2
    assert "Error: beat ended with status -9, so everything was stopped" in served.text()
    assert all_end(family)


@pytest.mark.exhaustive
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a process when its parent dies")
def test_even_when_it_is_killed_nothing_is_left_running(serve) -> None:
    served = serve("--workers", "default")
    served.address()
    family = family_of(served.process.pid)

    served.process.kill()

    assert all_end(family)


@pytest.mark.exhaustive
def test_a_port_in_use_is_said_in_a_sentence_before_anything_starts(serve) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        served = serve("--port", str(port))

        status = served.ended()

    assert status == 2
    assert served.text().splitlines() == [
        f"Error: Port {port} on 127.0.0.1 is in use. Stop the program that uses it, or choose another port with --port."
    ]


def test_a_queue_that_no_run_waits_in_is_refused(serve) -> None:
    served = serve("--workers", "default,gpus")

    assert served.ended() == 2
    assert served.text() == "Error: There is no queue “gpus”. The queues are default, gpu and playground.\n"


@pytest.mark.exhaustive
def test_a_database_that_is_not_embedded_is_migrated_by_its_operator_alone(serve, tmp_path) -> None:
    served = serve(
        DATABASE_URL=f"sqlite:///{tmp_path}/production.sqlite3",
        SECRET_KEY="tests-only",
        ALLOWED_HOSTS="localhost",
    )

    assert served.ended() == 2
    assert "migrations. Run `semblance migrate`." in served.text()
    assert len(served.text().splitlines()) == 1
