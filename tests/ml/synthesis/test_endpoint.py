"""What a client of an endpoint makes of every kind of answer, and what it never gives away."""

import logging
import socket
import traceback
from contextlib import closing

import pytest

from mlworkers.science.synthesis.endpoint import (
    MOST_BYTES,
    Answer,
    ChatClient,
    EndpointError,
    RequestRefusedError,
    endpoint_of,
)
from tests.ml.endpoint_server import KEY, Answering, Reply, Server, completion, serving


def client_of(address: str, *, key: str = KEY, attempts: int = 3, timeout: float = 20.0) -> ChatClient:
    return ChatClient(
        endpoint_of(address, key), "tiny", timeout=timeout, attempts=attempts, first_pause=0.001
    )


def asked(answering: Answering, **settings) -> tuple[Answer, Server]:
    with serving(answering) as server, closing(client_of(server.address, **settings)) as client:
        return client.answer("Write a sentence.", max_tokens=7), server


def refusal(answering: Answering, **settings) -> EndpointError:
    with pytest.raises(EndpointError) as error:
        asked(answering, **settings)
    return error.value


def one_after_another(*replies: Reply) -> Answering:
    waiting = list(replies)
    return lambda _request: waiting.pop(0)


def test_a_question_is_sent_as_a_chat_message_with_the_key() -> None:
    answer, server = asked(lambda _request: completion("A hound runs."))

    assert answer == Answer("A hound runs.", "stop", 30, 9)
    assert server.paths == ["/v1/chat/completions"]
    assert server.keys == [f"Bearer {KEY}"]
    message = {"role": "user", "content": "Write a sentence."}
    assert server.requests == [{"model": "tiny", "messages": [message], "max_tokens": 7}]


def test_the_limit_of_tokens_has_the_name_that_the_endpoint_asks_for() -> None:
    def reply(request: dict) -> Reply:
        if "max_tokens" in request:
            said = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
            return Reply(400, {"error": {"message": said}})
        return completion("Done.")

    with serving(reply) as server:
        client = ChatClient(endpoint_of(server.address, KEY), "tiny", timeout=5, attempts=2)
        answers = [client.answer("Write.", max_tokens=7).text for _time in range(2)]
        client.close()

    assert answers == ["Done.", "Done."]
    limits = [
        {name: value for name, value in one.items() if name.startswith("max")} for one in server.requests
    ]
    assert limits == [{"max_tokens": 7}, {"max_completion_tokens": 7}, {"max_completion_tokens": 7}]


def test_without_a_key_none_is_sent() -> None:
    _answer, server = asked(lambda _request: completion("A hound runs."), key="")

    assert server.keys == [None]


@pytest.mark.parametrize("status", [408, 429, 500, 503])
def test_a_busy_endpoint_is_asked_again(status: int) -> None:
    answer, server = asked(one_after_another(Reply(status), Reply(status), completion("At last.")))

    assert answer.text == "At last."
    assert len(server.requests) == 3


@pytest.mark.parametrize(
    ("reply", "says"),
    [
        (Reply(429), r"takes no more requests for now \(429\) \(3 attempts\)"),
        (Reply(502), r"The endpoint failed \(502\) \(3 attempts\)"),
        (Reply(429, headers={"Retry-After": "86400"}), "asks to wait for 86,400 seconds"),
        (Reply(401, {"error": {"message": f"Incorrect key {KEY}"}}), "set OPENAI_API_KEY in the worker"),
        (Reply(404), "has no model “tiny”, or OPENAI_BASE_URL lacks the path"),
        (Reply(307, headers={"Location": "http://127.0.0.1:9/v1"}), "redirects to another address"),
        (Reply(body=b"<html>"), "something other than a chat completion"),
        (Reply(body={"choices": []}), "something other than a chat completion"),
        (Reply(body={"choices": [{"message": {"content": 5}}]}), "something other than a chat completion"),
    ],
)
def test_an_endpoint_that_gives_no_answer_is_described_in_one_sentence(reply: Reply, says: str) -> None:
    error = refusal(lambda _request: reply)

    assert error.args[0].endswith(".")
    with pytest.raises(EndpointError, match=says):
        raise error


