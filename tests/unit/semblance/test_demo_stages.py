"""How the demonstration says where it is."""

import io
import re
from pathlib import Path

from rich.console import Console
from rich.progress import Progress

from semblance.demo import plan
from semblance.demo.plan import SECONDS
from semblance.management.commands.demo import Course


def test_a_stage_is_named_when_it_begins_where_no_bar_can_grow() -> None:
    log = io.StringIO()
    progress = Progress(console=Console(file=log, force_terminal=False))

    with Course(progress).stage("Import pairs"):
        said_at_once = log.getvalue()

    assert said_at_once == "Import pairs …\n"


def test_a_log_says_how_many_minutes_are_left_at_the_pace_of_what_is_done(monkeypatch) -> None:
    clock = iter([0.0, 2 * SECONDS["Import pairs"]])
    monkeypatch.setattr("semblance.management.commands.demo.time.monotonic", lambda: next(clock))
    log = io.StringIO()
    course = Course(Progress(console=Console(file=log, force_terminal=False)))

    with course.stage("Import pairs"):
        pass
    with course.stage("Design campaign"):
        pass

    left = 2 * (sum(SECONDS.values()) - SECONDS["Import pairs"]) / 60
    assert log.getvalue().splitlines()[1] == f"Design campaign … (about {round(left)} minutes left)"


def test_the_whole_bar_moves_with_the_part_of_a_stage_that_is_done() -> None:
    progress = Progress(console=Console(file=io.StringIO(), force_terminal=True))

    with Course(progress).stage("Train generator") as report:
        report(1, 4, "")

        assert progress.tasks[0].completed == SECONDS["Train generator"] / 4
    assert progress.tasks[0].completed == SECONDS["Train generator"]


def test_the_seconds_are_those_of_the_stages_that_there_are() -> None:
    sources = "".join(path.read_text("utf-8") for path in Path(plan.__file__).parent.glob("*.py"))

    assert set(re.findall(r'stages\.(?:open|run)\(\s*"([^"]+)"', sources)) == set(SECONDS)
