"""Logging in with the provider of single sign-on, and the way in for a superuser where passwords are switched off."""

import logging
from typing import cast

from django.conf import settings
from django.contrib.auth import login
from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.timezone import now
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods

from curation.foundation.errors import UserError
from curation.people.accounts.links import login_link_user
from curation.people.accounts.second_factor import ELSEWHERE
from curation.people.sign_on.claims import Identity
from curation.people.sign_on.groups import rights_of
from curation.people.sign_on.people import person_signed_on
from curation.views.people import BACKEND

logger = logging.getLogger(__name__)


@login_not_required
@never_cache
@require_GET
def sign_on(request: HttpRequest) -> HttpResponse:
    """To the provider, which sends the person back to `sign_on_callback`."""
    _require_provider()
    from curation.people.sign_on.provider import FAILURES, sign_on_begun  # noqa: PLC0415 - takes long to load

    try:
        return sign_on_begun(request)
    except FAILURES as error:
        return _failed(request, error)


@login_not_required
@never_cache
@require_GET
def sign_on_callback(request: HttpRequest) -> HttpResponse:
    _require_provider()
    from curation.people.sign_on.provider import FAILURES, sign_on_answered  # noqa: PLC0415

    def done(identity: Identity, page: str) -> HttpResponse:
        rights = rights_of(identity.groups, settings.OIDC_ROLES)
        by_email = settings.OIDC_JOIN_BY_EMAIL
        user = person_signed_on(identity=identity, rights=rights, joins_by_email=by_email, at=now())
        login(request, user, backend=BACKEND)
        # What a person may do follows their groups, which are known at a login alone.
        request.session.set_expiry(settings.OIDC_SESSION_SECONDS)
        request.session[ELSEWHERE] = True  # a second factor is the provider's affair
        ours = url_has_allowed_host_and_scheme(page, request.get_host(), request.is_secure())
        return redirect(page if ours else settings.LOGIN_REDIRECT_URL)

    try:
        return sign_on_answered(request, done)
    except UserError as error:
        return _page(request, str(error))
    except FAILURES as error:
        return _failed(request, error)


@login_not_required
@never_cache
@require_http_methods(["GET", "POST"])
def login_link(request: HttpRequest, uidb64: str, token: str) -> HttpResponse:
    """What `semblance login_link` printed: it logs a superuser in, once."""
    user = login_link_user(uidb64, token)
    if user is None:
        return _page(request, _("This link is not valid, or no longer. Ask for another one."))
    if request.method == "POST":
        login(request, user, backend=BACKEND)
        # The administrator who printed the link can remove a second factor too.
        request.session[ELSEWHERE] = True
        return redirect(settings.LOGIN_REDIRECT_URL)
    return render(request, "registration/login_link.html", {"person": user})


def _require_provider() -> None:
    if not settings.OIDC_ISSUER:
        raise Http404


def _failed(request: HttpRequest, error: Exception) -> HttpResponse:
    """One sentence for people, whatever was wrong; the log has the rest."""
    logger.warning("Single sign-on failed: %s: %s", type(error).__name__, error)
    names = {"provider": cast("str", settings.OIDC_NAME)}
    return _page(request, _("You could not be logged in with %(provider)s. Try again.") % names)


def _page(request: HttpRequest, sentence: str) -> HttpResponse:
    return render(request, "registration/sign_on_failed.html", {"sentence": sentence}, status=403)
