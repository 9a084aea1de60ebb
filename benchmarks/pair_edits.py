"""One value for every pair of a dataset, and its undo: ours against instances that Django's bulk_update writes.

The baseline reads the pairs and changes them 5,000 at a time; it keeps nothing for an undo. It edits a tenth of the
pairs. With a PostgreSQL DATABASE_URL it measures that database.
"""

from collections.abc import Callable
from time import perf_counter

import _database  # noqa: F401  (importing it makes the installation)
from _compare import is_quick, print_comparison, rates_compared
from django.db import connection, transaction

from curation.datasets.edits import Edit, edit_apply, edit_preview, edit_undo
from curation.datasets.rows import rows_add
from curation.models import AuditEntry, Dataset, Pair, Sentence

BASELINE = "instances written by bulk_update"
AT_ONCE = 5_000


@transaction.atomic  # else each row would be a transaction of its own
def dataset_of(count: int, slug: str) -> Dataset:
    dataset = Dataset.objects.create(slug=slug, name=slug)
    sentence = Sentence.objects.create(dataset=dataset, text="A dog runs.", key=slug)
    rows_add(
        Pair,
        shared={"dataset_id": dataset.pk, "a_id": sentence.pk, "b_id": sentence.pk},
        columns=("external_id", "source", "split"),
        rows=((f"pair-{n}", ("news", "forums")[n % 2], ("train", "test")[n % 3 == 0]) for n in range(count)),
    )
    return dataset


def edited_by_instances(dataset: Dataset, value: str) -> None:
    pairs = list(dataset.pairs.exclude(split=value))
    for start in range(0, len(pairs), AT_ONCE):
        part = pairs[start : start + AT_ONCE]
        for pair in part:
            pair.split = value
        Pair.objects.bulk_update(part, ["split"])


def timed(work: Callable[[], object]) -> float:
    started = perf_counter()
    work()
    return perf_counter() - started


def main() -> None:
    count = 20_000 if is_quick(__doc__) else 1_000_000
    large, small = dataset_of(count, "large"), dataset_of(count // 10, "small")
    edit = Edit("split", "dev")
    preview = timed(lambda: edit_preview(large, edit))
    applied = timed(lambda: edit_apply(dataset=large, edit=edit, by=None))
    entry = AuditEntry.objects.get(dataset=large)
    assert entry.changes.count() == count
    undone = timed(lambda: edit_undo(entry=entry, by=None))
    assert not large.pairs.filter(split="dev").exists()
    baseline = timed(lambda: edited_by_instances(small, "dev"))
    print_comparison(
        rates_compared(
            "pair_edits",
            work=count,
            unit="pairs/s",
            seconds=applied,
            baseline=BASELINE,
            baseline_seconds=baseline * 10,
            notes=f"{connection.vendor}; preview {preview:.1f} s, edit {applied:.1f} s, undo {undone:.1f} s",
        )
    )


if __name__ == "__main__":
    main()
