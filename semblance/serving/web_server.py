"""How gunicorn runs the site (`gunicorn --config python:semblance.serving.web_server`): configuration and worker.

gunicorn's threaded worker gives each connection a thread before the request has arrived, so a few clients that send
half a request stop the site. This one reads requests without a thread and hands them over when they are whole.
"""

import errno
import io
import os
import re
import shutil
import socket
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from os import SEEK_END
from selectors import EVENT_READ
from typing import Any, cast

from django.conf import settings
from gunicorn.util import close_graceful
from gunicorn.workers.gthread import TConn, ThreadWorker

workers = 2
# Each thread may keep one connection to PostgreSQL.
threads = 8
loglevel = "warning"
# Paths without what follows the question mark, which may hold what is secret.
accesslog = "-" if settings.ACCESS_LOG else None
access_log_format = "%(t)s %(h)s %(m)s %(U)s %(s)s %(B)s bytes %(L)s s %({x-request-id}o)s"
control_socket_disable = True

# Requests with larger bodies (uploads) are read by their own threads, so that they only wait for each other.
# A thousand stalled connections, the most that a process accepts, hold 256 MB.
BUFFERED_BYTES = 256 * 1024
UPLOAD_THREADS = 4
# gunicorn refuses a longer request line with its headers.
HEAD_BYTES = 128 * 1024
# A request may take this long to arrive, and longer by its size: fewer bytes a second are too slow.
REQUEST_SECONDS = 15.0
SLOWEST_BYTES = 4_000
# A client that reads nothing of its answer for this long loses its connection.
READING_SECONDS = 60.0

FOLDER = "PROMETHEUS_MULTIPROC_DIR"  # prometheus_client's name for it

HEAD_END = b"\r\n\r\n"
LENGTH = re.compile(rb"\r\ncontent-length:[ \t]*(\d{1,18})[ \t]*\r\n", re.IGNORECASE)
# A body of unknown length, and one that the client sends only after it was asked to.
STREAMED = re.compile(rb"\r\n(transfer-encoding|expect):", re.IGNORECASE)


class Arrival:
    """The bytes of one request, as far as they have come."""

    def __init__(self) -> None:
        self.began = time.monotonic()
        self.received = 0
        self.unread = bytearray()
        self._expected: int | None = None  # bytes of the whole request, once its head is here
        self.streamed = False

    def add(self, data: bytes) -> None:
        self.received += len(data)
        self.unread += data
        if self._expected is not None:
            return
        end = self.unread.find(HEAD_END)
        if end < 0:
            self.streamed = len(self.unread) > HEAD_BYTES
            return
        head = bytes(self.unread[: end + 2])
        length = LENGTH.search(head)
        body = int(length[1]) if length else 0
        self.streamed = body > BUFFERED_BYTES or STREAMED.search(head) is not None
        self._expected = end + len(HEAD_END) + body

    @property
    def is_ready(self) -> bool:
        """Whether a thread may begin: all is here, or the rest is better read by a thread."""
        return self.streamed or (self._expected is not None and self.received >= self._expected)

    def seconds_left(self) -> float:
        """Until the request is too slow. The limit is on the whole: one byte every few seconds is as slow as none."""
        return self.began + REQUEST_SECONDS + self.received / SLOWEST_BYTES - time.monotonic()


class ClientSocket(socket.socket):
    """A client's socket that hands out what was read ahead, then what comes, and gives up on what comes too slowly."""

    arrival: Arrival

    def read_ahead(self) -> bool:
        """Take what has come, without waiting. Returns whether a thread may begin, also if the client has hung up."""
        try:
            data = super().recv(64 * 1024)
        except BlockingIOError:
            return False
        except OSError:
            return True
        self.arrival.add(data)
        return not data or self.arrival.is_ready

    def setblocking(self, flag: bool) -> None:
        """Blocking means up to READING_SECONDS, which is how long a thread waits for the client to read."""
        if self.fileno() >= 0:  # gunicorn comes back to a connection that a thread has closed
            self.settimeout(READING_SECONDS if flag else 0.0)

    def recv(self, bufsize: int, flags: int = 0, /) -> bytes:
        arrival = self.arrival
        if arrival.unread:
            data = bytes(arrival.unread[:bufsize])
            del arrival.unread[:bufsize]
            return data
        before = self.gettimeout()
        left = max(0.001, arrival.seconds_left())
        self.settimeout(left if before is None else min(left, before))
        try:
            data = super().recv(bufsize, flags)
        except TimeoutError as error:
            # gunicorn takes a reset as the client's doing and writes no traceback about it.
            raise ConnectionResetError(errno.ECONNRESET, "the request came too slowly") from error
        finally:
            self.settimeout(before)
        arrival.received += len(data)
        return data


