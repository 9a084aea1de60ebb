"""Django's way to a mail server, with one deadline for the whole talk: its own limit is one of each answer's pieces."""

import smtplib
import socket
import threading
from contextlib import suppress
from typing import Any

from django.core.mail.backends.smtp import EmailBackend

SECONDS = 30.0  # with the time to connect still well below `outgoing.CLAIMED_FOR`


class _Bounded(smtplib.SMTP):
    """Cuts its connection when the time is over, whatever it reads or writes then."""

    _timer: threading.Timer | None = None
    _twin: socket.socket | None = None

    def _get_socket(self, host: str, port: int, timeout: float) -> socket.socket:
        connected: socket.socket = super()._get_socket(host, port, timeout)  # type: ignore[misc]
        # A second descriptor of the same connection: TLS takes the first one over.
        self._twin = connected.dup()
        self._timer = threading.Timer(SECONDS, _cut, [self._twin])
        self._timer.daemon = True
        self._timer.start()
        return connected

    def close(self) -> None:
        super().close()
        if self._timer is not None and self._twin is not None:
            self._timer.cancel()
            self._twin.close()


class _BoundedTLS(smtplib.SMTP_SSL, _Bounded):
    """`SMTP_SSL` asks the class after it for the connection, and so has the deadline for the handshake too."""


def _cut(connection: socket.socket) -> None:
    with suppress(OSError), connection:
        connection.shutdown(socket.SHUT_RDWR)


class BoundedBackend(EmailBackend):
    @property
    def connection_class(self) -> Any:
        return _BoundedTLS if self.use_ssl else _Bounded
