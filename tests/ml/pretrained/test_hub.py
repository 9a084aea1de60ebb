"""Models from a hub, against a small hub of our own on this machine: no test reaches the network."""

import hashlib
import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socket import create_server, socket

import pytest
from huggingface_hub import constants

from mlworkers.science.pretrained.hub import hub_folder
from mlworkers.science.pretrained.sources import ModelError, check_folder
from tests.ml.tiny import tiny_transformer

COMMIT = "0123456789abcdef0123456789abcdef01234567"


class Hub(ThreadingHTTPServer):
    """Serves the files of one folder as the model me/tiny, with one revision, main."""

    daemon_threads = True

    def __init__(self, folder: Path) -> None:
        super().__init__(("127.0.0.1", 0), Answers)
        self.folder = folder
        self.downloaded: list[str] = []

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def files(self) -> list[str]:
        return sorted(path.name for path in self.folder.iterdir())


class Answers(BaseHTTPRequestHandler):
    server: Hub

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        if path in ("/api/models/me/tiny", "/api/models/me/tiny/revision/main"):
            files = [{"rfilename": name} for name in self.server.files()]
            self._json({"_id": "1", "id": "me/tiny", "modelId": "me/tiny", "sha": COMMIT, "siblings": files})
        elif path == f"/api/models/me/tiny/tree/{COMMIT}":
            self._json([self._entry(name) for name in self.server.files()])
        elif path.startswith(f"/me/tiny/resolve/{COMMIT}/"):
            self._file(path.rpartition("/")[2])
        else:
            unknown = "RevisionNotFound" if "/revision/" in path and "me/tiny" in path else "RepoNotFound"
            self._answer(404, b"{}", {"X-Error-Code": unknown})

    def do_HEAD(self) -> None:
        self.do_GET()

    def _entry(self, name: str) -> dict[str, object]:
        content = (self.server.folder / name).read_bytes()
        return {"type": "file", "path": name, "size": len(content), "oid": hashlib.sha1(content).hexdigest()}  # noqa: S324

    def _file(self, name: str) -> None:
        content = (self.server.folder / name).read_bytes()
        if self.command == "GET":
            self.server.downloaded.append(name)
        tag = hashlib.sha1(content).hexdigest()  # noqa: S324 - as git names a file's content
        self._answer(200, content, {"ETag": f'"{tag}"', "X-Repo-Commit": COMMIT})

    def _json(self, content: object) -> None:
        self._answer(200, json.dumps(content).encode(), {"Content-Type": "application/json"})

    def _answer(self, status: int, content: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(content))}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """A test's output is no place for a server's log."""


@pytest.fixture
def hub(tmp_path) -> Iterator[Hub]:
    with Hub(tiny_transformer(tmp_path / "served")) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


@pytest.fixture
def fetch(hub, tmp_path):
    def from_hub(name: str = "me/tiny", revision: str | None = None, **changes) -> Path:
        here = {"endpoint": hub.address, "cache": tmp_path / "cache", "timeout": 60.0, "private": True}
        settings = {**here, **changes}
        return hub_folder(name, revision, **settings)

    return from_hub


def test_a_model_is_downloaded_whole(fetch) -> None:
    folder = fetch()

    assert check_folder(folder) == folder
    assert folder.name == COMMIT


def test_neither_pickled_weights_nor_code_are_downloaded(fetch, hub) -> None:
    for name in ("pytorch_model.bin", "modeling_mine.py", "flax_model.msgpack"):
        (hub.folder / name).write_bytes(b"x")

    folder = fetch()

    assert {path.suffix for path in folder.iterdir()} == {".json", ".safetensors"}
    assert not {name for name in hub.downloaded if name.endswith((".bin", ".py", ".msgpack"))}


def test_a_model_that_was_downloaded_is_found_without_the_hub(fetch) -> None:
    downloaded = fetch()

    again = fetch(endpoint="http://127.0.0.1:9")

    assert again == downloaded


@pytest.mark.parametrize(
    ("name", "revision", "reason"),
    [
        ("me/other", None, "The hub has no model 'me/other', or it is private"),
        ("me/tiny", "v9", "me/tiny has no revision 'v9' on the hub"),
        ("me--tiny", None, "cannot be the name of a hub's model"),
    ],
)
def test_what_the_hub_does_not_have_is_named(fetch, name, revision, reason) -> None:
    with pytest.raises(ModelError, match=reason):
        fetch(name, revision)


def test_a_model_without_safetensors_is_refused_before_anything_is_downloaded(fetch, hub) -> None:
    (hub.folder / "model.safetensors").rename(hub.folder / "pytorch_model.bin")

    with pytest.raises(ModelError, match="me/tiny has no safetensors weights"):
        fetch()
    assert hub.downloaded == []


def test_a_hub_that_refuses_the_connection_is_named_with_the_other_ways(fetch, capfd) -> None:
    with pytest.raises(ModelError) as refused:
        fetch(endpoint="http://127.0.0.1:9")

    text = str(refused.value)
    assert "http://127.0.0.1:9 cannot be reached" in text
    assert all(way in text for way in ("a folder", "run:ID", "packaged:all-MiniLM-L6-v2"))
    assert capfd.readouterr() == ("", "")


def calls_at(server: socket) -> int:
    """How many connections wait to be taken."""
    server.setblocking(False)
    count = 0
    while True:
        try:
            server.accept()[0].close()
        except BlockingIOError:
            return count
        count += 1


def test_a_hub_that_never_answers_is_given_up_in_time(fetch) -> None:
    with create_server(("127.0.0.1", 0)) as deaf:
        address = f"http://127.0.0.1:{deaf.getsockname()[1]}"
        started = time.monotonic()

        with pytest.raises(ModelError, match="cannot be reached"):
            fetch(endpoint=address, timeout=0.5)

        seconds = time.monotonic() - started
        assert calls_at(deaf) == 1
    assert seconds < 30


def test_a_hub_inside_the_network_is_not_asked_unless_a_setting_allows_it(fetch, hub) -> None:
    with pytest.raises(ModelError, match=r"leads to .*, an address inside a network"):
        fetch(private=False)

    assert hub.downloaded == []


def test_a_hub_that_is_switched_off_is_not_asked(fetch, hub, monkeypatch) -> None:
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)

    with pytest.raises(ModelError, match="not in the hub's cache here, and HF_HUB_OFFLINE is set"):
        fetch()
    assert hub.downloaded == []
