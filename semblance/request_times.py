"""How long requests take, counted by every process of the web server and told by whichever is asked for `/metrics`.

prometheus_client keeps the counts in files of a folder where PROMETHEUS_MULTIPROC_DIR names one: gunicorn's first
process makes it and removes it (`serving.web_server`). Elsewhere, as in `runserver`, the one process counts for itself.
"""

import os
from collections.abc import Callable
from functools import cache
from time import perf_counter
from typing import TYPE_CHECKING

from django.conf import settings
from django.core.exceptions import MiddlewareNotUsed
from django.http import HttpRequest, HttpResponse

from curation.foundation.log_lines import log_line

if TYPE_CHECKING:  # loaded where figures are wanted: most processes count nothing
    from prometheus_client import CollectorRegistry, Histogram

SECONDS = (0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
REFUSALS = frozenset({401, 403, 429})
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
NO_VIEW = "-"  # files, and addresses that do not exist


@cache
def histogram() -> "Histogram":
    from prometheus_client import Histogram  # noqa: PLC0415

    return Histogram(
        "semblance_request_seconds",
        "seconds from a request's arrival at the application to the beginning of its answer",
        ["view", "method", "status"],
        buckets=SECONDS,
        registry=None,
    )


def request_times(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    """Middleware: measures where METRICS_TOKEN is set."""
    if not settings.METRICS_TOKEN:
        raise MiddlewareNotUsed

    def respond(request: HttpRequest) -> HttpResponse:
        began = perf_counter()
        response = get_response(request)
        told = histogram().labels(
            view=view_of(request),
            method=request.method if request.method in METHODS else "other",
            status=str(response.status_code),
        )
        told.observe(perf_counter() - began)
        return response

    return respond


def refusals_logged(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    """Middleware: a line of the log for who was refused: not logged in, without the role, or too often."""

    def respond(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        if response.status_code in REFUSALS:
            log_line(
                "refused",
                status=response.status_code,
                method=request.method,
                view=view_of(request),
                user=getattr(getattr(request, "user", None), "pk", None),
            )
        return response

    return respond


def view_of(request: HttpRequest) -> str:
    """The name of the address: its arguments could name people and datasets."""
    return (request.resolver_match.view_name if request.resolver_match else "") or NO_VIEW


def counted_by_all() -> "CollectorRegistry":
    """A registry of what the processes have counted."""
    from prometheus_client import CollectorRegistry  # noqa: PLC0415
    from prometheus_client.multiprocess import MultiProcessCollector  # noqa: PLC0415

    registry = CollectorRegistry(auto_describe=False)
    if os.environ.get("PROMETHEUS_MULTIPROC_DIR"):
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    else:
        registry.register(histogram())
    return registry
