"""What splits share after an edit of half the pairs, as an edit, a drawing and an import ask for it: 1,000,000 pairs.

The baseline is what one writes first: a set of keys for each split, from the texts of its pairs, before and after. One
sentence in twenty stands in two pairs. With a PostgreSQL DATABASE_URL it measures that database.
"""

from collections import defaultdict
from time import perf_counter, process_time

import _database  # noqa: F401  (importing it makes the installation)
import numpy as np
from _compare import is_quick, peak_mb, print_comparison, rates_compared
from _sentences import sentences_made
from django.db import connection, transaction

from curation.datasets.rows import numbers_reserve, rows_add
from curation.datasets.splits import leaks_of_change
from curation.models import Dataset, Pair, Sentence
from curation.pairs.text import near_copy_key, sentence_key

BASELINE = "a set of keys of texts for each split"
SPLITS = ("train", "dev", "test")


@transaction.atomic  # else each row would be a transaction of its own
def dataset_of(count: int) -> Dataset:
    dataset = Dataset.objects.create(slug="large", name="large")
    texts = list(dict.fromkeys(sentences_made(2 * count * 19 // 20)))
    numbers = numbers_reserve(Sentence, len(texts))
    rows_add(
        Sentence,
        shared={"dataset_id": dataset.pk},
        columns=("id", "text", "key"),
        rows=((number, text, sentence_key(text)) for number, text in zip(numbers, texts, strict=True)),
    )
    generator = np.random.default_rng(3)
    sides = generator.permutation(np.resize(np.array(numbers), 2 * count)).reshape(-1, 2)
    splits = generator.choice(SPLITS, size=count, p=[0.8, 0.1, 0.1])
    rows_add(
        Pair,
        shared={"dataset_id": dataset.pk, "source": "news"},
        columns=("external_id", "split", "a_id", "b_id"),
        rows=(
            (f"p{n}", split, int(a), int(b))
            for n, (split, (a, b)) in enumerate(zip(splits, sides, strict=True))
        ),
    )
    return dataset


def pairs_that_share(rows: list[tuple[int, str, str, str]], moved: set[int]) -> int:
    keys = [(pk, split, near_copy_key(a), near_copy_key(b)) for pk, split, a, b in rows]
    after = [("train" if pk in moved else split, a, b) for pk, split, a, b in keys]
    shared = 0
    for state in ([row[1:] for row in keys], after):
        of_split = defaultdict(set)
        for split, a, b in state:
            of_split[split] |= {a, b}
        shared = sum(
            a in of_split[other] or b in of_split[other]
            for split, a, b in state
            for other in SPLITS
            if other != split
        )
    return shared


def main() -> None:
    count = 20_000 if is_quick(__doc__) else 1_000_000
    dataset = dataset_of(count)
    before = peak_mb()
    half = np.fromiter(
        dataset.pairs.order_by("pk").values_list("pk", flat=True)[: count // 2], dtype=np.int64
    )
    started, worked = perf_counter(), process_time()
    found = leaks_of_change(dataset, half, split="train")
    seconds, processor, peak = perf_counter() - started, process_time() - worked, peak_mb()
    started = perf_counter()
    rows = list(dataset.pairs.order_by("pk").values_list("pk", "split", "a__text", "b__text"))
    counted = pairs_that_share(rows, set(half.tolist()))
    baseline = perf_counter() - started
    assert sum(leak.pairs for leak in found.after) == counted
    print_comparison(
        rates_compared(
            "leak_guard",
            work=count,
            unit="pairs/s",
            seconds=seconds,
            baseline=BASELINE,
            baseline_seconds=baseline,
            notes=f"{connection.vendor}; {seconds:.1f} s, {processor:.1f} s of the processor; {peak:.0f} MB at most, "
            f"{before:.0f} before; {counted} pairs share",
        )
    )


if __name__ == "__main__":
    main()
