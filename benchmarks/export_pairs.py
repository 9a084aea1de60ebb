"""A dataset of pairs with two score sets into CSV: ours against a table in memory that pandas writes.

The baseline fetches pairs and scores with two queries, joins them as data frames, and calls to_csv.
"""

from pathlib import Path

import pandas as pd
from _compare import alternate, is_quick, print_comparison, rates_compared
from _installation import HOME
from _pairs import pairs_file

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
    pairs.merge(wide, on="pk", how="left").drop(columns="pk").to_csv(path, index=False)


def main() -> None:
    count, rounds = (2_000, 2) if is_quick(__doc__) else (20_000, 5)
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
    print_comparison(
        rates_compared(
            "export_pairs",
            work=count,
            unit="pairs/s",
            seconds=seconds,
            baseline=BASELINE,
            baseline_seconds=baseline_seconds,
            notes=f"{count} pairs with two score sets in {seconds:.2f} s; ours holds 2,000 pairs at a time, pandas all",
        )
    )


if __name__ == "__main__":
    main()
