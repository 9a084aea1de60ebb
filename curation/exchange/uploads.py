"""Uploaded files: kept until they are imported or discarded, checked without writing a row, then imported.

Files of pairs are checked and imported here. Code that imports other files keeps and claims them here as well.
"""

import hashlib
import logging
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import fields, replace
from datetime import datetime, timedelta
from pathlib import Path, PurePosixPath
from typing import Any
from uuid import uuid4

from django.conf import settings
from django.core.exceptions import SuspiciousFileOperation
from django.core.files.uploadedfile import UploadedFile
from django.db.models import QuerySet
from django.utils.text import get_valid_filename
from django.utils.translation import gettext as _

from curation.exchange.claiming import import_claim, import_is_free
from curation.exchange.importing import (
    AT_ONCE_ROWS,
    ImportOptions,
    ImportOutcome,
    pairs_import,
)
from curation.exchange.quotas import upload_count
from curation.exchange.receiving import UNNAMED
from curation.exchange.refusals import Counts, NothingImportedError
from curation.files.dataset_folders import unfolded
from curation.files.drafts import Columns, FileError
from curation.files.identity import TooManyRowsError
from curation.files.parquet import ROWS_MOST
from curation.files.progress import Report, silent
from curation.files.rejected import columns_in_front
from curation.files.sampling import Preview, preview_file
from curation.files.sniffing import JUDGEMENTS, PAIRS, detect_format, file_beginning
from curation.files.unpacking import is_packed
from curation.files.writing import leftovers_remove, make_folder, replacing, sha256_of_several
from curation.foundation.errors import UserError, errors_shown
from curation.foundation.heartbeats import database_now, held, is_stuck
from curation.foundation.shared_files import (
    StorageError,
    shared_objects,
    shared_path,
    shared_put,
    shared_refreshed,
    shared_remove,
    shared_store,
)
from curation.models import Dataset, ImportBatch, User
from curation.people.access import dataset_require_active

# A larger file is checked by a run: no request waits for it.
CHECK_AT_ONCE_BYTES = 8 * 1024**2
logger = logging.getLogger(__name__)

# How many earlier imports are searched for one with the same columns.
IMPORTS_LOOKED_AT = 20
PREVIEW_ROWS = 5
LIKELY_ROWS = 10  # of a file whose encoding somebody chooses
# To how many times the size of the largest upload a zip file may unpack.
UNPACKED_TIMES = 4
FORGOTTEN_AFTER = timedelta(hours=1)
# What the rows of a table should hold, of each kind of upload that is a table and never packed.
_TABLES = {ImportBatch.Kind.PAIRS.value: PAIRS, ImportBatch.Kind.JUDGEMENTS.value: JUDGEMENTS}


def import_upload(
    *,
    dataset: Dataset,
    files: Sequence["UploadedFile[bytes]"],
    by: User | None,
    kind: str = ImportBatch.Kind.PAIRS,
) -> ImportBatch:
    """Keep uploaded files until they are imported or discarded; if one does not fit the disk, none of them.

    A file of pairs is imported by itself; files of judgements may be several of one campaign.
    """
    dataset_require_active(dataset)
    if by is not None:
        upload_count(user=by, size=sum(file.size or 0 for file in files), at=database_now())
    # In its own folder a file keeps its name, which messages and sources show.
    folder = Path("imports") / uuid4().hex
    # Names for the files of one folder, each different also where a disk does not tell capital letters apart.
    given = [file.name or UNNAMED for file in files]
    names: list[str] = []
    for name in given:
        try:
            kept = get_valid_filename(Path(name).name)
        except SuspiciousFileOperation:  # no letter and no digit is in it
            kept = UNNAMED
        # A hidden file would count as one that is still being written.
        path = Path(f"{UNNAMED}{kept}" if kept.startswith(".") else kept)
        stem, suffix = path.stem[:100], path.suffix[:20]
        taken = {other.casefold() for other in names}
        candidates = (
            f"{stem}{number}{suffix}" for number in ("", *(f"-{n}" for n in range(2, 2 + len(given))))
        )
        names.append(next(name for name in candidates if name.casefold() not in taken))
    with errors_shown(FileError), ExitStack() as stack:
        stack.callback(shutil.rmtree, settings.SEMBLANCE_HOME / folder, ignore_errors=True)
        make_folder(settings.SEMBLANCE_HOME / folder)
        sums = []
        for file, name in zip(files, names, strict=True):
            digest = hashlib.sha256()
            with replacing(settings.SEMBLANCE_HOME / folder / name) as written:
                for block in file.chunks():
                    digest.update(block)
                    written.write(block)
            sums.append(digest.hexdigest())
        names = [_looked_at(settings.SEMBLANCE_HOME / folder / name, kind) for name in names]
        shared_put(settings.SEMBLANCE_HOME / folder)
        stack.callback(shared_remove, str(folder))
        batch = ImportBatch.objects.create(
            dataset=dataset,
            kind=kind,
            file_name=", ".join(names)[:255],
            path=str(folder / names[0]),
            sha256=sha256_of_several(sums),
            created_by=by,
        )
        stack.pop_all()
    return batch


