"""Which tests of `tests/integration` a run leaves to another database: `pytest --once`, for the runs of `.ci/run`.

Every such test runs on PostgreSQL there. On SQLite, beside every page that the browser tests open and every command of
the README, only those run again whose question the database answers: tests that commit, and so lock and wait, and
programs with a database of their own. Whole jobs are not among them, because their parts are asked one by one.
"""

from pathlib import Path

import pytest

INTEGRATION = Path(__file__).parent / "integration"
WHOLE_JOBS = {"test_demo.py", "test_real_endpoint.py"}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--once",
        action="store_true",
        help="leave to a run on another database what asks nothing of this one",
    )


def commits(item: pytest.Item) -> bool:
    if item.path.name in WHOLE_JOBS:
        return False
    marker = item.get_closest_marker("django_db")
    names = getattr(item, "fixturenames", ())
    return bool(
        (marker and marker.kwargs.get("transaction")) or {"transactional_db", "live_server"} & set(names)
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("--once"):
        return
    left = [
        item
        for item in items
        if item.path.is_relative_to(INTEGRATION)
        and not commits(item)
        and item.get_closest_marker("own_site") is None
    ]
    config.hook.pytest_deselected(items=left)
    gone = set(left)
    items[:] = [item for item in items if item not in gone]
