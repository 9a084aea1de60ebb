"""Pairs and sentences into a dataset, and pairs out of it."""

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from django.contrib.humanize.templatetags.humanize import intcomma
from django.utils.translation import gettext as _

from curation.exchange.dataset_card import card_write
from curation.exchange.exporting import pairs_export
from curation.exchange.importing import ImportOptions
from curation.exchange.sentence_uploads import sentences_add
from curation.exchange.uploads import import_apply, import_check, import_errors_path
from curation.files.writing import replacing
from curation.foundation.errors import UserError
from curation.models import ImportBatch
from mlworkers.kinds.exchange.kinds import ExportPlan, ImportPlan, SentencesPlan
from mlworkers.pipelines.snapshots import started_by
from mlworkers.runs.jobs import Job, NewArtifact, Outcome

KNOWN_BEFORE = {"dataset", "dry_run", "header", "unread", "changed"}


def check_import(plan: ImportPlan, job: Job) -> Outcome:
    """Try an import as its page asked; that page then shows what it would do."""
    batch = _batch(plan, job)
    if not batch.mapping:
        sentence = _("The columns of %(file)s are not chosen; open the import and choose them.")
        raise UserError(sentence, file=batch.file_name)
    options = ImportOptions.from_json(batch.mapping)
    figures = import_check(batch=batch, options=options, report=job.report).as_json()
    message = _(
        "%(added)s new pairs, %(updated)s updated, %(unchanged)s unchanged, %(rejected)s rows rejected; "
        "nothing is written"
    )
    return _outcome(message, batch, figures)


def import_pairs(plan: ImportPlan, job: Job) -> Outcome:
    batch = _batch(plan, job)
    again = job.attempt > 1
    if again and batch.state == ImportBatch.State.DONE:  # the worker was killed before it could say so
        figures = dict(batch.report)
    else:
        by = started_by(job)
        figures = import_apply(batch=batch, by=by, report=job.report, again=again).as_json()
    message = _(
        "%(added)s pairs added, %(updated)s updated, %(unchanged)s unchanged, %(rejected)s rows rejected"
    )
    return _outcome(message, batch, figures, _rejected(batch, job))


def import_sentences(plan: SentencesPlan, job: Job) -> Outcome:
    batch = _batch(plan, job, ImportBatch.Kind.SENTENCES)
    again = job.attempt > 1
    if not (again and batch.state == ImportBatch.State.DONE):
        sentences_add(batch=batch, by=started_by(job), report=job.report, again=again)
        batch.refresh_from_db()
    figures = {"rows": batch.rows, "added": batch.added, "known": batch.unchanged, "rejected": batch.rejected}
    message = _("%(added)s sentences added, %(known)s known before, %(rejected)s rows rejected")
    told = message % {name: intcomma(number) for name, number in figures.items()}
    result = {"file": batch.file_name, **figures, "warnings": batch.report["warnings"]}
    return Outcome(told, result, _rejected(batch, job))


def _rejected(batch: ImportBatch, job: Job) -> Sequence[NewArtifact]:
    """The rejected rows as a file of the run."""
    errors = import_errors_path(batch)
    if errors is None:
        return []
    path = job.folder / f"{Path(batch.file_name).stem}-rejected.csv"
    with errors.open("rb") as source, replacing(path) as file:
        shutil.copyfileobj(source, file)
    return [NewArtifact("rejected rows", path)]


def _batch(plan: ImportPlan | SentencesPlan, job: Job, kind: str = ImportBatch.Kind.PAIRS) -> ImportBatch:
    batch = ImportBatch.objects.filter(pk=plan.batch, dataset=job.dataset, kind=kind).first()
    if batch is None:
        sentence = _("The uploaded file number %(number)s is gone; upload it again.")
        raise UserError(sentence, number=plan.batch)
    return batch


def _outcome(
    message: str, batch: ImportBatch, figures: Mapping[str, Any], made: Sequence[NewArtifact] = ()
) -> Outcome:
    counts = {name: intcomma(figures[name]) for name in ("added", "updated", "unchanged", "rejected")}
    result = {"file": batch.file_name} | {name: figures[name] for name in figures if name not in KNOWN_BEFORE}
    return Outcome(message % counts, result, made)


def export_dataset(plan: ExportPlan, job: Job) -> Outcome:
    """Write the pairs of a dataset, with the scores that are chosen, into a file, and a card of its facts beside it."""
    dataset = job.dataset_of(plan.dataset)
    outcome = pairs_export(
        dataset=dataset,
        path=job.folder / f"{plan.dataset}.{plan.format}",
        format=plan.format,
        score_set=plan.score_set or None,
        plain=plan.plain,
        standard_errors=plan.standard_errors,
        neutralise=plan.spreadsheet,
        generated_pairs=plan.generated_pairs,
        scored_only=plan.scored_only,
        report=job.report,
    )
    message = _("%(rows)s pairs written") % {"rows": intcomma(outcome.rows)}
    choice = {"generated_pairs": outcome.generated_pairs.value, "unreviewed": outcome.unreviewed}
    result = {"rows": outcome.rows, **choice, "score_sets": list(outcome.score_sets)}
    card = card_write(dataset, outcome)
    return Outcome(message, result, [NewArtifact("pairs", outcome.path, choice), NewArtifact("card", card)])
