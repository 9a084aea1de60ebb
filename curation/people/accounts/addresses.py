"""Proofs that a person receives what is sent to an e-mail address. They are signed and not stored."""

from datetime import timedelta

from django.core import signing
from django.utils.translation import gettext as _

from curation.foundation.errors import UserError
from curation.models import User

SALT = "curation.accounts.address"
VALID_FOR = timedelta(days=1)


def address_claim(user: User, *, to: str) -> str:
    """What the mail to this address holds. It ends after a day, and with the password and the address of now."""
    return signing.dumps([user.pk, to, user.password_digest(), user.email], salt=SALT)


def address_claimed(text: str, *, user: User) -> str:
    """The address that was proved. Raises UserError where the proof is too old, changed, or another person's."""
    try:
        number, to, password, before = signing.loads(text, salt=SALT, max_age=VALID_FOR)
    except (signing.BadSignature, ValueError, TypeError) as error:
        raise UserError(_("This link is not valid, or no longer. Ask for another one.")) from error
    if number != user.pk:
        raise UserError(_("This link was sent for another account. Log in with that account first."))
    if password != user.password_digest() or before != user.email:
        raise UserError(_("This link is not valid, or no longer. Ask for another one."))
    return str(to)
