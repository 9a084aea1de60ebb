"""The snapshots that a run reads: made once for a run, whichever worker comes first, and checked before reading."""

from dataclasses import replace
from typing import Any

from django.utils.translation import gettext as _

from curation.exchange.exporting import ACTIVE, snapshot_create, snapshot_path
from curation.files.writing import sha256_of
from curation.foundation.errors import UserError
from curation.models import Dataset, Snapshot, User
from curation.pairs.inclusion import UNNAMED, Inclusion
from curation.pairs.leaks import Leaks
from curation.people.access import datasets_readable
from mlworkers.models import Run
from mlworkers.runs.jobs import Job
from mlworkers.science.encoders.rows import PairTable


def dataset_read(job: Job, slug: str) -> Dataset:
    """Another dataset, which the person who started the run must be allowed to read; from a shell, any."""
    by = started_by(job)
    readable = Dataset.objects.all() if by is None else datasets_readable(by)
    dataset = readable.filter(slug=slug).first()
    if dataset is None:
        raise UserError(_("There is no dataset called “%(slug)s”; check its short name."), slug=slug)
    return dataset


def snapshot_taken(
    job: Job, dataset: Dataset, number: int, *, generated_pairs: Inclusion = UNNAMED
) -> Snapshot:
    """The dataset's snapshot of that number; for 0 a new one, the same in every attempt of the run.

    generated_pairs: which of them a new one holds; a run that scores pairs takes all that were not rejected. What an
    existing one holds was checked when the run was started.
    """

    if not number:
        filter = replace(ACTIVE, generated_pairs=generated_pairs)
        by = started_by(job)
        # What a run may not read it refuses itself, by its setting `leaks`.
        return snapshot_create(
            dataset=dataset,
            filter=filter,
            by=by,
            run_ref=job.run_id,
            report=job.report,
            leaks=Leaks.ALLOW,
        )
    snapshot = dataset.snapshots.filter(number=number).first()
    if snapshot is None:
        sentence = _(
            "The dataset “%(slug)s” has no snapshot %(number)s; choose one that it has, or 0 for a new one."
        )
        raise UserError(sentence, slug=dataset.slug, number=number)
    return snapshot


def started_by(job: Job) -> User | None:
    """Who started the run, as when they did: with the API token that they used, for the audit log."""
    run = Run.objects.select_related("started_by").get(pk=job.run_id)
    if run.started_by is not None:
        run.started_by.token_used = run.token
    return run.started_by


def snapshot_of_plan(plan: Any, job: Job) -> Snapshot:
    """The snapshot of the run's own dataset that its plan names."""
    dataset = job.dataset_of(plan.dataset)
    return snapshot_taken(job, dataset, plan.snapshot, generated_pairs=plan.generated_pairs)


def table_of(snapshot: Snapshot) -> PairTable:
    """The pairs of a snapshot. Raises UserError where its file is gone or is no longer what was written."""
    path = snapshot_path(snapshot)
    if not path.is_file() or sha256_of(path) != snapshot.sha256:
        sentence = _("The file of snapshot %(number)s is gone or was changed; make a new one.")
        raise UserError(sentence, number=snapshot.number)
    return PairTable(path)
