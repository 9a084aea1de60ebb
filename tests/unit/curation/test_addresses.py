"""Which addresses are of the open internet, and that a client asks no others, also when it is sent there."""

import contextlib
import socket
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpcore2
import httpx2
import pytest

from curation.foundation import connections
from curation.foundation.addresses import is_inside, is_public
from curation.foundation.connections import BoundedBackend, BoundedTransport

# What the names of the test mean: two machines outside, one inside, and the metadata service of a cloud.
NAMES = {
    "hub.test": ["93.184.216.34"],
    "files.test": ["93.184.216.35"],
    "inside.test": ["10.0.0.7"],
    "metadata.test": ["169.254.169.254"],
    "both.test": ["93.184.216.34", "127.0.0.1"],
}


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "127.8.9.1", "0.1.2.3", "10.1.2.3", "172.16.0.1", "192.168.0.1", "169.254.169.254", "100.64.0.1",
        "192.0.2.1", "224.0.0.1", "255.255.255.255", "::1", "::", "fe80::1", "fe80::1%eth0", "fd00:ec2::254", "ff02::1",
        "::ffff:127.0.0.1", "::ffff:10.0.0.1", "2002:7f00:1::", "64:ff9b::a9fe:a9fe",
        "fec0::1", "::127.0.0.1", "::1.2.3.4", "192.88.99.1", "192.0.0.8", "192.0.0.9", "::ffff:0:1.2.3.4",
        "64:ff9b:1::1.2.3.4", "2001:0:4136:e378:8000:63bf:3fff:fdd2", "2001:10::1", "2001:db8::1", "3fff::1", "4000::1",
        "100::1", "5f00::1", "2606:2800:220:1:0:5efe:10.0.0.7", "2606:2800:220:1:200:5efe:127.0.0.1",
    ],
)  # fmt: skip
def test_addresses_inside_a_network_are_not_public(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize(
    "address",
    ["93.184.216.34", "2606:2800:220:1::1", "::ffff:93.184.216.34", "64:ff9b::93.184.216.34", "2a00:1450::1"],
)
def test_addresses_of_the_internet_are_public(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    ("host", "inside"),
    [("localhost", True), ("a.localhost.", True), ("127.1", True), ("0x7f000001", True), ("2130706433", True),
     ("[::1]", True), ("10.0.0.7", True), ("example.org", False), ("93.184.216.34", False), ("1.2.3.4.example", False)],
)  # fmt: skip
def test_a_host_that_is_inside_is_known_without_a_look_up(host: str, inside: bool) -> None:
    assert is_inside(host) is inside


class Sender(BaseHTTPRequestHandler):
    """Sends whoever asks for /to/HOST to that host."""

    server: "Machine"

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        host = self.path.removeprefix("/to/") if self.path.startswith("/to/") else ""
        self.send_response(302 if host else 200)
        if host:
            self.send_header("Location", f"http://{host}/file")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_arguments: object) -> None:
        pass


class Machine(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Sender)
        self.asked: list[str] = []


@pytest.fixture
def machine(monkeypatch) -> Iterator[Machine]:
    """One server that is every machine of the internet; the names and the way there are the test's."""
    connect = socket.create_connection

    def looked_up(host: str, port: int, *_a: object, **_k: object) -> list[tuple]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (each, port)) for each in NAMES.get(host, [host])]

    with Machine() as server:

        def connected(address: tuple[str, int], *rest: object, **more: object) -> socket.socket:
            assert is_public(address[0])
            return connect(("127.0.0.1", server.server_port), *rest, **more)

        threading.Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setattr(socket, "getaddrinfo", looked_up)
        monkeypatch.setattr(socket, "create_connection", connected)
        yield server
        server.shutdown()


@pytest.fixture
def client(machine) -> Iterator[httpx2.Client]:
    with httpx2.Client(transport=BoundedTransport(seconds=20), follow_redirects=True) as client:
        yield client


