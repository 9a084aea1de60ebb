"""Messages that invite workers to claim runs, the sweep that sends them again, and clearing away what is over.

A message only invites; the run's row is the truth. The task that takes the message is named here and lies in `tasks`.
"""

import logging
import shutil
from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Min

from curation.foundation.heartbeats import alive, database_now, stale_after, worker_invite
from curation.foundation.shared_files import StorageError, shared_remove
from mlworkers.models import Run
from mlworkers.plans.kinds import KINDS, UNLISTED
from mlworkers.runs.kept import kept_remove
from mlworkers.runs.lifecycle import run_invited, run_uninvited
from mlworkers.runs.selectors import assistants_wanted, runs_to_assist, runs_to_invite
from mlworkers.runs.storage import home_relative, run_folder

EXECUTE = "mlworkers.execute"
ASSIST = "mlworkers.assist"
FORGOTTEN_AFTER = timedelta(hours=1)
# An invitation that finds every worker busy is forgotten; the next sweep sends another.
SECONDS_TO_ASSIST = 15

logger = logging.getLogger(__name__)


def invite(run: Run, at: datetime) -> bool:
    """Send the invitation, unless another sweep just did. False where the broker cannot be reached."""
    if not run_invited(run=run, at=at) or worker_invite(EXECUTE, run.pk, queue=run.queue, expires=None):
        return True
    run_uninvited(run_id=run.pk)
    return False


def invite_assistants(run: Run) -> None:
    """Ask idle workers to help with a run's shards. None need come: its holder does alone what nobody else does."""
    for _number in range(assistants_wanted(run, database_now())):
        if not worker_invite(ASSIST, run.pk, queue=run.queue, expires=SECONDS_TO_ASSIST):
            return


@dataclass(frozen=True)
class Waiting:
    """What a sweep found at a time.

    free: runs that no worker has claimed, or whose worker sends no heartbeat.
    shared: runs with shards that wait.
    again_in: seconds until the next run counts as left by its worker, if it sends no further heartbeat.
    """

    at: datetime
    free: list[Run]
    shared: list[Run]
    again_in: float | None

    def invite(self) -> None:
        """Invite workers for all of them, until the broker cannot be reached: the next sweep goes on."""
        for run in self.free:
            if not invite(run, self.at):
                return
        for run in self.shared:
            invite_assistants(run)


def waiting_in(queues: Collection[str], at: datetime) -> Waiting:
    """The sweep's reads, which a worker asks in the transaction of its heartbeat."""
    held = Run.objects.filter(alive(at), state=Run.State.RUNNING, queue__in=queues)
    heard = held.aggregate(first=Min("heartbeat_at"))["first"]
    again_in = (heard + stale_after() - at).total_seconds() if heard else None
    return Waiting(at, list(runs_to_invite(at, queues)), list(runs_to_assist(at, queues)), again_in)


def questions_forget(*, at: datetime) -> None:
    """Remove runs that were a question of a moment."""
    old = Run.objects.filter(kind__in=UNLISTED, created_at__lt=at - FORGOTTEN_AFTER)
    for number in old.values_list("pk", flat=True):
        shutil.rmtree(run_folder(number), ignore_errors=True)
        with suppress(StorageError):  # `semblance reclaim` removes it
            shared_remove(home_relative(run_folder(number)))
    old.delete()


def kept_forget(runs: Iterable[int]) -> None:
    """Remove what attempts shared, of those runs that have ended; but an endpoint's answers were paid for."""
    ended = Run.objects.filter(pk__in=runs).exclude(state__in=[Run.State.QUEUED, Run.State.RUNNING])
    for run in ended:
        try:
            kind = KINDS.get(run.kind)
            if kind and kind.ended:
                kind.function(kind.ended)(run)
            kept_remove(run.pk)
        # Such as a full disk, or a file that is damaged; the shards stay for the next time.
        except (OSError, StorageError, ValueError, KeyError):
            logger.exception("What the attempts of run %s shared could not be removed", run.pk)
