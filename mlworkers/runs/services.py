"""Starting runs, cancelling them, starting them again."""

from collections.abc import Mapping
from dataclasses import asdict
from functools import partial
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from curation.foundation.errors import UserError, errors_shown
from curation.foundation.heartbeats import database_now
from curation.models import Dataset, User
from curation.people.access import dataset_require_active
from curation.people.audit import Action, audit_record
from mlworkers.models import Run
from mlworkers.plans.kinds import kind_named, plan_errors_shown, plan_from
from mlworkers.runs import lifecycle
from mlworkers.runs.invitations import invite
from mlworkers.runs.references import dataset_named, models_check_roots, references_check
from mlworkers.science.pretrained.sources import ModelError


@transaction.atomic
def run_start(
    *,
    kind: str,
    plan: Mapping[str, Any],
    by: User | None,
    dataset: Dataset | None = None,
    launch: UUID | None = None,
    by_key: bool = False,
) -> Run:
    """Queue a run, and invite a worker once the row is committed.

    dataset: the one the plan names, where the caller has it at hand. by: None for a command of the person who runs this
    machine, which may take models from any folder. launch: made with the form; the same one sent twice starts one
    run. Raises UserError for a plan that is wrong or names what does not exist; its sentence calls settings by the
    labels of the form or, with `by_key`, by the keys that a command takes.
    """
    with errors_shown():
        chosen = kind_named(kind)
    with plan_errors_shown(chosen, by_key=by_key):
        # Every setting, defaults too, so that a later default changes no past run.
        values = asdict(plan_from(chosen, plan))
    if started := _launched(launch, by):
        return started
    dataset = dataset_named(values["dataset"], dataset) if "dataset" in values else dataset
    if by is not None:
        with errors_shown(ModelError):
            models_check_roots(chosen, values)
    if chosen.writes and dataset is not None:
        dataset_require_active(dataset)
    with plan_errors_shown(chosen, by_key=by_key):
        references_check(chosen, values, dataset)
    if by is not None:
        # Raises UserError where as many runs of the person wait as one person can have.
        User.objects.select_for_update().get(pk=by.pk)  # two requests at once count one after the other
        waiting = Run.objects.filter(started_by=by, state=Run.State.QUEUED).count()
        if waiting >= settings.RUNS_WAITING_MOST:
            sentence = _(
                "%(waiting)s of your runs wait for a worker, the most that one person can have. Cancel one first."
            )
            raise UserError(sentence, waiting=waiting)
    try:
        with transaction.atomic():
            run = Run.objects.create(
                kind=kind,
                plan=values,
                queue=chosen.queue,
                dataset=dataset,
                started_by=by,
                token=by.token_used if by else "",
                launch=launch,
            )
            _write_down(run, Action.RUN_STARTED, by)
    except IntegrityError:  # the same form was sent twice at once, and the other sending came first
        if started := _launched(launch, by):
            return started
        raise
    transaction.on_commit(partial(_invite, run))
    return run


def _launched(launch: UUID | None, by: User | None) -> Run | None:
    """The run that the form started when it was sent before."""
    return Run.objects.filter(launch=launch, started_by=by).first() if launch else None


def _invite(run: Run) -> None:
    if not invite(run, database_now()):
        message = _("The message broker cannot be reached. The run waits, and starts soon after it is back.")
        lifecycle.run_waits(run_id=run.pk, message=message)


def _write_down(run: Run, action: Action, by: User | None) -> None:
    """In the log of the run's dataset, if it has one. What merely looks at a model, unlisted, changes nothing."""
    kind = kind_named(run.kind)
    if run.dataset is not None and kind.listed:
        details = {"run": run.pk}
        audit_record(dataset=run.dataset, action=action, by=by, subject=kind.name, details=details)


@transaction.atomic
def run_cancel(*, run: Run, by: User | None) -> bool:
    """Cancel a run; False where it had ended before."""
    message = _("Cancelled by %(person)s.") % {"person": by} if by else _("Cancelled.")
    cancelled = lifecycle.run_cancel(run_id=run.pk, at=database_now(), message=message)
    if cancelled:
        _write_down(run, Action.RUN_CANCELLED, by)
    return cancelled


@transaction.atomic
def run_put_first(*, run: Run, by: User | None) -> bool:
    """Let a run that waits go before the others of its queue; False where it had begun or ended before."""
    moved = lifecycle.run_put_first(run_id=run.pk)
    if moved:
        _write_down(run, Action.RUN_PUT_FIRST, by)
    return moved


def run_again(*, run: Run, by: User | None, launch: UUID | None = None) -> Run:
    """A new run with the plan of an old one. launch: as in `run_start`."""
    return run_start(kind=run.kind, plan=run.plan, by=by, dataset=run.dataset, launch=launch)
