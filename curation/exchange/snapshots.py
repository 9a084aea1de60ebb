"""What snapshots hold, what changed between two, and which hold a pair. They never change, so answers are kept."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import NamedTuple

from django.core.cache import cache
from django.utils.translation import gettext as _

from curation.charts import KEPT_SECONDS
from curation.datasets.leak_guard import splits_set_here
from curation.exchange.exporting import snapshot_file, snapshot_path
from curation.files.comparing import (
    Change,
    Contents,
    Difference,
    Texts,
    holds_pair,
    snapshot_contents,
    snapshot_leaks,
    snapshot_splits,
    snapshots_compared,
    texts_of,
)
from curation.files.heavy import pa
from curation.foundation.errors import UserError
from curation.foundation.shared_files import StorageError
from curation.models import Dataset, Pair, Snapshot
from curation.pairs.leaks import Leak

LEAKS_COUNTED_IN = 200_000  # pairs of a snapshot: about two seconds, while somebody waits
LISTED = 1_000  # changes that a page lists; the file has them all
SEARCHED = 50  # snapshots in which a pair is looked for, the newest
_TEXTS_AT_ONCE = 2_000
_GONE = Texts("", "", "")


class SnapshotsWith(NamedTuple):
    """The snapshots that hold a pair, the newest first, among so many that were searched; others were not."""

    snapshots: Sequence[Snapshot]
    searched: int
    others: int


def snapshot_numbered(dataset: Dataset, number: int | None) -> Snapshot:
    """The snapshot of that number, or the newest. Raises UserError where there is none."""
    snapshots = dataset.snapshots.all() if number is None else dataset.snapshots.filter(number=number)
    snapshot = snapshots.first()
    if snapshot is None and number is None:
        raise UserError(_("%(dataset)s has no snapshot. Create one first."), dataset=dataset.slug)
    if snapshot is None:
        sentence = _("%(dataset)s has no snapshot %(number)s. Look up its number on the page Snapshots.")
        raise UserError(sentence, dataset=dataset.slug, number=number)
    return snapshot


def snapshot_facts(snapshot: Snapshot) -> Contents:
    """Raises UserError where the file is gone."""
    path = snapshot_file(snapshot)
    key = f"snapshot:{snapshot.sha256}"
    with _unreadable_shown(snapshot):
        found: Contents = cache.get(key) or snapshot_contents(path)
    cache.set(key, found, KEPT_SECONDS)
    return found


def leaks_of_snapshot(snapshot: Snapshot, *, most: int | None = LEAKS_COUNTED_IN) -> list[Leak] | None:
    """What its splits share. most: None where a snapshot has more pairs than that, and nobody counted before.

    Raises UserError where the file is gone.
    """
    path = snapshot_file(snapshot)
    key = f"snapshot-leaks:{snapshot.pk}:{snapshot.sha256}"
    found: list[Leak] | None = cache.get(key)
    if found is None and (most is None or snapshot.rows <= most):
        with _unreadable_shown(snapshot):
            pairs, splits = snapshot_splits(path)
            own = splits_set_here(snapshot.dataset, pairs, splits, at=snapshot.created_at)
            found = snapshot_leaks(path, own)
        cache.set(key, found, KEPT_SECONDS)
    return found


def snapshots_difference(earlier: Snapshot, later: Snapshot, *, most: int | None = LISTED) -> Difference:
    """What changed from one snapshot to another of its dataset. Raises UserError where a file is gone."""
    paths = snapshot_file(earlier), snapshot_file(later)
    key = f"difference:{earlier.sha256}:{later.sha256}:{most}"
    found: Difference | None = None if most is None else cache.get(key)
    if found is None:
        with _unreadable_shown(earlier, later):
            found = snapshots_compared(*paths, most=most)
        if most is not None:
            cache.set(key, found, KEPT_SECONDS)
    return found


def changes_listed(
    earlier: Snapshot, later: Snapshot, changes: Sequence[Change]
) -> Iterator[tuple[Change, Texts]]:
    """The changes with the ids and sentences of their pairs, as the snapshots hold them."""
    paths = [snapshot_file(later), snapshot_file(earlier)]
    for start in range(0, len(changes), _TEXTS_AT_ONCE):
        part = changes[start : start + _TEXTS_AT_ONCE]
        texts = texts_of(paths, [change.pair for change in part])
        yield from ((change, texts.get(change.pair, _GONE)) for change in part)


def snapshots_with(pair: Pair) -> SnapshotsWith:
    """A snapshot whose file is gone or damaged does not count as one that holds the pair."""
    snapshots = list(pair.dataset.snapshots.filter(created_at__gte=pair.created_at))
    newest, holding = snapshots[:SEARCHED], []
    for each in newest:
        with suppress(OSError, pa.ArrowException, StorageError):
            if holds_pair(snapshot_path(each), pair.pk):
                holding.append(each)
    return SnapshotsWith(holding, len(newest), len(snapshots) - len(newest))


@contextmanager
def _unreadable_shown(*snapshots: Snapshot) -> Iterator[None]:
    try:
        yield
    except (OSError, pa.ArrowException) as error:
        numbers = ", ".join(str(snapshot.number) for snapshot in snapshots)
        sentence = _("The file of snapshot %(numbers)s cannot be read: it was changed. Make a new snapshot.")
        raise UserError(sentence, numbers=numbers) from error
