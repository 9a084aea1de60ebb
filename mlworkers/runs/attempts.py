"""One attempt at a run, from its claim to one of its ends; and the help of a worker that assists.

What a kind of run does, its pipeline knows. `PipelineOf` finds it, and loads what it needs, when the run comes.
"""

import logging
import secrets
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from django.db import DatabaseError, InterfaceError, connection
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from curation.files.drafts import FileError
from curation.files.progress import Interrupted, Report
from curation.files.writing import disk_is_full, disk_is_read_only
from curation.foundation.errors import UserError, error_on_page
from curation.foundation.heartbeats import connection_lost, database_now
from curation.foundation.shared_files import shared_put
from curation.people.access import dataset_require_active
from mlworkers.models import Artifact, Run
from mlworkers.plans.kinds import kind_named, plan_errors_shown, plan_from
from mlworkers.runs.disk import disk_awaited
from mlworkers.runs.invitations import invite, invite_assistants, kept_forget
from mlworkers.runs.jobs import Job, NewArtifact, Outcome
from mlworkers.runs.kept import kept_shared
from mlworkers.runs.lifecycle import Claim, RunStopped, run_fail, run_finish, run_leave, run_requeue
from mlworkers.runs.references import models_check_roots
from mlworkers.runs.reporting import AssistantReport, Heir, Reporter, WorkerLeaves, takes_nothing_more
from mlworkers.runs.shards import AssistingShards, HeldShards, Shards, ShardsLeft
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

Written = TypeVar("Written")
Pipeline = Callable[[Any, Job], Outcome]
PipelineOf = Callable[[str], Pipeline]  # by the name of the kind
# How often, after how many seconds, the end of a run is written again where the database cannot take it.
DISK_FULL = gettext_lazy("The disk is full, so the run stopped. Free some space and start the run again.")
DISK_READ_ONLY = gettext_lazy(
    "The disk is read-only, so the run stopped. Make it writable and start the run again."
)
UNEXPECTED = gettext_lazy(
    "An unexpected error stopped the run; the log describes it. Start it again, or give the reference "
    "%(reference)s to the administrator of this installation."
)
PAUSES = (1, 2, 4, 8)

logger = logging.getLogger(__name__)


def run_carry_out(claim: Claim, pipeline_of: PipelineOf) -> None:
    """Carry a claimed run out, to one of its ends."""
    log = RunLog(claim.run_id)
    log.write(_("Attempt %(number)s begins.") % {"number": claim.attempt})
    try:
        if takes_nothing_more():
            raise WorkerLeaves
        report = Reporter(claim, log)
        with report.heartbeat():
            run = Run.objects.select_related("dataset").get(pk=claim.run_id)
            shards = HeldShards(run.pk, report, worker=run.worker, invite=lambda: invite_assistants(run))
            with kept_shared(run.pk, report.waits):
                outcome = _outcome(run, pipeline_of, attempt_folder(run.pk, claim.attempt), report, shards)
                made = {new.path: _artifact(run, new) for new in outcome.made}
            for evaluation, measured in outcome.evaluations:
                evaluation.run, evaluation.artifact = run, made[measured] if measured else None
            run_finish(
                claim=claim,
                at=database_now(),
                message=outcome.message,
                result=outcome.result,
                publish=outcome.publish,
                done=report.standing.total or report.standing.done,
                total=report.standing.total,
                artifacts=list(made.values()),
                evaluations=[evaluation for evaluation, _path in outcome.evaluations],
            )
            attempts_remove(run.pk, up_to=claim.attempt - 1)
            log.write(outcome.message)
    except RunStopped:
        log.write(_("Stopped: the run was cancelled, or another worker resumed it."))
        attempts_remove(claim.run_id, up_to=claim.attempt)
    except WorkerLeaves:
        _leave(claim, log)
    except Interrupted as interrupted:
        # Like a worker that was killed: the run goes on from its last checkpoint.
        _interrupt(claim, log, str(interrupted))
    except Exception as error:
        if connection_lost(error):
            connection.close()
            logger.warning("Run %s: the database went away: %s", claim.run_id, error)
            _interrupt(claim, log, _("The connection to the database was lost."))
        else:
            _fail(claim, log, error)
    except BaseException:  # the process was asked to exit at once
        _leave(claim, log)
        raise
    finally:
        kept_forget([claim.run_id])


