"""Uploaded files of judgements: looked at, checked without writing a row, then imported by a request or a worker.

The upload is a row of `curation.ImportBatch`, kept and claimed as uploads of pairs are. What it becomes is decided
where `semblance bws import` decides it, in `annotation.results.importing`.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import datetime
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils.timezone import now
from django.utils.translation import gettext as _

from annotation.bws.files.columns import Columns, RecognisedColumns
from annotation.bws.files.judgement_files import JudgementFile, read_judgements
from annotation.bws.files.settling import Spaces
from annotation.bws.files.tables import table_beginning
from annotation.models import Campaign
from annotation.results.importing import judgements_foresee, judgements_record
from curation.exchange.claiming import (
    import_checked,
    import_claim,
    import_claim_waiting,
    import_done,
    import_failed,
    import_wait,
    imports_for_workers,
)
from curation.exchange.refusals import IMPORT_BROKE, failure_recorded
from curation.exchange.uploads import (
    CHECK_AT_ONCE_BYTES,
    LIKELY_ROWS,
    import_asked_save,
    import_bytes,
    import_errors_file,
    import_files,
    import_files_remove,
    import_options_save,
    import_rejected_put,
    import_require_free,
)
from curation.files.drafts import FileError
from curation.files.encoding import encoding_label
from curation.files.identity import TooManyRowsError
from curation.files.progress import Report, silent
from curation.files.tables import csv_lines
from curation.files.writing import as_text, replacing
from curation.foundation.errors import UserError, error_on_page
from curation.foundation.heartbeats import database_now
from curation.foundation.jobs import Hold, job_do
from curation.models import ImportBatch
from curation.people.access import dataset_require_active

# A request writes so many judgements in less than a second; a worker writes more.
IMPORT_AT_ONCE = 2_000
CHECK_AT_ONCE_ROWS = 30_000
# They are written in one transaction. On SQLite nobody else writes in the meantime, about 20 seconds for 100,000.
MOST_ROWS = 300_000
ERRORS_KEPT = 100
PREVIEW_ROWS = 5
JUDGEMENTS = ImportBatch.Kind.JUDGEMENTS


@dataclass(frozen=True)
class JudgementOptions:
    """How uploaded judgements are read, and the campaign they become.

    items, best, worst: names of columns, empty to recognise them; annotator: "" for none, None to recognise it.
    item, block, choice: those of a table with one item in each row. delimiter, encoding: of all files, None to find
    them out.
    """

    name: str
    question: str = ""
    items: tuple[str, ...] = ()
    best: str = ""
    worst: str = ""
    annotator: str | None = None
    item: str = ""
    block: str = ""
    choice: str = ""
    spaces: str = Spaces.AUTO.value
    keep_duplicates: bool = False
    without: tuple[str, ...] = ()
    delimiter: str | None = None
    encoding: str | None = None

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "JudgementOptions":
        return cls(**{**stored, "items": tuple(stored["items"]), "without": tuple(stored["without"])})

    @property
    def columns(self) -> Columns:
        roles = ("best", "worst", "item", "block", "choice")
        named = {role: getattr(self, role) or None for role in roles}
        return Columns(items=self.items or None, annotator=self.annotator, **named)


@dataclass(frozen=True)
class JudgementsPreview:
    """The beginning of the first uploaded file, and the names of the columns of all files.

    recognised: the columns that would be taken of the first file.
    """

    file: str
    files: int
    names: tuple[str, ...]
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    recognised: RecognisedColumns
    one_item_per_row: bool
    encoding: str
    header: bool = True

    @property
    def encoding_label(self) -> str:
        return encoding_label(self.encoding)

    def shown_rows(self) -> Iterator[list[tuple[str, tuple[str, ...]]]]:
        """The first rows: of each cell its column and its texts, of which there is one."""
        for row in self.rows:
            yield [(column, (cell,)) for column, cell in zip_longest(self.columns, row, fillvalue="")]


def judgements_preview(
    batch: ImportBatch,
    options: JudgementOptions | None = None,
    *,
    delimiter: str | None = None,
    encoding: str | None = None,
    rows: int = PREVIEW_ROWS,
) -> JudgementsPreview:
    """Look at an upload's beginning. delimiter, encoding: those that somebody chose.

    Raises UserError where a file is not a table.
    """
    columns = options.columns if options else Columns()
    with _errors_shown():
        paths = import_files(batch)
        seen = [
            table_beginning(path, columns, rows=rows, delimiter=delimiter, encoding=encoding)
            for path in paths
        ]
    if not seen:
        raise UserError(_("The uploaded file %(file)s is gone; upload it again."), file=batch.file_name)
    first = seen[0]
    names = tuple(dict.fromkeys(name for one in seen for name in one.names if name))
    return JudgementsPreview(
        file=paths[0].name,
        files=len(paths),
        names=names,
        columns=first.names,
        rows=first.rows,
        recognised=first.recognised,
        one_item_per_row=first.one_item_per_row,
        encoding=first.encoding,
    )


def judgements_likely(
    batch: ImportBatch, encodings: Sequence[str], *, delimiter: str | None = None
) -> Iterator[JudgementsPreview]:
    """The first rows of an upload in each of these encodings, without those in which it cannot be read."""
    for encoding in encodings:
        with suppress(UserError):
            yield judgements_preview(batch, delimiter=delimiter, encoding=encoding, rows=LIKELY_ROWS)


def judgements_check(*, batch: ImportBatch, options: JudgementOptions) -> bool:
    """Check a small upload without writing a row, and keep what an import would do.

    Of a larger one only the options are kept, for a worker that checks it: False. Raises UserError where the upload
    cannot be imported so.
    """
    dataset_require_active(batch.dataset)
    import_require_free(batch)
    try:
        if import_bytes(batch) <= CHECK_AT_ONCE_BYTES:
            _check(batch, options, most_rows=CHECK_AT_ONCE_ROWS)
            import_asked_save(batch=batch)
            return True
    except (TooManyRowsError, FileNotFoundError):
        pass
    import_options_save(batch=batch, mapping=options.as_json())
    import_wait(batch=batch)
    return False


def judgements_import(*, batch: ImportBatch) -> Campaign | None:
    """Import a checked upload of few judgements; of many, leave it to a worker: None."""
    dataset_require_active(batch.dataset)
    if batch.checked and batch.added > IMPORT_AT_ONCE:
        import_wait(batch=batch)
        return None
    import_claim(batch=batch)
    with failure_recorded(batch):
        return _import_claimed(batch, silent)


def judgement_imports_free(at: datetime) -> QuerySet[ImportBatch]:
    """Uploads that wait for a worker, and those whose process fell silent."""
    return imports_for_workers(at, JUDGEMENTS)


def judgements_carry_out(*, batch_pk: int) -> bool:
    """Check or import, as a worker, an upload that waits for one; whether that came to a good end."""
    batch = ImportBatch.objects.filter(pk=batch_pk, kind=JUDGEMENTS).select_related("dataset").first()
    if batch is None or not import_claim_waiting(batch=batch):
        return False
    return job_do(
        Hold(batch),
        _carry_out,
        broke=str(IMPORT_BROKE),
        fails=lambda hold, sentence: import_failed(batch=hold.job, error=sentence),
    )


def _carry_out(hold: Hold[ImportBatch]) -> None:
    batch = hold.job

    def progress(done: int, total: int, message: str) -> None:
        hold.note(written={"done": done, "total": total, "message": message})
        if not total:  # a stage begins; inside the transaction that may follow, SQLite takes no notes
            hold.beat(database_now())

    dataset_require_active(batch.dataset)
    try:
        if batch.checked:
            _import_claimed(batch, progress)
        else:
            _check(batch, JudgementOptions.from_json(batch.mapping), most_rows=MOST_ROWS, report=progress)
            import_checked(batch=batch)
    except FileError as error:
        raise error_on_page(error) from error


def _import_claimed(batch: ImportBatch, report: Report) -> Campaign:
    options = JudgementOptions.from_json(batch.mapping)
    file = _read(batch, options, most_rows=MOST_ROWS, report=report)
    report(0, 0, _("Writing the campaign"))
    with transaction.atomic():
        recorded = judgements_record(
            dataset=batch.dataset,
            name=options.name,
            file=file,
            sha256=batch.sha256,
            at=now(),
            question=options.question,
            by=batch.created_by,
            report=report,
        )
        import_done(batch=batch, report=batch.report | {"campaign": recorded.campaign.pk})
    import_files_remove(batch)
    return recorded.campaign


def _check(batch: ImportBatch, options: JudgementOptions, *, most_rows: int, report: Report = silent) -> None:
    """Read an upload and set on the batch, without storing it, what an import would do."""
    file = _read(batch, options, most_rows=most_rows, report=report)
    figures = judgements_foresee(
        dataset=batch.dataset,
        name=options.name,
        file=file,
        sha256=batch.sha256,
        question=options.question,
    )
    if file.rejected:  # as CSV with the columns file, line and reason
        with import_rejected_put(batch), replacing(import_errors_file(batch)) as kept, as_text(kept) as text:
            name = Path(batch.path).name
            rows = ([row.file or name, row.line, row.reason] for row in file.rejected)
            text.writelines(csv_lines(chain([["file", "line", "reason"]], rows), line_end="\n"))
    batch.mapping = options.as_json()
    batch.rows = len(file.judgements) + len(file.rejected) + file.left_out
    batch.added, batch.unchanged, batch.rejected = figures.judgements, 0, len(file.rejected)
    errors = [
        {"file": row.file, "line": row.line, "reason": row.reason} for row in file.rejected[:ERRORS_KEPT]
    ]
    batch.report = {
        "rows": batch.rows,
        "figures": asdict(figures),
        "annotators_named": bool(file.annotators),
        "left_out": file.left_out,
        "notices": [notice.for_page for notice in file.notices],
        "guesses": [guess._asdict() for guesses in file.guesses.values() for guess in guesses],
        "lines": list(figures.lines),
        "errors": errors,
    }


def _read(batch: ImportBatch, options: JudgementOptions, *, most_rows: int, report: Report) -> JudgementFile:
    report(0, 0, _("Reading the file"))
    with _errors_shown():
        return read_judgements(
            import_files(batch),
            options.columns,
            without=options.without,
            spaces=Spaces(options.spaces),
            keep_duplicates=options.keep_duplicates,
            delimiter=options.delimiter,
            encoding=options.encoding,
            most_rows=most_rows,
        )


@contextmanager
def _errors_shown() -> Iterator[None]:
    """Raise what a person can mend as a UserError in the words of the page, but that a file has too many rows: a
    worker may read more.
    """
    try:
        yield
    except TooManyRowsError:
        raise
    except FileError as error:
        raise error_on_page(error) from error
