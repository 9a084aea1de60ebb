"""Sending e-mails: each until the mail server takes it, with growing pauses. Their text is written here."""

import smtplib
from datetime import timedelta
from typing import NamedTuple

from django.conf import settings
from django.contrib.auth.forms import PasswordResetForm
from django.core.mail import EmailMessage
from django.template.loader import render_to_string
from django.utils import translation
from django.utils.translation import gettext as _

from curation.foundation.heartbeats import database_now
from curation.models import Mail
from curation.people.accounts.addresses import VALID_FOR
from curation.people.mail.links import address_link, invitation_link, link, password_link
from curation.people.mail.waiting import mails_open
from curation.people.members import invitation_refusal, invitations_of
from curation.people.outgoing import Outcome, outgoing_carry_out

# After the first, second, … failure. Somebody waits for a new password in front of the screen.
PAUSES = (
    timedelta(minutes=1),
    timedelta(minutes=5),
    timedelta(minutes=30),
    timedelta(hours=2),
    timedelta(hours=12),
)
OF_INVITATIONS, OF_OTHERS = PAUSES, PAUSES[:3]


class Letter(NamedTuple):
    subject: str
    text: str


def mails_carry_out() -> int:
    """Send what is due; how many mails the server took."""
    return outgoing_carry_out(
        mails_open(),
        send=mail_try,
        now=database_now,
        pauses=lambda mail: OF_INVITATIONS if mail.kind == Mail.Kind.INVITATION else OF_OTHERS,
    )


def mail_try(mail: Mail) -> Outcome:
    """Write it and send it once. One whose reason is gone is not sent: nobody waits for it."""
    done = {"nonce": ""}  # a link that was sent is not computed again
    with translation.override(mail.language or None):
        letter = letter_of(mail)
    if letter is None:
        return Outcome(changes=done)
    if not settings.MAIL_SERVER:
        return Outcome(_("The mail server was removed from the settings of the site."), final=True)
    subject = " ".join(letter.subject.split())
    try:
        EmailMessage(subject, letter.text, to=[mail.to]).send()
    except smtplib.SMTPRecipientsRefused as error:
        code, why = next(iter(error.recipients.values()))
        refused = _("The mail server does not take mail for this address: %(code)s %(said)s")
        return Outcome(refused % {"code": code, "said": _text(why)}, final=code >= 500)
    except (smtplib.SMTPException, OSError) as error:
        said = _text(getattr(error, "smtp_error", "")) or str(error) or type(error).__name__
        return Outcome(_("The mail server could not be used: %(said)s") % {"said": said})
    return Outcome(changes=done)


def letter_of(mail: Mail) -> Letter | None:
    """Subject and text, in the language that is active; None where there is no reason for it any more."""
    context: dict[str, object]
    match Mail.Kind(mail.kind):
        case Mail.Kind.INVITATION:
            made = mail.invitation
            invitation = made and invitations_of(made.dataset).filter(pk=made.pk).first()
            if invitation is None or invitation_refusal(invitation, at=database_now()):
                return None
            subject = _("Invitation to %(dataset)s") % {"dataset": invitation.dataset.name}
            context = {"invitation": invitation, "link": invitation_link(mail)}
        case Mail.Kind.PASSWORD:
            # With a link for each open account that has this address and a password.
            accounts = [(user, password_link(mail, user)) for user in PasswordResetForm().get_users(mail.to)]
            if not accounts:
                return None
            subject = _("Set a new password")
            context = {"accounts": accounts, "minutes": settings.PASSWORD_RESET_TIMEOUT // 60}
        case Mail.Kind.ADDRESS:
            if mail.user is None or not mail.user.is_active:
                return None
            subject = _("Confirm your e-mail address")
            context = {"link": address_link(mail, mail.user), "hours": VALID_FOR // timedelta(hours=1)}
        case Mail.Kind.CHANGED:
            # With a link to a new password, which the site offers where people log in with one.
            subject = _("Your password was changed")
            context = {"link": link(mail, "password_reset") if settings.LOCAL_LOGIN else ""}
        case Mail.Kind.MOVED:
            subject, context = _("Your e-mail address was changed"), {}
    return Letter(subject, render_to_string(f"curation/mail/{mail.kind}.txt", {"mail": mail, **context}))


def _text(said: bytes | str) -> str:
    return said.decode(errors="replace") if isinstance(said, bytes) else str(said)
