"""The provider of single sign-on, asked with allauth's client: OpenID Connect with a code, state, nonce and PKCE.

allauth keeps the state in the session and exchanges the code. What the provider answers is checked by `claims`: allauth
checks neither a nonce nor, where it fetched the token itself, the signature.
"""

import secrets
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import requests
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.models import SocialApp, SocialToken
from allauth.socialaccount.providers.base import AuthProcess
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.oauth2.provider import OAuth2Provider
from allauth.socialaccount.providers.oauth2.views import OAuth2Adapter, OAuth2CallbackView, OAuth2LoginView
from allauth.utils import build_absolute_uri
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from curation.people.sign_on.claims import Identity, SignOnError, claims_of, identity_of

SECONDS = 5  # that the provider has for an answer
WELL_KNOWN = "/.well-known/openid-configuration"
SCOPE = ("openid", "profile", "email")
# What goes wrong between this site and the provider, or is wrong with its answer.
FAILURES = (OAuth2Error, requests.RequestException, SignOnError, KeyError, TypeError, ValueError)


class Session(requests.Session):
    """Asks the provider that the administrator named: no redirect, no proxy and no password of the environment.

    Addresses inside a network are allowed, whatever PRIVATE_ADDRESSES says: many providers are inside, and nobody but
    the administrator, by OIDC_ISSUER, and the provider, by its discovery document, names an address.
    """

    def __init__(self) -> None:
        super().__init__()
        self.trust_env = False

    def request(self, *arguments: Any, **options: Any) -> requests.Response:
        options |= {"allow_redirects": False, "timeout": SECONDS}
        return super().request(*arguments, **options)


class Adapter(DefaultSocialAccountAdapter):  # type: ignore[misc]  # allauth has no types
    """allauth's, with the one provider of the settings."""

    def get_provider(self, request: HttpRequest, provider: str, client_id: str | None = None) -> "Provider":
        app = SocialApp(
            provider=Provider.id,
            provider_id=settings.OIDC_ISSUER,
            name=settings.OIDC_NAME[:40],
            client_id=settings.OIDC_CLIENT_ID,
            secret=settings.OIDC_CLIENT_SECRET,
            settings={"oauth_pkce_enabled": True, "scope": [*SCOPE, *settings.OIDC_SCOPES]},
        )
        return Provider(request, app=app)

    def get_requests_session(self) -> Session:
        return Session()

    def on_authentication_error(self, request: HttpRequest, provider: object, **about: Any) -> None:
        """allauth's page of an error is none of ours."""
        raise OAuth2Error(f"{about.get('error', '')} {about.get('exception') or ''}".strip())


class Provider(OAuth2Provider):  # type: ignore[misc]
    id = "sign_on"
    name = "OpenID Connect"

    def get_oauth2_adapter(self, request: HttpRequest) -> "OpenIdConnect":
        return OpenIdConnect(request)

    def get_redirect_from_request_kwargs(self, request: HttpRequest) -> dict[str, Any]:
        """Nothing of what the address says but where to go afterwards, and a nonce that the token has to hold."""
        given = super().get_redirect_from_request_kwargs(request)
        nonce = secrets.token_urlsafe(32)
        kept = {"process": AuthProcess.LOGIN, "nonce": nonce, "auth_params": {"nonce": nonce}}
        return kept | ({"next_url": given["next_url"]} if "next_url" in given else {})


class OpenIdConnect(OAuth2Adapter):  # type: ignore[misc]
    """What allauth asks of a provider, from its discovery document."""

    provider_id = Provider.id

    def __init__(
        self, request: HttpRequest, done: "Callable[[Identity, str], HttpResponse] | None" = None
    ) -> None:
        """done: what answers somebody whom the provider knows; with the page to go to, or nothing."""
        super().__init__(request)
        self.done, self.state = done, dict[str, Any]()
        self._document: dict[str, Any] | None = None

    @property
    def document(self) -> dict[str, Any]:
        """The discovery document. Raises SignOnError for that of another provider."""
        if self._document is None:
            found = _json(settings.OIDC_ISSUER.rstrip("/") + WELL_KNOWN)
            if found.get("issuer") != settings.OIDC_ISSUER:
                raise SignOnError(f"OIDC_ISSUER is not what the provider calls itself, {found.get('issuer')}")
            self._document = found
        return self._document

    def _address(self, name: str) -> str:
        """An address of the document; encrypted where the provider's own is."""
        address = str(self.document[name])
        if urlsplit(address).scheme != "https" and urlsplit(settings.OIDC_ISSUER).scheme == "https":
            raise SignOnError(f"the provider's {name} is not encrypted")
        return address

    @property
    def authorize_url(self) -> str:
        return self._address("authorization_endpoint")

    @property
    def access_token_url(self) -> str:
        return self._address("token_endpoint")

    @property
    def basic_auth(self) -> bool:
        """With a header where the provider takes nothing else; where it says nothing, that is its way."""
        ways = self.document.get("token_endpoint_auth_methods_supported", ["client_secret_basic"])
        return "client_secret_post" not in ways

    def get_callback_url(self, request: HttpRequest, app: SocialApp) -> str:
        return str(build_absolute_uri(request, reverse("sign_on_callback")))

    def complete_login(self, request: HttpRequest, app: SocialApp, token: SocialToken, **given: Any) -> None:
        """Check what came and let `done` answer. Raises SignOnError where it is not to be believed."""
        claims = claims_of(
            str(given["response"].get("id_token", "")),
            keys=_json(self._address("jwks_uri")),
            issuer=settings.OIDC_ISSUER,
            client=settings.OIDC_CLIENT_ID,
            nonce=self.state["nonce"],
        )
        userinfo: dict[str, Any] = {}
        if "userinfo_endpoint" in self.document:
            userinfo = _json(
                self._address("userinfo_endpoint"), headers={"Authorization": f"Bearer {token.token}"}
            )
        issuer, claim = settings.OIDC_ISSUER, settings.OIDC_GROUPS_CLAIM
        identity = identity_of(claims, userinfo, issuer=issuer, groups_claim=claim)
        if self.done is not None:
            raise ImmediateHttpResponse(self.done(identity, self.state.get("next") or ""))


class Callback(OAuth2CallbackView):  # type: ignore[misc]
    def _get_state(self, request: HttpRequest, provider: Provider) -> Any:
        state, answer = super()._get_state(request, provider)
        self.adapter.state = state or {}
        return state, answer


def sign_on_begun(request: HttpRequest) -> HttpResponse:
    """To the provider. Raises one of FAILURES where it cannot be asked."""
    answer: HttpResponse = OAuth2LoginView.adapter_view(OpenIdConnect(request))(request)
    return answer


def sign_on_answered(request: HttpRequest, done: Callable[[Identity, str], HttpResponse]) -> HttpResponse:
    """From the provider. Raises one of FAILURES where its answer is not to be believed."""
    answer: HttpResponse = Callback.adapter_view(OpenIdConnect(request, done))(request)
    return answer


def _json(address: str, **options: Any) -> dict[str, Any]:
    with Session() as session:
        answer = session.get(address, **options)
        answer.raise_for_status()
        found: dict[str, Any] = answer.json()
        if answer.status_code != 200 or not isinstance(found, dict):
            raise SignOnError(f"{address} answered with {answer.status_code}")
        return found
