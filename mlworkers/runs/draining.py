"""Draining: a worker that takes no more work and hands back its runs, so that it can be stopped.

Somebody writes into the worker's row that it is drained; the worker reads that with its next heartbeat.
"""

from collections.abc import Collection
from datetime import datetime
from time import time
from typing import Any

from celery.worker import state as celery_state
from django.db import transaction

from curation.models import User
from curation.people.audit import Action, audit_record
from mlworkers.models import WorkerHeartbeat
from mlworkers.runs.reporting import drained


@transaction.atomic
def worker_drain(*, worker: WorkerHeartbeat, by: User | None, at: datetime) -> bool:
    """Ask a worker to take no more work; False where it was asked before, or is gone."""
    asked = WorkerHeartbeat.objects.filter(pk=worker.pk, drain_at=None).update(drain_at=at)
    if asked:
        audit_record(dataset=None, action=Action.WORKER_DRAINED, by=by, subject=worker.name)
    return bool(asked)


@transaction.atomic
def worker_undrain(*, worker: WorkerHeartbeat, by: User | None) -> bool:
    """Let a worker take work again; False where it was not drained, or is gone."""
    asked = WorkerHeartbeat.objects.filter(pk=worker.pk, drain_at__isnull=False).update(drain_at=None)
    if asked:
        audit_record(dataset=None, action=Action.WORKER_UNDRAINED, by=by, subject=worker.name)
    return bool(asked)


class Intake:
    """The queues that this process reads. It reads none while the worker is drained.

    consumer: Celery's, which is asked in its own thread: of what it is told from another one, nothing would be safe.
    """

    def __init__(self, consumer: Any, queues: Collection[str]) -> None:
        self._consumer, self._queues = consumer, list(queues)
        self.is_closed = False

    def follow(self, *, drain: bool) -> None:
        """Take work or none. Runs learn of it at their next report, and the consumer when it comes to it."""
        if drain:
            drained.set()
        else:
            drained.clear()
        if drain != self.is_closed:
            self._consumer.call_soon(self._settle)

    def _settle(self) -> None:
        """Called again with every heartbeat until it has worked: a broker may be away."""
        close = drained.is_set()
        for queue in self._queues:
            if close:
                self._consumer.cancel_task_queue(queue)
            else:
                self._consumer.add_task_queue(queue)
        self.is_closed = close


def work_in_hand() -> list[dict[str, Any]]:
    """The tasks that this process has: the name of each, the number that it is about, and for how many seconds."""
    return [
        {
            "task": request.name,
            "about": next((value for value in request.args or () if type(value) is int), None),
            "seconds": round(time() - request.time_start) if request.time_start else 0,
        }
        for request in list(celery_state.requests.values())
    ]
