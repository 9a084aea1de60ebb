"""Sentences into the pool of a dataset, from which pairs are composed.

The file is read twice, as files of pairs are. The first reading counts, and keeps the rows that are not sentences; the
second writes. What the pool has is known again, so an import that was stopped goes on where it was.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from curation.datasets.rows import bulk_writing, numbers_reserve, prepared_meanwhile, rows_add
from curation.exchange.claiming import BeatingReport, import_beat
from curation.exchange.importing import CHUNK_ROWS, ERRORS_KEPT, ONE_TRANSACTION_ROWS
from curation.exchange.pair_writing import sentence_numbers
from curation.exchange.refusals import (
    NothingImportedError,
    failure_recorded,
    file_errors_shown,
    none_was_imported,
    rejections_kept,
)
from curation.files.cells import BadRowError, fact_in
from curation.files.drafts import Guess, RowError
from curation.files.identity import FileOrigin, TooManyRowsError
from curation.files.progress import Report, silent
from curation.files.recognising import FACT_MAX_CHARACTERS
from curation.files.sentences import (
    DraftSentence,
    SentenceColumns,
    SentenceFile,
    inspect_sentences,
    layout_of_rejected,
    read_sentences,
)
from curation.files.unpacking import UNPACKED_MOST, unpacked
from curation.foundation.errors import UserError
from curation.foundation.parts import in_parts
from curation.models import AuditEntry, Dataset, ImportBatch, PooledSentence, Sentence, User
from curation.pairs.text import key_of_normalised, printable
from curation.people.access import dataset_lock, dataset_require_active
from curation.people.audit import Action, audit_record

MOST_SENTENCES = 2_000_000
_ROWS_BETWEEN_REPORTS = 5_000


@dataclass(frozen=True)
class SentenceOptions:
    """How a file of sentences is read.

    source: of all sentences, where no column names one; None: the file's name.
    strict: if one row is not a sentence, nothing is added.
    encoding: None detects it.
    """

    columns: SentenceColumns = field(default_factory=SentenceColumns)
    header: bool = True
    documents: bool = False
    language: str = "en"
    source: str | None = None
    strict: bool = False
    delimiter: str | None = None
    encoding: str | None = None

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "SentenceOptions":
        return cls(**{**stored, "columns": SentenceColumns(**stored["columns"])})


@dataclass
class PoolOutcome:
    """What became of a file's rows. known: sentences that were in the pool, or stood in the file, before."""

    rows: int = 0
    added: int = 0
    known: int = 0
    rejected: int = 0
    errors: list[RowError] = field(default_factory=list)
    warnings: Sequence[str] = ()
    guesses: Sequence[Guess] = ()

    def count_in(self, batch: ImportBatch) -> None:
        batch.rows, batch.added, batch.unchanged, batch.rejected = (
            self.rows, self.added, self.known, self.rejected,
        )  # fmt: skip
        errors = [{"line": row.line, "reason": row.reason, "row": row.row} for row in self.errors]
        batch.report = {"rows": self.rows, "errors": errors, "warnings": list(self.warnings)}
        batch.report["guesses"] = [guess._asdict() for guess in self.guesses]


@dataclass
class _Job:
    """One import while it writes. source: of the sentences whose row names none."""

    dataset: Dataset
    file: SentenceFile
    source: str
    labels: Sequence[str]
    outcome: PoolOutcome
    batch: ImportBatch
    by: User | None


def sentences_import(
    *,
    dataset: Dataset,
    path: Path,
    options: SentenceOptions,
    by: User | None,
    batch: ImportBatch | None = None,
    errors: Path | None = None,
    most: int = MOST_SENTENCES,
    most_bytes: int = UNPACKED_MOST,
    report: Report = silent,
) -> PoolOutcome:
    """Add a file's sentences to the dataset's pool, and to its sentences where they are new.

    A sentence that the pool has keeps its source and labels. At most 5,000 rows are one transaction; more are written
    1,000 at a time. batch: the claimed upload, which is closed with the last of them. errors: where to write the
    rejected rows as CSV. most: sentences of the file; most_bytes: what it may unpack to.
    Raises UserError, before anything is written, where the file cannot be used or no row of it can, and
    TooManyRowsError or TooLargeError where it has more than `most` or `most_bytes`.
    """
    dataset_require_active(dataset)
    batch = batch or ImportBatch(dataset=dataset, file_name=path.name[:255])
    report = BeatingReport(batch, report)
    with failure_recorded(batch), file_errors_shown(), unpacked(path, most=most_bytes) as plain:
        file = inspect_sentences(
            plain,
            options.columns,
            header=options.header,
            delimiter=options.delimiter,
            documents=options.documents,
            language=options.language,
            encoding=options.encoding,
        )
        origin = FileOrigin(_source_of_all(options, plain), "")
        outcome = PoolOutcome(warnings=file.warnings, guesses=file.layout.guesses if file.layout else ())
        with rejections_kept(errors, layout_of_rejected(file), origin) as refuse:
            for outcome.rows, row in enumerate(read_sentences(file), 1):
                if outcome.rows % _ROWS_BETWEEN_REPORTS == 0:
                    report(outcome.rows, 0, _("Reading the file"))
                if isinstance(row, RowError):
                    outcome.rejected += 1
                    refuse(row)
                    if len(outcome.errors) < ERRORS_KEPT:
                        outcome.errors.append(row)
                elif outcome.rows - outcome.rejected > most:
                    raise TooManyRowsError(f"The file has more than {most:,} sentences; divide it.")
            if outcome.rejected and (options.strict or outcome.rejected == outcome.rows):
                refusal = none_was_imported if options.strict else _no_sentence
                raise refusal(path.name, outcome.errors[0], outcome.rejected, outcome)
            if not outcome.rows:
                raise UserError(_("%(file)s has no sentence."), file=path.name)
        with transaction.atomic() if outcome.rows <= ONE_TRANSACTION_ROWS else bulk_writing():
            job = _Job(dataset, file, origin.source or "", options.columns.labels, outcome, batch, by)
            _sentences_write(job, report)
    return outcome


