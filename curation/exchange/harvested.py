"""Pairs of sentences that people wrote, drawn by a run from running text: all of a run's or none."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from django.db import transaction

from curation.exchange.generated import ROWS_AT_A_TIME, sentences_added
from curation.models import Dataset, Pair, Sentence, User
from curation.pairs.text import near_copy_key, sentence_key
from curation.people.access import dataset_lock
from curation.people.audit import Action, audit_record


class HarvestedRow(NamedTuple):
    """The texts of a pair, how they were put together, and the split that the pair gets."""

    first: str
    second: str
    subset: str
    split: str


@transaction.atomic
def harvested_pairs_add(
    *, dataset: Dataset, run_ref: int, rows: Sequence[HarvestedRow], by: User | None = None
) -> int:
    """Store a run's pairs, of the origin “sampled”, and their sentences, which people wrote. Returns how many."""
    dataset_lock(dataset)
    texts = [text for row in rows for text in (row.first, row.second)]
    numbers = sentences_added(dataset, run_ref, texts, origin=Sentence.Origin.HUMAN)
    Pair.objects.bulk_create(
        (
            Pair(
                dataset=dataset,
                external_id=f"h{run_ref}-{number}",
                a_id=numbers[sentence_key(row.first)],
                b_id=numbers[sentence_key(row.second)],
                source=f"run {run_ref}",
                subset=row.subset,
                split=row.split,
                origin=Pair.Origin.SAMPLED,
                run_ref=run_ref,
            )
            for number, row in enumerate(rows, 1)
        ),
        batch_size=ROWS_AT_A_TIME,
    )
    audit_record(
        dataset=dataset, action=Action.PAIRS_COMPOSED, by=by, pairs=len(rows), details={"run": run_ref}
    )
    return len(rows)


def near_keys_of(dataset: Dataset) -> Iterable[int]:
    """What near copies of a dataset's sentences share, as corpora keep it."""
    texts = dataset.sentences.order_by().values_list("text", flat=True)
    return (int(near_copy_key(text), 16) for text in texts.iterator(chunk_size=ROWS_AT_A_TIME))
