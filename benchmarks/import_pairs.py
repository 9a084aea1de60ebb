"""A CSV file of pairs into a database: ours against a loop that asks for each row's sentences and stores them singly.

The loop is what an importer looks like that was written without thinking of size: one transaction, two get_or_create
for the sentences, a create for the pair and one for its score. It checks nothing and counts no duplicates. The notes
also say what a row costs in a file ten times as long, against this one; `--rows N` imports one file of so many rows
instead, in a process of its own, against a file of 10,000 rows, while another process writes a row every .4 s, as a
person who judges does, and says how long it waits. `--repeats` imports one pair in row after row where half as many
rows of it are stored, against the same numbers of distinct pairs. With a PostgreSQL DATABASE_URL `--rows` and
`--repeats` measure that database.
"""

import argparse
import csv
import itertools
import multiprocessing
import multiprocessing.connection
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from time import perf_counter, process_time

from _compare import Comparison, alternate, peak_mb, print_comparison, rates_compared
from _database import HOME
from _pairs import pairs_file
from django.db import connection, transaction

from curation.exchange.importing import pairs_import
from curation.models import Dataset, Pair, PairScore, ScoreSet, Sentence
from curation.pairs.text import sentence_key

BASELINE = "a loop of get_or_create and create, row by row"
FEW = 10_000
DATABASE = "SQLite with synchronous=FULL" if connection.vendor == "sqlite" else "PostgreSQL"
numbers = itertools.count()


@transaction.atomic
def rows_stored_singly(dataset: Dataset, path: Path) -> None:
    score_set = ScoreSet.objects.create(dataset=dataset, name="reference", kind="reference", low=0, high=5)
    with path.open(newline="", encoding="utf-8") as file:
        for number, row in enumerate(csv.DictReader(file)):
            a, b = (sentence_stored(dataset, row[side]) for side in ("sentence1", "sentence2"))
            pair = Pair.objects.create(dataset=dataset, external_id=str(number), a=a, b=b)
            PairScore.objects.create(score_set=score_set, pair=pair, value=float(row["score"]))


def sentence_stored(dataset: Dataset, text: str) -> Sentence:
    key = sentence_key(text)
    return Sentence.objects.get_or_create(dataset=dataset, key=key, defaults={"text": text})[0]


def new_dataset() -> Dataset:
    return Dataset.objects.create(slug=f"dataset-{next(numbers)}", name="Benchmark")


def imported(path: Path, count: int) -> tuple[float, float]:
    """Seconds of the clock, and of this process."""
    started, worked = perf_counter(), process_time()
    outcome = pairs_import(dataset=new_dataset(), path=path)
    assert outcome.added == count
    return perf_counter() - started, process_time() - worked


@contextmanager
def writing_meanwhile() -> Iterator[list[float]]:
    """Another process writes a row of another dataset every .4 s. Yields the seconds that each took, at the end."""
    other, waits = new_dataset(), list[float]()
    connection.close()  # each process opens its own
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()
    writer = context.Process(target=rows_written, args=(other, theirs), daemon=True)
    writer.start()
    yield waits
    ours.send("stop")
    waits += ours.recv()
    writer.join()


def rows_written(dataset: Dataset, asked: multiprocessing.connection.Connection) -> None:
    waits = []
    while not asked.poll(0.4):
        started = perf_counter()
        with transaction.atomic():
            Dataset.objects.filter(pk=dataset.pk).update(name=f"Benchmark {len(waits)}")
        waits.append(perf_counter() - started)
    asked.send(waits)


def side_by_side(count: int, rounds: int) -> Comparison:
    path = pairs_file(Path(HOME) / "pairs.csv", count, seed=1)
    seconds, baseline_seconds = alternate(
        lambda: imported(path, count), lambda: rows_stored_singly(new_dataset(), path), rounds=rounds
    )
    longer, _own = imported(pairs_file(Path(HOME) / "longer.csv", 10 * count, seed=2), 10 * count)
    growth = longer / 10 / seconds
    return rates_compared(
        "import_pairs",
        work=count,
        unit="pairs/s",
        seconds=seconds,
        baseline=BASELINE,
        baseline_seconds=baseline_seconds,
        notes=f"{count} pairs with scores in {seconds:.2f} s, {DATABASE}, best of {rounds}; "
        f"a row of {10 * count} costs {growth:.2f} times as much",
    )


