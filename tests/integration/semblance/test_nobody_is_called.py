"""Unless somebody asks for a hub or an endpoint, neither the site nor a run connects to another machine.

Python tells an audit hook of every connection and every look-up of a name, whichever library makes them.
"""

import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.conf import settings

from tests.integration.semblance.every_address import ALL, asked, path_of
from tests.integration.semblance.objects_of_others import Others
from tests.integration.semblance.test_demo import SMALLEST, judged
from tests.integration.semblance.test_rights import Visitors


def configured() -> set[str]:
    """The machines of the database and of Redis, and the names of this one."""
    names = {urlsplit(address).hostname or "" for address in (settings.DATABASE_URL, settings.REDIS_URL)}
    return names | {"localhost", "", "None"}


def is_elsewhere(place: str) -> bool:
    if place in configured() or place.startswith(("/", "\\0", "b'")):  # a socket in the file system
        return False
    try:
        address = ip_address(place.strip("[]"))
    except ValueError:
        return True
    return not (address.is_loopback or address.is_unspecified)


class Connections:
    def __init__(self) -> None:
        self.watched = False
        self.places: list[str] = []

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self.watched and event in {"socket.connect", "socket.getaddrinfo", "socket.sendto"}:
            place = arguments[0] if event == "socket.getaddrinfo" else arguments[-1]
            self.places.append(str(place[0] if isinstance(place, tuple) else place))


CONNECTIONS = Connections()  # a hook cannot be taken away again, so that there is one, which is switched on
sys.addaudithook(CONNECTIONS)


@contextmanager
def connections() -> Iterator[list[str]]:
    CONNECTIONS.places, CONNECTIONS.watched = [], True
    try:
        yield CONNECTIONS.places
    finally:
        CONNECTIONS.watched = False


@pytest.mark.django_db
def test_the_hook_sees_a_connection_and_the_look_up_of_a_name() -> None:
    import socket

    with connections() as places, closing(socket.socket()) as client:
        client.setblocking(False)
        with suppress(OSError):
            client.connect(("192.0.2.1", 80))
        with suppress(OSError):
            socket.getaddrinfo("hub.invalid", 80)

    assert [place for place in places if is_elsewhere(place)] == ["192.0.2.1", "hub.invalid"]


@pytest.mark.django_db
@pytest.mark.exhaustive
def test_no_page_and_no_address_of_the_api_calls_anybody() -> None:
    visitors = Visitors(Others())
    client = visitors.client("superuser")

    with connections() as places:
        answers = [asked(client, "GET", path_of(address, visitors.others)) for address in ALL]

    assert len([answer for answer in answers if answer.status_code == 200]) > 150
    assert [place for place in places if is_elsewhere(place)] == []


@pytest.mark.django_db(transaction=True)
@pytest.mark.exhaustive
def test_a_demonstration_calls_nobody() -> None:
    with connections() as places:
        judged(SMALLEST)

    assert [place for place in places if is_elsewhere(place)] == []