class WebWorker(ThreadWorker):
    """gunicorn's threaded worker, with requests read ahead by its main loop.

    `_arriving` holds the connections whose request is not whole yet; gunicorn's poller wakes them.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._arriving: set[TConn] = set()
        self._looked = 0.0

    def init_process(self) -> None:
        self._uploads = ThreadPoolExecutor(UPLOAD_THREADS)
        super().init_process()

    def enqueue_req(self, conn: TConn) -> None:
        """Where gunicorn would give the connection a thread: wait for its request first."""
        if self.cfg.is_ssl:
            super().enqueue_req(conn)  # what comes is enciphered, so nothing can be seen of it here
            return
        if not isinstance(conn.sock, ClientSocket):
            conn.sock = ClientSocket(fileno=conn.sock.detach())
        client = conn.sock
        client.arrival = Arrival()
        client.setblocking(False)
        taken = _bytes_of_gunicorn(conn)
        client.arrival.add(taken.getvalue())
        taken.seek(0)
        taken.truncate()
        if client.arrival.is_ready:
            self._submit(conn, client)
            return
        self._arriving.add(conn)
        self.poller.register(client, EVENT_READ, partial(self._read_ahead, conn))

    def _read_ahead(self, conn: TConn, client: ClientSocket) -> None:
        if client.read_ahead():
            self._arriving.remove(conn)
            self.poller.unregister(client)
            self._submit(conn, client)

    def _submit(self, conn: TConn, client: ClientSocket) -> None:
        conn.data_ready = True
        future = (self._uploads if client.arrival.streamed else self.tpool).submit(self.handle, conn)
        future.add_done_callback(lambda done: self.method_queue.defer(self.finish_request, conn, done))

    def handle(self, conn: TConn) -> Any:
        """Runs in a thread: one request, and the end of its connection where it does not go on.

        gunicorn ends connections in its main loop and waits there, two seconds each, for the client to hang up. Where
        the request was read whole there is nothing to wait for.
        """
        keep = super().handle(conn)
        if isinstance(conn.sock, ClientSocket):
            if keep:
                # What was read ahead of the next request goes where gunicorn looks for it.
                _bytes_of_gunicorn(conn).write(conn.sock.arrival.unread)
            elif conn.sock.arrival.streamed:
                close_graceful(conn.sock)
            else:
                conn.close()
        return keep

    def murder_pending(self) -> None:
        """Called by gunicorn in every turn of its loop, at least once a second."""
        super().murder_pending()
        if time.monotonic() - self._looked < 1 and self.alive:
            return
        self._looked = time.monotonic()
        for conn in list(self._arriving):
            arrival = cast("ClientSocket", conn.sock).arrival
            # A stopping worker does not wait for connections that a browser only keeps ready.
            if arrival.seconds_left() <= 0 or not (self.alive or arrival.received):
                self._arriving.remove(conn)
                self.poller.unregister(conn.sock)
                self.nr_conns -= 1
                conn.close()

    def handle_quit(self, sig: int, frame: Any) -> None:
        self._uploads.shutdown(wait=False)
        super().handle_quit(sig, frame)


def _bytes_of_gunicorn(conn: TConn) -> io.BytesIO:
    """What gunicorn has read of the next request together with the one before; to be written to at its end."""
    parser: Any = conn.parser
    buffer: io.BytesIO = parser.unreader.buf if parser else io.BytesIO()
    buffer.seek(0, SEEK_END)
    return buffer


def on_starting(_server: Any) -> None:
    """In gunicorn's first process: a folder in which its workers count requests together."""
    if settings.METRICS_TOKEN:
        os.environ[FOLDER] = tempfile.mkdtemp(prefix="semblance-metrics-")


def on_exit(_server: Any) -> None:
    if folder := os.environ.pop(FOLDER, ""):
        shutil.rmtree(folder, ignore_errors=True)


worker_class = WebWorker
