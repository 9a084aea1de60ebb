"""Guessing passwords is slow: every try is counted before the password is checked, wherever a password is asked for."""

import hashlib
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime, timedelta
from math import ceil
from typing import NamedTuple

from django.db import transaction
from django.db.models import F
from django.utils.translation import ngettext

from curation.foundation.errors import UserError
from curation.models import PasswordTries, User

REMEMBERED = timedelta(minutes=15)
# Five from one address close the name to that address, fifty from anywhere close it to all: more than a forgetful
# person needs, far too few to find a password of ten characters.
TRIES_OF_A_NAME_FROM_ONE_ADDRESS = 5
TRIES_OF_A_NAME = 50
# A code has six digits, and three of them are right at a time. Only somebody who knows the password tries.
TRIES_OF_CODES = 20
# For all names together. A classroom shares one address: thirty people may each be wrong three times.
TRIES_FROM_ONE_ADDRESS = 100
# People who come by a crowd's link have no password. A classroom shares one address; one person tries a link a few
# times.
ARRIVALS_FROM_ONE_ADDRESS = 100
ARRIVALS_OF_ONE_ID = 10
# Mails that somebody who need not have an account asks for: a new password.
MAILS_FROM_ONE_ADDRESS = 20
MAILS_TO_ONE_FROM_ONE_ADDRESS = 3
OLD_ROWS_AT_ONCE = 1000


class TooManyTriesError(UserError):
    """What was sent was not looked at. The text says when to try again."""


class Try(NamedTuple):
    """What a try was counted in: for this name from this address, and together with others."""

    own: Sequence[PasswordTries]
    shared: Sequence[PasswordTries]


@transaction.atomic
def try_count(*, username: str, address: str, at: datetime) -> Try:
    """Count a try of this name's password as a wrong one. Raises TooManyTriesError where it may not be checked now.

    Call it before the password is checked, and `try_was_right` afterwards if it was right: of many tries at once no
    more are checked than of as many one after the other.
    """
    name = username.strip().lower()
    limits = {
        _key("name and address", name, address): TRIES_OF_A_NAME_FROM_ONE_ADDRESS,
        _key("address", address): TRIES_FROM_ONE_ADDRESS,
        _key("name", name): TRIES_OF_A_NAME,
    }
    own, *shared = _counted(limits, at=at)
    return Try([own], shared)


@transaction.atomic
def code_try_count(*, user: User, address: str, at: datetime) -> Try:
    """Count a try of a code of this person, whose password was right, as a wrong one. As `try_count`."""
    limits = {
        _key("code and address", str(user.pk), address): TRIES_OF_A_NAME_FROM_ONE_ADDRESS,
        _key("address", address): TRIES_FROM_ONE_ADDRESS,
        _key("code", str(user.pk)): TRIES_OF_CODES,
    }

    def sentence(minutes: int, _closed: Collection[str]) -> str:
        return ngettext(
            "There were too many wrong codes. Wait %(minutes)s minute, then try again.",
            "There were too many wrong codes. Wait %(minutes)s minutes, then try again.",
            minutes,
        )

    own, *shared = _counted(limits, at=at, sentence=sentence)
    return Try([own], shared)


@transaction.atomic
def name_question_count(*, address: str, at: datetime) -> Try:
    """Count a question whether a name is taken. It closes no name: two people who choose one name guess nothing."""
    return Try([], _counted({_key("address", address): TRIES_FROM_ONE_ADDRESS}, at=at))


@transaction.atomic
def arrival_count(*, name: str, address: str, at: datetime) -> None:
    """Count somebody who comes by a crowd's link and is not recognised by their session. name: the crowd's and theirs.

    Raises TooManyTriesError where too many came: guessing the id of a submission, or making accounts, is slow.
    """
    of_id = _key("arrival of", name)
    limits = {_key("arrival", address): ARRIVALS_FROM_ONE_ADDRESS, of_id: ARRIVALS_OF_ONE_ID}

    def sentence(minutes: int, closed: Collection[str]) -> str:
        if of_id in closed:
            return ngettext(
                "Somebody tried to enter with this id too often. Wait %(minutes)s minute, then open the study from the "
                "page of the platform.",
                "Somebody tried to enter with this id too often. Wait %(minutes)s minutes, then open the study from "
                "the page of the platform.",
                minutes,
            )
        return ngettext(
            "Too many people entered from your network. Wait %(minutes)s minute, then try again.",
            "Too many people entered from your network. Wait %(minutes)s minutes, then try again.",
            minutes,
        )

    _counted(limits, at=at, sentence=sentence)


