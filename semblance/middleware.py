"""Two things every answer shares: a content security policy, and how a UserError is shown."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

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
        return render(request, template, {"message": str(exception)}, status=400)
