"""Work that one process claims and keeps alive: runs and their shards, designs of campaigns, imports.

A row of such work has `state`, `attempt` and `heartbeat_at`. Every move is one conditional UPDATE on them: of two
processes that want the work one gets it (attempt + 1), and one that was paused while another took it over can no
longer write. A process that is killed cannot say so: its heartbeat goes stale, and the work is free again.
"""

import logging
import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any, TypeVar, cast

from django.conf import settings
from django.db import DatabaseError, InterfaceError, connection
from django.db.models import F, Model, Q, QuerySet
from django.utils import timezone
from django.utils.module_loading import import_string

RUNNING = "running"  # the state of claimed work, in every table
AHEAD = timedelta(seconds=5)  # what another process wrote between our look at the clock and at the row
LOST_MAX = 3  # what silenced three workers (out of memory, mostly) would silence the fourth
SECONDS_BETWEEN_BEATS = 1.0
BEATS_BEFORE_STALE = 6  # some may be late, behind another writer of the database

logger = logging.getLogger(__name__)
Row = TypeVar("Row", bound=Model)


class ClaimLost(Exception):  # noqa: N818 - not an error: somebody wished it
    """The work is no longer this process's: cancelled, or claimed by another. Stop, and write nothing more."""


def database_now() -> datetime:
    """The one clock that heartbeats are written and read by: the database's.

    Workers run on several machines, whose clocks may be wrong and may jump. Whether another worker is alive must not
    depend on that. SQLite is a file of this machine, and has this machine's time.
    """
    if connection.vendor != "postgresql":
        return timezone.now()
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")  # now() would be the time at which the transaction began
        moment: datetime = cursor.fetchone()[0]
    return moment


def connection_lost(error: BaseException | None) -> bool:
    """Whether the error, or one behind it, says that PostgreSQL went away or closed the connection.

    Whether the connection can be used now says nothing of that: who asked once more since, for example to write down
    that something failed, got a new one. An error of the client alone has no state; the others are the server's own.
    """
    import psycopg  # noqa: PLC0415 - SQLite does without

    while error is not None:
        cause = error.__cause__
        if isinstance(error, InterfaceError):
            return True
        if isinstance(error, DatabaseError) and isinstance(cause, psycopg.OperationalError):
            state = cause.sqlstate
            if state is None or state.startswith(("08", "57P0")):
                return True
        error = cause or error.__context__
    return False


def stale_after() -> timedelta:
    return timedelta(seconds=settings.RUN_STALE_SECONDS)


def silence() -> float:
    """How many seconds a row may go without a heartbeat, though nothing changes."""
    return stale_after().total_seconds() / BEATS_BEFORE_STALE


def heard_within(field: str, at: datetime, lately: timedelta) -> Q:
    """The one rule for every heartbeat: of claimed work, of a worker, and for when a worker was last invited.

    A time in the future says nothing: the clock that wrote it was wrong, or was put back since.
    """
    return Q(**{f"{field}__gte": at - lately, f"{field}__lte": at + AHEAD})


def alive(at: datetime) -> Q:
    """Work whose process was heard."""
    return heard_within("heartbeat_at", at, stale_after())


def interrupted(at: datetime) -> Q:
    """Claimed work whose process left it or fell silent."""
    return Q(state=RUNNING) & ~alive(at)


def free(at: datetime, *, waiting: Collection[str]) -> Q:
    """Work that may be claimed. waiting: the states of work that nobody has begun."""
    return Q(state__in=waiting) | interrupted(at)


def is_stuck(job: Any, at: datetime) -> bool:
    """Whether a claimed job has reported nothing new for so long that a person should look at it.

    Its process may be heard all the time: the heartbeat comes from another thread than the work.
    """
    since, patience = job.progressed_at, timedelta(seconds=settings.STUCK_SECONDS)
    return job.state == RUNNING and since is not None and at - since >= patience


def claim_first(
    rows: QuerySet[Row], *, at: datetime, given_up: Mapping[str, Any] | None = None, **changes: Any
) -> Row | None:
    """Claim the first of these rows; None where there is none. A slow holder that reports in the meantime keeps it.

    given_up: what becomes of a row that has silenced LOST_MAX processes, which its field `lost` counts.
    """
    # Each is tried once: a heartbeat that was written while our UPDATE waited must not look like one from the future.
    seen: list[Any] = []
    while (row := cast("Any", rows.exclude(pk__in=seen).first())) is not None:
        seen.append(row.pk)
        as_seen = rows.filter(pk=row.pk, state=row.state, attempt=row.attempt, heartbeat_at=row.heartbeat_at)
        if given_up is not None:
            changes["lost"] = row.lost + (row.heartbeat_at is not None)
            if changes["lost"] >= LOST_MAX:
                as_seen.update(lost=LOST_MAX, **given_up)
                continue
        if as_seen.update(state=RUNNING, attempt=F("attempt") + 1, heartbeat_at=at, **changes):
            row.attempt += 1
            return cast("Row", row)
    return None


def held(rows: QuerySet[Row], *, attempt: int) -> QuerySet[Row]:
    """Those of the rows that the attempt still holds: a condition for everything that it writes."""
    return rows.filter(state=RUNNING, attempt=attempt)


def worker_invite(task: str, *arguments: int, expires: int | None = 600, **routing: Any) -> bool:
    """Send the message that a task takes; whether that worked. Where the broker cannot be reached, a sweep sends it
    again.

    expires: seconds after which a worker that was busy drops the message; None for never. routing: the queue, where it
    is not the usual one.
    """
    from kombu.exceptions import OperationalError  # noqa: PLC0415 - most commands send nothing

    try:
        import_string(settings.BACKGROUND_APP).send_task(
            task, args=arguments, expires=expires, retry=False, **routing
        )
    except OperationalError as error:
        logger.warning("%s%s: the broker cannot be reached: %s", task, arguments, error)
        return False
    return True


class Pulse:
    """Calls `does` every so many seconds in a thread with its own database connection, until it is ended; after the
    seconds that it returns, where it returns a number.

    A database that does not answer costs one call.
    """

    def __init__(
        self, name: str, does: Callable[[], float | None], *, every: float, at_once: bool = False
    ) -> None:
        self._does, self._every, self._at_once = does, every, at_once
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._go_on, name=name, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Begin no further call."""
        self._ended.set()

    def end(self) -> None:
        """Wait for the call that goes on, and begin no further one."""
        self.stop()
        self._thread.join()

    def _go_on(self) -> None:
        wait = 0.0 if self._at_once else self._every
        try:
            while not self._ended.wait(wait):
                wait = self._every
                try:
                    wait = self._does() or wait
                except (DatabaseError, InterfaceError) as error:
                    # The next call tries again with a new connection.
                    logger.warning("The %s could not use the database: %s", self._thread.name, error)
                    connection.close()
        finally:
            connection.close()


@contextmanager
def beating(name: str, beat: Callable[[datetime], object]) -> Iterator[None]:
    """Call `beat(at)` about once a second, until the block ends or it raises ClaimLost.

    It is called in a thread of the process that works: where that is killed or paused, the heartbeat stops with it,
    and while the work is inside a transaction, the heartbeat goes on.
    """

    def beat_once() -> None:
        try:
            beat(database_now())
        except ClaimLost:
            pulse.stop()

    pulse = Pulse(name, beat_once, every=min(SECONDS_BETWEEN_BEATS, silence()))
    pulse.start()
    try:
        yield
    finally:
        pulse.end()
