"""Uploaded files of sentences: kept and claimed as uploads of pairs are, added to the pool at once or by a run.

There is no check before, as for pairs: sentences that the pool has are known again, so nothing changes but that some
are added.
"""

from django.core.files.uploadedfile import UploadedFile

from curation.exchange.claiming import import_claim
from curation.exchange.pool import MOST_SENTENCES, PoolOutcome, SentenceOptions, sentences_import
from curation.exchange.uploads import (
    CHECK_AT_ONCE_BYTES,
    import_bytes,
    import_errors_file,
    import_files_remove,
    import_options_save,
    import_path,
    import_rejected_put,
    import_upload,
)
from curation.files.drafts import FileError
from curation.files.identity import TooManyRowsError
from curation.files.progress import Report, silent
from curation.files.unpacking import UNPACKED_MOST, TooLargeError
from curation.foundation.errors import errors_shown
from curation.models import Dataset, ImportBatch, User
from curation.people.access import dataset_require_active

# A request adds so many; a run adds more.
AT_ONCE_SENTENCES = 50_000
# What gzip packed may be larger than the upload, and a request waits for it.
AT_ONCE_UNPACKED = 4 * CHECK_AT_ONCE_BYTES


def sentences_upload(
    *, dataset: Dataset, file: "UploadedFile[bytes]", options: SentenceOptions, by: User | None
) -> ImportBatch:
    """Keep an uploaded file of sentences, and how it is to be read."""
    batch = import_upload(dataset=dataset, files=[file], by=by, kind=ImportBatch.Kind.SENTENCES)
    import_options_save(batch=batch, mapping=options.as_json())
    return batch


def sentences_add_at_once(*, batch: ImportBatch, by: User) -> PoolOutcome | None:
    """Add the sentences of an upload while somebody waits; None where it is too large, and waits for a run.

    Raises UserError where the file cannot be used; the batch keeps the reason, and the rows that are rejected.
    """
    try:
        if import_bytes(batch) <= CHECK_AT_ONCE_BYTES:
            return _add(batch, by=by, most=AT_ONCE_SENTENCES, most_bytes=AT_ONCE_UNPACKED)
    except (TooManyRowsError, TooLargeError):
        pass
    import_options_save(batch=batch, mapping=batch.mapping)
    return None


def sentences_add(
    *, batch: ImportBatch, by: User | None = None, report: Report = silent, again: bool = False
) -> PoolOutcome:
    """Add the sentences of an upload, then delete it. An import that was stopped goes on where it was.

    again: take the upload also from another importer that seems alive: an earlier attempt of the run that asks.
    """
    with errors_shown(FileError):
        return _add(batch, by=by, most=MOST_SENTENCES, most_bytes=UNPACKED_MOST, report=report, again=again)


def _add(
    batch: ImportBatch,
    *,
    by: User | None,
    most: int,
    most_bytes: int,
    report: Report = silent,
    again: bool = False,
) -> PoolOutcome:
    dataset_require_active(batch.dataset)
    import_claim(batch=batch, again=again)
    with import_rejected_put(batch):
        outcome = sentences_import(
            dataset=batch.dataset,
            path=import_path(batch),
            options=SentenceOptions.from_json(batch.mapping),
            by=by,
            batch=batch,
            errors=import_errors_file(batch),
            most=most,
            most_bytes=most_bytes,
            report=report,
        )
    import_files_remove(batch)
    return outcome
