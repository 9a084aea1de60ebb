"""Tasks to fine-tune on: out of datasets, by score sets or by subsets, and out of files."""

from collections.abc import Container
from typing import NamedTuple

import numpy as np
from django.conf import settings
from numpy.typing import NDArray

from curation.foundation.errors import UserError
from curation.models import Snapshot
from curation.pairs.leaks import Leaks
from mlworkers.pipelines.seen import leaking_splits_refuse
from mlworkers.pipelines.snapshots import dataset_read, snapshot_taken, table_of
from mlworkers.runs.jobs import Job
from mlworkers.science.encoders.pre_fine_tuning.files import task_read
from mlworkers.science.encoders.pre_fine_tuning.plan import PreFineTuningPlan
from mlworkers.science.encoders.pre_fine_tuning.tasks import (
    SUBSET,
    Task,
    TaskError,
    TaskNames,
    TaskRows,
    classes_in_order,
    dev_drawn,
    task_made,
)
from mlworkers.science.encoders.rows import PairTable, Rows

_GENERATED = "generated"


class TakenTask(NamedTuple):
    """A task; the snapshot that it is from, None for files, whose SHA-256 then are there; and who judged its scores."""

    task: Task
    snapshot: Snapshot | None
    files: tuple[tuple[str, str], ...] = ()
    judges: str = ""


def tasks_taken(
    plan: PreFineTuningPlan, job: Job, snapshot: Snapshot, seen: Container[str]
) -> list[TakenTask]:
    """The tasks of a plan in their order. snapshot: of the plan's dataset. seen: what the base model was trained on.

    Raises UserError or LeakError with one sentence.
    """
    snapshots = {plan.dataset: snapshot}
    found = []
    for names in plan.all_tasks:
        try:
            if not names.dataset:
                read = task_read(
                    names,
                    settings.SUITES_FOLDER,
                    dev_share=plan.dev_share,
                    seed=plan.first_seed,
                    seen=seen,
                )
                found.append(TakenTask(read.task, None, read.files))
                continue
            if names.dataset not in snapshots:
                dataset = dataset_read(job, names.dataset)
                snapshots[names.dataset] = snapshot_taken(
                    job, dataset, 0, generated_pairs=plan.generated_pairs
                )
            found.append(_of_dataset(plan, names, snapshots[names.dataset], seen))
        except TaskError as error:
            raise UserError("%(problem)s", problem=str(error)) from error
    return found


def _of_dataset(
    plan: PreFineTuningPlan, names: TaskNames, snapshot: Snapshot, seen: Container[str]
) -> TakenTask:
    table = table_of(snapshot)
    skipped = plan.is_inference(names)
    values, classes = _labels(plan, names, table)
    parts = {}
    for split in (plan.train_split, plan.dev_split, plan.test_split):
        chosen = ~np.isnan(values) & (table.column("split") == split)
        numbers, a, b, first, second = (
            table.column(name)[chosen] for name in ("pair", "a_id", "b_id", "sentence1", "sentence2")
        )
        parts[split] = Rows(numbers, a, b, first, second, values[chosen])
    tested = plan.test_split if len(parts[plan.test_split]) else plan.dev_split
    if not skipped and plan.leaks == Leaks.REFUSE:
        leaking_splits_refuse(snapshot, parts[tested], trained=plan.train_split, tested=tested)
    train, dev, test = (
        TaskRows(tuple(rows.first.tolist()), tuple(rows.second.tolist()), rows.values.astype(np.float64))
        for rows in (parts[plan.train_split], parts[plan.dev_split], parts[tested])
    )
    notes = []
    if tested == plan.dev_split:
        notes.append(f"{names.label} has no test rows with labels: its dev rows are the test.")
        dev = dev.taken([])
    if not len(dev) and len(train) and not skipped:
        train, dev = dev_drawn(train, plan.dev_share, seed=plan.first_seed)
        notes.append(f"The dev rows of {names.label} were drawn from its training rows.")
    task = task_made(
        names,
        classes=classes,
        train=None if skipped else train,
        dev=dev,
        test=test,
        held_out=table.held_out(plan.train_split),
        seen=seen,
        notes=notes,
    )
    return TakenTask(task, snapshot, judges="" if names.labels == SUBSET else table.judges(names.labels))


def _labels(
    plan: PreFineTuningPlan, names: TaskNames, table: PairTable
) -> tuple[NDArray[np.float64], tuple[str, ...]]:
    """Of every pair its score in 0..1, or the number of its class, NaN where it has none; and the classes' names."""
    if names.labels != SUBSET:
        return table.scores(names.labels), ()
    subsets = table.column("subset").astype(str)
    labelled = (subsets != "") & (subsets != "None") & (table.column("origin") != _GENERATED)
    classes = classes_in_order(subsets[labelled].tolist())
    if plan.is_inference(names):
        classes = (plan.entailment, plan.neutral, plan.contradiction)
    place = {name: number for number, name in enumerate(classes)}
    values = [
        place.get(name, np.nan) if marked else np.nan
        for name, marked in zip(subsets.tolist(), labelled.tolist(), strict=True)
    ]
    return np.array(values, dtype=np.float64), classes