def _sentences_write(job: _Job, report: Report) -> None:
    outcome, batch = job.outcome, job.batch
    before = batch.written.get("added", 0)  # by earlier attempts: to this one it is known
    recorded = False
    for part in prepared_meanwhile(
        in_parts((row for row in read_sentences(job.file) if isinstance(row, DraftSentence)), CHUNK_ROWS)
    ):
        with transaction.atomic():
            dataset_lock(job.dataset)
            _store(job, part)
            if batch.pk:
                # In the same transaction, so that what an attempt added is known exactly, whenever it is killed.
                import_beat(batch=batch, written={"added": before + outcome.added})
                if outcome.added and not recorded:
                    recorded = True
                    # Write down, once for all attempts, that the import changed the pool; the batch has the counts.
                    if not AuditEntry.objects.filter(batch=job.batch).exists():
                        audit_record(
                            dataset=job.dataset,
                            action=Action.SENTENCES_ADDED,
                            by=job.by,
                            subject=job.batch.file_name,
                            batch=job.batch,
                            details={"sha256": job.batch.sha256},
                        )
        report(outcome.added + outcome.known, outcome.rows - outcome.rejected, _("Adding sentences"))
    outcome.added, outcome.known = outcome.added + before, max(0, outcome.known - before)
    if batch.pk:
        with transaction.atomic():
            import_beat(batch=batch)
            batch.state = ImportBatch.State.DONE
            outcome.count_in(batch)
            batch.save()
    else:
        counts = {"added": outcome.added, "unchanged": outcome.known, "rejected": outcome.rejected}
        audit_record(
            dataset=job.dataset,
            action=Action.SENTENCES_ADDED,
            by=job.by,
            subject=batch.file_name,
            details=counts,
        )


def pool_clear(*, dataset: Dataset, by: User | None) -> int:
    """Empty the pool. Sentences that are in no pair leave the dataset; returns how many the pool had."""
    with transaction.atomic():
        dataset_lock(dataset)
        pooled = list(PooledSentence.objects.filter(dataset=dataset).values_list("sentence_id", flat=True))
        PooledSentence.objects.filter(dataset=dataset).delete()
        for part in in_parts(pooled):
            loose = Sentence.objects.filter(pk__in=part, pairs_as_a=None, pairs_as_b=None, origin="human")
            loose.delete()
        audit_record(dataset=dataset, action=Action.POOL_EMPTIED, by=by)
    return len(pooled)


def _store(job: _Job, drafts: Sequence[DraftSentence]) -> None:
    dataset, outcome = job.dataset, job.outcome
    by_key: dict[str, DraftSentence] = {}
    for draft in drafts:
        by_key.setdefault(key_of_normalised(draft.text), draft)
    there = sentence_numbers(dataset, list(by_key))
    new = sorted(by_key.keys() - there.keys())
    made = dict(zip(new, numbers_reserve(Sentence, len(new)), strict=True))
    rows_add(
        Sentence,
        shared={"dataset_id": dataset.pk},
        columns=["id", "key", "text"],
        rows=[(number, key, by_key[key].text) for key, number in made.items()],
    )
    numbers = there | made
    pooled = set(
        PooledSentence.objects.filter(sentence__in=list(there.values())).values_list("sentence_id", flat=True)
    )
    rows = [
        (
            numbers[key],
            draft.source or job.source,
            json.dumps(dict(zip(job.labels, draft.labels, strict=True))),
        )
        for key, draft in by_key.items()
        if numbers[key] not in pooled
    ]
    rows_add(
        PooledSentence,
        shared={"dataset_id": dataset.pk},
        columns=["sentence_id", "source", "labels"],
        rows=rows,
    )
    outcome.added += len(rows)
    outcome.known += len(drafts) - len(rows)


def _source_of_all(options: SentenceOptions, path: Path) -> str:
    """Raises UserError for a name that is too long, or no text."""
    most = FACT_MAX_CHARACTERS["source"]
    if options.source is None:
        return printable(path.stem)[:most]
    try:
        return fact_in(options.source, _("name of the source"), most)
    except BadRowError as error:
        raise UserError(_("Choose another name of the source: %(reason)s."), reason=str(error)) from error


def _no_sentence(name: str, first: RowError, rejected: int, outcome: PoolOutcome) -> NothingImportedError:
    sentence = _("None of the %(rejected)s rows of %(file)s is a sentence. Line %(line)s: %(reason)s.")
    facts = {"rejected": rejected, "line": first.line, "reason": first.reason}
    return NothingImportedError(sentence, outcome=outcome, file=name, **facts)
