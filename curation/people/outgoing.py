"""What workers send to other programs: each until it is accepted, with growing pauses, by one worker at a time.

It may be sent twice, where a worker is killed after it was accepted and before that was written down.
"""

import logging
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple, TypeVar

from django.db.models import F, QuerySet
from django.utils.translation import gettext as _

from curation.foundation.heartbeats import connection_lost
from curation.foundation.log_lines import log_line
from curation.models import Outgoing

# Longer than a try takes: a worker that is killed in one leaves the row to another one after it.
CLAIMED_FOR = timedelta(seconds=60)
AT_ONCE = 100  # of one task; what is left is for the next
State = Outgoing.State
logger = logging.getLogger(__name__)
Row = TypeVar("Row", bound=Outgoing)


class Outcome(NamedTuple):
    """What became of a try. problem: a sentence where it failed. final: whether another try could not succeed either.
    changes: other columns to write.
    """

    problem: str = ""
    final: bool = False
    changes: dict[str, Any] = {}


def outgoing_due(rows: QuerySet[Row], at: datetime) -> QuerySet[Row]:
    return rows.filter(state=State.WAITING, next_at__lte=at).order_by("next_at", "pk")


def _tried(row: Row, send: Callable[[Row], Outcome]) -> Outcome:
    """Send it once. An error that nobody foresaw is a failure as well: it ends neither the tries nor other rows'."""
    try:
        return send(row)
    except Exception as error:
        if connection_lost(error):
            raise
        logger.exception("%s %s could not be sent", row._meta.verbose_name, row.pk)
        return Outcome(_("An unexpected error stopped it; the log describes it."))


def outgoing_carry_out(
    rows: QuerySet[Row],
    *,
    send: Callable[[Row], Outcome],
    now: Callable[[], datetime],
    pauses: Callable[[Row], Sequence[timedelta]],
) -> int:
    """Send what is due; how many were accepted. pauses: after the first, second, … failure; then it is given up."""
    done = 0
    for row in outgoing_due(rows, now())[:AT_ONCE]:
        at = now()
        same: QuerySet[Any] = rows.model._default_manager.filter(pk=row.pk, state=State.WAITING)
        if same.filter(next_at__lte=at).update(next_at=at + CLAIMED_FOR):  # of two workers one gets it
            outcome = _tried(row, send)
            tried_at, waits = now(), pauses(row)
            if not outcome.problem:
                changes: dict[str, Any] = {"state": State.DELIVERED}
            elif outcome.final or row.tries >= len(waits):
                changes = {"state": State.FAILED}
            else:
                changes = {"next_at": tried_at + waits[row.tries]}
            changes |= {"tries": F("tries") + 1, "problem": outcome.problem[:300], "tried_at": tried_at}
            changes |= outcome.changes
            if same.update(**changes) and changes.get("state") == State.FAILED:
                log_line("sending_given_up", what=rows.model._meta.model_name, id=row.pk, tries=row.tries + 1)
            done += not outcome.problem
    return done
