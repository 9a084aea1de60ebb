"""Each request has an id: its answer carries it, and so does every line of the log that is written in the meantime."""

import logging
import re
import secrets
from collections.abc import Callable
from contextvars import ContextVar

from django.http import HttpRequest, HttpResponse

HEADER = "X-Request-ID"
OUTSIDE = "-"  # what a line of the log has that belongs to no request
ID_BYTES = 8
_VALID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_now: ContextVar[str] = ContextVar("request_id", default=OUTSIDE)


def request_id() -> str:
    """The id of the request that is being answered, "-" outside of any."""
    return _now.get()


def request_ids(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """The first middleware. A proxy's id is kept where it has at most 64 letters, digits, dots, - and _."""

    def respond(request: HttpRequest) -> HttpResponse:
        given = request.headers.get(HEADER, "")
        # Not taken back at the end: a streamed answer is still being written then, by the same thread.
        _now.set(given if _VALID.fullmatch(given) else secrets.token_hex(ID_BYTES))
        response = get_response(request)
        response.headers[HEADER] = request_id()
        return response

    return respond


class RequestIds(logging.Filter):
    """Gives each record of the log the id, as `request_id`."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.request_id = request_id()
        return True
