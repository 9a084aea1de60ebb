"""The program that puts small faults into the code: what it changes, which tests it asks, and what it counts."""

import json
import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_file_location, spec_from_loader
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCE = """\
LIMIT = 3


def few(
    number,
):
    def under(other):
        return other < LIMIT

    if (
        number == 0
    ):
        return True
    return under(number)


class Box:
    SIZE = 2

    def holds(self, number):
        return number <= self.SIZE
"""


@pytest.fixture
def mutants(tmp_path, monkeypatch) -> ModuleType:
    loader = SourceFileLoader("ci_mutants", str(ROOT / ".ci" / "mutants"))
    module = module_from_spec(spec_from_loader("ci_mutants", loader))
    monkeypatch.setitem(sys.modules, "ci_mutants", module)  # dataclasses look for their module there
    loader.exec_module(module)
    module.TREE = tmp_path
    module.RESULTS, module.EQUIVALENT = tmp_path / "results.jsonl", tmp_path / "equivalent.txt"
    (tmp_path / "boxes.py").write_text(SOURCE)
    return module


@pytest.fixture
def boxes(mutants, tmp_path) -> ModuleType:
    spec = spec_from_file_location("boxes", tmp_path / "boxes.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def changed(mutants: ModuleType, gone: str, come: str) -> object:
    source = SOURCE.replace(gone, come)
    return mutants.Mutant("boxes.py", 1, "", "", source, *mutants.lines_changed(SOURCE, source), "order")


def test_a_mutant_of_a_function_changes_the_functions_that_others_have_imported(mutants, boxes) -> None:
    few, holds = boxes.few, boxes.Box().holds
    assert not few(3)
    assert holds(2)

    live = mutants.functions_live(mutants.TREE)
    assert mutants.functions_change(changed(mutants, "other < LIMIT", "other <= LIMIT"), live) == 1
    assert mutants.functions_change(changed(mutants, "<= self.SIZE", "< self.SIZE"), live) == 1

    assert few(3)
    assert not holds(2)


def test_a_mutant_that_acts_while_the_module_is_imported_changes_no_live_function(mutants, boxes) -> None:
    live = mutants.functions_live(mutants.TREE)
    assert mutants.functions_change(changed(mutants, "LIMIT = 3", "LIMIT = 4"), live) == 0
    assert mutants.functions_change(changed(mutants, "SIZE = 2", "SIZE = 1"), live) == 0


@pytest.mark.parametrize(
    ("line", "lines"), [(1, [1]), (5, [4, 5, 6]), (8, [8]), (11, [10, 11, 12]), (14, [14])]
)
def test_a_line_belongs_to_its_statement_without_the_body(mutants, boxes, line, lines) -> None:
    assert list(mutants.header_lines("boxes.py", line)) == lines


def test_the_quickest_tests_that_execute_a_line_are_asked_until_their_time_is_used(mutants, boxes) -> None:
    mutant = mutants.Mutant("boxes.py", 8, "", "", SOURCE, "", "", "")
    lines = {"8": {"run": ["b::1", "a::1", "a::2"], "setup": ["c::1"], "import": False}}
    seconds = {"a::1": 1.0, "a::2": 11.0, "b::1": 7.0, "c::1": 3.0}
    known = {"seconds": seconds, "modules": {"boxes.py": {"lines": lines}}}

    assert mutants.reach_of(mutant, known, set()).tests == ["a::1", "a::2", "b::1"]
    assert mutants.reach_of(mutant, known, {"a::2"}).tests == ["a::1", "b::1", "c::1"]


def test_survivors_are_listed_unless_a_reason_is_given(mutants, capsys) -> None:
    def result(order: str, outcome: str, before: str) -> str:
        place = {"path": "curation/access.py", "line": 3, "function": "may", "operator": "AddNot"}
        return json.dumps({"order": order, **place, "outcome": outcome, "before": before, "after": "y"})

    outcomes = [
        ("1", "killed", "a"),
        ("2", "timeout", "b"),
        ("3", "survived", "c"),
        ("4", "not reached", "d"),
    ]
    mutants.RESULTS.write_text("\n".join(result(*outcome) for outcome in [*outcomes, ("3", "survived", "c")]))
    mutants.EQUIVALENT.write_text("# Reasons.\n\ncuration/access.py\n- c\n+ y\nNothing changes.\n")

    assert not mutants.enough_killed(["1", "2", "3", "4", "5"])
    assert "2 of 4 mutants killed, 1 equivalent, 1 left" in capsys.readouterr().out
    assert mutants.enough_killed(["1", "2", "3"])
    assert "| curation/access.py | 4 | 1 | 1 | 0 | 1 | 1 | 50.0 % (15.0 to 85.0) |" in mutants.table()
    assert "- d\n+ y" in mutants.table()
    assert "- c\n+ y" not in mutants.table()
