"""Pairs of a dataset that say the same, as the page and `find_duplicates` search for them: 1,000,000 pairs.

The baseline groups the pairs by their two texts in Python, which finds no near duplicates. A tenth of the sentences are
copies of others with one word changed, and one pair of twenty is another one mirrored. With a PostgreSQL
DATABASE_URL it measures that database.
"""

from collections import defaultdict
from time import perf_counter, process_time

import _database  # noqa: F401  (importing it makes the installation)
import numpy as np
from _compare import is_quick, peak_mb, print_comparison, rates_compared
from _sentences import sentences_made, with_near_copies
from django.db import connection, transaction

from curation.datasets.duplicates import duplicates_found
from curation.datasets.rows import numbers_reserve, rows_add
from curation.models import Dataset, Pair, Sentence
from curation.pairs.text import sentence_key

BASELINE = "pairs grouped by their texts, near duplicates not found"
REPEATED = 20  # one pair of so many is another one with its sentences swapped


@transaction.atomic  # else each row would be a transaction of its own
def dataset_of(count: int) -> Dataset:
    """As many pairs of as many sentences; each sentence is in two pairs on the average."""
    dataset = Dataset.objects.create(slug="large", name="large")
    texts = list(dict.fromkeys(with_near_copies(sentences_made(count), share=0.1)))
    numbers = numbers_reserve(Sentence, len(texts))
    rows_add(
        Sentence,
        shared={"dataset_id": dataset.pk},
        columns=("id", "text", "key"),
        rows=((number, text, sentence_key(text)) for number, text in zip(numbers, texts, strict=True)),
    )
    generator = np.random.default_rng(3)
    sides = np.array(numbers)[generator.integers(len(numbers), size=(count, 2))]
    copied = generator.integers(count, size=count // REPEATED)
    sides[: len(copied)] = sides[copied][:, ::-1]
    rows_add(
        Pair,
        shared={"dataset_id": dataset.pk},
        columns=("external_id", "split", "a_id", "b_id"),
        rows=((f"pair-{n}", ("train", "test")[n % 5 == 0], a, b) for n, (a, b) in enumerate(sides.tolist())),
    )
    return dataset


def by_texts(dataset: Dataset) -> int:
    groups = defaultdict(list)
    rows = dataset.pairs.order_by("pk").values_list("pk", "a__text", "b__text")
    for number, first, second in rows.iterator(chunk_size=5_000):
        groups[tuple(sorted((first, second)))].append(number)
    return sum(len(group) > 1 for group in groups.values())


def main() -> None:
    count = 20_000 if is_quick(__doc__) else 1_000_000
    dataset = dataset_of(count)
    before = peak_mb()
    started, processor = perf_counter(), process_time()
    found = duplicates_found(dataset)
    seconds, busy = perf_counter() - started, process_time() - processor
    peak = peak_mb()
    started = perf_counter()
    exact = by_texts(dataset)
    baseline = perf_counter() - started
    assert len(found) >= exact > 0
    print_comparison(
        rates_compared(
            "duplicate_pairs",
            work=count,
            unit="pairs/s",
            seconds=seconds,
            baseline=BASELINE,
            baseline_seconds=baseline,
            notes=f"{connection.vendor}; {len(found):,} groups; {seconds:.0f} s ({busy:.0f} s of processor time); "
            f"{peak:.0f} MB at most, {before:.0f} MB before",
        )
    )


if __name__ == "__main__":
    main()
