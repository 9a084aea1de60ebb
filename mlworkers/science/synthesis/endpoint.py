"""A chat model behind an OpenAI-compatible address: what it answers to a question, and why it does not.

Only the given address is requested: redirects are not followed, and no proxy of the environment is used. Neither the
address nor the key is in any sentence, log line or exception.
"""

import random
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from threading import Event, Lock
from time import monotonic
from typing import Any
from urllib.parse import urlsplit

import httpx2 as httpx

from curation.files.json_text import json_from

MOST_BYTES = 1_000_000  # of one answer
LONGEST_PAUSE = 60.0  # seconds between two attempts
LONGEST_WAIT = 600.0  # seconds that an endpoint may ask for
SECONDS_TO_CONNECT = 10.0
_NEW_NAME = "max_completion_tokens"
_SHOWN = 200  # characters of what an endpoint says
_LATER = frozenset({408, 409, 425, 429})
_NO_COMPLETION = (
    "The endpoint answered with something other than a chat completion; check that OPENAI_BASE_URL is the address of "
    "an OpenAI-compatible API and ends with its path, such as /v1"
)


class EndpointError(ValueError):
    """There is no answer, and asking again would not help. One sentence."""


class RequestRefusedError(EndpointError):
    """The endpoint refused this one request; others may be answered."""


class _NotNowError(Exception):
    """There is no answer yet. seconds: how long the endpoint asks to wait."""

    def __init__(self, problem: str, seconds: float = 0.0) -> None:
        super().__init__(problem)
        self.problem, self.seconds = problem, seconds


@dataclass(frozen=True)
class Endpoint:
    """The address of an API, such as https://api.example.org/v1, and the key that it asks for, or none."""

    address: str = field(repr=False)
    key: str = field(repr=False)


@dataclass(frozen=True)
class Answer:
    """What the model wrote, why it ended ("stop", "length" …), and the tokens read and written, 0 where unknown."""

    text: str
    finish: str
    prompt_tokens: int
    tokens: int


def endpoint_of(address: str, key: str) -> Endpoint:
    """The endpoint that a worker is set to. Raises EndpointError where it is set to none, or wrongly."""
    if not address:
        raise EndpointError(
            "No endpoint is set; give the worker the address of an OpenAI-compatible API as OPENAI_BASE_URL, and its "
            "key as OPENAI_API_KEY."
        )
    try:
        parts = urlsplit(address)
        sound = (
            parts.scheme in ("http", "https") and parts.hostname and (parts.port is None or parts.port > 0)
        )
    except ValueError:
        sound = False
    if not sound or parts.query or parts.fragment or "@" in parts.netloc or not _is_visible(address):
        raise EndpointError(
            "OPENAI_BASE_URL is not the address of an API; give one such as https://api.example.org/v1, without a "
            "password or question mark."
        )
    if not _is_visible(key):
        raise EndpointError("OPENAI_API_KEY has a character that no key has, such as a space; set it again.")
    return Endpoint(address.rstrip("/"), key)


def _is_visible(text: str) -> bool:
    return all("!" <= character <= "~" for character in text)


