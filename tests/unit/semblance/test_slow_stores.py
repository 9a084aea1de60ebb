"""A file storage that sends or takes a byte now and then holds nobody for longer than the least rate allows."""

import contextlib
import io
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from django.core.files.base import ContentFile

from curation.foundation import connections
from curation.foundation.shared_files import StorageAway

object_storage = pytest.importorskip("semblance.object_storage", reason="needs django-storages[s3]")
SECONDS, BYTES = 0.15, 2_000


class Slow(BaseHTTPRequestHandler):
    """A bucket with files `N` of 40 pieces of N bytes, sent piece by piece; what is put is read as slowly."""

    protocol_version = "HTTP/1.1"
    server: Any

    def do_HEAD(self) -> None:
        self._head()

    def do_GET(self) -> None:
        size = self._head()
        with contextlib.suppress(OSError):
            for _piece in range(40):
                self.wfile.write(b"x" * (size // 40))
                time.sleep(0.01)

    def do_PUT(self) -> None:
        self.connection.settimeout(5)
        left = int(self.headers["Content-Length"])
        with contextlib.suppress(OSError):
            while left > 0:
                left -= len(self.rfile.read(min(left, self.server.takes)))
                time.sleep(0.01)
            self._head(empty=True)

    def _head(self, *, empty: bool = False) -> int:
        size = 0 if empty else 40 * int(self.path.rpartition("/")[2])
        self.send_response(200)
        self.send_header("Content-Length", str(size))
        self.send_header("ETag", '"0"')
        self.end_headers()
        return size

    def log_message(self, *_arguments: object) -> None:
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True
    takes = 1


@pytest.fixture
def server() -> Iterator[Server]:
    with Server(("127.0.0.1", 0), Slow) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


@pytest.fixture
def store(server, monkeypatch) -> Any:
    monkeypatch.setattr(connections, "LEAST_SECONDS", SECONDS)
    monkeypatch.setattr(connections, "LEAST_BYTES", BYTES)
    monkeypatch.setattr(object_storage, "HURRIED_SECONDS", SECONDS)
    monkeypatch.setattr(object_storage, "ATTEMPTS", 1)
    keys = {"access_key": "tests", "secret_key": "tests", "region_name": "us-east-1"}
    return object_storage.ObjectStorage(
        bucket_name="lab", endpoint_url=f"http://127.0.0.1:{server.server_port}", **keys
    )


def test_a_file_that_comes_too_slowly_is_given_up(store) -> None:
    began = time.monotonic()

    with pytest.raises(StorageAway, match="cannot be reached"):
        store.fetch("10", io.BytesIO())

    assert time.monotonic() - began < 5


def test_a_file_that_comes_fast_enough_may_take_longer(store) -> None:
    came = io.BytesIO()

    store.fetch("1000", came)

    assert came.getvalue() == b"x" * 40_000


def test_a_file_that_is_taken_too_slowly_is_given_up(store) -> None:
    began = time.monotonic()

    with pytest.raises(StorageAway, match="cannot be reached"), store.talking():
        store.save("1", ContentFile(b"x" * 7_000_000))

    assert time.monotonic() - began < 5


def test_a_file_that_is_taken_fast_enough_is_put(store, server) -> None:
    server.takes = 5_000_000

    with store.talking():
        assert store.save("1", ContentFile(b"x" * 5_000_000)) == "1"


def test_a_connection_that_is_kept_has_a_new_deadline_for_each_request(store) -> None:
    for _request in range(3):
        with store.talking():
            assert store.exists("1")
        time.sleep(SECONDS)
