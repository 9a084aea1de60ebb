"""A CSV file of pairs into SQLite: ours against a loop that asks for each row's sentences and stores them singly.

The loop is what an importer looks like that was written without thinking of size: one transaction, two get_or_create
for the sentences, a create for the pair and one for its score. It checks nothing and counts no duplicates.
"""

import csv
import itertools
from pathlib import Path

from _compare import alternate, is_quick, print_comparison, rates_compared
from _installation import HOME
from _pairs import pairs_file
from django.db import transaction

from curation.exchange.importing import pairs_import
from curation.models import Dataset, Pair, PairScore, ScoreSet, Sentence
from curation.pairs.text import sentence_key

BASELINE = "a loop of get_or_create and create, row by row"


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


def main() -> None:
    count, rounds = (1_000, 1) if is_quick(__doc__) else (5_749, 3)
    path = pairs_file(Path(HOME) / "pairs.csv", count, seed=1)
    numbers = itertools.count()

    def new_dataset() -> Dataset:
        return Dataset.objects.create(slug=f"dataset-{next(numbers)}", name="Benchmark")

    def ours() -> None:
        outcome = pairs_import(dataset=new_dataset(), path=path)
        assert outcome.added == count

    seconds, baseline_seconds = alternate(
        ours, lambda: rows_stored_singly(new_dataset(), path), rounds=rounds
    )
    print_comparison(
        rates_compared(
            "import_pairs",
            work=count,
            unit="pairs/s",
            seconds=seconds,
            baseline=BASELINE,
            baseline_seconds=baseline_seconds,
            notes=f"{count} pairs with scores in {seconds:.2f} s, SQLite with synchronous=FULL, best of {rounds}",
        )
    )


if __name__ == "__main__":
    main()
