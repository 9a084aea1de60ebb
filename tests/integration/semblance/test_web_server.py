"""The web server, as a process: clients that stall stop nobody else, and honest slow ones are answered."""

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from semblance.serving import web_server
from semblance.serving.web_server import Arrival, ClientSocket

pytestmark = pytest.mark.own_site
ROOT = Path(__file__).resolve().parents[3]
PATIENCE = 60.0  # seconds; a machine may be busy
# A site that says how long the body of a request was.
SITE = """
def application(environ, start_response):
    body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
    start_response("200 OK", [("Content-Length", str(len(str(len(body)))))])
    return [str(len(body)).encode()]
"""
STALLED = {
    "nothing": b"",
    "half a head": b"GET / HTTP/1.1\r\nHost: x\r\n",
    "half a body": b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nab",
    "an upload without its file": b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 50000000\r\n\r\nab",
}


@pytest.fixture(scope="module")
def address(tmp_path_factory) -> Iterator[tuple[str, int]]:
    """One process of the web server, with a site of its own."""
    folder = tmp_path_factory.mktemp("site")
    (folder / "site_of_tests.py").write_text(SITE)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        arguments = [
            "--config",
            "python:semblance.serving.web_server",
            "--workers",
            "1",
            "--pythonpath",
            str(folder),
        ]
        process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "gunicorn",
                "site_of_tests",
                *arguments,
                "--bind",
                f"fd://{listener.fileno()}",
            ],
            cwd=ROOT,
            pass_fds=[listener.fileno()],
        )
        yield listener.getsockname()
        process.terminate()
        process.wait(PATIENCE)


def asked(address: tuple[str, int], *pieces: bytes) -> bytes:
    """The answer to a request that is sent in pieces, one after the other."""
    with socket.create_connection(address, PATIENCE) as client:
        for piece in pieces:
            client.sendall(piece)
            time.sleep(0.05)
        return answer_of(client)


def answer_of(client: socket.socket) -> bytes:
    answer = b""
    while b"\r\n\r\n" not in answer or not answer.split(b"\r\n\r\n", 1)[1]:
        data = client.recv(65536)
        if not data:
            break
        answer += data
    return answer


