"""Start a site in an empty folder, and attack it with attack_site.py and guess_passwords.py; `make attack` does.

    python docs/experiments/attack_own_site.py [--port 8150] [--only hostile_files]

Afterwards the site must still answer. The status is 1 if it does not, or if it answered an attack with an error of its
own (status 500).
"""

import argparse
import os
import re
import secrets
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.request import urlopen

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 180.0
OWNER = """
from curation.models import User
User.objects.create_superuser("owner", password={password!r})
"""


def started(home: Path, port: int, workers: str = "default") -> subprocess.Popen[bytes]:
    environment = {**os.environ, "SEMBLANCE_HOME": str(home), "TRUSTED_PROXIES": "1"}
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


def web_of(site: subprocess.Popen[bytes]) -> int:
    """The number of gunicorn's parent among the programs that `serve` started."""
    children = Path(f"/proc/{site.pid}/task/{site.pid}/children").read_text().split()
    return int(next(c for c in children if b"gunicorn" in Path(f"/proc/{c}/cmdline").read_bytes()))


def attacked(*arguments: str) -> str:
    command = [sys.executable, *arguments]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)  # noqa: S603
    output = ""
    for line in process.stdout or ():
        print(line, end="", flush=True)
        output += line
    if process.wait():
        raise SystemExit(f"{arguments[0]} ended with status {process.returncode}.")
    return output


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--port", type=int, default=8150)
    parser.add_argument("--only", default="", help="the part of attack_site.py with this in its name")
    options = parser.parse_args()
    password = secrets.token_hex(12)
    who = ["--user", "owner", "--password", password]
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        site = started(home, options.port)
        try:
            environment = {**os.environ, "SEMBLANCE_HOME": folder}
            make = [sys.executable, "manage.py", "shell", "-v", "0", "-c", OWNER.format(password=password)]
            subprocess.run(make, cwd=ROOT, env=environment, check=True)  # noqa: S603
            address = f"http://127.0.0.1:{options.port}"
            only = ["--only", options.only] if options.only else []
            web = ["--web", str(web_of(site))]
            said = attacked("docs/experiments/attack_site.py", f"{address}/", *who, *web, *only)
            said += attacked("docs/experiments/guess_passwords.py", address, *who)
            lives = answers(options.port)
        finally:
            site.terminate()
            site.wait()
        failed = re.findall(r'"(?:upload|check|status|apply|campaign_saved)": 5\d\d|status 5\d\d', said)
        print(f"The site answers afterwards: {lives}. Errors of the server: {len(failed)}.")
        if failed or not lives:
            raise SystemExit(1)


if __name__ == "__main__":
    main()
