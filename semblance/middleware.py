"""What every answer shares: the path of the site, a content security policy, the login before it, refusals."""

import logging
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import DisallowedHost
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse, QueryDict
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import translation
from django.utils.deprecation import MiddlewareMixin
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.timezone import now
from django.utils.translation import gettext as _

from curation.foundation.errors import NUL_REFUSED, UserError
from curation.models import User
from curation.people.accounts.second_factor import ELSEWHERE, has_second_factor
from curation.people.accounts.sessions import session_used
from semblance.languages import ENGLISH, is_translated

logger = logging.getLogger(__name__)
Respond = Callable[[HttpRequest], HttpResponse]

API = "/api/"

# Scripts and styles come from our own files alone, and no element has one in its attributes. Where a figure decides how
# something is drawn, static/js/page.js passes it to the style sheet (data-properties).
POLICY = "; ".join(
    [
        "default-src 'self'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "frame-ancestors 'none'",
        "form-action 'self'",
        "base-uri 'none'",
        "object-src 'none'",
    ]
)


def under_site_path(get_response: Respond) -> Respond:
    """Where the site is a part of its host (SITE_PATH), requests may come with its path or without.

    A proxy passes the path on or takes it away, as its administrator likes; Django expects it taken away.
    """

    def respond(request: HttpRequest) -> HttpResponse:
        path = settings.FORCE_SCRIPT_NAME
        if path and request.path_info == path:  # its cookies are those of the addresses below it
            return HttpResponseRedirect(f"{path}/")
        if path and request.path_info.startswith(f"{path}/"):
            request.path = request.path_info
            request.path_info = request.path_info.removeprefix(path)
        return get_response(request)

    return respond


def known_host(get_response: Respond) -> Respond:
    """Refuse a request for another host: anybody can send one, so the log has no traceback of it."""

    def respond(request: HttpRequest) -> HttpResponse:
        try:
            request.get_host()
        except DisallowedHost as error:
            logger.warning("%s", error)
            sentence = "This site is not known by the host of your request."
            return json_refusal(request, sentence, status=400) or HttpResponse(
                sentence, content_type="text/plain; charset=utf-8", status=400
            )
        return get_response(request)

    return respond


def _with_header(name: str, value: str) -> Callable[[Respond], Respond]:
    """A middleware that gives an answer this header where it has none."""

    def middleware(get_response: Respond) -> Respond:
        def respond(request: HttpRequest) -> HttpResponse:
            response = get_response(request)
            response.headers.setdefault(name, value)
            return response

        return respond

    return middleware


content_security_policy = _with_header("Content-Security-Policy", POLICY)
# No answer of the site stays in a cache, of a proxy or of a browser that several people use, unless it says so. That is
# every answer behind a login, pages that an invitation opens, downloads and the API. Static files are answered before
# this and keep their own header.
nothing_kept = _with_header("Cache-Control", "private, no-store")


class LoginFirst(LoginRequiredMiddleware):
    """Django's, but a button pressed after the session ended leads back to its page: its address takes no GET."""

    def handle_no_permission(self, request: HttpRequest, view_func: Any) -> HttpResponseRedirect:
        if request.method in {"GET", "HEAD"}:
            return super().handle_no_permission(request, view_func)
        return redirect_to_login(_page_before(request) or reverse("home"))


class SessionsNoted(MiddlewareMixin):
    """Notes when a browser was last used, for the list of its person. Pages that need no login note nothing."""

    def process_view(self, request: HttpRequest, view: Any, *_arguments: Any) -> None:
        key = request.session.session_key
        if key and getattr(view, "login_required", True) and isinstance(request.user, User):
            session_used(request=request, user=request.user, at=now())


