"""A backup of a campaign with 100,000 judgements, and its restore, against Django's dumpdata and loaddata.

Both write the same tables. dumpdata takes no files, no checksums and no single moment. The restore goes into the same
database after every row was removed; migrating an empty database first takes some seconds more, whatever the size.
With a PostgreSQL DATABASE_URL on a database of its own there, on SQLite otherwise.
"""

import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from time import perf_counter
from uuid import uuid4

from _compare import is_quick, print_comparison, rates_compared
from _database import HOME
from django.core.management import call_command
from django.db import connection, transaction
from django.utils.timezone import now

from annotation.models import Campaign, Guideline, Judgement, Lease, Participation, Tuple, TupleItem
from curation.foundation.database import migrations_applied
from curation.models import Dataset, Pair, Sentence, User
from semblance.backups.making import LEFT_OUT, backup_make
from semblance.backups.restoring import backup_restore
from semblance.backups.rows import MADE_BY_MIGRATING, label_of, rows_remove, tables_of

SIZE, PEOPLE, AT_ONCE = 4, 50, 5_000
BASELINE = "manage.py dumpdata"


def campaign_made(judgements: int) -> None:
    """A quarter as many tuples as judgements, each judged by four people, over half as many pairs as tuples."""
    tuples = judgements // 4
    pairs = max(tuples // 2, SIZE)
    dataset = Dataset.objects.create(slug="benchmark", name="Benchmark")
    sentences = Sentence.objects.bulk_create(
        (
            Sentence(dataset=dataset, text=f"This is sentence number {number} of many.", key=f"{number:064d}")
            for number in range(2 * pairs)
        ),
        batch_size=AT_ONCE,
    )
    both = zip(sentences[::2], sentences[1::2], strict=True)
    stored = Pair.objects.bulk_create(
        (Pair(dataset=dataset, external_id=str(number), a=a, b=b) for number, (a, b) in enumerate(both)),
        batch_size=AT_ONCE,
    )
    campaign = Campaign.objects.create(dataset=dataset, name="Relatedness", state="open")
    guideline = Guideline.objects.create(campaign=campaign, version=1, text="Choose by meaning.")
    users = User.objects.bulk_create(User(username=f"annotator {number}") for number in range(PEOPLE))
    people = Participation.objects.bulk_create(Participation(campaign=campaign, user=user) for user in users)
    rows = Tuple.objects.bulk_create(
        (Tuple(campaign=campaign, number=n + 1, priority=n, required=4, collected=4) for n in range(tuples)),
        batch_size=AT_ONCE,
    )
    TupleItem.objects.bulk_create(
        (
            TupleItem(tuple=row, slot=slot, pair=stored[(row.number * SIZE + slot) % pairs])
            for row in rows
            for slot in range(SIZE)
        ),
        batch_size=AT_ONCE,
    )
    at = now()
    chosen = [(row, people[(row.number + turn) % PEOPLE]) for row in rows for turn in range(4)]
    Judgement.objects.bulk_create(
        (
            Judgement(
                tuple=row,
                participation=person,
                best_slot=0,
                worst_slot=1,
                order_shown=[2, 0, 3, 1],
                client_id=uuid4(),
                shown_at=at,
                submitted_at=at + timedelta(seconds=8),
                active_ms=8_000,
                guideline=guideline,
            )
            for row, person in chosen
        ),
        batch_size=AT_ONCE,
    )
    Lease.objects.bulk_create(
        (
            Lease(
                tuple=row,
                participation=person,
                order_shown=[2, 0, 3, 1],
                expires_at=at,
                claimed_at=at,
                state="answered",
            )
            for row, person in chosen
        ),
        batch_size=AT_ONCE,
    )


def timed(work: Callable[[], object]) -> float:
    started = perf_counter()
    work()
    return perf_counter() - started


def emptied() -> None:
    tables = tables_of(migrations_applied("default"), "default")
    with transaction.atomic():
        rows_remove([one for one in tables if label_of(one) not in MADE_BY_MIGRATING], "default")


def dumped(path: Path) -> None:
    with path.open("w", encoding="utf-8") as file:
        call_command("dumpdata", exclude=sorted(LEFT_OUT), natural_foreign=False, stdout=file)


def main() -> None:
    quick = is_quick(__doc__)
    judgements = 2_000 if quick else 100_000
    campaign_made(judgements)
    path, dump = Path(HOME) / "backup.zip", Path(HOME) / "dump.json"
    seconds = timed(lambda: backup_make(path=path, at=now()))
    dumping = timed(lambda: dumped(dump))
    emptied()
    restoring = timed(lambda: backup_restore(path=path))
    assert Judgement.objects.count() == judgements
    emptied()
    loading = timed(lambda: call_command("loaddata", str(dump), verbosity=0))
    megabytes, theirs = (file.stat().st_size / 1e6 for file in (path, dump))
    print_comparison(
        rates_compared(
            "backup",
            work=judgements,
            unit="judgements/s",
            seconds=seconds,
            baseline=BASELINE,
            baseline_seconds=dumping,
            notes=f"{judgements} judgements of {judgements // 4} tuples on {connection.vendor}: backup {seconds:.1f} s "
            f"({megabytes:.1f} MB; dumpdata {theirs:.1f} MB), restore with comparison {restoring:.1f} s (loaddata "
            f"{loading:.1f} s)",
        )
    )


if __name__ == "__main__":
    sys.exit(main())
