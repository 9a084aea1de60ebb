"""How Celery comes in. A message only invites a worker to claim a run; the run's row is the truth."""

import logging
import secrets
import time
import traceback
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from celery import Task, shared_task
from celery.signals import worker_ready, worker_shutdown, worker_shutting_down
from celery.worker import state as celery_state
from django.db import DatabaseError, InterfaceError, connection
from django.utils.translation import gettext as _
from kombu.exceptions import OperationalError

from curation.errors import UserError
from curation.exchange.uploads import imports_tidy
from curation.files.drafts import FileError
from curation.files.writing import disk_is_full
from mlworkers.models import Run
from mlworkers.plans.kinds import QUEUES, UNLISTED
from mlworkers.runs import clock
from mlworkers.runs.invitations import runs_forget
from mlworkers.runs.lifecycle import (
    Claim,
    RunStopped,
    run_claim,
    run_fail,
    run_invited,
    run_leave,
    run_uninvited,
)
from mlworkers.runs.presence import Presence, workers_forget
from mlworkers.runs.pulse import Pulse
from mlworkers.runs.reporting import Heir, Reporter, WorkerLeaves, leaving
from mlworkers.runs.selectors import assistants_wanted, runs_to_assist, runs_to_invite, shards_free
from mlworkers.runs.shards import ShardsLeft
from mlworkers.runs.storage import RunLog, attempts_remove, kept_remove, runs_with_kept

FORGOTTEN_AFTER = timedelta(hours=1)

SECONDS_BETWEEN_SWEEPS = 5.0
SECONDS_BETWEEN_TIDYINGS = 60.0  # of the folder of imports: it is read whole, and nobody waits for it
SECONDS_TO_ASSIST = (
    15  # an invitation that finds every worker busy is forgotten; the next sweep sends another
)
# How often, after how many seconds, the end of a run is written again where the database cannot take it.
PAUSES = (1, 2, 4, 8)

logger = logging.getLogger(__name__)


@shared_task(name="mlworkers.execute", bind=True)
def execute(self: "Task[[int], None]", run_id: int) -> None:
    """Take the run up, if it is still to be had. A worker that was asked to end leaves it to others."""
    if leaving.is_set():
        run_uninvited(run_id=run_id)
        return
    claim = run_claim(run_id=run_id, worker=self.request.hostname or "", at=clock.now())
    if claim is not None:
        work(claim)


@shared_task(name="mlworkers.assist", bind=True)
def assist(self: "Task[[int], None]", run_id: int) -> None:
    """Help with the shards of a run that another worker holds, if any is free."""
    if not leaving.is_set() and shards_free(run_id, clock.now(), assisting=True).exists():
        help_along(run_id, self.request.hostname or "")


def sweep(queues: Collection[str] = QUEUES) -> None:
    """Invite again for runs of those queues that nobody took, for those whose worker fell silent, and for shards that
    wait; forget runs that were a question of a moment.
    """
    at = clock.now()
    workers_forget(at=at)
    runs_forget(kinds=UNLISTED, before=at - FORGOTTEN_AFTER)
    for run in runs_to_invite(at, queues):
        invite(run, at)
    for run in runs_to_assist(at, queues):
        invite_assistants(run)


def invite(run: Run, at: datetime) -> bool:
    """Send the invitation, unless another sweep just did. False where the broker cannot be reached."""
    if not run_invited(run=run, at=at):
        return True
    try:
        execute.apply_async(args=(run.pk,), queue=run.queue, retry=False)
    except OperationalError as error:
        logger.warning("Run %s: the broker cannot be reached: %s", run.pk, error)
        run_uninvited(run_id=run.pk)
        return False
    return True


def invite_assistants(run: Run) -> None:
    """Ask idle workers to help with a run's shards. None need come: its holder does alone what nobody else does."""
    for _number in range(assistants_wanted(run, clock.now())):
        try:
            assist.apply_async(args=(run.pk,), queue=run.queue, expires=SECONDS_TO_ASSIST, retry=False)
        except OperationalError as error:
            logger.warning("Run %s: the broker cannot be reached: %s", run.pk, error)
            return


def work(claim: Claim) -> None:
    """Carry a claimed run out, to one of its ends."""
    log = RunLog(claim.run_id)
    log.write(_("Attempt %(number)s begins.") % {"number": claim.attempt})
    try:
        _perform(claim, log)
    except RunStopped:
        log.write(_("Stopped: the run was cancelled, or another worker took it up."))
        attempts_remove(claim.run_id, up_to=claim.attempt)
    except WorkerLeaves:
        _leave(claim, log)
    except Exception as error:
        _fail(claim, log, error)
    except BaseException:  # the process is told to exit at once
        _leave(claim, log)
        raise
    finally:
        _tidy(claim.run_id)


