"""How long a command takes before it does anything, against Django alone with the same apps of others.

Processor time of whole processes, the least of several rounds in which all take turns: what other programs do on the
machine adds to it and takes nothing away. The first round compiles what was not compiled, and is not counted.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from _compare import is_quick, print_comparison, rates_compared

ROOT = Path(__file__).resolve().parents[1]

DJANGO_ALONE = """
import django
from django.conf import settings
from semblance.settings import INSTALLED_APPS, MIDDLEWARE  # settings, which load none of the apps
of_others = [app for app in INSTALLED_APPS if app not in {"semblance", "curation", "annotation", "mlworkers"}]
settings.configure(
    INSTALLED_APPS=of_others,
    MIDDLEWARE=[name for name in MIDDLEWARE if not name.startswith("semblance.")],
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
)
django.setup()
"""
WEB = """
import semblance.wsgi
from django.urls import get_resolver
get_resolver().url_patterns  # what the first request loads
"""
# Celery calls what was connected first before the worker's own threads, which need a database, are started.
WORKER = """
import os, runpy, sys
from celery.signals import worker_ready
def ready(**about):
    os._exit(0)
worker_ready.connect(ready)
sys.argv = "celery --quiet -A semblance worker --queues default --pool threads --concurrency 4".split()
sys.argv += "--loglevel WARNING --without-gossip --without-mingle --without-heartbeat".split()
runpy.run_module("celery", run_name="__main__")
"""
BASELINE = "django.setup() with the apps of others alone"
STARTS = {
    BASELINE: ["-c", DJANGO_ALONE],
    "bws --help": ["manage.py", "bws", "--help"],
    "bws score --help": ["manage.py", "bws", "score", "--help"],
    "run --list": ["manage.py", "run", "--list"],
    "export_dataset --help": ["manage.py", "export_dataset", "--help"],
    "doctor --help": ["manage.py", "doctor", "--help"],
    "the web process, ready": ["-c", WEB],
    "a worker, ready": ["-W", "ignore", "-c", WORKER],
    "check": ["manage.py", "check"],
}


def seconds(arguments: list[str], home: str) -> float:
    """Processor time of one process."""
    before = os.times()
    subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env={**os.environ, "SEMBLANCE_HOME": home, "ENV_FILE": os.devnull},
        check=True,
        stdout=subprocess.DEVNULL,
    )
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def main() -> None:
    rounds = 2 if is_quick(__doc__) else 7
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    taken: dict[str, list[float]] = {name: [] for name in STARTS}
    with tempfile.TemporaryDirectory() as home:
        for _ in range(rounds + 1):
            for name, arguments in STARTS.items():
                taken[name].append(seconds(arguments, home))
    least = {name: min(times[1:]) for name, times in taken.items()}
    baseline = least[BASELINE]
    for name, time in least.items():
        print(f"{name:40} {time:6.2f} s   {time / baseline:5.2f} times the baseline")
    print_comparison(
        rates_compared(
            "startup",
            work=1,
            unit="starts of bws --help a second of processor time",
            seconds=least["bws --help"],
            baseline=BASELINE,
            baseline_seconds=baseline,
            notes="; ".join(
                f"{name} takes {time / baseline:.2f} times as long" for name, time in least.items()
            ),
        )
    )


if __name__ == "__main__":
    main()
