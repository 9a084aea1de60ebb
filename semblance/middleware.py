"""What every answer shares: a content security policy, the login before it, and how a UserError is shown."""

from collections.abc import Callable
from typing import Any

from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme

from curation.errors import UserError

Respond = Callable[[HttpRequest], HttpResponse]

# Charts are inline SVG with style attributes; scripts come from our own files alone.
POLICY = "; ".join(
    [
        "default-src 'self'",
        "script-src 'self'",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data:",
        "frame-ancestors 'none'",
        "form-action 'self'",
        "base-uri 'none'",
        "object-src 'none'",
    ]
)


def content_security_policy(get_response: Respond) -> Respond:
    def respond(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        response.headers.setdefault("Content-Security-Policy", POLICY)
        return response

    return respond


class LoginFirst(LoginRequiredMiddleware):
    """Django's, but a button pressed after the session ended leads back to its page: its address takes no GET."""

    def handle_no_permission(self, request: HttpRequest, view_func: Any) -> HttpResponseRedirect:
        if request.method in {"GET", "HEAD"}:
            return super().handle_no_permission(request, view_func)
        return redirect_to_login(_page_before(request) or reverse("home"))


class UserErrorMiddleware:
    """A UserError that no form caught becomes a page (or, for htmx, a fragment) that says its sentence."""

    def __init__(self, get_response: Respond) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        if not isinstance(exception, UserError):
            return None
        template = "components/_error.html" if getattr(request, "htmx", False) else "error.html"
        context = {"message": str(exception), "back": _page_before(request)}
        return render(request, template, context, status=400)


def _page_before(request: HttpRequest) -> str:
    """The page of this site whose button led here, or nothing."""
    referer = request.headers.get("Referer", "")
    host = request.get_host()
    return referer if url_has_allowed_host_and_scheme(referer, host, request.is_secure()) else ""