def test_a_redirect_to_another_public_machine_is_followed(client, machine) -> None:
    answer = client.get("http://hub.test/to/files.test")

    assert answer.status_code == 200
    assert machine.asked == ["/to/files.test", "/file"]


@pytest.mark.parametrize("inside", ["inside.test", "metadata.test", "both.test", "127.0.0.1:80", "10.0.0.7"])
def test_a_machine_inside_is_asked_neither_at_once_nor_after_a_redirect(client, machine, inside: str) -> None:
    with pytest.raises(httpx2.ConnectError, match="an address inside a network, which PRIVATE_ADDRESSES"):
        client.get(f"http://{inside}/file")
    with pytest.raises(httpx2.ConnectError, match="an address inside a network"):
        client.get(f"http://hub.test/to/{inside}")

    assert machine.asked == [f"/to/{inside}"]


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_every_connection_is_made_by_the_guard(monkeypatch, scheme: str) -> None:
    def refused(*_arguments: object, **_more: object) -> httpcore2.NetworkStream:
        raise httpcore2.ConnectError("asked the guard")

    monkeypatch.setattr(BoundedBackend, "connect_tcp", refused)

    with (
        httpx2.Client(transport=BoundedTransport(private=True), trust_env=False) as client,
        pytest.raises(httpx2.ConnectError, match="asked the guard"),
    ):
        client.get(f"{scheme}://127.0.0.1:9/")


def test_a_new_name_of_the_pool_that_httpx_uses_is_an_error(monkeypatch) -> None:
    """Otherwise httpx would go on with its own pool, and nothing would be checked."""
    own = httpx2.HTTPTransport.__init__

    def renamed(transport: httpx2.HTTPTransport, **given: object) -> None:
        own(transport, **given)
        transport._connections = vars(transport).pop("_pool")

    monkeypatch.setattr(httpx2.HTTPTransport, "__init__", renamed)

    with pytest.raises(AttributeError, match="_pool"):
        BoundedTransport()


class Trickling(BaseHTTPRequestHandler):
    """Sends a file in small pieces, one every few hundredths of a second."""

    server: ThreadingHTTPServer

    def do_GET(self) -> None:
        size = int(self.path.removeprefix("/"))
        self.send_response(200)
        self.send_header("Content-Length", str(40 * size))
        self.end_headers()
        with contextlib.suppress(OSError):
            for _piece in range(40):
                self.wfile.write(b"x" * size)
                time.sleep(0.02)

    def log_message(self, *_arguments: object) -> None:
        pass


@pytest.fixture
def trickle(monkeypatch) -> Iterator[str]:
    monkeypatch.setattr(connections, "LEAST_SECONDS", 0.6)  # a busy machine pauses for less
    monkeypatch.setattr(connections, "LEAST_BYTES", 1_000)
    with ThreadingHTTPServer(("127.0.0.1", 0), Trickling) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_a_transfer_that_brings_too_few_bytes_in_a_minute_fails(trickle) -> None:
    with (
        httpx2.Client(transport=BoundedTransport(private=True), timeout=None) as client,
        pytest.raises(httpx2.ReadTimeout),
    ):
        client.get(f"{trickle}/10")


def test_a_transfer_that_brings_enough_takes_as_long_as_it_must(trickle) -> None:
    with httpx2.Client(transport=BoundedTransport(private=True), timeout=None) as client:
        assert len(client.get(f"{trickle}/500").content) == 20_000


def test_a_name_that_is_not_looked_up_in_time_holds_nobody(monkeypatch) -> None:
    asked = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_a, **_k: asked.wait(3) and [])

    with (
        httpx2.Client(transport=BoundedTransport(seconds=0.2)) as client,
        pytest.raises(httpx2.ConnectTimeout, match=r"slow\.test was not looked up in time"),
    ):
        client.get("http://slow.test/")
    asked.set()
