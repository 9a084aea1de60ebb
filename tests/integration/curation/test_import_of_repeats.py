"""Files that hold one pair very often, in a dataset that does: each row costs the same, however many there are."""

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from curation.exchange import importing, pair_writing
from curation.exchange.importing import AS_THE_FILE_SAYS, ImportOptions, pairs_import
from curation.files.known import StoredPair
from curation.files.parsing import Columns
from curation.models import Dataset, Pair

FEW, MANY = 30, 120
# A single call for each pair that is there, or for each row before, grows by more.
MOST_GROWTH = 1.1


class CountedPair(StoredPair):
    """A stored pair of which each construction and each comparison is a call in Python, and so is counted."""

    def __new__(cls, *facts: Any) -> "CountedPair":
        return super().__new__(cls, *facts)

    def __eq__(self, other: object) -> bool:
        return tuple.__eq__(self, other)  # type: ignore[arg-type]

    __hash__ = tuple.__hash__


def calls_of(work: Callable[[], object]) -> int:
    """How many functions of curation are called, and how many stored pairs are made and compared."""
    calls = 0

    def count(frame: FrameType, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event == "call" and "/curation/" in frame.f_code.co_filename

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(before)
    return calls


@pytest.fixture
def import_file(db, tmp_path, monkeypatch):
    monkeypatch.setattr(importing, "ONE_TRANSACTION_ROWS", 4)
    monkeypatch.setattr(importing, "CHUNK_ROWS", 2)
    monkeypatch.setattr(pair_writing, "StoredPair", CountedPair)

    def run(
        dataset: Dataset, name: str, rows: list[str], options: ImportOptions = AS_THE_FILE_SAYS
    ) -> importing.ImportOutcome:
        path: Path = tmp_path / name
        path.write_text("\n".join(["id,sentence1,sentence2,source,split", *rows]) + "\n")
        return pairs_import(dataset=dataset, path=path, options=options)

    return run


def repeated(number: int, *, source: str = "", split: str = "", ids: str = "") -> list[str]:
    return [f"{ids and ids + str(n)},A.,B.,{source},{split}" for n in range(number)]


def ids_of_another_pair(number: int) -> list[str]:
    return [f"p{n},C{n}.,D{n}.,s," for n in range(number)]


BY_NAME = ImportOptions(columns=Columns(split=""))
STAYING = ImportOptions(across_splits=False)
NAMED_IDS = ImportOptions(columns=Columns(external_id="id"))
# What is stored, what is imported then, and with which options; of a number of pairs.
CASES: dict[str, tuple[Callable[[int], list[str]], Callable[[int], list[str]], ImportOptions]] = {
    "more of the same": (repeated, lambda n: repeated(2 * n), AS_THE_FILE_SAYS),
    "other sources take the pairs, and then their own names are taken": (
        lambda n: repeated(n, source="s"),
        lambda n: repeated(n, source="t") + repeated(n, source="s"),
        AS_THE_FILE_SAYS,
    ),
    "a file of one split, whose pairs are in others": (
        lambda n: repeated(n, split="dev"),
        lambda n: repeated(2 * n),
        BY_NAME,
    ),
    "half of the pairs are in a split that no row can be of": (
        lambda n: repeated(n, split="dev") + repeated(n, split="test"),
        lambda n: repeated(2 * n, split="test"),
        STAYING,
    ),
    "rows refused because their ids belong to other pairs": (
        lambda n: repeated(2 * n, source="s") + ids_of_another_pair(n),
        lambda n: [*repeated(n, source="s", ids="p"), "new,E.,F.,s,"],
        NAMED_IDS,
    ),
}


@pytest.mark.exhaustive
@pytest.mark.parametrize("case", CASES)
def test_a_row_costs_as_much_among_many_repeats_as_among_few(import_file, case: str) -> None:
    before, after, options = CASES[case]

    def calls_per_row(number: int) -> float:
        dataset = Dataset.objects.create(slug=f"repeats-{number}", name="Repeats")
        import_file(dataset, "before.csv", before(number))
        rows = after(number)
        return calls_of(lambda: import_file(dataset, "after-train.csv", rows, options)) / len(rows)

    assert calls_per_row(MANY) <= MOST_GROWTH * calls_per_row(FEW)


def test_new_pairs_get_the_lowest_free_names(import_file, dataset) -> None:
    """Rows of another source took all pairs, so those of the first source are new, under names that are free."""
    import_file(dataset, "before.csv", repeated(3, source="s"))

    outcome = import_file(dataset, "after.csv", repeated(3, source="t") + repeated(3, source="s"))
    again = import_file(dataset, "after.csv", repeated(3, source="t") + repeated(3, source="s"))

    assert (outcome.added, outcome.updated, outcome.changes["source"]) == (3, 3, 3)
    assert (again.added, again.updated, again.unchanged) == (0, 0, 6)
    assert (
        Pair.objects.filter(dataset=dataset).values("external_id", "source", "split").distinct().count() == 6
    )
