"""The one clock that heartbeats are written and read by: the database's.

Workers run on several machines, whose clocks may be wrong and may jump. Whether another worker is alive must not depend
on that.
"""

from datetime import datetime

from django.db import connection
from django.utils import timezone


def now() -> datetime:
    """The time of the database. SQLite is a file of this machine, and has this machine's time."""
    if connection.vendor != "postgresql":
        return timezone.now()
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")  # now() would be the time at which the transaction began
        moment: datetime = cursor.fetchone()[0]
    return moment
