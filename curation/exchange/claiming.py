"""Who imports an upload: at most one at a time, and never for ever.

Whoever imports claims the batch and renews a heartbeat. An importer that is killed cannot say so: its heartbeat goes
stale, and the batch may be claimed again, or discarded. Every write of an importer repeats its claim, so that one that
was only paused finds that another took over.
"""

from datetime import datetime
from time import monotonic
from typing import Any

from django.db.models import Case, F, Q, QuerySet, When
from django.utils.translation import gettext as _

from curation.files.progress import Report
from curation.foundation.errors import UserError
from curation.foundation.heartbeats import (
    LOST_MAX,
    SECONDS_BETWEEN_BEATS,
    database_now,
    free,
    held,
    interrupted,
)
from curation.models import Dataset, ImportBatch


def import_claim(*, batch: ImportBatch, again: bool = False) -> None:
    """Take a checked upload to import it. again: also from an earlier attempt of the run that asks."""
    at = database_now()
    states = import_is_free(at) | Q(state=ImportBatch.State.RUNNING) if again else import_is_free(at)
    # A file of sentences only adds, so it has no check before.
    ready = Q(report__has_key="rows") | Q(kind=ImportBatch.Kind.SENTENCES)
    if not _claimed(batch, states & ready, at):
        sentence = _(
            "%(file)s has been imported, is being imported, or its columns were not checked. Open the import again."
        )
        raise UserError(sentence, file=batch.file_name)


def import_claim_waiting(*, batch: ImportBatch) -> bool:
    """Take an upload that was left to a worker, to check or to import it; whether it was to be had."""
    at = database_now()
    return _claimed(batch, Q(state=ImportBatch.State.WAITING) | interrupted(at), at)


def _claimed(batch: ImportBatch, states: Q, at: datetime) -> bool:
    ready = ImportBatch.objects.filter(states, pk=batch.pk).exclude(mapping={})
    fell_silent = Case(When(state=ImportBatch.State.RUNNING, then=1), default=0)
    claim: dict[str, Any] = {"attempt": F("attempt") + 1, "lost": F("lost") + fell_silent}
    if not ready.update(state=ImportBatch.State.RUNNING, **claim, heartbeat_at=at, progressed_at=at):
        return False
    batch.refresh_from_db()
    return True


def import_beat(*, batch: ImportBatch, **changes: Any) -> None:
    """Say that the import goes on, and what it has written. Raises UserError where another took over.

    A command's import holds no upload that another could take: it begins again where it was thought to be dead.
    """
    at = database_now()
    beat: dict[str, Any] = {"heartbeat_at": at, "progressed_at": at}
    if not _held(batch).update(state=ImportBatch.State.RUNNING, **beat, **changes):
        raise _taken_over(batch)


def _taken_over(batch: ImportBatch) -> UserError:
    sentence = _("Another process continued the import of %(file)s, so this process stopped.")
    return UserError(sentence, file=batch.file_name)


def import_failed(*, batch: ImportBatch, error: str) -> None:
    """Say in a batch that is under way that it failed, and why; what it foresaw or counted stays beside that."""
    counts = {name: getattr(batch, name) for name in ("rows", "added", "unchanged", "rejected")}
    failed = {"state": ImportBatch.State.FAILED, "report": {**batch.report, "error": error}, **counts}
    _held(batch).filter(state=ImportBatch.State.RUNNING).update(**failed)


def import_checked(*, batch: ImportBatch) -> None:
    """Store what a claimed upload's check found, and make it ready to be imported. Later counts start at 0."""
    found = {name: getattr(batch, name) for name in ("rows", "added", "unchanged", "rejected", "report")}
    fresh: dict[str, Any] = {
        "state": ImportBatch.State.UPLOADED,
        "heartbeat_at": None,
        "written": {},
        "lost": 0,
    }
    if not _held(batch).update(**found, **fresh):
        raise _taken_over(batch)


def import_done(*, batch: ImportBatch, report: dict[str, Any]) -> None:
    """Close a claimed import, in the transaction that wrote its rows. Raises UserError where another took over."""
    if not _held(batch).update(state=ImportBatch.State.DONE, heartbeat_at=database_now(), report=report):
        raise _taken_over(batch)


def import_wait(*, batch: ImportBatch) -> None:
    """Leave an upload to a worker, which checks or imports it. Raises UserError where another process has it."""
    waits: dict[str, Any] = {
        "state": ImportBatch.State.WAITING,
        "heartbeat_at": None,
        "attempt": F("attempt") + 1,
        "lost": 0,
        "written": {},
    }
    free_now = ImportBatch.objects.filter(import_is_free(database_now()), pk=batch.pk)
    if not free_now.update(**waits):
        raise UserError(_("%(file)s has been imported or is being imported."), file=batch.file_name)
    batch.refresh_from_db()


def imports_superseded(*, batch: ImportBatch) -> None:
    """A command that imports a file again leaves no earlier one of it that seems to go on.

    One that does go on says so with its next chunk.
    """
    earlier = ImportBatch.objects.filter(
        dataset=batch.dataset, sha256=batch.sha256, path="", state=ImportBatch.State.RUNNING
    )
    report = {"error": _("The import was interrupted, and the file was imported again.")}
    earlier.exclude(pk=batch.pk).update(state=ImportBatch.State.FAILED, report=report)


def _held(batch: ImportBatch) -> QuerySet[ImportBatch]:
    rows = ImportBatch.objects.filter(pk=batch.pk)
    return held(rows, attempt=batch.attempt) if batch.path else rows


class BeatingReport:
    """A report that renews the heartbeat of the import about once a second, and tells another report everything."""

    def __init__(self, batch: ImportBatch, report: Report) -> None:
        self._batch, self._report = batch, report
        self._beat_at = monotonic()

    def __call__(self, done: int, total: int, message: str) -> None:
        if self._batch.pk and monotonic() - self._beat_at >= SECONDS_BETWEEN_BEATS:
            import_beat(batch=self._batch)
            self._beat_at = monotonic()
        self._report(done, total, message)


def imports_of(
    dataset: Dataset, at: datetime, *, kind: str = ImportBatch.Kind.PAIRS
) -> QuerySet[ImportBatch]:
    """The dataset's imports of a kind, newest first, each with who began it and whether it was interrupted."""
    imports = ImportBatch.objects.filter(dataset=dataset, kind=kind).select_related("dataset", "created_by")
    return imports.annotate(interrupted=interrupted(at))


def imports_for_workers(at: datetime, kind: str) -> QuerySet[ImportBatch]:
    """Those of a kind that no worker has begun, and those whose process fell silent.

    A file that silenced several processes would silence the next one too: it waits for somebody to ask again.
    """
    given_up = Q(lost__gte=LOST_MAX - 1)  # the process that is silent now is the last one
    waiting = Q(state=ImportBatch.State.WAITING)
    return ImportBatch.objects.filter(waiting | (interrupted(at) & ~given_up), kind=kind)


def import_is_free(at: datetime) -> Q:
    """Nobody imports it: it waits, it failed, or the process that imported it has fallen silent."""
    return free(at, waiting=[ImportBatch.State.UPLOADED, ImportBatch.State.WAITING, ImportBatch.State.FAILED])
