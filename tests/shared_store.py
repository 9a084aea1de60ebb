"""A real S3-compatible server for tests of shared files, and machines that share nothing but it."""

import os
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

import boto3
import pytest

KEYS = {
    "AWS_ACCESS_KEY_ID": "tests",
    "AWS_SECRET_ACCESS_KEY": "tests-only",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_EC2_METADATA_DISABLED": "true",
}
PATIENCE = 60.0  # seconds; a machine may be busy


class StoreServer:
    """moto's server, as a process. What it holds goes with it."""

    def __init__(self) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.start()

    def start(self, address: str = "127.0.0.1") -> None:
        command = [sys.executable, "-m", "moto.server", "-H", address, "-p", str(self.port)]
        environment = {**os.environ, **KEYS}
        self._process = subprocess.Popen(
            command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            with suppress(OSError), urllib.request.urlopen(f"{self.url}/moto-api/", timeout=5):
                return
            time.sleep(0.05)
        self.stop()
        raise RuntimeError("moto's server does not answer")

    def stop(self) -> None:
        self._process.kill()
        self._process.wait()

    def bucket(self) -> str:
        """The name of a new one."""
        name = f"semblance-{uuid4().hex}"
        request = urllib.request.Request(f"{self.url}/{name}", method="PUT")
        request.add_header(
            "Authorization", "AWS4-HMAC-SHA256 Credential=tests/20260101/us-east-1/s3/aws4_request"
        )
        urllib.request.urlopen(request, timeout=PATIENCE).close()
        return name

    def refuse(self) -> None:
        """From now on each request needs a key that may do what it asks; nobody here has one."""
        self._authenticate_after(0)

    def accept(self) -> None:
        self._authenticate_after(2**31)

    def _authenticate_after(self, requests: int) -> None:
        address = f"{self.url}/moto-api/reset-auth"
        request = urllib.request.Request(address, str(requests).encode(), {"Content-Type": "text/plain"})
        urllib.request.urlopen(request, timeout=PATIENCE).close()

    def copy(self, bucket: str, prefix: str, to: str) -> None:
        """Every object of one prefix also under another."""
        client = boto3.client(
            "s3", endpoint_url=self.url, aws_access_key_id="tests", aws_secret_access_key="tests"
        )
        for page in client.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=f"{prefix}/"):
            for one in page.get("Contents", ()):
                key = to + one["Key"].removeprefix(prefix)
                client.copy_object(Bucket=bucket, Key=key, CopySource={"Bucket": bucket, "Key": one["Key"]})
        client.close()

    def environment(self, bucket: str) -> dict[str, str]:
        """What an installation that keeps its files there has in its environment."""
        return {**KEYS, "AWS_ENDPOINT_URL_S3": self.url, "STORAGE_URL": f"s3://{bucket}/lab"}


class Line:
    """The way to a server of this machine, which a test can cut: connections are refused until it mends the way.

    It begins at a free port, or where `listen` makes a socket for the server's own port: in another network, say.
    """

    def __init__(self, to: int, listen: Callable[[int], socket.socket] | None = None) -> None:
        self._to = self.port = to
        self._listen = listen or on_loopback
        if listen is None:
            self.port = free_port()
        self.mend()

    def mend(self) -> None:
        self._open: set[socket.socket] = set()
        self._server = self._listen(self.port)
        threading.Thread(target=self._accept, args=(self._server,), daemon=True).start()

    def cut(self) -> None:
        for each in (self._server, *self._open):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()

    def _accept(self, server: socket.socket) -> None:
        with suppress(OSError):
            while True:
                near, _address = server.accept()
                far = socket.create_connection(("127.0.0.1", self._to))
                self._open |= {near, far}
                for source, target in ((near, far), (far, near)):
                    threading.Thread(target=self._carry, args=(source, target), daemon=True).start()

    def _carry(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while block := source.recv(65536):
                target.sendall(block)
        with suppress(OSError):
            target.shutdown(socket.SHUT_RDWR)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


def on_loopback(port: int) -> socket.socket:
    return socket.create_server(("127.0.0.1", port), backlog=64)


class Machines:
    """One installation on several machines: each has a SEMBLANCE_HOME of its own, where there is a store."""

    def __init__(self, settings: Any, folder: Callable[[], Path], *, shared: bool) -> None:
        self._settings = settings
        self._folder = folder
        self.shared = shared

    @contextmanager
    def another(self) -> Iterator[Path]:
        """A machine that has nothing yet. Without a store it is the same one: workers share a disk then."""
        before = self._settings.SEMBLANCE_HOME
        if self.shared:
            self._settings.SEMBLANCE_HOME = self._folder()
        try:
            yield self._settings.SEMBLANCE_HOME
        finally:
            self._settings.SEMBLANCE_HOME = before


def store_settings(url: str) -> dict[str, Any]:
    """STORAGES as the settings have them with that STORAGE_URL."""
    from django.conf import settings  # once it is configured

    from semblance.shared_storage import shared_storage_of

    return {**settings.STORAGES, "shared": shared_storage_of(url)}


@pytest.fixture(scope="session")
def store_server() -> Iterator[StoreServer]:
    server = StoreServer()
    yield server
    server.stop()


@pytest.fixture
def stored(store_server: StoreServer, settings: Any, monkeypatch: pytest.MonkeyPatch) -> StoreServer:
    """Files of this test are shared through a bucket of its own."""
    environment = store_server.environment(store_server.bucket())
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    settings.STORAGES = store_settings(environment["STORAGE_URL"])
    return store_server


@pytest.fixture(params=["one disk", "a store"])
def machines(request: pytest.FixtureRequest, settings: Any, tmp_path_factory: Any, home: Path) -> Machines:
    """Both ways in which machines share files."""
    shared = request.param == "a store"
    if shared:
        request.getfixturevalue("stored")
    return Machines(settings, lambda: tmp_path_factory.mktemp("machine"), shared=shared)
