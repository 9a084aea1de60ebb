"""Two lanes of tests, their parts, and which failures are old."""

import dataclasses
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import SimpleNamespace
from typing import Any

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


def test_both_lanes_with_a_part_are_the_first_lane_and_that_part() -> None:
    assert sorted(selected("all", "3/10")) == sorted(selected("first") + selected("exhaustive", "3/10"))


@pytest.mark.parametrize("wrong", ["10/10", "3", "a/10", "-1/10", "1/"])
def test_a_part_that_does_not_exist_is_refused(wrong: str) -> None:
    with pytest.raises(pytest.UsageError, match="N from 0 to OF - 1"):
        selected("all", wrong)


# Plugins of installed packages take longer to load than these tests take to run.
PLAIN = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": ""}
TESTS = """
import pytest

pytestmark = pytest.mark.exhaustive

def test_old():
    assert False

def test_broken():
    assert {broken}
"""
FIRST_LANE = "def test_plain():\n    assert False\n"


@pytest.fixture
def two_commits(tmp_path) -> Path:
    """A repository whose last commit broke one of its two exhaustive tests, and in which the others failed before."""
    (tmp_path / ".ci").mkdir()
    (tmp_path / ".ci" / "old_failures").write_bytes((ROOT / ".ci" / "old_failures").read_bytes())
    (tmp_path / "lanes.py").write_bytes((ROOT / "tests" / "lanes.py").read_bytes())
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = -p lanes\npythonpath = .\n")
    (tmp_path / "test_first.py").write_text(FIRST_LANE)
    git = ["git", "-c", "user.name=A", "-c", "user.email=a@example.org"]
    subprocess.run([*git, "init", "--quiet"], cwd=tmp_path, check=True)
    for broken in ("True", "False"):
        (tmp_path / "test_it.py").write_text(TESTS.format(broken=broken))
        subprocess.run([*git, "add", "--all"], cwd=tmp_path, check=True)
        subprocess.run([*git, "commit", "--quiet", "--message", broken], cwd=tmp_path, check=True)
    return tmp_path


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("names", "status", "said"),
    [
        (["test_it.py::test_old"], 0, ["old: fails on the parent commit as well: test_it.py::test_old"]),
        (["test_it.py"], 1, ["NEW: test_it.py::test_broken", "old: fails"]),
        (["test_first.py", "test_it.py::test_old"], 1, ["first lane: test_first.py::test_plain"]),
        (["test_nothing.py"], 1, []),
    ],
)
def test_a_failure_of_the_exhaustive_lane_is_old_where_it_fails_on_the_parent_commit_too(
    two_commits: Path, names: list[str], status: int, said: list[str]
) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-o", "cache_dir=kept", *names]
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


@pytest.fixture
def script_of_ci(monkeypatch) -> Callable[[str], Any]:
    """A script of .ci as a module."""
    monkeypatch.syspath_prepend(ROOT / ".ci")

    def load(name: str) -> Any:
        loader = SourceFileLoader(f"ci_{name}", str(ROOT / ".ci" / name))
        module = module_from_spec(spec_from_loader(loader.name, loader))
        monkeypatch.setitem(sys.modules, loader.name, module)  # dataclasses look for their module there
        loader.exec_module(module)
        return module

    return load


def test_few_test_functions_are_exhaustive(script_of_ci) -> None:
    compare = script_of_ci("compare_tests")

    exhaustive, functions = compare.lanes_counted(ROOT)

    assert 0 < exhaustive <= compare.MOST_EXHAUSTIVE * functions


