"""Sentences into the pool of a dataset, from which pairs are composed."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from django.db import transaction
from django.utils.translation import gettext as _

from curation.access import dataset_lock
from curation.datasets.audit import Action, audit_record
from curation.datasets.rows import bulk_writing, in_parts, numbers_reserve, rows_add
from curation.errors import UserError, errors_shown
from curation.exchange.pair_writing import sentence_numbers
from curation.files.cells import BadRowError, fact_in
from curation.files.drafts import FileError, RowError
from curation.files.parsing import FACT_MAX_CHARACTERS
from curation.files.sentences import DraftSentence, SentenceColumns, inspect_sentences, read_sentences
from curation.files.unpacking import unpacked
from curation.models import Dataset, PooledSentence, Sentence, User
from curation.pairs.text import key_of_normalised, printable

MOST_SENTENCES = 2_000_000
_ERRORS_KEPT = 100


@dataclass(frozen=True)
class SentenceOptions:
    """How a file of sentences is read. source: of all sentences, where no column names one; None: the file's name.

    most: sentences that one import may add.
    """

    columns: SentenceColumns = field(default_factory=SentenceColumns)
    header: bool = True
    documents: bool = False
    language: str = "en"
    source: str | None = None
    most: int = MOST_SENTENCES


@dataclass
class PoolOutcome:
    """What became of a file's rows. known: sentences that were in the pool, or stood in the file, before."""

    rows: int = 0
    added: int = 0
    known: int = 0
    rejected: int = 0
    errors: list[RowError] = field(default_factory=list)
    warnings: Sequence[str] = ()


@transaction.atomic
def sentences_import(
    *, dataset: Dataset, path: Path, options: SentenceOptions, by: User | None
) -> PoolOutcome:
    """Add a file's sentences to the dataset's pool, and to its sentences where they are new; none of them on an error.

    A sentence that the pool has keeps its source and labels. Raises UserError where the file cannot be used, or no row
    of it can.
    """
    dataset_lock(dataset)
    outcome = PoolOutcome()
    with errors_shown(FileError), unpacked(path) as plain, bulk_writing():
        file = inspect_sentences(
            plain,
            options.columns,
            header=options.header,
            documents=options.documents,
            language=options.language,
        )
        outcome.warnings = file.warnings
        source = _source_of_all(options, plain)
        for part in in_parts(_drafts(read_sentences(file), outcome, options.most)):
            _store(dataset, part, source, options.columns.labels, outcome)
    if not outcome.added and not outcome.known:
        raise UserError(_no_sentence(path, outcome))
    counts = {"added": outcome.added, "unchanged": outcome.known, "rejected": outcome.rejected}
    audit_record(dataset=dataset, action=Action.SENTENCES_ADDED, by=by, subject=path.name, details=counts)
    return outcome


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


def _drafts(
    rows: Iterable[DraftSentence | RowError], outcome: PoolOutcome, most: int
) -> Iterator[DraftSentence]:
    for row in rows:
        outcome.rows += 1
        if isinstance(row, DraftSentence):
            if outcome.rows - outcome.rejected > most:
                sentence = _(
                    "The file has more than %(most)s sentences, which is too many at once. Divide it, or use "
                    "manage.py import_sentences."
                )
                raise UserError(sentence, most=f"{most:,}")
            yield row
            continue
        outcome.rejected += 1
        if len(outcome.errors) < _ERRORS_KEPT:
            outcome.errors.append(row)


def _store(
    dataset: Dataset,
    drafts: Sequence[DraftSentence],
    source: str,
    labels: Sequence[str],
    outcome: PoolOutcome,
) -> None:
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
            draft.source or source,
            json.dumps(dict(zip(labels, draft.labels, strict=True))),
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


def _no_sentence(path: Path, outcome: PoolOutcome) -> str:
    if not outcome.rejected:
        return _("%(file)s has no sentence.") % {"file": path.name}
    first = outcome.errors[0]
    names = {"file": path.name, "rejected": outcome.rejected, "reason": first.reason, "line": first.line}
    sentence = _("None of the %(rejected)s rows of %(file)s is a sentence. Line %(line)s: %(reason)s.")
    return sentence % names
