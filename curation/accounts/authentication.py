"""How the API knows the program that asks: by its owner's token."""

from django.utils.translation import gettext as _
from rest_framework import authentication
from rest_framework.exceptions import AuthenticationFailed

from curation.accounts.tokens import api_token_found
from curation.models import ApiToken, User


class TokenAuthentication(authentication.TokenAuthentication):
    """Django REST framework's header, `Authorization: Token …`, with tokens that are stored as digests."""

    def authenticate_credentials(self, key: str) -> tuple[User, ApiToken]:
        token = api_token_found(key)
        if token is None:
            raise AuthenticationFailed(
                _("This token does not work; your name › Access for programs makes a new one.")
            )
        return token.user, token
