"""What `semblance doctor` says of an installation: each thing it needs, whether it is so, and what to do if not."""

import shutil
import stat
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from django.conf import settings
from django.core.checks import run_checks
from django.db import connection
from django.template.defaultfilters import filesizeformat
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from curation.foundation.heartbeats import database_now
from curation.foundation.shared_files import StorageError, shared_store, shared_try
from mlworkers.models import Run
from mlworkers.plans.kinds import KINDS, QUEUES
from mlworkers.runs.presence import worker_command
from mlworkers.runs.selectors import beat_heard, live_workers, workers_serving
from semblance.backups.files import files_missing
from semblance.health import TAG, beat_problem, database_problem, disk_problem, redis_problem

CLOCKS_DIFFER = 2.0  # seconds; heartbeats are judged by the database's clock, and files by the machine's
NETWORK_FOLDERS = frozenset({"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "fuse.sshfs"})
MOUNTS = Path("/proc/self/mounts")
FEW_CHARACTERS = 40  # of a secret key; Django's own have 50


class State(StrEnum):
    GOOD = "good"
    WARNING = "warning"
    PROBLEM = "problem"


class Finding(NamedTuple):
    """One thing that was looked at. sentence: what is so, and if it is not good, what to do."""

    name: str
    state: State
    sentence: str


def findings() -> list[Finding]:
    """Everything about this installation, checked now. What cannot be asked is a problem, not an error."""
    found = [*settings_findings(), *folder_findings(), *storage_findings(), *redis_findings()]
    if problem := database_problem():
        return [*found, Finding("database", State.PROBLEM, problem)]
    return [
        *found,
        *database_findings(),
        *clock_findings(),
        *worker_findings(),
        *beat_findings(),
        *file_findings(),
    ]


def settings_findings() -> Iterator[Finding]:
    public = bool(settings.PUBLIC_HOSTS) or "*" in settings.ALLOWED_HOSTS
    rules = [
        (
            settings.DEBUG and public,
            State.PROBLEM,
            _("DEBUG is on: every visitor can read code and settings in error pages. Remove DEBUG."),
        ),
        (
            len(set(settings.SECRET_KEY)) < 5 or len(settings.SECRET_KEY) < FEW_CHARACTERS,
            State.PROBLEM if public else State.WARNING,
            _("SECRET_KEY is short. Set one of 50 random characters or more; everybody then logs in again."),
        ),
        (
            "*" in settings.ALLOWED_HOSTS,
            State.WARNING,
            _("ALLOWED_HOSTS is *: the site answers to every name. Name the hosts that people use."),
        ),
        (
            public and not settings.HTTPS,
            State.WARNING,
            _(
                "HTTPS is off: passwords cross the network in clear. Put a proxy with TLS in front and set HTTPS=true."
            ),
        ),
        (
            settings.HTTPS and settings.TRUSTED_PROXIES == 0,
            State.WARNING,
            _(
                "HTTPS is on and TRUSTED_PROXIES is 0: all visitors seem to come from the proxy, and one of them can "
                "close the login to the others. Set TRUSTED_PROXIES to the number of proxies in front."
            ),
        ),
    ]
    found = [Finding("settings", state, sentence) for wrong, state, sentence in rules if wrong]
    found += [Finding("settings", State.WARNING, str(warning.msg)) for warning in run_checks(tags=[TAG])]
    yield from found
    if not found:
        kind = _("embedded, on this machine alone") if settings.EMBEDDED else _("production")
        yield Finding("settings", State.GOOD, _("The settings are complete (%(kind)s).") % {"kind": kind})


def folder_findings() -> Iterator[Finding]:
    home = Path(settings.SEMBLANCE_HOME)
    if problem := disk_problem():
        yield Finding("disk", State.PROBLEM, problem)
    else:
        free = filesizeformat(shutil.disk_usage(home).free)
        sentence = _("%(home)s can be written, and %(free)s are free.")
        yield Finding("disk", State.GOOD, sentence % {"home": home, "free": free})
    if home.is_dir() and home.stat().st_mode & settings.SEMBLANCE_UMASK & (stat.S_IRWXO | stat.S_IRWXG):
        sentence = _(
            "Other users of this machine can look into %(home)s, which holds password hashes. Use a folder for it "
            "alone, or run chmod go-rwx on it."
        )
        yield Finding("disk", State.WARNING, sentence % {"home": home})
    if connection.vendor == "sqlite" and (kind := _kind_of_disk(home)) in NETWORK_FOLDERS:
        sentence = _(
            "The SQLite database is on a network folder (%(kind)s), whose locks do not keep it safe. Use a disk of "
            "this machine, or PostgreSQL (semblance move_database)."
        )
        yield Finding("disk", State.PROBLEM, sentence % {"kind": kind})


def _kind_of_disk(path: Path) -> str:
    """The kind of file system that a folder is on, as Linux calls it; elsewhere nothing is known."""
    if not MOUNTS.is_file():
        return ""
    found = ("", "")
    for line in MOUNTS.read_text(encoding="utf-8", errors="replace").splitlines():
        _device, place, kind, *_rest = line.split(" ")
        if path.resolve().is_relative_to(place) and len(place) >= len(found[0]):
            found = (place, kind)
    return found[1]


def storage_findings() -> Iterator[Finding]:
    store = shared_store()
    if store is None:
        return
    try:
        shared_try()
    except StorageError as error:
        yield Finding("storage", State.PROBLEM, str(error))
        return
    sentence = _("The file storage %(url)s can be written and read.")
    yield Finding("storage", State.GOOD, sentence % {"url": store.url})
    if not settings.REDIS_URL:
        sentence = _(
            "STORAGE_URL is set, but REDIS_URL is not: workers on other machines get no messages, and find runs some "
            "seconds later."
        )
        yield Finding("storage", State.WARNING, sentence)


def redis_findings() -> Iterator[Finding]:
    if not settings.REDIS_URL:
        return
    if problem := redis_problem():
        yield Finding("redis", State.PROBLEM, problem)
        return
    yield Finding("redis", State.GOOD, _("Redis answers."))
    from redis import Redis  # noqa: PLC0415 - without Redis, and to print its help, the command needs none of it
    from redis.exceptions import RedisError  # noqa: PLC0415

    try:
        with Redis.from_url(settings.REDIS_URL, socket_timeout=settings.REDIS_TIMEOUT_SECONDS) as redis:
            memory = redis.info("memory")
    except RedisError:  # some hosted ones do not tell
        return
    if memory.get("maxmemory") and memory.get("maxmemory_policy") != "noeviction":
        sentence = _(
            "Redis may drop messages to workers when its memory is full (maxmemory-policy is %(policy)s). Set it to "
            "noeviction. Runs that were dropped start again by themselves, but later."
        )
        yield Finding("redis", State.WARNING, sentence % {"policy": memory.get("maxmemory_policy")})


def database_findings() -> Iterator[Finding]:
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA quick_check(1)")
            answer = cursor.fetchone()[0]
        if answer != "ok":
            sentence = _(
                "The SQLite database is damaged: %(answer)s. Restore the last backup (semblance restore)."
            )
            yield Finding("database", State.PROBLEM, sentence % {"answer": answer})
            return
        sentence = _("The SQLite database is whole and has every migration.")
        yield Finding("database", State.GOOD, sentence)
        return
    major = connection.pg_version // 10_000  # type: ignore[attr-defined]
    sentence = _("PostgreSQL %(version)s answers and has every migration.")
    yield Finding("database", State.GOOD, sentence % {"version": major})
    with connection.cursor() as cursor:
        cursor.execute("SELECT EXISTS (SELECT 1 FROM pg_extension WHERE extname = 'pg_trgm')")
        trigrams = cursor.fetchone()[0]
    if not trigrams:
        sentence = _(
            "The extension pg_trgm is missing, so a search for words in a large dataset is slow. Have an administrator "
            "of the database run CREATE EXTENSION pg_trgm."
        )
        yield Finding("database", State.WARNING, sentence)


def clock_findings() -> Iterator[Finding]:
    apart = abs((database_now() - datetime.now(UTC)).total_seconds())
    if apart > CLOCKS_DIFFER:
        sentence = _(
            "The clocks of this machine and of the database differ by %(seconds).0f seconds. Set both by NTP."
        )
        yield Finding("clock", State.PROBLEM, sentence % {"seconds": apart})
    else:
        yield Finding("clock", State.GOOD, _("The clocks of this machine and of the database agree."))


def worker_findings() -> Iterator[Finding]:
    at = database_now()
    for queue in QUEUES:
        serving = [worker.name for worker in workers_serving(queue, at)]
        waiting = Run.objects.filter(
            state=Run.State.QUEUED, kind__in=[name for name, kind in KINDS.items() if kind.queue == queue]
        ).count()
        if serving:
            sentence = _("The queue %(queue)s is served by %(workers)s.")
            shown = {"queue": queue, "workers": ", ".join(serving)}
            yield Finding("workers", State.GOOD, sentence % shown)
            continue
        drained = [worker.name for worker in live_workers(at) if queue in worker.queues]
        if drained:
            sentence = _(
                "The queue %(queue)s waits: %(workers)s is drained. Run semblance workers undrain --all, or start "
                "another worker: %(command)s."
            )
        else:
            sentence = _("No worker serves the queue %(queue)s. Run semblance serve, or %(command)s.")
        shown = {"queue": queue, "command": worker_command(queue), "workers": ", ".join(drained)}
        waits = ngettext("%(n)s run waits for it.", "%(n)s runs wait for it.", waiting) % {"n": waiting}
        state = State.PROBLEM if waiting else State.WARNING
        yield Finding("workers", state, f"{sentence % shown} {waits}" if waiting else sentence % shown)


def beat_findings() -> Iterator[Finding]:
    beat = beat_heard(database_now())
    if beat is not None:
        yield Finding("beat", State.GOOD, _("Beat runs on %(host)s.") % {"host": beat.host})
    elif problem := beat_problem():
        yield Finding("beat", State.PROBLEM, problem)
    else:
        sentence = _("Beat has not run yet. semblance serve starts it, with the workers.")
        yield Finding("beat", State.WARNING, sentence)


def file_findings() -> Iterator[Finding]:
    try:
        missing, named = files_missing(Path(settings.SEMBLANCE_HOME))
    except StorageError:  # `storage_findings` says so
        return
    if missing:
        sentence = ngettext(
            "%(n)s file that the database names is not in SEMBLANCE_HOME, for example %(path)s. Is this the right "
            "folder? Otherwise restore it from a backup.",
            "%(n)s files that the database names are not in SEMBLANCE_HOME, for example %(path)s. Is this the right "
            "folder? Otherwise restore them from a backup.",
            len(missing),
        )
        yield Finding("files", State.PROBLEM, sentence % {"n": len(missing), "path": missing[0]})
    else:
        sentence = ngettext(
            "The %(n)s file that the database names is there.",
            "All %(n)s files that the database names are there.",
            named,
        )
        yield Finding("files", State.GOOD, sentence % {"n": named})


def problems_of(found: Sequence[Finding], state: State) -> int:
    return sum(finding.state is state for finding in found)