def _looked_at(path: Path, kind: str) -> str:
    """The name of the table that was uploaded; put it in the place of the zip file of a dataset folder.

    Raises FileError for an image, a document and the like, which no choice on the next page would make a table.
    """
    if kind != ImportBatch.Kind.JUDGEMENTS:
        of_pairs = kind == ImportBatch.Kind.PAIRS
        with unfolded(
            path, most=UNPACKED_TIMES * settings.UPLOAD_MAX_BYTES, label_names=not of_pairs
        ) as table:
            if table != path:
                shutil.move(table, path.with_name(table.name))
                path.unlink()
                return table.name
    if rows := _TABLES.get(kind):
        detect_format(path, rows=rows)
    elif not is_packed(path):
        file_beginning(path, rows="one sentence a line")
    return path.name


def import_is_closed(batch: ImportBatch) -> bool:
    """Whether nothing can be chosen: somebody imports it, it is imported, or a command has the file.

    batch: as `imports_of` gives it.
    """
    running = batch.state == ImportBatch.State.RUNNING and not batch.interrupted  # type: ignore[attr-defined]
    return running or batch.state == ImportBatch.State.DONE or not batch.path


def import_preview(
    batch: ImportBatch,
    *,
    header: bool | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    rows: int = PREVIEW_ROWS,
) -> Preview:
    """The beginning of an upload. None guesses: from all of a file that is checked at once, else from its first lines.

    Raises UserError where the file cannot be read.
    """
    with errors_shown(FileError):
        path = import_path(batch)
        # Reading says of a file that is missing that it is.
        whole = path.exists() and path.stat().st_size <= CHECK_AT_ONCE_BYTES
        return preview_file(
            path, rows=rows, header=header, delimiter=delimiter, encoding=encoding, whole=whole
        )


def import_likely(
    batch: ImportBatch, encodings: Sequence[str], *, header: bool | None = None, delimiter: str | None = None
) -> Iterator[Preview]:
    """The first rows of an upload in each of these encodings, without those in which it cannot be read."""
    for encoding in encodings:
        with suppress(UserError):
            yield import_preview(
                batch, header=header, delimiter=delimiter, encoding=encoding, rows=LIKELY_ROWS
            )


def import_check(
    *, batch: ImportBatch, options: ImportOptions, most_rows: int = ROWS_MOST, report: Report = silent
) -> ImportOutcome:
    """Try an import without writing a row, and keep for `import_apply` what was asked and what would come.

    Raises NothingImportedError where every row is rejected; what was asked and the figures are kept then too.
    """
    dataset_require_active(batch.dataset)
    import_require_free(batch)
    try:
        with import_rejected_put(batch):
            outcome = pairs_import(
                dataset=batch.dataset,
                path=import_path(batch),
                options=options,
                errors=import_errors_file(batch),
                dry_run=True,
                most_rows=most_rows,
                report=report,
            )
    except NothingImportedError as error:
        _check_save(batch, options, error.outcome, error=str(error))
        raise
    _check_save(batch, options, outcome)
    return outcome


def _check_save(batch: ImportBatch, options: ImportOptions, outcome: Counts, **more: str) -> None:
    batch.mapping = options.as_json()
    outcome.count_in(batch)
    batch.report |= more
    import_asked_save(batch=batch)


def import_check_at_once(*, batch: ImportBatch, options: ImportOptions) -> bool:
    """Check a small file. Of a larger one keep what was asked, for a run that checks it, and answer False."""
    import_require_free(batch)
    try:
        if import_bytes(batch) <= CHECK_AT_ONCE_BYTES:
            import_check(batch=batch, options=options, most_rows=AT_ONCE_ROWS)
            return True
    except (TooManyRowsError, FileNotFoundError):
        pass
    import_options_save(batch=batch, mapping=options.as_json())
    return False


