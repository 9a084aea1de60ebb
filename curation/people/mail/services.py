"""E-mails that people ask for: written down with the change that they are about, and sent by a worker."""

import secrets
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from curation.foundation.errors import UserError
from curation.models import Dataset, Invitation, Mail, User
from curation.people.accounts.addresses import address_claimed
from curation.people.mail.addresses import is_address
from curation.people.mail.links import invitation_token
from curation.people.mail.waiting import send_soon
from curation.people.members import invitation_create, invitation_refusal, invitations_of
from curation.people.outgoing import State

MOST_AT_ONCE = 100
# Of one person in a day: the site must not be used to send mail to people who do not want it.
MOST_IN_A_DAY = 500
# A link that was sent a moment ago works for longer than this: another mail would only fill the mailbox. Nobody can
# keep a person from a new password by asking for one in their name.
BETWEEN = timedelta(minutes=5)


class Told(NamedTuple):
    """What became of one address, as a sentence. good: whether a mail waits for it."""

    address: str
    sentence: str
    good: bool


@transaction.atomic
def invitations_mail(
    *,
    dataset: Dataset,
    addresses: Sequence[str],
    role: str,
    days: int,
    language: str,
    site: str,
    by: User,
    at: datetime,
    note: str = "",
) -> list[Told]:
    """An invitation for one person to each address; what became of each. site: its address, with its path.

    Raises UserError where that are too many.
    """
    if len(addresses) > MOST_AT_ONCE:
        raise UserError(
            _("You gave %(count)s addresses. Give at most %(most)s at once."),
            count=len(addresses),
            most=MOST_AT_ONCE,
        )
    User.objects.select_for_update().get(pk=by.pk)  # two requests at once count one after the other
    sent = Mail.objects.filter(invitation__created_by=by, made_at__gt=at - timedelta(days=1)).count()
    if sent + len(addresses) > MOST_IN_A_DAY:
        raise UserError(
            _("You can invite %(most)s people by e-mail in a day. Wait, or send them the link yourself."),
            most=MOST_IN_A_DAY,
        )
    # The addresses to which an invitation was sent, or is being sent, that somebody can still accept.
    mailed = invitations_of(dataset).filter(role=role, mail__isnull=False).exclude(mail__state=State.FAILED)
    mailed = mailed.filter(revoked_at=None, expires_at__gt=at, uses_left__gt=0)
    open_to = {each.mail.to.casefold() for each in mailed if not invitation_refusal(each, at=at)}
    told = []
    for address in addresses:
        if not is_address(address):
            told.append(Told(address, _("This is not an e-mail address. Nothing was sent."), good=False))
        elif address.casefold() in open_to:
            told.append(Told(address, _("This address has an open invitation to this role."), good=False))
        else:
            nonce = secrets.token_hex(32)
            made, _token = invitation_create(
                dataset=dataset, role=role, people=1, days=days, by=by, at=at, note=note,
                token=invitation_token(nonce),
            )  # fmt: skip
            Mail.objects.create(
                kind=Mail.Kind.INVITATION, to=address, language=language, address=site, invitation=made,
                nonce=nonce, made_at=at, next_at=at,
            )  # fmt: skip
            told.append(Told(address, _("The invitation is being sent."), good=True))
    transaction.on_commit(send_soon)
    return told


@transaction.atomic
def invitation_mail_again(*, invitation: Invitation, at: datetime) -> None:
    """Try once more to send a mail that was given up. Raises UserError where there is none."""
    again = Mail.objects.filter(invitation=invitation, state=State.FAILED)
    if not again.update(state=State.WAITING, tries=0, next_at=at):
        raise UserError(_("This e-mail is not one that could not be sent. Reload the page."))
    transaction.on_commit(send_soon)


@transaction.atomic
def password_mail(*, to: str, site: str, at: datetime) -> None:
    """A mail with which the owner of an account with this address sets a new password.

    Nobody looks here whether there is one: the answer, and the time that it takes, are the same.
    """
    _mail_once(Mail.Kind.PASSWORD, Q(), to=to, site=site, at=at)


@transaction.atomic
def address_mail(*, user: User, to: str, site: str, at: datetime) -> None:
    """A mail with which the person confirms that the address is theirs. The link makes it that of the account."""
    _mail_once(Mail.Kind.ADDRESS, Q(user=user), to=to, site=site, at=at, user=user)


def _mail_once(
    kind: Mail.Kind, same: Q, *, to: str, site: str, at: datetime, user: User | None = None
) -> None:
    recent = Mail.objects.filter(same, kind=kind, to__iexact=to, made_at__gt=at - BETWEEN)
    if not recent.exclude(state=State.FAILED).exists():
        Mail.objects.create(
            kind=kind, to=to, language=get_language() or "", address=site, user=user, made_at=at, next_at=at
        )
        transaction.on_commit(send_soon)


@transaction.atomic
def address_confirm(*, user: User, token: str, site: str, at: datetime) -> str:
    """Give the account the address that a link proved; the one before is told. Raises UserError where the link is none
    of this person.
    """
    to = address_claimed(token, user=user)
    before, user.email = user.email, to
    user.save(update_fields=["email"])
    address_tell(user=user, before=before, site=site, at=at)
    return to


@transaction.atomic
def address_remove(*, user: User, site: str, at: datetime) -> None:
    """The account has no address any more, which it is told: nobody gets a new password by mail."""
    before, user.email = user.email, ""
    user.save(update_fields=["email"])
    address_tell(user=user, before=before, site=site, at=at)


def password_tell(*, user: User, site: str, at: datetime) -> None:
    """Tell the address of the account that its password was changed, by the person or by an administrator."""
    _tell(Mail.Kind.CHANGED, to=user.email, user=user, site=site, at=at)


def address_tell(*, user: User, before: str, site: str, at: datetime) -> None:
    """Tell the address that the account had before that it is no longer used, if it is another."""
    if before.casefold() != user.email.casefold():
        _tell(Mail.Kind.MOVED, to=before, user=user, site=site, at=at)


def _tell(kind: Mail.Kind, *, to: str, user: User, site: str, at: datetime) -> None:
    if to and settings.MAIL_SERVER:
        language = get_language() or ""
        Mail.objects.create(
            kind=kind, to=to, language=language, address=site, user=user, made_at=at, next_at=at
        )
        transaction.on_commit(send_soon)
