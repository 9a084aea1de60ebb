"""A site in an empty folder for as long as it is attacked, and the memory that its programs take meanwhile."""

import os
import re
import secrets
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.request import urlopen

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 180.0
OWNER = """
from curation.models import User
User.objects.create_superuser("owner", password={password!r})
"""


def started(home: Path, port: int, workers: str = "default", **more: str) -> subprocess.Popen[bytes]:
    """more: variables of its environment."""
    environment = {**os.environ, "SEMBLANCE_HOME": str(home), "TRUSTED_PROXIES": "1", **more}
    command = [sys.executable, "manage.py", "serve", "--port", str(port), "--workers", workers]
    with (home / "serve.log").open("wb") as log:
        site = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=log)  # noqa: S603
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until and site.poll() is None:
        if answers(port):
            return site
        time.sleep(0.2)
    site.kill()
    raise SystemExit((home / "serve.log").read_text())


def answers(port: int) -> bool:
    try:
        with urlopen(f"http://127.0.0.1:{port}/livez", timeout=10) as answer:
            return answer.status == 200
    except OSError:
        return False


class Site:
    """A running site on SQLite, and the password of the user who is called owner and may do everything.

    backup: what is restored before the site starts; otherwise the site is empty.
    """

    def __init__(self, home: Path, port: int, backup: Path | None = None) -> None:
        self.home, self.port, self.password = home, port, secrets.token_hex(12)
        self.address = f"http://127.0.0.1:{port}"
        self.database = home / "semblance.sqlite3"
        self.temporary = home / "temporary"
        self.temporary.mkdir()
        self._more = {
            "TMPDIR": str(self.temporary), "DATABASE_URL": "", "REDIS_URL": "",
            "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")])),
        }  # fmt: skip
        if backup:
            self.manage("restore", str(backup))
        self.process = started(home, port, **self._more)

    def manage(self, *arguments: str) -> str:
        environment = {**os.environ, "SEMBLANCE_HOME": str(self.home), **self._more}
        command = [sys.executable, "manage.py", *arguments]
        done = subprocess.run(  # noqa: S603
            command, cwd=ROOT, env=environment, check=True, stdout=subprocess.PIPE, text=True
        )
        return done.stdout

    def log(self) -> str:
        return (self.home / "serve.log").read_text(errors="replace")

    def errors(self) -> list[str]:
        """What the programs logged as errors, each with its traceback."""
        return re.findall(
            r"^[^\n]* ERROR .*?(?=^[^\n]* (?:WARNING|ERROR|INFO) |\Z)", self.log(), re.DOTALL | re.MULTILINE
        )

    def answers(self) -> bool:
        return answers(self.port)

    def web(self) -> int:
        """The number of gunicorn's parent among the programs that `serve` started."""
        children = children_of(self.process.pid)
        return next(c for c in children if b"gunicorn" in Path(f"/proc/{c}/cmdline").read_bytes())


@contextmanager
def own_site(port: int, backup: Path | None = None) -> Iterator[Site]:
    with tempfile.TemporaryDirectory() as folder:
        site = Site(Path(folder), port, backup)
        try:
            site.manage("shell", "-v", "0", "-c", OWNER.format(password=site.password))
            yield site
        finally:
            site.process.terminate()
            site.process.wait()


def children_of(process: int) -> list[int]:
    with suppress(OSError):
        return [int(child) for child in Path(f"/proc/{process}/task/{process}/children").read_text().split()]
    return []


class Memory:
    """The most memory in MB that a process and all that it started have together, and any of them alone.

    Together: of pages that n processes share, each has an n-th (PSS). Alone: all that the process has (RSS).
    """

    def __init__(self, process: int, seconds: float = 0.1) -> None:
        self._process, self._seconds = process, seconds
        self.together = self.alone = 0.0
        self._done = threading.Event()

    def _look(self) -> None:
        together, alone, waiting = 0.0, 0.0, [self._process]
        while waiting:
            process = waiting.pop()
            waiting += children_of(process)
            with suppress(OSError, ValueError, KeyError):
                lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()[1:]
                found = {name: int(rest.split()[0]) / 1024 for name, rest in (li.split(":") for li in lines)}
                together += found["Pss"]
                alone = max(alone, found["Rss"])
        self.together, self.alone = max(self.together, together), max(self.alone, alone)

    def _watch(self) -> None:
        while not self._done.wait(self._seconds):
            self._look()

    def __enter__(self) -> "Memory":
        self._look()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._done.set()
        self._thread.join()