class SecondFactorFirst(MiddlewareMixin):
    """Where staff must have a second factor: one who logged in with a password alone first sets it up.

    Sign-on and links of the command are not passwords, and tokens log nobody in.
    """

    reached = frozenset({"second_factor", "logout", "set_language"})

    def process_view(self, request: HttpRequest, view: Any, *_arguments: Any) -> HttpResponseBase | None:
        asks = getattr(view, "login_required", True) or request.path_info.startswith(API)
        if not (settings.REQUIRE_SECOND_FACTOR and asks and isinstance(request.user, User)):
            return None
        match = request.resolver_match
        if not request.user.is_staff or (match and match.view_name in self.reached):
            return None
        if request.session.get(ELSEWHERE) or has_second_factor(request.user):
            return None
        sentence = _("This site asks its staff to set up a second factor before they go on.")
        return json_refusal(request, sentence, status=403) or redirect("second_factor")


class Compressed(GZipMiddleware):
    """Django's, for what a page consists of. Downloads go as they are: most are compressed, a long one would wait."""

    kinds = frozenset(
        {
            "text/html",
            "text/css",
            "text/javascript",
            "application/javascript",
            "application/json",
            "image/svg+xml",
        }
    )

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        kind = response.get("Content-Type", "").partition(";")[0]
        part = response.has_header("Content-Range")
        if kind not in self.kinds or part or response.has_header("Content-Disposition"):
            return response
        return super().process_response(request, response)


class LanguageOfPage(MiddlewareMixin):
    """After Django's LocaleMiddleware: a page that is not translated is in English as a whole.

    Else it would mix languages, and an English page would run from right to left.
    """

    def process_view(self, request: HttpRequest, *_view: Any) -> HttpResponse | None:
        if not is_translated(request):
            translation.activate(ENGLISH)
            request.LANGUAGE_CODE = ENGLISH
        return None


class ReadableText(MiddlewareMixin):
    """Refuses a request whose address or form holds a NUL: no text has one, and PostgreSQL stores none.

    It looks at texts only. An uploaded file may hold anything; what reads the file says what is wrong with it. Bodies
    of the API are checked by their parsers (`semblance.rest`), which answer in JSON.
    """

    def process_request(self, request: HttpRequest) -> HttpResponse | None:
        has_nul = "\0" in request.path_info or _has_nul(request.GET)
        return _refusal(request, str(NUL_REFUSED)) if has_nul else None

    def process_view(self, request: HttpRequest, view: Any, *_arguments: Any) -> HttpResponse | None:
        if not getattr(view, "csrf_exempt", False) and _has_nul(request.POST):
            return _refusal(request, str(NUL_REFUSED))
        return None


def _has_nul(fields: QueryDict) -> bool:
    return any("\0" in text for name, values in fields.lists() for text in (name, *values))


class UserErrorMiddleware(MiddlewareMixin):
    """A UserError that no form caught becomes a page (or, for htmx, a fragment) that says its sentence."""

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        if not isinstance(exception, UserError):
            return None
        return _refusal(request, str(exception), status=exception.status)


def _refusal(request: HttpRequest, sentence: str, *, status: int = 400) -> HttpResponse:
    """The sentence as the page's script, htmx, a program or a person reads it."""
    if answer := json_refusal(request, sentence, status=status):
        return answer
    template = "components/_error.html" if request.headers.get("HX-Request") else "error.html"
    context = {"message": sentence, "back": _page_before(request)}
    return render(request, template, context, status=status)


def json_refusal(request: HttpRequest, sentence: str, *, status: int) -> JsonResponse | None:
    """The sentence as a program or the page's script reads it; None for a person or htmx, who read a page."""
    if request.path_info.startswith(API):
        return JsonResponse({"detail": sentence}, status=status)
    if request.headers.get("Accept") == "application/json":
        return JsonResponse({"note": sentence}, status=status)
    return None


def _page_before(request: HttpRequest) -> str:
    """The page of this site whose button led here, or nothing."""
    referer = request.headers.get("Referer", "")
    host = request.get_host()
    return referer if url_has_allowed_host_and_scheme(referer, host, request.is_secure()) else ""
