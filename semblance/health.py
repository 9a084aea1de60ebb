"""What the site needs to work, checked one by one: the answer of `/healthz`. No sentence holds a name or a password.

And what `semblance check` and `semblance serve` say of settings that work, but less well than people may expect.
"""

import math
import shutil
import tempfile
import threading
from time import monotonic
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Warning, register  # noqa: A004 - Django's name
from django.db import DatabaseError, InterfaceError, connection
from django.template.defaultfilters import filesizeformat
from django.utils.translation import gettext as _

from curation.foundation.database import migrations_missing, migrations_sentence
from curation.foundation.errors import UserError
from curation.foundation.heartbeats import database_now
from curation.foundation.shared_files import StorageAway, shared_problem

SECONDS_BETWEEN_STORAGE_CHECKS = 30.0


def problems() -> dict[str, str]:
    """What does not work now, each with a sentence for the people who run the site; nothing where all works."""
    by_check = {name: check() for name, check in CHECKS.items()}
    return {name: sentence for name, sentence in by_check.items() if sentence}


def database_problem() -> str:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
        missing = migrations_missing()
    except (DatabaseError, InterfaceError):
        return _("The database does not answer. Pages cannot be shown, and nothing can be saved.")
    except UserError as error:  # too old for this version
        return str(error)
    return migrations_sentence(missing) if missing else ""


def redis_problem() -> str:
    if not settings.REDIS_URL:
        return ""
    from redis import Redis  # noqa: PLC0415 - a command needs none of it
    from redis.exceptions import RedisError  # noqa: PLC0415

    seconds = settings.REDIS_TIMEOUT_SECONDS
    try:
        with Redis.from_url(
            settings.REDIS_URL, socket_connect_timeout=seconds, socket_timeout=seconds, retry=None
        ) as redis:
            redis.ping()
    except RedisError:
        return _("Redis does not answer. Pages are slower, and runs start when it is back.")
    return ""


def disk_problem() -> str:
    """Asked by writing a byte: that also finds a folder that may not be written, and a quota that is used up."""
    try:
        with tempfile.TemporaryFile(dir=settings.SEMBLANCE_HOME) as file:
            file.write(b"\n")
            file.flush()
        free = shutil.disk_usage(settings.SEMBLANCE_HOME).free
    except OSError as error:
        sentence = _("Nothing can be written to SEMBLANCE_HOME: %(reason)s.")
        return sentence % {"reason": error.strerror}
    if free >= settings.DISK_FREE_MIN_BYTES:
        return ""
    return _("The disk of SEMBLANCE_HOME is nearly full: %(free)s are free. Make room soon.") % {
        "free": filesizeformat(free)
    }


def beat_problem() -> str:
    """A site whose workers have just started has a beat that has not said anything yet."""
    from mlworkers.models import BeatHeartbeat  # noqa: PLC0415 - a command needs none of it
    from mlworkers.runs.selectors import BEAT_LIVES_FOR, beat_heard, live_workers  # noqa: PLC0415

    try:
        at = database_now()
        last = BeatHeartbeat.objects.first()
        if beat_heard(at) is not None:
            return ""
        started = [worker.started_at for worker in live_workers(at) if worker.started_at]
    except (DatabaseError, InterfaceError):  # `database_problem` says so
        return ""
    if last is None and all(moment > at - BEAT_LIVES_FOR for moment in started):
        return ""
    return _(
        "Beat does not run: nothing was heard of it for %(minutes)s minutes or more. Tuples that somebody left on the "
        "screen are given to others late, and mails and webhooks that failed are not tried again. Start "
        "semblance-beat, or semblance serve, which starts it."
    ) % {"minutes": round(BEAT_LIVES_FOR.total_seconds() / 60)}


class StorageAnswer:
    """What the file storage answered lately: it is its own service, and is not asked by every proxy's question."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sentence, self._asked = "", -math.inf

    def problem(self) -> str:
        with self._lock:
            if monotonic() - self._asked >= SECONDS_BETWEEN_STORAGE_CHECKS:
                # Of what is wrong, only the kind: its own sentence names the bucket.
                error = shared_problem()
                if isinstance(error, StorageAway):
                    self._sentence = _(
                        "The file storage does not answer. Uploads, snapshots and downloads do not work, and runs "
                        "wait for it."
                    )
                elif error is not None:
                    self._sentence = _("The file storage refuses this site; semblance doctor says why.")
                else:
                    self._sentence = ""
                self._asked = monotonic()
            return self._sentence


storage_answer = StorageAnswer()
CHECKS = {
    "database": database_problem,
    "redis": redis_problem,
    "disk": disk_problem,
    "beat": beat_problem,
    "storage": storage_answer.problem,
}
TAG = "production"


@register(TAG)
def redis_is_set(**_kwargs: Any) -> list[CheckMessage]:
    """A database server without Redis works on one machine, and less well on several."""
    if settings.EMBEDDED or settings.REDIS_URL:
        return []
    sentence = _(
        "DATABASE_URL is set, but REDIS_URL is not. Messages to workers are therefore files in SEMBLANCE_HOME, which "
        "workers on other machines cannot read, and each web process has its own cache. Set REDIS_URL."
    )
    return [Warning(sentence, id="semblance.W001")]
