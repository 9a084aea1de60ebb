"""Links that log a superuser in once: the way in where nobody logs in with a password here."""

from django.contrib.auth.tokens import PasswordResetTokenGenerator
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_decode, urlsafe_base64_encode

from curation.foundation.errors import UserError
from curation.models import User


class _LoginLinks(PasswordResetTokenGenerator):
    """Django's tokens hold the time of the last login, so that each works once."""

    key_salt = "curation.accounts.links"


_links = _LoginLinks()


def login_link_parts(username: str) -> tuple[str, str]:
    """The two parts of the link of a superuser. Raises UserError where no active one has this name."""
    user = User.objects.filter(username=username, is_superuser=True, is_active=True).first()
    if user is None:
        raise UserError("There is no superuser called “%(name)s”.", name=username)
    return urlsafe_base64_encode(force_bytes(user.pk)), _links.make_token(user)


def login_link_user(number: str, token: str) -> User | None:
    """The superuser whom the link logs in; None for a link that is old, was used, or is somebody else's."""
    try:
        pk = int(urlsafe_base64_decode(number))
    except ValueError:
        return None
    user = User.objects.filter(pk=pk, is_active=True, is_superuser=True).first()
    return user if user is not None and _links.check_token(user, token) else None