def test_eighty_stalled_connections_stop_nobody(address) -> None:
    """No thread waits for them: with one thread each, all would be held until the server gives up on them."""
    with ExitStack() as open_ones:
        for beginning in list(STALLED.values()) * 20:
            client = open_ones.enter_context(socket.create_connection(address, PATIENCE))
            client.sendall(beginning)
        began = time.monotonic()
        answers = [asked(address, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n") for _ in range(20)]
        took = time.monotonic() - began

    assert all(answer.endswith(b"\r\n\r\n0") for answer in answers)
    assert took < web_server.REQUEST_SECONDS, "the stalled connections were waited for"


def test_clients_that_do_not_hang_up_stop_nobody(address) -> None:
    with ExitStack() as open_ones:
        for _ in range(20):
            client = open_ones.enter_context(socket.create_connection(address, PATIENCE))
            client.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            assert answer_of(client).endswith(b"\r\n\r\n0")
        began = time.monotonic()
        asked(address, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")

    assert time.monotonic() - began < 20, "each of the twenty was waited for"


@pytest.mark.parametrize("size", [0, 10, 200_000, web_server.BUFFERED_BYTES + 1])
def test_a_request_that_comes_in_pieces_arrives_whole(address, size) -> None:
    head = f"POST / HTTP/1.1\r\nHost: x\r\ncontent-length: {size}\r\n".encode()

    answer = asked(address, head[:20], head[20:], b"\r\n", b"x" * (size // 2), b"x" * (size - size // 2))

    assert answer.endswith(f"\r\n\r\n{size}".encode())


def test_a_client_that_waits_to_be_asked_for_its_body_is_asked(address) -> None:
    head = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n"
    with socket.create_connection(address, PATIENCE) as client:
        client.sendall(head)
        asked_for = client.recv(65536)
        client.sendall(b"abc")
        answer = answer_of(client)

    assert asked_for.startswith(b"HTTP/1.1 100")
    assert answer.endswith(b"\r\n\r\n3")


def test_one_connection_takes_several_requests(address) -> None:
    with socket.create_connection(address, PATIENCE) as client:
        for size in (1, 2):
            client.sendall(
                f"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: {size}\r\n\r\n".encode() + b"x" * size
            )
            assert answer_of(client).endswith(f"\r\n\r\n{size}".encode())


def test_requests_that_are_sent_at_once_are_answered_one_after_the_other(address) -> None:
    """More than gunicorn reads at a time: the second is with the server when nothing more comes from the client."""
    long_one = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 20000\r\n\r\n" + b"x" * 20000
    answer = b""
    with socket.create_connection(address, PATIENCE) as client:
        client.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n" + long_one)
        while not answer.endswith(b"\r\n\r\n20000") and (data := client.recv(65536)):
            answer += data

    assert answer.count(b"200 OK") == 2


def test_a_client_that_hangs_up_half_way_is_forgotten(address) -> None:
    for beginning in STALLED.values():
        with socket.create_connection(address, PATIENCE) as client, suppress(OSError):
            client.sendall(beginning)

    assert asked(address, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").endswith(b"\r\n\r\n0")


def test_a_body_that_trickles_in_is_given_up(monkeypatch) -> None:
    monkeypatch.setattr(web_server, "REQUEST_SECONDS", 0.2)
    here, there = socket.socketpair()
    with ClientSocket(fileno=here.detach()) as client, there:
        client.arrival = Arrival()
        client.setblocking(True)
        there.sendall(b"ab")

        first = client.recv(1)
        second = client.recv(1)
        with pytest.raises(ConnectionResetError):
            client.recv(1)

    assert first + second == b"ab"


def test_time_is_given_by_size_so_that_slow_but_steady_uploads_end(monkeypatch) -> None:
    arrival = Arrival()
    arrival.began -= 600

    arrival.received = 2_000_000
    too_slow = arrival.seconds_left()
    arrival.received = 3_000_000
    steady = arrival.seconds_left()

    assert too_slow < 0 < steady


@pytest.mark.parametrize(
    ("request_bytes", "ready", "streamed"),
    [
        (b"GET / HTTP/1.1\r\nHost: x\r\n", False, False),
        (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", True, False),
        (b"POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\nab", False, False),
        (b"POST / HTTP/1.1\r\nCONTENT-LENGTH:3\r\n\r\nabc", True, False),
        (b"POST / HTTP/1.1\r\nContent-Length: 99999999\r\n\r\n", True, True),
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", True, True),
        (b"POST / HTTP/1.1\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n", True, True),
        (b"GET / HTTP/1.1\r\nX: " + b"a" * web_server.HEAD_BYTES, True, True),
    ],
)
def test_a_thread_begins_when_the_request_is_whole_or_too_large_to_keep(
    request_bytes, ready, streamed
) -> None:
    arrival = Arrival()

    for place in range(0, len(request_bytes), 1000):
        arrival.add(request_bytes[place : place + 1000])

    assert (arrival.is_ready, arrival.streamed) == (ready, streamed)


# A site whose answer takes a while and comes in two parts.
SLOW_SITE = """
import time
def application(environ, start_response):
    start_response("200 OK", [("Content-Length", "8")])
    yield b"half"
    time.sleep(2.5)
    yield b"half"
"""


@pytest.mark.exhaustive
def test_a_server_that_is_asked_to_stop_finishes_its_requests_and_takes_no_new_ones(tmp_path) -> None:
    (tmp_path / "slow_site_of_tests.py").write_text(SLOW_SITE)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        place = listener.getsockname()
        arguments = ["--config", "python:semblance.serving.web_server", "--pythonpath", str(tmp_path)]
        process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "gunicorn",
                "slow_site_of_tests",
                *arguments,
                "--bind",
                f"fd://{listener.fileno()}",
            ],
            cwd=ROOT,
            pass_fds=[listener.fileno()],
        )
    with socket.create_connection(place, PATIENCE) as client:
        client.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        answer = client.recv(65536)
        while b"half" not in answer:
            answer += client.recv(65536)

        process.terminate()
        while data := client.recv(65536):
            answer += data

    assert answer.endswith(b"halfhalf")
    assert process.wait(PATIENCE) == 0
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(place, 1)
