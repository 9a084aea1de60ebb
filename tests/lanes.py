"""Two lanes of tests, and parts of them that are drawn by a hash.

`pytest --lane first` leaves out the tests marked `exhaustive`; `--lane exhaustive` runs these alone. `--part 3/10` runs
one of ten parts of the exhaustive tests: a test is always in the same part, because the hash of its id decides. Both
lanes with a part are all tests of the first and a part of the other.
"""

import zlib

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    lanes = parser.getgroup("lanes")
    lanes.addoption("--lane", choices=("all", "first", "exhaustive"), default="all", help="which tests run")
    lanes.addoption(
        "--part", metavar="N/OF", help="run part N (from 0) of OF parts, by the hash of a test's id"
    )


def part_of(test_id: str, parts: int) -> int:
    """The part of a test, 0 to parts - 1."""
    return zlib.crc32(test_id.encode()) % parts


def part_read(text: str) -> tuple[int, int]:
    """Part and number of parts of "3/10". Raises pytest.UsageError for anything else."""
    number, _, of = text.partition("/")
    if not (number.isdecimal() and of.isdecimal() and int(number) < int(of)):
        raise pytest.UsageError(f"--part is N/OF with N from 0 to OF - 1, not {text!r}")
    return int(number), int(of)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    lane, part = config.getoption("--lane"), config.getoption("--part")
    number, of = part_read(part) if part else (0, 1)

    def is_selected(item: pytest.Item) -> bool:
        if item.get_closest_marker("exhaustive") is None:
            return lane != "exhaustive"
        return lane != "first" and part_of(item.nodeid, of) == number

    left_out = [item for item in items if not is_selected(item)]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if is_selected(item)]