def run_assist(run_id: int, worker: str, pipeline_of: PipelineOf) -> Claim | None:
    """Do shards of another worker's run as long as any is free; the right to hold the run where that worker is gone.

    What goes wrong with a shard here is not the run's end: its holder does the shard.
    """
    log = RunLog(run_id)
    log.write(_("The worker %(name)s assists.") % {"name": worker})
    heir = Heir(run_id, worker, log)
    try:
        run = Run.objects.select_related("dataset").get(pk=run_id)
        report = AssistantReport(log, worker)
        shards = AssistingShards(run_id, report, worker=worker, heir=heir)
        with assistant_folder(run_id) as folder, kept_shared(run_id, report.waits):
            _outcome(run, pipeline_of, folder, report, shards)
    except (ShardsLeft, RunStopped, WorkerLeaves):
        log.write(_("The worker %(name)s leaves.") % {"name": worker})
    except Exception as error:
        log.write("".join(traceback.format_exception(error)))
        logger.exception("Run %s: the assistance of %s failed", run_id, worker)
    except BaseException:  # the process was asked to exit at once
        if heir.claim is not None:
            _leave(heir.claim, log)
        raise
    finally:
        kept_forget([run_id])
    return heir.claim


def _artifact(run: Run, new: NewArtifact) -> Artifact:
    """The row of a file or folder that the run made, which others can read from now on."""
    shared_put(new.path)
    sha256, size = content_of(new.path)
    about = {"kind": new.kind, "sha256": sha256, "size": size, "card": new.card}
    return Artifact(run=run, path=home_relative(new.path), **about)


def _outcome(run: Run, pipeline_of: PipelineOf, folder: Path, report: Report, shards: Shards) -> Outcome:
    kind = kind_named(run.kind)
    if kind.writes and run.dataset is not None:  # it may have been archived since the run was queued
        dataset_require_active(run.dataset)
    if run.started_by_id is not None:
        models_check_roots(kind, run.plan)
    kept = kept_folder(run.pk)
    for path in (folder, kept):
        path.mkdir(parents=True, exist_ok=True)
    job = Job(
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
        return pipeline_of(kind.name)(plan_from(kind, run.plan), job)


def _leave(claim: Claim, log: RunLog) -> None:
    with suppress(RunStopped):
        run_leave(claim=claim)
        log.write(
            _("The worker was asked to stop, or is drained, and released the run. Another worker resumes it.")
        )
        invite(Run.objects.get(pk=claim.run_id), database_now())


def _interrupt(claim: Claim, log: RunLog, what: str) -> None:
    """Something ended the attempt that is not the run's doing, such as the database going away: the run goes on.

    A run that does so each time is given up like one that silences its workers.
    """
    log.write(_("%(what)s The run resumes.") % {"what": what})
    with suppress(RunStopped):
        _until_written(partial(run_leave, claim=claim, lost=True))
        invite(Run.objects.get(pk=claim.run_id), database_now())


def _fail(claim: Claim, log: RunLog, error: Exception) -> None:
    # First of all: on a full disk this makes the room that the rest needs.
    attempts_remove(claim.run_id, up_to=claim.attempt)
    log.write("".join(traceback.format_exception(error)))
    awaited = disk_awaited(error)
    if awaited and _until_written(partial(run_requeue, claim=claim, message=awaited)):
        log.write(awaited)
        return
    message = _sentence(claim, error)
    log.write(message)
    with suppress(RunStopped):
        _until_written(lambda: run_fail(claim=claim, at=database_now(), message=message))


def _until_written(write: Callable[[], Written]) -> Written:
    """A database that cannot be written for a moment, because its disk is full or it restarts, is asked again."""
    for pause in PAUSES:
        try:
            return write()
        except (DatabaseError, InterfaceError) as error:
            logger.warning("The end of a run was not written: %s", error)
            connection.close()
            time.sleep(pause)
    return write()


def _sentence(claim: Claim, error: Exception) -> str:
    """The error itself where people can mend it, and a reference where it is a bug."""
    if isinstance(error, UserError | FileError) and str(error):
        return str(error_on_page(error))
    if disk_is_full(error):
        return str(DISK_FULL)
    if disk_is_read_only(error):
        return str(DISK_READ_ONLY)
    if isinstance(error, ValueError) and str(error):
        return str(error)
    reference = secrets.token_hex(4)
    logger.error("Run %s failed, reference %s", claim.run_id, reference, exc_info=error)
    return str(UNEXPECTED) % {"reference": reference}


def fix_of(run: Run) -> str:
    """What a run that ended without success needs: other "settings", or the same "again"; empty for any other run.

    An accident says in its own sentence that the run can be started again; everything else is about the plan.
    """
    if run.state == Run.State.CANCELLED:
        return "again"
    if run.state != Run.State.FAILED:
        return ""
    accidents = (str(sentence).partition("%(")[0] for sentence in (DISK_FULL, DISK_READ_ONLY, UNEXPECTED))
    return "again" if run.message.startswith(tuple(accidents)) else "settings"