@transaction.atomic
def mail_count(*, to: str, address: str, at: datetime) -> None:
    """Count somebody who has a mail sent to this e-mail address. address: where they ask from.

    Raises TooManyTriesError where too many were asked for from there. Whoever asks from elsewhere is not kept from it.
    """
    limits = {
        _key("mail", address): MAILS_FROM_ONE_ADDRESS,
        _key("mail to", to.strip().lower(), address): MAILS_TO_ONE_FROM_ONE_ADDRESS,
    }

    def sentence(minutes: int, _closed: Collection[str]) -> str:
        return ngettext(
            "Too many e-mails were asked for. Look into your mailbox, or wait %(minutes)s minute and try again.",
            "Too many e-mails were asked for. Look into your mailbox, or wait %(minutes)s minutes and try again.",
            minutes,
        )

    _counted(limits, at=at, sentence=sentence)


def _too_many_passwords(minutes: int, _closed: Collection[str]) -> str:
    return ngettext(
        "There were too many wrong passwords. Wait %(minutes)s minute, then try again.",
        "There were too many wrong passwords. Wait %(minutes)s minutes, then try again.",
        minutes,
    )


@transaction.atomic
def try_was_right(counted: Try) -> None:
    """Take a try back, and forget the earlier slips of its name from its address."""
    PasswordTries.objects.filter(pk__in=[row.pk for row in counted.own]).delete()
    for row in counted.shared:
        same = PasswordTries.objects.filter(pk=row.pk, ends_at=row.ends_at, tries__gt=0)
        same.update(tries=F("tries") - 1)


def _counted(
    limits: Mapping[str, int],
    *,
    at: datetime,
    sentence: Callable[[int, Collection[str]], str] = _too_many_passwords,
) -> list[PasswordTries]:
    """Count a try in each of these rows. sentence: of the error, from the minutes to wait and the keys that are full.

    Raises TooManyTriesError where a row has as many tries as its limit.
    """
    # The rows, made where they are missing, locked in this order until the transaction ends. The upsert changes nothing
    # of a row that is there. It is what locks it on PostgreSQL, without a moment between the insert and the lock in
    # which the row could be removed; on SQLite the whole transaction is the only one that writes.
    made = [PasswordTries(key=key, ends_at=at + REMEMBERED) for key in limits]
    PasswordTries.objects.bulk_create(
        made, update_conflicts=True, unique_fields=["key"], update_fields=["key"]
    )
    by_key = {row.key: row for row in PasswordTries.objects.filter(key__in=list(limits))}
    rows = [by_key[key] for key in limits]
    for row in rows:
        if row.ends_at <= at:
            row.tries, row.ends_at = 0, at + REMEMBERED
    closed = {row.key: row.ends_at for row in rows if row.tries >= limits[row.key]}
    if closed:
        minutes = ceil((max(closed.values()) - at) / timedelta(minutes=1))
        raise TooManyTriesError(sentence(minutes, closed), minutes=minutes)
    for row in rows:
        row.tries += 1
    PasswordTries.objects.bulk_update(rows, ["tries", "ends_at"])
    # Old rows that somebody else holds are left to the next time: nobody waits here, so no two wait for each other.
    old = PasswordTries.objects.select_for_update(skip_locked=True).filter(ends_at__lte=at)
    PasswordTries.objects.filter(pk__in=list(old.values_list("pk", flat=True)[:OLD_ROWS_AT_ONCE])).delete()
    return rows


def _key(*parts: str) -> str:
    # People type passwords into the wrong field: what was typed is not kept in the clear.
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()
