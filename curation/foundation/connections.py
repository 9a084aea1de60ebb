"""Connections that no answer can keep for ever, and that lead to public addresses alone."""

import io
import socket
import ssl
import threading
from collections.abc import Callable, Iterable
from time import monotonic
from typing import Any

import httpcore2
import httpx2

from curation.foundation.addresses import is_public

LEAST_BYTES, LEAST_SECONDS = 64 * 1024, 60.0  # a transfer that brings less in that time has failed

PIECE = 65_536  # bytes; each is a step, because a receiver may take a byte at a time


class Deadline:
    """One moment for everything that is done on a connection."""

    def __init__(self, seconds: float) -> None:
        self._seconds, self._end = seconds, monotonic() + seconds

    def within(self, timeout: float | None) -> float:
        """The seconds that one step may take. Raises TimeoutError where none are left."""
        left = self._end - monotonic()
        if left <= 0:
            raise TimeoutError(f"no whole answer within {self._seconds:g} seconds")
        return left if timeout is None else min(timeout, left)

    def received(self, _size: int) -> None:
        """A deadline does not move, whatever comes."""


class LeastRate(Deadline):
    """A deadline that moves on by LEAST_SECONDS whenever LEAST_BYTES have come."""

    def __init__(self) -> None:
        super().__init__(LEAST_SECONDS)
        self._came = 0

    def received(self, size: int) -> None:
        self._came += size
        if self._came >= LEAST_BYTES:
            self._came, self._end = 0, monotonic() + self._seconds


class _BoundedStream(httpcore2.NetworkStream):
    """A stream each of whose steps ends with the deadline."""

    def __init__(self, stream: httpcore2.NetworkStream, deadline: Deadline) -> None:
        self._stream, self._deadline = stream, deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        came = self._stream.read(max_bytes, _seconds(self._deadline, timeout, httpcore2.ReadTimeout))
        self._deadline.received(len(came))
        return came

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        for start in range(0, len(buffer), PIECE):
            piece = buffer[start : start + PIECE]
            self._stream.write(piece, _seconds(self._deadline, timeout, httpcore2.WriteTimeout))
            self._deadline.received(len(piece))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.NetworkStream:
        seconds = _seconds(self._deadline, timeout, httpcore2.ConnectTimeout)
        return _BoundedStream(self._stream.start_tls(ssl_context, server_hostname, seconds), self._deadline)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


def _seconds(deadline: Deadline, timeout: float | None, error: type[Exception]) -> float:
    try:
        return deadline.within(timeout)
    except TimeoutError as over:
        raise error(str(over)) from over


class BoundedSocket:
    """A socket each of whose steps ends with the deadline, for libraries that read and send through a socket.

    deadline: makes the one of each request, which begins with `begin`.
    """

    def __init__(self, plain: socket.socket, deadline: Callable[[], Deadline]) -> None:
        self._plain, self._made, self._timeout = plain, deadline, plain.gettimeout()
        self.begin()

    def begin(self) -> None:
        self._deadline = self._made()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._plain, name)

    def settimeout(self, seconds: float | None) -> None:
        """The limit of one step, which never ends later than the deadline."""
        self._timeout = seconds

    def recv_into(self, *arguments: Any) -> int:
        self._plain.settimeout(self._deadline.within(self._timeout))
        came = self._plain.recv_into(*arguments)
        self._deadline.received(came)
        return came

    def sendall(self, content: Any) -> None:
        view = memoryview(content).cast("B")
        for start in range(0, len(view), PIECE):
            piece = view[start : start + PIECE]
            self._plain.settimeout(self._deadline.within(self._timeout))
            self._plain.sendall(piece)
            self._deadline.received(len(piece))

    def makefile(self, _mode: str = "rb", buffering: int = -1) -> Any:
        """What answers are read from. The socket stays open until it is closed too, as with the socket's own."""
        plain: Any = self._plain
        plain._io_refs += 1
        own: Any = self
        raw = socket.SocketIO(own, "r")
        return io.BufferedReader(raw) if buffering else raw


class BoundedBackend(httpcore2.SyncBackend):
    """Looks the name up, checks what it means, and connects to just that: a second look-up could answer otherwise.

    private: whether addresses inside a network are allowed.
    deadline: makes the one of each connection.
    """

    def __init__(self, *, private: bool, deadline: Callable[[], Deadline]) -> None:
        self._private, self._deadline = private, deadline

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.NetworkStream:
        """Connect to the first address of the host that accepts, within the deadline of this connection.

        Raises ConnectError if the name has no address, if any of its addresses is inside a network and `private` does
        not allow that, or if no address accepts. Raises ConnectTimeout once the time is up.
        """
        deadline = self._deadline()
        addresses = _looked_up(host, port, _seconds(deadline, timeout, httpcore2.ConnectTimeout))
        inside = next((each for each in addresses if not is_public(each)), None)
        if inside is not None and not self._private:
            raise httpcore2.ConnectError(
                f"{host} leads to {inside}, an address inside a network, which PRIVATE_ADDRESSES would have to allow"
            )
        problem: Exception = httpcore2.ConnectError(f"{host} has no address")
        for address in addresses:
            seconds = _seconds(deadline, timeout, httpcore2.ConnectTimeout)
            try:
                stream = super().connect_tcp(address, port, seconds, local_address, socket_options)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                problem = error
            else:
                return _BoundedStream(stream, deadline)
        raise problem


def _looked_up(host: str, port: int, seconds: float) -> list[str]:
    """The addresses of a name. The system's look-up knows no limit, so it is left behind where it takes too long."""
    found: list[Any] = []

    def look() -> None:
        try:
            found.append(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
        except (OSError, UnicodeError) as error:
            found.append(error)

    thread = threading.Thread(target=look, daemon=True, name="look-up")
    thread.start()
    thread.join(seconds)
    if not found:
        raise httpcore2.ConnectTimeout(f"{host} was not looked up in time")
    if isinstance(found[0], Exception):
        raise httpcore2.ConnectError(str(found[0])) from found[0]
    return list(dict.fromkeys(str(each[4][0]) for each in found[0]))


class BoundedTransport(httpx2.HTTPTransport):
    """httpx's own: each connection is checked and bounded, also that of a redirect.

    private: whether addresses inside a network are allowed. seconds: for everything on a connection, from its look-up
    to the end of the answer; None: a transfer may take as long as it brings LEAST_BYTES in LEAST_SECONDS.
    """

    def __init__(self, *, private: bool = False, seconds: float | None = None) -> None:
        certificates = httpx2.create_ssl_context()
        super().__init__(verify=certificates)

        def deadline() -> Deadline:
            return LeastRate() if seconds is None else Deadline(seconds)

        # httpx hands no backend on, so its pool is replaced. The first line is an error where httpx has renamed it:
        # without an error each connection would be made unchecked.
        self._pool.close()
        self._pool = httpcore2.ConnectionPool(
            ssl_context=certificates,
            max_connections=100,
            max_keepalive_connections=20,
            keepalive_expiry=5.0,  # like the two above, as httpx sets it
            network_backend=BoundedBackend(private=private, deadline=deadline),
        )
