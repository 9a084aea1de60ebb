"""How a running site serves people while other clients stall, and what a large file sent to the login page costs.

    python docs/experiments/stalled_connections.py http://127.0.0.1:8000/ [--connections 50] [--seconds 10]

The script opens the connections: one quarter each sends nothing, half a head, half a form, and an upload without its
file. The last two have a browser's cookie, because without it the site refuses them before it reads on. Then the
script requests the login page for some seconds, one request after another, and waits at most five seconds for each.
Finally it sends 60 MB to the login page, with the token that a browser would send, and watches the temporary folder of
this machine.
"""

import argparse
import http.client
import json
import os
import socket
import tempfile
import threading
import time
from contextlib import ExitStack, suppress
from urllib.parse import urlsplit

PATIENCE = 5.0
FILE_BYTES = 60 * 1024**2
POST = b"POST /accounts/login/ HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: csrftoken=" + b"a" * 32
STALLED = [
    b"",
    b"GET / HTTP/1.1\r\nHost: x\r\n",
    POST + b"\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 100\r\n\r\nab",
    POST + b"\r\nContent-Type: multipart/form-data; boundary=x\r\nContent-Length: 50000000\r\n\r\nab",
]


def answers(host: str, port: int, seconds: float) -> dict[str, float]:
    """How many requests were answered in that time, how many were not, and the longest wait in seconds."""
    good, bad, longest, until = 0, 0, 0.0, time.monotonic() + seconds
    while time.monotonic() < until:
        began = time.monotonic()
        try:
            connection = http.client.HTTPConnection(host, port, timeout=PATIENCE)
            connection.request("GET", "/accounts/login/")
            good += connection.getresponse().status == 200
        except OSError:
            bad += 1
        finally:
            connection.close()
        longest = max(longest, time.monotonic() - began)
    return {"answered": good, "failed": bad, "longest_s": round(longest, 3)}


def upload_to_login(host: str, port: int) -> dict[str, object]:
    """Send the file; returns the status of the answer and the most bytes that the temporary folder grew by."""
    largest, done = 0, threading.Event()
    before = folder_bytes()

    def watch() -> None:
        nonlocal largest
        while not done.is_set():
            largest = max(largest, folder_bytes() - before)
            time.sleep(0.01)

    token = "a" * 32
    fields = f'--x\r\nContent-Disposition: form-data; name="csrfmiddlewaretoken"\r\n\r\n{token}\r\n'
    head = f'{fields}--x\r\nContent-Disposition: form-data; name="f"; filename="f.csv"\r\n\r\n'.encode()
    tail = b"\r\n--x--\r\n"
    headers = {
        "Content-Type": "multipart/form-data; boundary=x",
        "Content-Length": str(len(head) + FILE_BYTES + len(tail)),
        "Cookie": f"csrftoken={token}",
        "Referer": f"http://{host}:{port}/accounts/login/",
    }
    watcher = threading.Thread(target=watch)
    watcher.start()
    connection = http.client.HTTPConnection(host, port, timeout=60)
    connection.putrequest("POST", "/accounts/login/")
    for name, value in headers.items():
        connection.putheader(name, value)
    connection.endheaders()
    with suppress(OSError):
        connection.send(head)
        for _ in range(FILE_BYTES // 2**20):
            connection.send(b"x" * 2**20)
        connection.send(tail)
    try:
        status = connection.getresponse().status
    except (OSError, http.client.HTTPException) as error:
        status = repr(error)
    done.set()
    watcher.join()
    connection.close()
    return {"status": status, "temporary_bytes": largest}


def folder_bytes() -> int:
    total = 0
    for entry in os.scandir(tempfile.gettempdir()):
        with suppress(OSError):
            total += entry.stat().st_size if entry.name.endswith(".upload.csv") else 0
    return total


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("address")
    parser.add_argument("--connections", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=10)
    asked = parser.parse_args()
    place = urlsplit(asked.address)
    host, port = place.hostname or "127.0.0.1", place.port or 80
    alone = answers(host, port, min(asked.seconds, 3))
    with ExitStack() as stalled:
        for number in range(asked.connections):
            client = stalled.enter_context(socket.create_connection((host, port), PATIENCE))
            client.sendall(STALLED[number % len(STALLED)])
        time.sleep(0.5)
        beside = answers(host, port, asked.seconds)
    print(
        json.dumps({"alone": alone, "beside_stalled": beside, "upload_to_login": upload_to_login(host, port)})
    )


if __name__ == "__main__":
    main()
