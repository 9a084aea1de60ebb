"""Annotators at their browsers, as far as the server can tell: what static/js/judge.js and deciding.js send, and when.

An answer is kept until the server has said that it has it, and sent again with the same client_id until then. A person
goes on with the tuples that were fetched ahead while the site is away. A browser may be killed at any moment; what it
kept is sent by the next one.
"""

import http.client
import json
import random
import threading
import time
from collections import Counter, deque
from contextlib import suppress
from http.cookies import SimpleCookie
from typing import Any, NamedTuple
from urllib.parse import urlencode
from uuid import UUID

SIZE = 4  # pairs of a tuple
PATIENCE = 20.0  # seconds for an answer of the server, as in deciding.js
WAITS = 0.2, 3.0  # seconds before the first and between later attempts; shorter than in deciding.js
KILLED = 0.01  # how often a browser is killed while an answer is on its way
UNDONE = 0.05  # how often an answer is undone that the server has


class Answer(NamedTuple):
    client_id: str
    lease: int
    best: int  # positions on the screen
    worst: int


class Ledger:
    """What all annotators together have sent, and what the server said to it."""

    def __init__(self, target: int) -> None:
        self.target = target
        self.sent: dict[str, Answer] = {}
        self.kept: set[str] = set()
        self.undone: set[str] = set()
        self.requests = 0
        self.refused: list[tuple[Answer, str]] = []
        self.outcomes: Counter[str] = Counter()
        self.over = threading.Event()
        self._lock = threading.Lock()

    def answered(self, answer: Answer) -> None:
        with self._lock:
            self.sent[answer.client_id] = answer

    def heard(self, answer: Answer, outcome: str, note: str = "") -> None:
        with self._lock:
            self.outcomes[outcome] += 1
            if outcome == "ok":
                self.kept.add(answer.client_id)
            elif outcome == "refused":
                self.refused.append((answer, note))
            if len(self.kept) - len(self.undone) + len(self.refused) >= self.target:
                self.over.set()

    def undo_begun(self, answer: Answer) -> bool:
        """Whether the answer may be undone: one that ends the campaign is not. It counts as undone from now on."""
        with self._lock:
            if not self.over.is_set():
                self.undone.add(answer.client_id)
            return answer.client_id in self.undone

    def undo_heard(self, answer: Answer, outcome: str, note: str) -> None:
        with self._lock:
            self.outcomes[f"undo: {outcome}"] += 1
            if outcome == "refused":
                self.refused.append((answer, note))

    def asked(self) -> None:
        with self._lock:
            self.requests += 1


class Annotator(threading.Thread):
    """One person. session: the cookie of somebody who is logged in. thought: seconds before each answer."""

    def __init__(
        self, port: int, campaign: int, session: str, ledger: Ledger, *, seed: str, thought: float
    ) -> None:
        super().__init__(daemon=True)
        self._port, self._path, self._session = port, f"/campaigns/{campaign}/judge", session
        self._ledger, self._thought = ledger, thought
        self._random = random.Random(seed)
        self._outbox: deque[Answer] = deque()  # survives the browser
        self._wait = WAITS[0]
        self._connection: http.client.HTTPConnection | None = None
        self._open()

    def _open(self) -> None:
        """A new browser: it knows nothing but the outbox and the login."""
        self._token = self._secret = ""  # of the form, and of the cookie that goes with it
        self._ahead: deque[int] = deque()

    def run(self) -> None:
        try:
            self._judge()
        finally:
            self._hang_up()

    def _judge(self) -> None:
        while not self._ledger.over.is_set():
            if self._ahead:
                time.sleep(self._random.uniform(0, 2 * self._thought))
                self._answer(self._ahead.popleft())
            if self._outbox:
                self._deliver()
            elif not self._ahead:
                self._screen()

    def _answer(self, lease: int) -> None:
        best, worst = self._random.sample(range(SIZE), 2)
        client_id = str(UUID(int=self._random.getrandbits(128), version=4))
        answer = Answer(client_id, lease, best, worst)
        self._ledger.answered(answer)
        self._outbox.append(answer)

    def _deliver(self) -> None:
        """Send what waits, oldest first."""
        while self._outbox:
            answer = self._outbox[0]
            if not self._token and not self._screen():
                return None
            killed = self._random.random() < KILLED
            fields = {**answer._asdict(), "shown_ms": 1500, "touched_ms": 900, "active_ms": 1400}
            outcome, body = self._ask("answer/", fields, hang_up=killed)
            self._ledger.heard(answer, outcome, body.get("note", ""))
            if killed:
                return self._open()
            if outcome == "forbidden":  # a token of before; the page fetches a new one and asks again
                self._token = ""
            if outcome not in {"ok", "refused"}:
                return self._pause()
            self._outbox.popleft()
            self._wait = WAITS[0]
            self._arrange(body)
            if not self._outbox and self._random.random() < UNDONE and self._ledger.undo_begun(answer):
                self._undo(answer)
        return None

    def _undo(self, answer: Answer) -> None:
        """Take the last answer back, and ask again until the server has said that it did."""
        while True:
            outcome, body = "no form", {}
            if self._token or self._screen():
                outcome, body = self._ask("undo/", {"client_id": answer.client_id})
                self._ledger.undo_heard(answer, outcome, body.get("note", ""))
            if outcome == "ok":
                return self._arrange(body)
            if outcome == "refused":
                return None
            if outcome == "forbidden":
                self._token = ""
            time.sleep(self._random.uniform(*WAITS) / 2)

    def _screen(self) -> bool:
        outcome, body = self._ask("screen/")
        if outcome != "ok":
            self._pause()
            return False
        self._arrange(body)
        if body["over"]:
            self._pause()  # others hold what is left
        return True

    def _arrange(self, screen: dict[str, Any]) -> None:
        self._token = screen.get("token", self._token)
        answered = {answer.lease for answer in self._outbox}
        offered = [screen["tuple"], *screen["ahead"]]
        self._ahead = deque(each["lease"] for each in offered if each and each["lease"] not in answered)

    def _pause(self) -> None:
        self._ledger.over.wait(self._wait * self._random.uniform(0.5, 1))
        self._wait = min(2 * self._wait, WAITS[1])

    def _hang_up(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection = None

    def _ask(
        self, part: str, fields: dict[str, Any] | None = None, *, hang_up: bool = False
    ) -> tuple[str, dict[str, Any]]:
        """hang_up: do not wait for the answer."""
        cookies = f"sessionid={self._session}; csrftoken={self._secret}"
        headers = {"Accept": "application/json", "Cookie": cookies, "X-CSRFToken": self._token}
        headers["Judging-Has"] = ",".join(map(str, self._ahead))
        if fields:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        try:
            if self._connection is None:
                self._connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=PATIENCE)
            method, body = ("POST", urlencode(fields)) if fields else ("GET", None)
            self._ledger.asked()
            self._connection.request(method, f"{self._path}/{part}", body, headers)
            if hang_up:
                self._hang_up()
                return "killed", {}
            response = self._connection.getresponse()
            text = response.read()
        except (OSError, http.client.HTTPException):
            self._hang_up()
            return "unreachable", {}
        for cookie in response.headers.get_all("Set-Cookie") or ():
            if (morsel := SimpleCookie(cookie).get("csrftoken")) is not None:
                self._secret = morsel.value
        if response.status in {403, 404}:
            return "forbidden", {}
        if response.status >= 500 or response.status in {302, 429}:
            return f"failed with {response.status}", {}
        with suppress(ValueError):
            return ("ok" if response.status == 200 else "refused"), json.loads(text)
        return "no JSON", {}
