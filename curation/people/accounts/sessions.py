"""The browsers in which a person is logged in: written down at the login, listed and ended by the person.

Django's table of sessions does not say whose a session is. A row here does, and goes with its session. It holds no
address of a visitor, and of the browser two words alone.
"""

import hashlib
from datetime import datetime, timedelta
from typing import NamedTuple

from django.contrib.sessions.models import Session
from django.core.cache import cache
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest

from curation.models import BrowserSession, User
from curation.people.accounts.browsers import browser_named

# The last use is for people. A page must not pay for a write each time, so the cache says who wrote lately.
USE_NOTED_EVERY = timedelta(minutes=5)


class Listed(NamedTuple):
    """here: whether it is the session of the request."""

    row: BrowserSession
    here: bool


def session_begin(*, request: HttpRequest, user: User, at: datetime) -> None:
    """Write down that the person is logged in in the browser of this request."""
    if not request.session.session_key:
        request.session.save()
    _noted_lately(_key(request))
    _write(request, user, at)


def session_used(*, request: HttpRequest, user: User, at: datetime) -> None:
    """Note the use, at most every five minutes. A session that got another key begins again."""
    if _noted_lately(_key(request)):
        return
    if not BrowserSession.objects.filter(session_id=_key(request), user=user).update(last_used_at=at):
        _write(request, user, at)


def sessions_of(user: User, *, request: HttpRequest, at: datetime) -> list[Listed]:
    """The sessions in which the person is logged in: the one of the request, then the last used first."""
    # Django ends the sessions of an earlier password when their browsers come back; they are over before.
    rows = BrowserSession.objects.filter(user=user, password_digest=user.password_digest())
    rows = rows.filter(session__expire_date__gt=at).order_by("-last_used_at", "-pk")
    listed = [Listed(row, row.session_id == _key(request)) for row in rows]
    return sorted(listed, key=lambda one: not one.here)


def session_end(*, user: User, pk: int) -> bool:
    """End one session of the person. Returns whether there was one."""
    return bool(_sessions_delete(BrowserSession.objects.filter(user=user, pk=pk)))


def sessions_end(*, user: User, but: HttpRequest | None = None) -> int:
    """End all sessions of the person, but for that of a request. Returns how many were ended."""
    rows = BrowserSession.objects.filter(user=user)
    return _sessions_delete(rows.exclude(session_id=_key(but)) if but else rows)


def is_here(*, request: HttpRequest, user: User, pk: int) -> bool:
    """Whether this is the session of the request."""
    return BrowserSession.objects.filter(user=user, pk=pk, session_id=_key(request)).exists()


@transaction.atomic
def _sessions_delete(rows: QuerySet[BrowserSession]) -> int:
    """The rows go with their sessions, which their browsers have the numbers of."""
    keys = list(rows.values_list("session_id", flat=True))
    Session.objects.filter(pk__in=keys).delete()
    return len(keys)


@transaction.atomic
def _write(request: HttpRequest, user: User, at: datetime) -> None:
    key = _key(request)
    if not Session.objects.select_for_update().filter(pk=key).exists():  # ended by another request just now
        return
    browser = browser_named(request.META.get("HTTP_USER_AGENT", ""))
    facts = {**browser._asdict(), "user": user, "password_digest": user.password_digest()}
    BrowserSession.objects.update_or_create(
        session_id=key, defaults={**facts, "started_at": at, "last_used_at": at}
    )


def _key(request: HttpRequest) -> str:
    return str(request.session.session_key or "")


def _noted_lately(key: str) -> bool:
    """Whether the use of this session was noted in the last minutes; from now on it counts as noted."""
    digest = hashlib.sha256(key.encode()).hexdigest()  # the number opens the account: it is in no cache
    return not cache.add(f"session-used:{digest}", 1, int(USE_NOTED_EVERY.total_seconds()))
