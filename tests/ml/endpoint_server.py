"""A small OpenAI-compatible server of this process, which answers as a test says."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any

KEY = "sk-secret-of-the-tests"


@dataclass
class Reply:
    status: int = 200
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)


Answering = Callable[[dict[str, Any]], Reply]


def completion(text: str | None, *, finish: str = "stop") -> Reply:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": finish}
    return Reply(body={"choices": [choice], "usage": {"prompt_tokens": 30, "completion_tokens": 9}})


@dataclass
class Server:
    address: str
    requests: list[dict[str, Any]] = field(default_factory=list)  # bodies, in the order of their arrival
    paths: list[str] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)


@contextmanager
def serving(answering: Answering) -> Iterator[Server]:
    lock = Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with lock:
                server.requests.append(request)
                server.paths.append(self.path)
                server.keys.append(self.headers.get("Authorization"))
            reply = answering(request)
            body = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
            self.send_response(reply.status)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_args: Any) -> None:
            pass

    class Listening(ThreadingHTTPServer):
        def handle_error(self, *_args: Any) -> None:
            """A client that went away is no error of the test."""

    listening = Listening(("127.0.0.1", 0), Handler)
    listening.daemon_threads = True
    server = Server(f"http://127.0.0.1:{listening.server_address[1]}/v1")
    thread = Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        listening.shutdown()
        listening.server_close()
        thread.join()
