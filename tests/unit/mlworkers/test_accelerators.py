"""Which accelerators a worker says it has."""

from pathlib import Path

import pytest

from mlworkers.runs.presence import accelerators_in


@pytest.fixture
def driver(tmp_path) -> Path:
    for number, model in enumerate(["NVIDIA A", "NVIDIA B", "NVIDIA C"]):
        folder = tmp_path / f"0000:0{number}:00.0"
        folder.mkdir()
        (folder / "information").write_text(f"Model: \t\t {model}\nIRQ:   \t\t 34\n")
    return tmp_path


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        (None, ["NVIDIA A", "NVIDIA B", "NVIDIA C"]),
        ("", []),
        ("-1", []),
        ("2,0", ["NVIDIA C", "NVIDIA A"]),
        ("1,7", ["NVIDIA B"]),
        ("0,-1,2", ["NVIDIA A"]),
        ("GPU-7c1f, GPU-99aa", ["NVIDIA A", "NVIDIA B"]),
    ],
)
def test_those_are_named_that_cuda_may_use(driver: Path, chosen: str | None, expected: list[str]) -> None:
    assert accelerators_in(driver, chosen) == expected


def test_a_machine_without_the_driver_has_none(tmp_path) -> None:
    assert accelerators_in(tmp_path / "nowhere", None) == []
