"""A job: a row that a page or beat leaves to a worker, claimed, kept alive and brought to one of its ends.

Its row is a `curation.models.Job`, or a run. The moves are those of `heartbeats.py`; a run has more of them
(`mlworkers/runs/lifecycle.py`).
"""

import logging
import threading
from collections.abc import Callable
from contextlib import nullcontext
from datetime import datetime
from typing import Any, Generic, TypeVar

from django.db.models import Model, QuerySet

from curation.foundation.errors import UserError
from curation.foundation.heartbeats import (
    LOST_MAX,
    ClaimLost,
    beating,
    claim_first,
    connection_lost,
    held,
)

DONE, FAILED = "done", "failed"

logger = logging.getLogger(__name__)
Row = TypeVar("Row", bound=Model)


class Hold(Generic[Row]):
    """A process's hold on a job. A thread with its own connection writes the heartbeat and what is noted about once a
    second: it is seen while the process is inside a transaction, and none comes from a process that was killed.
    """

    def __init__(self, job: Any) -> None:
        self.job = job
        self._note: dict[str, Any] = {}
        self._written: dict[str, Any] = {}
        self._lost = threading.Event()

    @property
    def rows(self) -> QuerySet[Row]:
        """The job's row; none once somebody cancelled the job or another process took it over."""
        manager = type(self.job)._default_manager
        return held(manager.filter(pk=self.job.pk), attempt=self.job.attempt)

    def note(self, **progress: Any) -> None:
        """Say how far the job is, by columns of its table. Raises ClaimLost where a heartbeat found it lost."""
        if self._lost.is_set():
            raise ClaimLost
        self._note = progress

    def require(self) -> None:
        """Raises ClaimLost where the job is no longer this process's."""
        if not self.rows.exists():
            raise ClaimLost

    def beat(self, at: datetime) -> None:
        note = self._note
        progress = note if note == self._written else {**note, "progressed_at": at}
        if not self.rows.update(heartbeat_at=at, **progress):
            self._lost.set()
            raise ClaimLost
        self._written = note

    def end(self, **changes: Any) -> None:
        """The job is done. Last in the transaction that stores its result, so that others do not wait for the row.
        Raises ClaimLost, which undoes what was stored.
        """
        if not self.rows.update(state=DONE, **changes):
            raise ClaimLost


def job_claim(rows: QuerySet[Row], *, at: datetime, gave_up: str, **fresh: Any) -> Hold[Row] | None:
    """Take the first of these rows, which are free; None where there is none.

    gave_up: the message of a job that silenced LOST_MAX processes, with %(number)s of them. fresh: what a new attempt
    resets.
    """
    ended = {"state": FAILED, "message": gave_up % {"number": LOST_MAX}}
    row = claim_first(rows, at=at, given_up=ended, progressed_at=at, **fresh)
    return None if row is None else Hold(row)


def job_do(
    hold: Hold[Row],
    does: Callable[[Hold[Row]], object],
    *,
    broke: str,
    fails: Callable[[Hold[Row], str], object] | None = None,
    beats: bool = True,
) -> bool:
    """Bring a claimed job to one of its ends; whether to a good one.

    does: stores the result and ends the job in one transaction. broke: what the page says where something unexpected
    stops it. fails: writes that sentence, or a UserError's, in its own way. beats: whether heartbeats are sent, for
    which small work in a request is too short.
    """
    name = hold.job._meta.verbose_name
    fails = fails or (lambda hold, sentence: hold.rows.update(state=FAILED, message=sentence))
    try:
        with beating(f"{name} heartbeat", hold.beat) if beats else nullcontext():
            does(hold)
    except ClaimLost:
        return False  # another process has it, or somebody withdrew it
    except UserError as error:
        fails(hold, str(error))
        return False
    except Exception as error:
        if connection_lost(error):  # its heartbeat goes stale, and another worker is invited
            logger.warning("%s %s: the database went away: %s", name, hold.job, error)
            return False
        logger.exception("%s %s failed", name, hold.job)
        fails(hold, broke)
        return False
    return True