def import_proposed(
    *, dataset: Dataset, header: Sequence[str], named: bool
) -> tuple[ImportBatch, ImportOptions] | None:
    """The last import of a file with the same columns, and its choices for the next one; None where there is none.

    named: whether the first row names the columns. The source and the split of all rows are those of one file, so they
    are not proposed; a table of its rejected rows says them in its own columns.
    """
    done = ImportBatch.objects.filter(
        dataset=dataset, kind=ImportBatch.Kind.PAIRS, state=ImportBatch.State.DONE
    )
    for batch in done.order_by("-pk")[:IMPORTS_LOOKED_AT]:
        if batch.mapping.get("header") != named:
            continue
        front = columns_in_front(header, batch.report.get("header", ()))
        if front is not None:
            chosen = batch.report["columns"] | {name: name for name in ("source", "split") if name in front}
            options = ImportOptions.from_json(batch.mapping)
            columns = Columns(**{field.name: chosen.get(field.name, "") for field in fields(Columns)})
            return batch, replace(options, columns=columns, source=None, split=None, across_splits=None)
    return None


def import_require_free(batch: ImportBatch) -> None:
    if not batch.path or not _free(batch).exists():
        sentence = _("%(file)s has been imported or is being imported. To import it again, upload it again.")
        raise UserError(sentence, file=batch.file_name)


def _free(batch: ImportBatch) -> QuerySet[ImportBatch]:
    return ImportBatch.objects.filter(import_is_free(database_now()), pk=batch.pk)


def import_options_save(*, batch: ImportBatch, mapping: dict[str, Any]) -> None:
    """Keep what was asked of an upload that nobody has checked with these options."""
    batch.mapping, batch.report = mapping, {}
    batch.rows = batch.added = batch.unchanged = batch.rejected = 0
    import_asked_save(batch=batch)


def import_asked_save(*, batch: ImportBatch) -> None:
    """Store the options and the result, unless somebody began to import in the meantime. Later counts start at 0."""
    names = ("mapping", "rows", "added", "unchanged", "rejected", "report")
    asked = {name: getattr(batch, name) for name in names}
    if not _free(batch).update(**asked, state=ImportBatch.State.UPLOADED, heartbeat_at=None, written={}):
        raise UserError(_("Somebody else has started the import of %(file)s."), file=batch.file_name)
    batch.refresh_from_db()


def import_apply_at_once(*, batch: ImportBatch, by: User) -> ImportOutcome:
    """Import an upload while somebody waits. Raises UserError where it has too many rows for that."""
    if batch.rows > AT_ONCE_ROWS:
        sentence = _("%(file)s has %(rows)s rows. Start a run to import it.")
        raise UserError(sentence, file=batch.file_name, rows=batch.rows)
    return import_apply(batch=batch, by=by)


def import_apply(
    *, batch: ImportBatch, by: User | None = None, report: Report = silent, again: bool = False
) -> ImportOutcome:
    """Import an upload as it was last checked, then delete it. An import that was stopped goes on where it was.

    by: who asks, where that is known; the log says which token an uploader used.
    again: take the upload also from another importer that seems alive: an earlier attempt of the run that asks.
    """
    dataset_require_active(batch.dataset)
    import_claim(batch=batch, again=again)
    if by is not None and by.pk == batch.created_by_id:
        batch.created_by = by
    with import_rejected_put(batch):
        outcome = pairs_import(
            dataset=batch.dataset,
            path=import_path(batch),
            options=ImportOptions.from_json(batch.mapping),
            errors=import_errors_file(batch),
            batch=batch,
            report=report,
        )
    import_files_remove(batch)
    return outcome


def import_imported(*, batch: ImportBatch, rows: int, added: int) -> None:
    """Note that a run has read an upload of running text. Its files are removed later (`imports_tidy`)."""
    ImportBatch.objects.filter(pk=batch.pk).update(
        state=ImportBatch.State.DONE, rows=rows, added=added, rejected=rows - added
    )


def import_files(batch: ImportBatch) -> list[Path]:
    """The uploaded files by name; none where they were imported."""
    folder = import_path(batch).parent
    return sorted(path for path in folder.glob("*") if not path.name.startswith("."))


def import_bytes(batch: ImportBatch) -> int:
    """The size of the uploaded files. Raises FileNotFoundError where there are none."""
    return import_path(batch).stat().st_size + sum(
        path.stat().st_size for path in import_files(batch) if path != import_path(batch)
    )


