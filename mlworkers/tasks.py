"""How Celery comes in: the tasks that accept invitations, and what a worker does from its start to its end."""

import logging
import sys
import threading
from collections.abc import Collection
from datetime import datetime
from functools import partial
from typing import Any

from celery import Task, shared_task
from celery.signals import task_postrun, task_prerun, worker_ready, worker_shutdown, worker_shutting_down
from celery.worker import state as celery_state

from curation.exchange.uploads import imports_tidy
from curation.foundation.heartbeats import Pulse, database_now
from curation.foundation.shared_files import StorageError
from mlworkers.pipelines.work import pipeline_measured
from mlworkers.plans.kinds import kind_named
from mlworkers.runs.attempts import Pipeline, run_assist, run_carry_out
from mlworkers.runs.disk import disk_refuses
from mlworkers.runs.draining import Intake, work_in_hand
from mlworkers.runs.invitations import ASSIST, EXECUTE, kept_forget, questions_forget, waiting_in
from mlworkers.runs.lifecycle import Claim, run_claim_next, run_uninvited, run_waits
from mlworkers.runs.presence import Presence, Sweep, workers_forget
from mlworkers.runs.reporting import leaving, takes_nothing_more
from mlworkers.runs.selectors import kinds_left_to_others, shards_free
from mlworkers.runs.storage import runs_with_kept
from mlworkers.runs.task_times import TaskTimes

_choosing = threading.Lock()  # of two threads one counts the long runs after the other has claimed
SECONDS_BETWEEN_TIDYINGS = 60.0  # of the folder of imports: it is read whole, and nobody waits for it

logger = logging.getLogger(__name__)
task_times = TaskTimes()


@shared_task(name=EXECUTE, bind=True)
def execute(self: "Task[[int], None]", run_id: int) -> None:
    """Take up the run, or one that was put before it, if it is still to be had. A worker that ends or is drained leaves
    it to others.
    """
    if takes_nothing_more():
        run_uninvited(run_id=run_id)
        return
    if why := disk_refuses():  # the sweep invites again
        run_waits(run_id=run_id, message=why)
        return
    at, worker = database_now(), self.request.hostname or ""
    with _choosing:
        claim = run_claim_next(run_id=run_id, worker=worker, at=at, without=kinds_left_to_others(worker, at))
    if claim is not None:
        work(claim)


@shared_task(name=ASSIST, bind=True)
def assist(self: "Task[[int], None]", run_id: int) -> None:
    """Help with the shards of a run that another worker holds, if any is free."""
    if not takes_nothing_more() and shards_free(run_id, database_now(), assisting=True).exists():
        help_along(run_id, self.request.hostname or "")


def work(claim: Claim) -> None:
    try:
        run_carry_out(claim, pipeline_of)
    finally:
        _release_memory()


def help_along(run_id: int, worker: str) -> None:
    """Assist with a run, and go on as its holder where its holder is gone."""
    try:
        claim = run_assist(run_id, worker, pipeline_of)
    finally:
        _release_memory()
    if claim is not None:
        work(claim)


def pipeline_of(kind: str) -> Pipeline:
    """The pipeline of a kind of run. Its module is imported when its first run comes: some load machine-learning
    libraries, which the web process must never do and a worker of other queues need not have.
    """
    return pipeline_measured(kind_named(kind))


def _release_memory() -> None:
    """A model that a run loaded need not wait in memory for the next run."""
    compute: Any = sys.modules.get("mlworkers.science.pretrained.compute")
    if compute is not None:
        compute.release_memory()


@task_prerun.connect
def task_begins(task_id: str, **about: Any) -> None:
    task_times.begin(task_id)


@task_postrun.connect
def task_ends(task_id: str, task: Any, **about: Any) -> None:
    task_times.end(task_id, task.name)


@worker_ready.connect
def worker_arrives(sender: Any, **about: Any) -> None:
    """Say that the worker lives, and sweep from now on.

    The sweep comes with the heartbeat of every worker, and not by a message: a broker that loses messages cannot keep a
    run from being found.
    """
    queues = list(sender.app.amqp.queues.consume_from)
    presence = Presence(
        sender.hostname,
        queues,
        intake=Intake(sender, queues),
        work=work_in_hand,
        tasks=task_times.of_all,
        sweep=partial(_sweep_if_idle, sender.pool, queues),
    )
    presence.start()
    # In its own thread: what goes wrong with a file must not end the heartbeat.
    tidyings = Pulse("tidying", _tidy, every=SECONDS_BETWEEN_TIDYINGS, at_once=True)
    tidyings.start()
    worker_shutting_down.connect(lambda **about: tidyings.stop(), weak=False)
    worker_shutdown.connect(lambda **about: presence.end(), weak=False)


def _tidy() -> None:
    """Neither part ends the other or the thread, whatever goes wrong with a file or the file storage."""
    try:
        imports_tidy(now=database_now)
    except (OSError, StorageError):
        logger.exception("Files of imports that nobody needs could not be removed; this is tried again")
    # Of runs whose worker was killed between their end and their tidying, or that ended on another machine.
    kept_forget(runs_with_kept())


@shared_task(name="mlworkers.tidy")
def tidy() -> None:
    """Forget workers that were killed long ago, and runs that were a question of a moment."""
    at = database_now()
    workers_forget(at=at)
    questions_forget(at=at)


def _sweep_if_idle(pool: Any, queues: Collection[str], at: datetime) -> Sweep | None:
    """A worker that is busy or drained invites nobody: messages that no worker can take would only pile up."""
    if takes_nothing_more() or len(celery_state.reserved_requests) >= (pool.limit or 1):
        return None
    return waiting_in(queues, at)


@worker_shutting_down.connect
def worker_leaves(**about: Any) -> None:
    leaving.set()
