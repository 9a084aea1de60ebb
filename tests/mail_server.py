"""A mail server of the test's own: SMTP (RFC 5321) as far as smtplib speaks it."""

import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from email import message_from_bytes, policy
from email.message import EmailMessage


class MailServer(socketserver.ThreadingTCPServer):
    """Keeps what it takes in `taken`. refuse: answers to RCPT by address; broken: whether it answers 421 at once."""

    allow_reuse_address = daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Dialogue)
        self.taken: list[EmailMessage] = []
        self.refuse: dict[str, str] = {}
        self.broken = False

    @property
    def port(self) -> int:
        return self.server_address[1]


class _Dialogue(socketserver.StreamRequestHandler):
    server: MailServer

    def say(self, line: str) -> None:
        self.wfile.write(f"{line}\r\n".encode())

    def handle(self) -> None:
        self.say("421 Too busy" if self.server.broken else "220 mail.test")
        while line := self.rfile.readline().decode().strip():
            word = line.split(":")[0].split()[0].upper()
            if word == "RCPT":
                self.say(self.server.refuse.get(line.partition("<")[2].partition(">")[0], "250 OK"))
            elif word == "DATA":
                self.say("354 Go on")
                self.keep()
                self.say("250 OK")
            elif word == "QUIT":
                self.say("221 Bye")
                return
            else:
                self.say("250 OK")

    def keep(self) -> None:
        lines = []
        while (line := self.rfile.readline()) not in {b".\r\n", b""}:
            lines.append(line.removeprefix(b".") if line.startswith(b"..") else line)
        self.server.taken.append(message_from_bytes(b"".join(lines), policy=policy.default))


@contextmanager
def mail_server() -> Iterator[MailServer]:
    with MailServer() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()