class ChatClient:
    """Asks one model of an endpoint; several threads may ask at the same time."""

    def __init__(
        self, endpoint: Endpoint, model: str, *, timeout: float, attempts: int, first_pause: float = 1.0
    ) -> None:
        self._endpoint, self._model = endpoint, model
        self._timeout, self._attempts, self._first_pause = timeout, attempts, first_pause
        self._stopped, self._lock, self._asking = Event(), Lock(), 0
        self._limit_has_new_name = False
        headers = {"Accept-Encoding": "identity"}
        if endpoint.key:
            headers["Authorization"] = f"Bearer {endpoint.key}"
        self._client = httpx.Client(
            headers=headers,
            timeout=httpx.Timeout(timeout, connect=min(timeout, SECONDS_TO_CONNECT)),
            limits=httpx.Limits(max_connections=None),
            follow_redirects=False,
            trust_env=False,
        )

    def close(self) -> None:
        """Ask no more. A request that is open goes on until it ends, and then closes the connections."""
        self._stopped.set()
        with self._lock:
            idle = not self._asking
        if idle:
            self._client.close()

    @contextmanager
    def _in_use(self) -> Iterator[None]:
        with self._lock:
            self._asking += 1
        try:
            yield
        finally:
            with self._lock:
                self._asking -= 1
                last = self._stopped.is_set() and not self._asking
            if last:
                self._client.close()

    def answer(self, question: str, **sampling: Any) -> Answer:
        """The model's answer. sampling: further fields of the request, such as max_tokens and seed.

        A busy, failing or unreachable endpoint is asked again, after pauses that double, or as long as it asks for.
        Raises EndpointError.
        """
        request = {"model": self._model, "messages": [{"role": "user", "content": question}], **sampling}
        with self._in_use():
            sent = self._as_it_takes(request)
            try:
                return self._repeatedly(sent)
            except RequestRefusedError as error:
                # Some models take the limit under this name alone, which their endpoint says in its refusal.
                if _NEW_NAME in sent or _NEW_NAME not in str(error):
                    raise
                self._limit_has_new_name = True
                return self._repeatedly(self._as_it_takes(request))

    def _as_it_takes(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """The request with the limit of tokens under the name that the endpoint takes."""
        if not self._limit_has_new_name:
            return request
        return {_NEW_NAME if name == "max_tokens" else name: value for name, value in request.items()}

    def _repeatedly(self, request: Mapping[str, Any]) -> Answer:
        problem = "The request was given up"
        for attempt in range(self._attempts):
            if self._stopped.is_set():
                break
            try:
                return self._asked(request)
            except _NotNowError as error:
                problem, seconds = error.problem, error.seconds
            if seconds > LONGEST_WAIT:
                raise EndpointError(
                    f"{problem}, and asks to wait for {seconds:,.0f} seconds; start the run again then."
                )
            if attempt + 1 < self._attempts and self._stopped.wait(max(seconds, self._pause(attempt))):
                break
        raise EndpointError(f"{problem} ({self._attempts} attempts); start the run again when it works.")

    def _pause(self, attempt: int) -> float:
        """Exponential back-off with jitter, so that requests that failed together do not come back together."""
        longest = min(LONGEST_PAUSE, self._first_pause * 2.0**attempt)  # doubles, up to 60 seconds
        return longest * random.uniform(0.5, 1)  # noqa: S311 - no secret

    def _asked(self, request: Mapping[str, Any]) -> Answer:
        # What the library says may hold the address or the key, so its errors are neither quoted nor chained.
        try:
            with self._client.stream(
                "POST", f"{self._endpoint.address}/chat/completions", json=request
            ) as response:
                # The body as it was sent, up to a size and within the time for an answer.
                until, body = monotonic() + self._timeout, b""  # the library's timeout is of each read alone
                for part in response.iter_raw():
                    body += part
                    if len(body) > MOST_BYTES:
                        raise RequestRefusedError(
                            f"The endpoint's answer is longer than {MOST_BYTES:,} bytes."
                        )
                    if monotonic() > until:
                        raise _NotNowError(
                            f"The endpoint did not finish its answer within {self._timeout:g} seconds"
                        )
        except httpx.TimeoutException:
            raise _NotNowError(f"The endpoint gave no answer within {self._timeout:g} seconds") from None
        except (httpx.HTTPError, httpx.StreamError, httpx.InvalidURL, RuntimeError, OSError) as error:
            raise _NotNowError(f"The endpoint cannot be reached ({type(error).__name__})") from None
        self._check(response.status_code, response.headers, body)

        try:
            value = json_from(body.decode("utf-8"))
            choice = value["choices"][0]
            text = choice["message"]["content"]
            finish = choice.get("finish_reason")
            usage = value.get("usage") or {}
            read, written = (usage.get(name) for name in ("prompt_tokens", "completion_tokens"))
        except (ValueError, TypeError, KeyError, IndexError, AttributeError):
            raise _NotNowError(_NO_COMPLETION) from None
        if not isinstance(text, str | None):
            raise _NotNowError(_NO_COMPLETION)
        # Without a text the model declined, or its server withheld what it wrote.
        finish = "content_filter" if text is None else finish if isinstance(finish, str) else ""
        return Answer(text or "", finish, *(count if type(count) is int else 0 for count in (read, written)))

    def _check(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        if status == 200:
            return
        if status in (401, 403):
            raise EndpointError(
                f"The endpoint refused the key ({status}); set OPENAI_API_KEY in the worker's environment."
            )
        if status == 404:
            raise EndpointError(
                f"The endpoint has no model “{self._model}”, or OPENAI_BASE_URL lacks the path of its API, such as /v1 "
                "(404)."
            )
        if 300 <= status < 400:
            raise EndpointError(
                f"The endpoint redirects to another address ({status}), which is not followed; set OPENAI_BASE_URL to "
                "the final one."
            )
        if status == 429:
            raise _NotNowError("The endpoint takes no more requests for now (429)", _seconds_asked(headers))
        if status in _LATER or status >= 500:
            raise _NotNowError(f"The endpoint failed ({status})", _seconds_asked(headers))
        raise RequestRefusedError(f"The endpoint refused the request ({status}): {self._said(body)}")

    def _said(self, body: bytes) -> str:
        """The endpoint's own sentence, without the key and the address."""
        try:
            value = json_from(body.decode("utf-8", "replace"))
        except ValueError:
            value = None
        error = value.get("error", value.get("detail")) if isinstance(value, dict) else None
        said = error.get("message") if isinstance(error, dict) else error
        text = " ".join(said.split()) if isinstance(said, str) and said.strip() else "it gave no reason"
        for secret in (self._endpoint.key, self._endpoint.address):
            text = text.replace(secret, "…") if secret else text
        return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _seconds_asked(headers: Mapping[str, str]) -> float:
    """Retry-After: seconds, or a date (RFC 9110, section 10.2.3). 0 where it is missing or unreadable."""
    text = headers.get("Retry-After", "").strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    try:
        at = parsedate_to_datetime(text)
    except ValueError:
        return 0.0
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    return max(0.0, (at - datetime.now(UTC)).total_seconds())  # 0 for a date that has passed
