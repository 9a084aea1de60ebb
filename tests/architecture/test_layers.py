"""The house's lines: imports go down, pure folders run without Django, the web process knows no ML library."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.purity import pure_modules
from tests.architecture.rooms import APPS, MOST_ARROWS, arrows, rooms_named, rooms_there

ROOT = Path(__file__).resolve().parents[2]
MACHINE_LEARNING = {"torch", "transformers", "sentence_transformers", "sklearn"}

MODULES_LOADED = """
import json, os, sys
os.environ["DJANGO_SETTINGS_MODULE"] = "semblance.settings"
import django
django.setup()
from django.urls import get_resolver
from django.core.wsgi import get_wsgi_application
get_wsgi_application()
get_resolver().reverse_dict  # loads every view
import semblance.celery
print(json.dumps(sorted(name for name in sys.modules if "." not in name)))
"""

MODULES_OF_A_COMMAND = """
import atexit, json, sys
from semblance.__main__ import main
atexit.register(lambda: print("\\n" + json.dumps(sorted(sys.modules))))
sys.argv = ["manage.py", *sys.argv[1:]]
main()
"""
# What takes long to load, and is not needed to say what a command can do.
SLOW = MACHINE_LEARNING | {
    "scipy.stats",
    "scipy.sparse",
    "scipy.special",
    "scipy.optimize",
    "altair",
    "vl_convert",
    "celery",
    "redis",
    "psycopg",
    "requests",
}
NEEDLESS = {
    "help": SLOW | {"scipy", "numpy", "pyarrow"},
    "bws --help": SLOW | {"scipy", "numpy", "pyarrow"},
    "bws score --help": SLOW,
    "run --list": SLOW | {"pyarrow"},
    "doctor --help": SLOW | {"pyarrow"},
    "export_dataset --help": SLOW | {"pyarrow"},
}

IMPORT_WITHOUT_DJANGO = """
import importlib, pkgutil, sys
for name in ("django", "celery", "rest_framework", "environ"):
    sys.modules[name] = None  # importing it now fails
for root in sys.argv[1:]:
    package = importlib.import_module(root)
    for module in pkgutil.walk_packages(getattr(package, "__path__", []), root + "."):
        importlib.import_module(module.name)
"""


def python(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run on SQLite without Redis, whatever the tests run on: the settings of a server load its library."""
    servers = {"DATABASE_URL", "REDIS_URL"}
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=ROOT,
        env={name: value for name, value in os.environ.items() if name not in servers},
        capture_output=True,
        text=True,
        check=False,
    )


def test_imports_keep_to_the_layers() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "from importlinter.cli import lint_imports_command; lint_imports_command()"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stdout


@pytest.mark.exhaustive
def test_pure_folders_run_where_django_is_not_installed() -> None:
    done = python(IMPORT_WITHOUT_DJANGO, *pure_modules())

    assert done.returncode == 0, done.stderr


def test_the_web_process_imports_no_machine_learning_library_and_starts_without_what_takes_long_to_load() -> (
    None
):
    done = python(MODULES_LOADED)

    assert done.returncode == 0, done.stderr
    loaded = set(json.loads(done.stdout.splitlines()[-1]))
    assert not (MACHINE_LEARNING | {"altair", "jwt", "pyarrow", "vl_convert"}) & loaded


@pytest.mark.parametrize(("command", "needless"), NEEDLESS.items())
def test_a_command_loads_nothing_that_takes_long_before_it_does_anything(
    command: str, needless: set[str]
) -> None:
    done = python(MODULES_OF_A_COMMAND, *command.split())

    assert done.returncode == 0, done.stderr
    assert not needless & set(json.loads(done.stdout.splitlines()[-1]))


def test_scipy_loads_its_parts_where_they_are_used() -> None:
    """`scipy.stats.rankdata` after `import scipy`: importing from `scipy.stats` takes longer than Django's start."""
    early = [
        path
        for package in APPS
        for path in (ROOT / package).rglob("*.py")
        if re.search(r"^(from scipy\b|import scipy\.)", path.read_text(), re.MULTILINE)
    ]

    assert not early


@pytest.mark.parametrize(("package", "most"), MOST_ARROWS.items())
def test_few_imports_connect_the_rooms_of_a_package(package: str, most: int) -> None:
    assert len(arrows(package)) <= most


def test_every_room_is_named_in_the_architecture_and_every_name_there_is_a_room() -> None:
    named = rooms_named((ROOT / "ARCHITECTURE.md").read_text())

    assert rooms_there() - named == set()
    assert {room for room in named if room.startswith(APPS) and not (ROOT / room).is_dir()} == set()