def help_along(run_id: int, worker: str) -> None:
    """Do shards of another worker's run, and hold the run where that worker is gone.

    What goes wrong with a shard here is not the run's end: its holder does the shard.
    """
    log = RunLog(run_id)
    log.write(_("The worker %(name)s assists.") % {"name": worker})
    heir = Heir(run_id, worker, log)
    try:
        _assist(run_id, worker, heir)
    except (ShardsLeft, RunStopped, WorkerLeaves):
        log.write(_("The worker %(name)s leaves.") % {"name": worker})
    except Exception as error:
        log.write("".join(traceback.format_exception(error)))
        logger.exception("Run %s: the assistance of %s failed", run_id, worker)
    except BaseException:  # the process is told to exit at once
        if heir.claim is not None:
            _leave(heir.claim, log)
        raise
    finally:
        _tidy(run_id)
    if heir.claim is not None:
        work(heir.claim)


def _assist(run_id: int, worker: str, heir: Heir) -> None:
    from mlworkers.pipelines import assist as do_shards  # noqa: PLC0415 - see _perform

    do_shards(run_id, worker=worker, heir=heir)


def _tidy(run_id: int) -> None:
    """Of a run that has ended nobody goes on; and what it loaded need not wait in memory for the next one."""
    from mlworkers.pipelines import release  # noqa: PLC0415 - see _perform

    release()
    kept_forget([run_id])


def kept_forget(runs: Iterable[int]) -> None:
    """Remove what attempts shared, of those runs that have ended."""
    ended = Run.objects.filter(pk__in=runs).exclude(state__in=[Run.State.QUEUED, Run.State.RUNNING])
    for number in ended.values_list("pk", flat=True):
        kept_remove(number)


def _perform(claim: Claim, log: RunLog) -> None:
    if leaving.is_set():
        raise WorkerLeaves
    # Here and nowhere else: pipelines load machine-learning libraries, which the web process must never do.
    from mlworkers.pipelines import perform  # noqa: PLC0415

    report = Reporter(claim, log)
    with report.heartbeat():
        log.write(perform(claim, report, invite=invite_assistants))


def _leave(claim: Claim, log: RunLog) -> None:
    with suppress(RunStopped):
        run_leave(claim=claim)
        log.write(_("The worker was asked to end and let go of the run; another one takes it up."))
        invite(Run.objects.get(pk=claim.run_id), clock.now())


def _fail(claim: Claim, log: RunLog, error: Exception) -> None:
    # First of all: on a full disk this makes the room that the rest needs.
    attempts_remove(claim.run_id, up_to=claim.attempt)
    message = _sentence(claim, error)
    log.write("".join(traceback.format_exception(error)))
    log.write(message)
    with suppress(RunStopped):
        _until_written(partial(run_fail, claim=claim, at=clock.now(), message=message))


def _until_written(write: Callable[[], None]) -> None:
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
        return str(error)
    if disk_is_full(error):
        return _("The disk is full, so the run stopped; free some space and start the run again.")
    if isinstance(error, ValueError) and str(error):
        return str(error)
    reference = secrets.token_hex(4)
    logger.error("Run %s failed, reference %s", claim.run_id, reference, exc_info=error)
    return _(
        "Something unexpected stopped the run; its log says what. Start it again, or give the reference "
        "%(reference)s to whoever looks after this installation."
    ) % {"reference": reference}


@worker_ready.connect
def worker_arrives(sender: Any, **about: Any) -> None:
    """Say that the worker lives, and sweep from now on.

    The sweep runs in a thread of every worker, and not by a message: a broker that loses messages cannot keep a run
    from being found.
    """
    queues = list(sender.app.amqp.queues.consume_from)
    presence = Presence(sender.hostname, queues)
    presence.start()
    kept_forget(runs_with_kept())  # a worker that was killed between a run's end and its tidying left some
    sweeps = Pulse(
        "sweep", partial(_sweep_if_idle, sender.pool, queues), every=SECONDS_BETWEEN_SWEEPS, at_once=True
    )
    # In a thread of its own: what goes wrong with a file must not end the sweep.
    tidyings = Pulse(
        "tidying", lambda: imports_tidy(at=clock.now()), every=SECONDS_BETWEEN_TIDYINGS, at_once=True
    )
    for pulse in (sweeps, tidyings):
        pulse.start()
        worker_shutting_down.connect(lambda pulse=pulse, **about: pulse.stop(), weak=False)
    worker_shutdown.connect(lambda **about: presence.end(), weak=False)


def _sweep_if_idle(pool: Any, queues: Collection[str]) -> None:
    """A worker that is busy invites nobody: messages that no worker can take would only pile up."""
    if len(celery_state.reserved_requests) < (pool.limit or 1):
        sweep(queues)


@worker_shutting_down.connect
def worker_leaves(**about: Any) -> None:
    leaving.set()