def test_a_function_is_exhaustive_by_a_mark_of_its_own_of_one_case_of_its_class_or_of_its_module(
    script_of_ci, tmp_path
) -> None:
    mark = "pytest.mark.exhaustive"
    case = f"@pytest.mark.parametrize('n', [1, pytest.param(2, marks={mark})])"
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_a.py").write_text(
        f"@{mark}\ndef test_own(): ...\n{case}\ndef test_case(n): ...\n"
        f"def test_plain(): ...\ndef helper(): ...\n@{mark}\nclass TestAll:\n    def test_inside(self): ...\n"
    )
    (tmp_path / "tests" / "test_b.py").write_text(f"pytestmark = [{mark}]\ndef test_module(): ...\n")

    found = script_of_ci("compare_tests").functions(tmp_path)

    names = [
        "a.py::test_own",
        "a.py::test_case",
        "a.py::test_plain",
        "a.py::TestAll::test_inside",
        "b.py::test_module",
    ]
    assert found == {f"tests/test_{name}": "plain" not in name for name in names}


@pytest.mark.parametrize(("both", "status"), [(1000, 0), (1001, 1)])
def test_the_first_lane_executes_97_of_100_lines_that_all_tests_execute(
    script_of_ci, capsys, both: int, status: int
) -> None:
    others = {"num_statements": 1100, "covered_branches": 40, "num_branches": 50}

    assert (
        script_of_ci("coverage").share_told(
            {"covered_lines": 970, **others}, {"covered_lines": both, **others}
        )
        == status
    )

    first, second, *_ = capsys.readouterr().out.splitlines()
    assert first == "TOTAL first lane: 970 of 1,100 lines (88.2%), 40 of 50 branches (80.0%)"
    assert second.startswith(f"TOTAL both lanes: {both:,} of 1,100 lines")
    assert second.endswith(f"the first lane executes {970 / both:.1%} of these lines")


def test_the_jobs_of_ci_have_every_module_of_tests_and_no_two_shares_have_the_same(script_of_ci) -> None:
    def modules(job: Any) -> set[Path]:
        named = [ROOT / word for word in job.command if word.startswith("tests/")]
        return {one for path in named for one in ([path] if path.is_file() else path.rglob("test_*.py"))}

    found = [(job, modules(job)) for job in script_of_ci("jobs").jobs()]
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["pytest"]["ini_options"]
    asked = {path for folder in settings["testpaths"] for path in (ROOT / folder).rglob("test_*.py")}

    assert {path for _job, paths in found for path in paths} == asked
    for kind in ("postgres-", "unit-", "ml-"):
        shares = [paths for job, paths in found if job.name.startswith(kind)]
        assert len(shares) >= 2
        assert all(shares)
        assert sum(map(len, shares)) == len(set().union(*shares))


def test_a_part_that_runs_keeps_what_the_table_says_of_the_others(
    script_of_ci, tmp_path, monkeypatch
) -> None:
    everything = script_of_ci("everything")
    monkeypatch.setattr(everything, "TABLE", tmp_path / "everything.md")
    monkeypatch.setattr(everything, "KEPT", tmp_path)
    part = everything.Part("nothing", "echo 3 passed in 1s", {})
    monkeypatch.setattr(
        everything, "PARTS", {"one": part, "two": part, "wrong": dataclasses.replace(part, command="false")}
    )

    everything.TABLE.write_text("")
    assert everything.main(["one"]) == 0
    assert everything.main(["two", "wrong"]) == 1
    monkeypatch.setenv("DATABASE_URL", "postgres://nobody@nowhere/nothing")
    monkeypatch.setitem(
        everything.PARTS, "two", dataclasses.replace(part, command='echo "4 passed$DATABASE_URL"')
    )
    assert everything.main(["two"]) == 0

    rows = [line.split(" | ") for line in everything.TABLE.read_text().splitlines()[-3:]]
    assert [[row[0], row[2], row[-1]] for row in rows] == [
        ["| one", "passed", "3 passed in 1s |"],
        ["| two", "passed", "4 passed |"],
        ["| wrong", "FAILED (1)", " |"],
    ]


def test_the_table_of_everything_has_a_row_for_each_part(script_of_ci) -> None:
    everything = script_of_ci("everything")

    named = [line.split(" | ")[0] for line in everything.TABLE.read_text().splitlines() if line[:2] == "| "]
    assert named == ["| part", *(f"| {name}" for name in everything.PARTS)]
