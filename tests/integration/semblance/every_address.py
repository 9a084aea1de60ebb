"""Every address of the site, found in its resolver, with objects in the place of its parts; and how to ask for one."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from django.core.signals import request_finished
from django.db import close_old_connections, transaction
from django.http import HttpResponse
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver
from django.urls.resolvers import RegexPattern

from tests.integration.semblance.objects_of_others import Others

PAGES, PROGRAMS = ("GET", "POST"), ("GET", "POST", "PUT", "PATCH", "DELETE")
# The walk in parts, so that several processes share it.
PARTS = ("admin/", "api/", "datasets/", "campaigns/", "")


class Address(NamedTuple):
    route: str
    name: str
    programs: tuple[str, ...] = ()  # the methods of a view of the API


def addresses(patterns: list[URLPattern | URLResolver], before: str = "") -> Iterator[Address]:
    for pattern in patterns:
        route = before + str(pattern.pattern).replace("^", "").removesuffix("$")
        if isinstance(pattern, URLResolver):
            yield from addresses(pattern.url_patterns, route)
        elif not isinstance(pattern.pattern, RegexPattern):
            yield Address(route, pattern.name or "", methods_of(pattern.callback))


def methods_of(view: Any) -> tuple[str, ...]:
    kind, actions = getattr(view, "cls", None), getattr(view, "actions", None)
    given = actions or (kind and [name for name in kind.http_method_names if hasattr(kind, name)]) or ()
    return tuple(method for method in PROGRAMS if method.lower() in given)


def part_of(address: Address) -> str:
    return next(part for part in PARTS if address.route.startswith(part))


ALL = sorted(set(addresses(get_resolver().url_patterns)))


def path_of(address: Address, others: Others) -> str:
    def put(match: re.Match[str]) -> str:
        return str(others.value(address.name, address.route, match[1]))

    return "/" + re.sub(r"<(?:\w+:)?(\w+)>", put, address.route)


@contextmanager
def undone() -> Iterator[None]:
    """What a request changes is taken back, so that the next one finds the same objects."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


@contextmanager
def answered(
    client: Client, method: str, path: str, body: dict[str, Any] | None = None
) -> Iterator[HttpResponse]:
    """The answer, to be read in the block. body: for an address of the API, which reads JSON."""
    sent: dict[str, Any] = {}
    if method != "GET" and "/api/" in path:
        sent = {"data": json.dumps(body or {}), "content_type": "application/json"}
    with undone():
        answer = getattr(client, method.lower())(path, **sent)
        try:
            yield answer
        finally:
            # A file is closed, which Django takes for the end of its connection to the database.
            request_finished.disconnect(close_old_connections)
            answer.close()
            request_finished.connect(close_old_connections)


def asked(client: Client, method: str, path: str, body: dict[str, Any] | None = None) -> HttpResponse:
    """The answer, whose file is closed."""
    with answered(client, method, path, body) as answer:
        return answer
