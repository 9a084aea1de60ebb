"""A dataset of pairs with two score sets into CSV: ours against a table in memory that pandas writes.

The baseline fetches pairs and scores with two queries, joins them as data frames, and calls to_csv. `--rows N` exports
so many pairs with one score set to Parquet instead, against a table that pandas writes of a tenth
of them, by row. With a PostgreSQL DATABASE_URL it measures that database.
"""

import argparse
import os
from pathlib import Path
from time import perf_counter

import pandas as pd
from _compare import Comparison, alternate, peak_mb, print_comparison, rates_compared
from _database import HOME
from _pairs import pairs_file
from django.db import connection

from curation.exchange.exporting import pairs_export
from curation.exchange.importing import ImportOptions, pairs_import
from curation.models import Dataset, Pair, PairScore

BASELINE = "two queries into data frames, pivoted, joined and written by pandas"
FIELDS = ("pk", "external_id", "a__text", "b__text", "source", "subset", "split")


def written_by_pandas(dataset: Dataset, path: Path) -> None:
    pairs = pd.DataFrame.from_records(
        Pair.objects.filter(dataset=dataset, status="active").order_by("pk").values_list(*FIELDS),
        columns=FIELDS,
    )
    scores = pd.DataFrame.from_records(
        PairScore.objects.filter(pair__dataset=dataset).values_list("pair_id", "score_set__name", "value"),
        columns=["pk", "name", "value"],
    )
    wide = scores.pivot(index="pk", columns="name", values="value").reset_index()
    joined = pairs.merge(wide, on="pk", how="left").drop(columns="pk")
    if path.suffix == ".parquet":
        joined.to_parquet(path, index=False)
    else:
        joined.to_csv(path, index=False)


def dataset_imported(slug: str, count: int) -> Dataset:
    dataset = Dataset.objects.create(slug=slug, name=slug)
    pairs_import(dataset=dataset, path=pairs_file(Path(HOME) / f"{slug}.csv", count, seed=1))
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")  # as a server does by itself
    return dataset


def large_as_parquet(count: int) -> Comparison:
    home = Path(HOME)
    large, small = dataset_imported("large", count), dataset_imported("small", count // 10)
    before = peak_mb()
    started = perf_counter()
    outcome = pairs_export(dataset=large, path=home / "large.parquet", format="parquet")
    seconds, peak = perf_counter() - started, peak_mb()
    assert outcome.rows == count
    started = perf_counter()
    written_by_pandas(small, home / "small.parquet")
    baseline = perf_counter() - started
    return rates_compared(
        "export_pairs",
        work=count,
        unit="pairs/s",
        seconds=seconds,
        baseline=BASELINE,
        baseline_seconds=baseline * 10,
        notes=f"{count} pairs into Parquet ({outcome.path.stat().st_size / 1e6:.0f} MB) in {seconds:.1f} s, "
        f"{connection.vendor}; peak {peak:.0f} MB, {before:.0f} MB before; load {os.getloadavg()[0]:.1f}",
    )


def side_by_side(count: int, rounds: int) -> Comparison:
    home = Path(HOME)
    source = pairs_file(home / "pairs.csv", count, seed=1)
    dataset = Dataset.objects.create(slug="benchmark", name="Benchmark")
    for name in ("gold", "second"):
        pairs_import(dataset=dataset, path=source, options=ImportOptions(score_set=name))

    def ours() -> None:
        pairs_export(dataset=dataset, path=home / "ours.csv", format="csv")

    def baseline() -> None:
        written_by_pandas(dataset, home / "pandas.csv")

    ours()
    baseline()
    left, right = (pd.read_csv(home / name, header=None, skiprows=1) for name in ("ours.csv", "pandas.csv"))
    assert left.equals(right), "the two disagree; no speed makes up for that"
    seconds, baseline_seconds = alternate(ours, baseline, rounds=rounds)
    return rates_compared(
        "export_pairs",
        work=count,
        unit="pairs/s",
        seconds=seconds,
        baseline=BASELINE,
        baseline_seconds=baseline_seconds,
        notes=f"{count} pairs with two score sets in {seconds:.2f} s; ours holds 2,000 pairs at a time, pandas all",
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a smaller size, in seconds instead of minutes")
    parser.add_argument("--rows", type=int, help="so many pairs into Parquet")
    options = parser.parse_args()
    if options.rows:
        print_comparison(large_as_parquet(options.rows))
    else:
        print_comparison(side_by_side(*((2_000, 2) if options.quick else (20_000, 5))))


if __name__ == "__main__":
    main()
