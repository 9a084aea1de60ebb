"""A person's token for the API: made, found, ended, and recognised in a request.

It is shown once; a digest of it is stored.
"""

import hashlib
import secrets
from datetime import datetime

from django.utils.translation import gettext as _
from rest_framework import authentication
from rest_framework.exceptions import AuthenticationFailed

from curation.models import ApiToken, User

BYTES = 32  # 256 random bits: no slow hash is needed, for nobody finds them by trying
SHOWN = 8  # characters that its owner recognises it by


def api_token_renew(*, user: User, at: datetime) -> str:
    """A new token for the API. An earlier one stops working at once."""
    token = secrets.token_hex(BYTES)
    ApiToken.objects.update_or_create(
        user=user,
        defaults={
            "digest": api_token_digest(token),
            "beginning": token[:SHOWN],
            "password_digest": user.password_digest(),
            "created_at": at,
        },
    )
    return token


def api_token_revoke(*, user: User) -> None:
    ApiToken.objects.filter(user=user).delete()


def api_token_of(user: User) -> ApiToken | None:
    """The person's token, if it works."""
    return _working(user=user)


def api_token_found(text: str) -> ApiToken | None:
    """The token of that text with its person, if it works."""
    return _working(digest=api_token_digest(text))


def api_token_digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def _working(**which: object) -> ApiToken | None:
    """Compared with the password as it is now: no way of changing a password can forget to end the token."""
    token = ApiToken.objects.select_related("user").filter(**which).first()
    works = token and token.user.is_active and token.password_digest == token.user.password_digest()
    return token if works else None


class TokenAuthentication(authentication.TokenAuthentication):
    """Django REST framework's header, `Authorization: Token …`, with tokens that are stored as digests."""

    def authenticate_credentials(self, key: str) -> tuple[User, ApiToken]:
        token = api_token_found(key)
        if token is None:
            raise AuthenticationFailed(
                _(
                    "This token is not valid. Make a new one on the page “Access for programs”, in "
                    "the menu under your name."
                )
            )
        token.user.token_used = token.beginning  # the audit log says which
        return token.user, token
