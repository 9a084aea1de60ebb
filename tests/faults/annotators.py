"""Annotators who judge over HTTP, whatever happens to the site, and remember which answers it acknowledged."""

import json
import random
import threading
import time
from http.client import HTTPConnection, HTTPException
from uuid import UUID

PATIENCE = 400.0  # seconds until somebody gives up


class Annotator(threading.Thread):
    """Claims, thinks for a moment and answers, until nothing is left. Sends an answer again until it is acknowledged.

    Now and then it hangs up before it has read the answer, as a browser does that is closed or loses its network.
    """

    def __init__(self, port: int, campaign: int, token: str, *, seed: int, think: float) -> None:
        super().__init__(daemon=True)
        self._port, self._path = port, f"/api/v1/campaigns/{campaign}/"
        self._headers = {"Authorization": f"Token {token}", "Content-Type": "application/json"}
        self._rng, self._think = random.Random(seed), think
        self._connection: HTTPConnection | None = None
        self.acknowledged: list[str] = []
        self.retries, self.hung_up, self.ended, self.refused = 0, 0, "", ""

    def run(self) -> None:
        try:
            self._work()
        finally:
            self._hang_up()

    def _work(self) -> None:
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until and not self.refused:
            claim = self._asked("claim/", {}, until)
            if claim is None:
                return
            if claim["lease"] is None:
                if claim["nothing"] != "leased":
                    self.ended = claim["nothing"]
                    return
                time.sleep(0.5)
                continue
            time.sleep(self._rng.uniform(0, 2 * self._think))
            best, worst = self._rng.sample(range(len(claim["pairs"])), 2)
            client_id = str(UUID(int=self._rng.getrandbits(128), version=4))
            body = {"lease": claim["lease"], "best": best, "worst": worst, "client_id": client_id}
            if self._asked("judgements/", body, until) is not None:
                self.acknowledged.append(client_id)

    def _asked(self, what: str, body: dict[str, object], until: float) -> dict | None:
        """The answer, or None where the time is over. An error of the server is asked again, as a browser does."""
        hang_up = what == "judgements/" and self._rng.random() < 0.02
        while time.monotonic() < until:
            try:
                if self._connection is None:
                    self._connection = HTTPConnection("127.0.0.1", self._port, timeout=30)
                self._connection.request("POST", self._path + what, json.dumps(body), self._headers)
                if hang_up:
                    hang_up = False
                    self.hung_up += 1
                    raise ConnectionError
                answer = self._connection.getresponse()
                text = answer.read()
                if answer.status < 400:
                    return json.loads(text)
                if answer.status < 500:
                    self.refused = f"{what} {answer.status} {text[:300]!r}"
                    return None
            except (OSError, HTTPException, ValueError):
                pass
            self._hang_up()
            self.retries += 1
            time.sleep(0.2)
        return None

    def _hang_up(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection = None
