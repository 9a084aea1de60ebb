"""The index of the words of sentences, on PostgreSQL: how it keeps up while very many sentences are written."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread

from django.db import DatabaseError, connection

INDEX = "sentence_by_words"
SECONDS_BETWEEN_MERGES = 0.3
# How many megabytes may wait to be merged before the connection that writes merges them itself.
WAITING_MOST_MB = 64

log = logging.getLogger(__name__)


@contextmanager
def words_merged_meanwhile() -> Iterator[None]:
    """Within it, another connection merges the words of the sentences that this one writes into their index.

    PostgreSQL keeps what is new in a list beside the index, and the statement that makes the list longer than 4 MB
    merges it while its client waits. Here another process of the server does that, in its own core, about as
    often, so that the list stays as short as before: each search reads all of it. Where there is no such index, or
    it belongs to another user of the database, nothing changes.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_has_role(relowner, 'USAGE') FROM pg_class WHERE oid = to_regclass(%s)", [INDEX]
        )
        may_merge = cursor.fetchone() == (True,)
    if not may_merge:
        yield
        return
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('gin_pending_list_limit', %s, false)", [f"{WAITING_MOST_MB}MB"])
    ended = Event()
    merging = Thread(target=_merge_until, args=(ended,), name="words merged meanwhile", daemon=True)
    merging.start()
    try:
        yield
    finally:
        ended.set()
        merging.join()
        if connection.is_usable():  # a lost connection has lost the setting too
            with connection.cursor() as cursor:
                cursor.execute("RESET gin_pending_list_limit")


def _merge_until(ended: Event) -> None:
    """Merge now and then, and once more at the end, over a connection of this thread's own."""
    try:
        with connection.cursor() as cursor:
            last = False
            while not last:
                last = ended.wait(SECONDS_BETWEEN_MERGES)
                cursor.execute("SELECT gin_clean_pending_list(%s::regclass)", [INDEX])
    except DatabaseError as error:  # what is written does not depend on it: the list may grow to its limit
        log.warning("The words of new sentences are merged by the connection that writes them: %s", error)
    finally:
        connection.close()