def test_an_endpoint_that_asks_to_wait_is_left_alone_for_that_long(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(one_after_another(Reply(429, headers={"Retry-After": "7"}), completion("Yes."))) as server:
        client = client_of(server.address)
        pauses: list[float] = []
        monkeypatch.setattr(client._stopped, "wait", pauses.append)
        with closing(client):
            client.answer("Write a sentence.")

    assert pauses == [7.0]


def test_pauses_double_up_to_a_limit() -> None:
    with closing(client_of("http://127.0.0.1:9/v1")) as client:
        pauses = [client._pause(attempt) for attempt in range(40)]

    for attempt, pause in enumerate(pauses):
        longest = min(60.0, 0.001 * 2.0**attempt)
        assert longest / 2 <= pause <= longest


def test_a_refused_request_is_described_in_the_endpoint_s_words_without_the_key() -> None:
    with serving(lambda _request: reply) as server, closing(client_of(server.address)) as client:
        words = f"max_tokens is too large\nfor {KEY} at {server.address}"
        reply = Reply(400, {"error": {"message": words}})
        with pytest.raises(RequestRefusedError) as error:
            client.answer("Write a sentence.")

    assert str(error.value) == "The endpoint refused the request (400): max_tokens is too large for … at …"


def test_an_answer_that_is_too_long_is_not_read_to_its_end() -> None:
    error = refusal(lambda _request: Reply(body=b" " * (MOST_BYTES + 1)))

    assert f"longer than {MOST_BYTES:,} bytes" in str(error)


def test_an_endpoint_that_cannot_be_reached_is_named_without_its_address() -> None:
    with closing(socket.socket()) as taken:
        taken.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"

        with closing(client_of(address)) as client, pytest.raises(EndpointError) as error:
            client.answer("Write a sentence.")

    assert "cannot be reached (ConnectError) (3 attempts)" in str(error.value)
    assert "127.0.0.1" not in str(error.value)


def test_an_endpoint_that_is_silent_is_given_up() -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}/v1"

        client = client_of(address, timeout=0.05, attempts=2)
        with closing(client), pytest.raises(EndpointError, match=r"no answer within 0\.05 seconds"):
            client.answer("Write a sentence.")


@pytest.mark.parametrize(
    ("address", "key", "says"),
    [
        ("", "", "No endpoint is set"),
        ("ftp://example.org", "", "is not the address of an API"),
        ("http://", "", "is not the address of an API"),
        ("http://example.org:99999/v1", "", "is not the address of an API"),
        ("https://user:password@example.org/v1", "", "is not the address of an API"),
        ("https://example.org/v1?key=1", "", "is not the address of an API"),
        ("https://example.org/v1", "sk-1\r\nHost: other", "has a character that no key has"),
        ("https://example.org/v1", "clé", "has a character that no key has"),
    ],
)
def test_a_wrong_setting_of_the_worker_is_described_without_its_value(
    address: str, key: str, says: str
) -> None:
    with pytest.raises(EndpointError, match=says) as error:
        endpoint_of(address, key)

    for secret in filter(None, (address, key)):
        assert secret not in str(error.value)


def test_neither_the_key_nor_the_address_is_in_an_error_a_log_or_a_description(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    replies = [Reply(401, {"error": KEY}), Reply(400, {"error": KEY}), Reply(body=KEY.encode())]
    told = []
    for reply in replies:
        with serving(lambda _request, reply=reply: reply) as server:
            client = client_of(server.address, attempts=2)
            with closing(client), pytest.raises(EndpointError) as error:
                client.answer("Write a sentence.")
        told += ["".join(traceback.format_exception(error.value)), repr(client._endpoint), repr(client)]

    assert not [text for text in told if KEY in text or server.address in text]
    assert KEY not in caplog.text


def test_a_client_that_is_closed_does_not_go_on_asking() -> None:
    def busy(_request: dict) -> Reply:
        client.close()
        return Reply(503)

    with serving(busy) as server:
        client = client_of(server.address, attempts=50)
        with pytest.raises(EndpointError):
            client.answer("Write a sentence.")

    assert len(server.requests) == 1