def import_files_remove(batch: ImportBatch) -> None:
    folder = _folder(batch)
    shutil.rmtree(settings.SEMBLANCE_HOME / folder, ignore_errors=True)
    with suppress(StorageError):  # `imports_tidy` removes it
        shared_remove(folder)


def import_errors_path(batch: ImportBatch) -> Path | None:
    """The rejected rows as CSV with the columns line, reason and row; None where no row was rejected."""
    if not (batch.path and batch.rejected):
        return None
    path = shared_refreshed(_errors_name(batch))
    return path if path.is_file() else None


def import_errors_offered(batch: ImportBatch) -> bool:
    """Whether a page leads to the rejected rows. No file storage is asked: it may be away."""
    return bool(batch.path and batch.rejected) and (
        shared_store() is not None or import_errors_file(batch).is_file()
    )


def import_discard(*, batch: ImportBatch) -> None:
    """Forget an upload that nobody imports or whose import is stuck, with its file, or an import by a command that came
    to nothing. The process that holds a stuck import writes nothing more.
    """
    dataset_require_active(batch.dataset)
    rows = ImportBatch.objects.filter(pk=batch.pk)
    stuck = is_stuck(batch, database_now())
    deleted, _by_model = (held(rows, attempt=batch.attempt) if stuck else _free(batch)).delete()
    if not deleted:
        sentence = _("%(file)s has been imported or is being imported, so it cannot be discarded.")
        raise UserError(sentence, file=batch.file_name)
    if batch.path:  # a command's file is where its owner put it
        import_files_remove(batch)
        leftovers_remove(import_errors_file(batch))
        import_errors_file(batch).unlink(missing_ok=True)
        with suppress(StorageError):
            shared_remove(_errors_name(batch))


def imports_tidy(*, now: Callable[[], datetime]) -> None:
    """Remove what killed processes left: files that were being written, and uploads that no import needs.

    now: the time of the database, which is asked only where uploads may be.
    """
    folder = Path(settings.SEMBLANCE_HOME) / "imports"
    for part in [*folder.glob(".*.part"), *folder.glob("*/.*.part")]:
        leftovers_remove(part.with_name(part.name.split(".", 1)[1].rsplit(".", 2)[0]))
    uploads = list(folder.glob("*/"))
    if not uploads and shared_store() is None:
        return
    at = now()
    needed = ImportBatch.objects.exclude(state=ImportBatch.State.DONE).values_list("path", flat=True)
    kept = {Path(path).parent.name for path in needed}
    for upload in uploads:
        with suppress(FileNotFoundError):  # several workers tidy, and another one may have been here first
            old = upload.stat().st_mtime < (at - FORGOTTEN_AFTER).timestamp()
            if old and upload.name not in kept:
                shutil.rmtree(upload, ignore_errors=True)
    forgotten = {
        one.name.split("/")[2]
        for one in shared_objects("files/imports")
        if one.changed < at - FORGOTTEN_AFTER and not one.name.endswith(".errors.csv")
    }
    for name in forgotten - kept:
        shared_remove(f"imports/{name}")


def import_path(batch: ImportBatch) -> Path:
    """The first uploaded file; with the others fetched from the file storage where they are not on this machine.

    Raises StorageError.
    """
    return shared_path(_folder(batch)) / PurePosixPath(batch.path).name


def import_errors_file(batch: ImportBatch) -> Path:
    """Where the rejected rows of an upload are written."""
    return Path(settings.SEMBLANCE_HOME) / _errors_name(batch)


@contextmanager
def import_rejected_put(batch: ImportBatch) -> Iterator[None]:
    """Give others the rejected rows that the block writes, however it ends. What it did stands also without them."""
    try:
        yield
    finally:
        path = import_errors_file(batch)
        try:
            if path.is_file():
                shared_put(path)
        except StorageError:
            logger.exception("The rejected rows of import %s are on this machine alone", batch.pk)


def _folder(batch: ImportBatch) -> str:
    return str(PurePosixPath(batch.path).parent)


def _errors_name(batch: ImportBatch) -> str:
    return f"{_folder(batch)}.errors.csv"


def run_kind_of(batch: ImportBatch) -> str:
    """The name of the kind of run that takes the next step with an uploaded file of pairs."""
    return "import_pairs" if batch.checked else "check_import"
