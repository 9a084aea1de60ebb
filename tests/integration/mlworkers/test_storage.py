"""A run's folder and its log."""

from pathlib import Path

import pytest

from mlworkers.runs.storage import LOG_MAX_BYTES, RunLog, home_path, home_relative


def test_the_log_keeps_its_newest_lines_and_stays_small(home) -> None:
    log = RunLog(7)
    line = "x" * 10_000

    for number in range(300):
        log.write(f"{number} {line}")

    assert log.path.stat().st_size <= LOG_MAX_BYTES
    assert log.path.read_text().startswith("… earlier lines were left out\n")
    assert "299 x" in log.tail(lines=1)


def test_the_log_s_tail_is_its_last_lines(home) -> None:
    log = RunLog(7)
    for number in range(100):
        log.write(f"line {number}")

    lines = log.tail(lines=2).splitlines()

    assert [line.partition(" line ")[2] for line in lines] == ["98", "99"]


def test_a_run_without_a_log_has_an_empty_tail(home) -> None:
    assert RunLog(7).tail() == ""


def test_a_log_that_cannot_be_written_costs_no_run(home) -> None:
    (home / "runs").write_text("a file where the folder should be")

    RunLog(7).write("a line")

    assert (home / "runs").read_text() == "a file where the folder should be"


@pytest.mark.parametrize("relative", ["../outside", "/etc/passwd", "runs/../../outside"])
def test_a_path_that_leads_out_of_the_folder_is_refused(home, relative: str) -> None:
    with pytest.raises(ValueError, match="lies outside SEMBLANCE_HOME"):
        home_path(relative)


def test_a_stored_path_leads_back_to_its_file(home: Path) -> None:
    file = home / "runs" / "7" / "1" / "pairs.csv"

    assert home_path(home_relative(file)) == file.resolve()
