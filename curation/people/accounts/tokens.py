"""A person's tokens for programs: made, found, ended, recognised in a request, and what each may do.

A token is shown once; a digest of it is stored.
"""

import hashlib
import secrets
from datetime import datetime, timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils.timezone import now
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from rest_framework import authentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request

from curation.foundation.errors import UserError
from curation.foundation.statements import built_once
from curation.models import ApiToken, User

BYTES = 32  # 256 random bits: no slow hash is needed, for nobody finds them by trying
SHOWN = 8  # characters that its owner recognises it by
MOST = 20  # of one person
# The last use is for people, who ask which tokens they can revoke. A program that judges must not pay for a write with
# each request.
USE_NOTED_EVERY = timedelta(minutes=5)


@transaction.atomic
def api_token_create(*, user: User, name: str, scope: str, expires_at: datetime | None, at: datetime) -> str:
    """The text of a new token. Raises UserError for a name that another token of the person has, or too many tokens."""
    User.objects.select_for_update().get(pk=user.pk)  # two requests at once count one after the other
    ApiToken.objects.filter(user=user).exclude(password_digest=user.password_digest()).delete()
    if ApiToken.objects.filter(user=user).count() >= MOST:
        raise UserError(
            _("You have %(most)s tokens, the most that one person can have. Revoke one first."), most=MOST
        )
    token = secrets.token_hex(BYTES)
    try:
        with transaction.atomic():
            ApiToken.objects.create(
                user=user,
                name=name,
                scope=scope,
                digest=api_token_digest(token),
                beginning=token[:SHOWN],
                password_digest=user.password_digest(),
                created_at=at,
                expires_at=expires_at,
            )
    except IntegrityError as error:
        sentence = _(
            "You have a token with the name “%(name)s”. Choose another name, or revoke that token first."
        )
        raise UserError(sentence, name=name) from error
    return token


def api_token_revoke(*, user: User, pk: int) -> None:
    ApiToken.objects.filter(user=user, pk=pk).delete()


def api_tokens_of(user: User) -> QuerySet[ApiToken]:
    """The person's tokens, the newest first, also those whose time is over. Those of an earlier password are none."""
    return ApiToken.objects.filter(user=user, password_digest=user.password_digest())


def api_token_found(text: str) -> ApiToken | None:
    """The token of that text with its person, unless it was revoked or ended with its password. It may have expired.

    Compared with the password as it is now: no way of changing a password can forget to end the token.
    """
    token = _of_digest.first(api_token_digest(text))
    works = token and token.user.is_active and token.password_digest == token.user.password_digest()
    return token if works else None


@built_once
def _of_digest(digest: str) -> QuerySet[ApiToken]:
    return ApiToken.objects.select_related("user").filter(digest=digest)[:1]


def api_token_digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def api_token_used(*, token: ApiToken, at: datetime) -> None:
    """Note the use, at most every five minutes."""
    if token.last_used_at is None or at - token.last_used_at >= USE_NOTED_EVERY:
        ApiToken.objects.filter(pk=token.pk).update(last_used_at=at)


class TokenAuthentication(authentication.TokenAuthentication):
    """Django REST framework's header, `Authorization: Token …`, with tokens that are stored as digests."""

    def authenticate_credentials(self, key: str) -> tuple[User, ApiToken]:
        token, at = api_token_found(key), now()
        if token is None:
            raise AuthenticationFailed(
                _(
                    "This token is not valid. Make a new one on the page “API tokens”, in "
                    "the menu under your name."
                )
            )
        if token.expires_at is not None and token.expires_at <= at:
            sentence = _("This token expired on %(day)s. Make a new one on the page “API tokens”.")
            raise AuthenticationFailed(sentence % {"day": f"{token.expires_at:%Y-%m-%d}"})
        api_token_used(token=token, at=at)
        token.user.token_used = token.beginning  # the audit log says which
        return token.user, token


class InScope(BasePermission):
    """Whether the token of a request may do this. Sessions of a browser may do all that their person may.

    A view names in `judging` the methods with which annotators judge and rate; a token that only judges may do these
    and nothing else. One that only reads gets what changes nothing.
    """

    message = gettext_lazy(
        "This token may not do that: its scope is too small. Make another one on “API tokens”."
    )

    def has_permission(self, request: Request, view: Any) -> bool:
        token: object = request.auth
        if not isinstance(token, ApiToken) or token.scope == ApiToken.Scope.WRITE:
            return True
        if token.scope == ApiToken.Scope.JUDGE:
            return request.method in getattr(view, "judging", ())
        return request.method in SAFE_METHODS
