"""Two lanes of tests, their parts, and which failures are old."""

import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests import lanes

ROOT = Path(__file__).resolve().parents[2]


def test_a_browser_test_waits_for_what_is_on_the_page_and_never_for_a_fixed_time() -> None:
    waits = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in sorted((ROOT / "tests" / "browser").glob("*.py"))
        for number, line in enumerate(path.read_text().splitlines(), start=1)
        if re.search(r"wait_for_timeout\(|\bsleep\(", line)
    ]

    assert waits == []


class Config:
    """What the plugin asks of pytest's configuration."""

    def __init__(self, lane: str, part: str | None) -> None:
        self.options = {"--lane": lane, "--part": part}
        self.hook = SimpleNamespace(pytest_deselected=lambda items: None)

    def getoption(self, name: str) -> str | None:
        return self.options[name]


class Item:
    """A test: its id, and whether it is marked as exhaustive."""

    def __init__(self, number: int) -> None:
        self.nodeid = f"tests/test_it.py::test_{number}"
        self.is_exhaustive = number % 3 == 0

    def get_closest_marker(self, name: str) -> object:
        return True if name == "exhaustive" and self.is_exhaustive else None


def selected(lane: str, part: str | None = None) -> list[str]:
    items = [Item(number) for number in range(300)]
    lanes.pytest_collection_modifyitems(Config(lane, part), items)
    return [item.nodeid for item in items]


def test_the_two_lanes_together_are_all_tests() -> None:
    first, exhaustive = selected("first"), selected("exhaustive")

    assert len(exhaustive) == 100
    assert sorted(first + exhaustive) == sorted(selected("all"))


def test_ten_parts_of_a_lane_are_the_lane_and_no_test_is_in_two() -> None:
    parts = [selected("exhaustive", f"{number}/10") for number in range(10)]

    assert all(parts)
    assert sorted(name for part in parts for name in part) == sorted(selected("exhaustive"))


@pytest.mark.parametrize("wrong", ["10/10", "3", "a/10", "-1/10", "1/"])
def test_a_part_that_does_not_exist_is_refused(wrong: str) -> None:
    with pytest.raises(pytest.UsageError, match="N from 0 to OF - 1"):
        selected("all", wrong)


@pytest.fixture
def two_commits(tmp_path) -> Path:
    """A repository whose last commit broke one of its two tests, and in which the other failed before."""
    (tmp_path / ".ci").mkdir()
    (tmp_path / ".ci" / "old_failures").write_bytes((ROOT / ".ci" / "old_failures").read_bytes())
    git = ["git", "-c", "user.name=A", "-c", "user.email=a@example.org"]
    subprocess.run([*git, "init", "--quiet"], cwd=tmp_path, check=True)
    for broken in ("True", "False"):
        (tmp_path / "test_it.py").write_text(
            f"def test_old():\n    assert False\n\ndef test_broken():\n    assert {broken}\n"
        )
        subprocess.run([*git, "add", "test_it.py"], cwd=tmp_path, check=True)
        subprocess.run([*git, "commit", "--quiet", "--message", broken], cwd=tmp_path, check=True)
    return tmp_path


@pytest.mark.parametrize(
    ("names", "status", "said"),
    [
        (["test_old"], 0, ["old: fails on the parent commit as well: test_it.py::test_old"]),
        (["test_old", "test_broken"], 1, ["NEW: test_it.py::test_broken", "old: fails"]),
        (["test_nothing"], 1, []),
    ],
)
def test_a_failure_is_old_where_it_fails_on_the_parent_commit_too(
    two_commits: Path, names: list[str], status: int, said: list[str]
) -> None:
    ids = [f"test_it.py::{name}" for name in names]
    command = [sys.executable, "-m", "pytest", "-q", "-o", "cache_dir=kept", *ids]
    subprocess.run(command, cwd=two_commits, capture_output=True, check=False)

    answer = subprocess.run(
        [sys.executable, ".ci/old_failures", "kept"],
        cwd=two_commits,
        capture_output=True,
        text=True,
        check=False,
    )

    assert answer.returncode == status
    assert all(sentence in answer.stdout for sentence in said)
