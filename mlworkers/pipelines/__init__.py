"""What each kind of run does: rows in, pure code and other apps' services, rows and files out.

The only place where Django and machine-learning libraries may meet; `tasks` loads it in the worker alone. A
pipeline that is taken up again after its worker was killed must end as if it had run once.
"""

import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from curation.access import dataset_require_active
from mlworkers.models import Artifact, Evaluation, Run
from mlworkers.pipelines import pairs
from mlworkers.plans.kinds import kind_named, plan_errors_shown, plan_from
from mlworkers.progress import Report
from mlworkers.registry.references import models_check_roots
from mlworkers.runs import clock
from mlworkers.runs.jobs import Made, Outcome, Work
from mlworkers.runs.lifecycle import Claim, run_finish
from mlworkers.runs.reporting import Assisting, Heir, Reporter
from mlworkers.runs.shards import AssistingShards, HeldShards, Shards
from mlworkers.runs.storage import (
    Curve,
    RunLog,
    assistant_folder,
    attempt_folder,
    attempts_remove,
    content_of,
    home_relative,
    kept_folder,
)

Pipeline = Callable[[Any, Work], Outcome]


def later(module: str, function: str) -> Pipeline:
    """A pipeline whose module is loaded when its first run comes: a worker that imports and exports has no torch."""

    def pipeline(plan: Any, work: Work) -> Outcome:
        found: Pipeline = getattr(import_module(f"mlworkers.pipelines.{module}"), function)
        return found(plan, work)

    return pipeline


PIPELINES: dict[str, Pipeline] = {
    "check_import": pairs.check_import,
    "import_pairs": pairs.import_pairs,
    "export_dataset": pairs.export_dataset,
    "bootstrap_generator": later("generating", "bootstrap_generator"),
    "generate_pairs": later("generating", "generate_pairs"),
    "train_encoder": later("encoders", "train_encoder"),
    "evaluate_encoder": later("encoders", "evaluate_encoder"),
    "compare_weightings": later("encoders", "compare_weightings"),
    "relate_sentences": later("relating", "relate_sentences"),
    "score_realism": later("realism", "score_realism"),
}


def perform(claim: Claim, report: Reporter, *, invite: Callable[[Run], object] = lambda run: None) -> str:
    """Carry out the run that was claimed and finish it. Returns the outcome in a phrase.

    invite: asks other workers to assist with the run's shards.
    """
    run = Run.objects.select_related("dataset").get(pk=claim.run_id)
    shards = HeldShards(
        _shards_folder(run), report, run_id=run.pk, worker=run.worker, invite=lambda: invite(run)
    )
    outcome = _carried_out(run, attempt_folder(run.pk, claim.attempt), report, shards)
    made = {each.path: _artifact(run, each) for each in outcome.made}
    run_finish(
        claim=claim,
        at=clock.now(),
        message=outcome.message,
        result=outcome.result,
        done=report.standing.total or report.standing.done,
        total=report.standing.total,
        artifacts=list(made.values()),
        evaluations=[_measured(run, row, made[path] if path else None) for row, path in outcome.evaluations],
    )
    attempts_remove(run.pk, up_to=claim.attempt - 1)
    return outcome.message


def assist(run_id: int, *, worker: str, heir: Heir) -> None:
    """Do shards of a run that another worker holds, as long as any is free. Raises ShardsLeft when none is, or when
    the heir has taken the run over.
    """
    run = Run.objects.select_related("dataset").get(pk=run_id)
    report = Assisting(RunLog(run.pk), worker)
    shards = AssistingShards(_shards_folder(run), report, run_id=run.pk, worker=worker, heir=heir)
    with assistant_folder(run.pk) as folder:
        _carried_out(run, folder, report, shards)


def release() -> None:
    """Give back the memory of models that nothing refers to any more, if this worker has loaded any."""
    if "torch" in sys.modules:
        import_module("mlworkers.compute").release_memory()


def _carried_out(run: Run, folder: Path, report: Report, shards: Shards) -> Outcome:
    kind = kind_named(run.kind)
    if kind.writes and run.dataset is not None:  # it may have been archived since the run was queued
        dataset_require_active(run.dataset)
    if run.started_by_id is not None:
        models_check_roots(kind, run.plan)
    kept = kept_folder(run.pk)
    for path in (folder, kept):
        path.mkdir(parents=True, exist_ok=True)
    work = Work(
        run_id=run.pk,
        dataset=run.dataset,
        attempt=run.attempt,
        folder=folder,
        kept=kept,
        report=report,
        shards=shards,
        curve=Curve(run.pk),
    )
    with plan_errors_shown(kind):
        return PIPELINES[run.kind](plan_from(kind, run.plan), work)


def _shards_folder(run: Run) -> Path:
    return kept_folder(run.pk) / "shards"


def _artifact(run: Run, made: Made) -> Artifact:
    sha256, size = content_of(made.path)
    path = home_relative(made.path)
    return Artifact(run=run, kind=made.kind, path=path, sha256=sha256, size=size, card=made.card)


def _measured(run: Run, row: Evaluation, artifact: Artifact | None) -> Evaluation:
    row.run, row.artifact = run, artifact
    return row