def one_long_file(count: int) -> Comparison:
    """A long file against a short one, by row. The load says how busy the machine was with other work."""
    few = pairs_file(Path(HOME) / "few.csv", FEW, seed=2)
    many = pairs_file(Path(HOME) / "many.csv", count, seed=1)
    short = min(imported(few, FEW) for _round in range(3))
    with writing_meanwhile() as waits:
        seconds, own = imported(many, count)
    load = os.getloadavg()[0]
    return rates_compared(
        "import_pairs",
        work=count,
        unit="pairs/s",
        seconds=seconds,
        baseline=f"the same work with {FEW} pairs, by row",
        baseline_seconds=short[0] * count / FEW,
        notes=f"{count} pairs ({many.stat().st_size / 1e6:.0f} MB) in {seconds:.0f} s, {own:.0f} s of this process, "
        f"peak {peak_mb():.0f} MB, {DATABASE}, load {load:.1f}; a row written meanwhile waited {median(waits):.3f} s "
        f"(median of {len(waits)}) and {max(waits):.2f} s at most",
    )


def repeats_against_distinct(count: int, rounds: int) -> Comparison:
    """One pair in all rows against a different one in each, by row: both where the first half of the rows is stored."""
    home = Path(HOME)
    distinct = pairs_file(home / "distinct.csv", count, seed=3)
    header, row = distinct.read_text(encoding="utf-8").splitlines()[:2]
    repeated = home / "repeated.csv"
    repeated.write_text("\n".join([header, *[row] * count]) + "\n", encoding="utf-8")
    seconds, baseline_seconds = alternate_seconds(
        lambda: imported_after_half(repeated, count),
        lambda: imported_after_half(distinct, count),
        rounds=rounds,
    )
    return rates_compared(
        "import_repeats",
        work=count,
        unit="pairs/s",
        seconds=seconds,
        baseline="the same number of distinct pairs, by row",
        baseline_seconds=baseline_seconds,
        notes=f"{count} rows of one pair where {count // 2} are stored, in {seconds:.2f} s of this process, "
        f"{DATABASE}, best of {rounds}",
    )


def alternate_seconds(
    product: Callable[[], float], baseline: Callable[[], float], *, rounds: int
) -> tuple[float, float]:
    """The fewest seconds that each says it took over so many rounds, in turn."""
    taken = [(product(), baseline()) for _round in range(rounds)]
    return min(own for own, _theirs in taken), min(theirs for _own, theirs in taken)


def imported_after_half(path: Path, count: int) -> float:
    """Seconds of this process for a file, in a dataset that holds the first half of its rows."""
    half = path.with_name(f"half-of-{path.name}")
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    half.write_text("".join(lines[: 1 + count // 2]), encoding="utf-8")
    dataset = new_dataset()
    pairs_import(dataset=dataset, path=half)
    started = process_time()
    outcome = pairs_import(dataset=dataset, path=path)
    assert outcome.added + outcome.updated + outcome.unchanged == count
    assert outcome.added == count - count // 2
    return process_time() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a smaller size, in seconds instead of minutes")
    parser.add_argument("--rows", type=int, help="one file of so many rows, against one of 10,000")
    parser.add_argument(
        "--repeats", action="store_true", help="40,000 rows of one pair, against distinct pairs"
    )
    options = parser.parse_args()
    if options.repeats:
        print_comparison(repeats_against_distinct(*((2_000, 1) if options.quick else (40_000, 3))))
    elif options.rows:
        print_comparison(one_long_file(options.rows))
    else:
        print_comparison(side_by_side(*((1_000, 1) if options.quick else (5_749, 3))))


if __name__ == "__main__":
    main()
