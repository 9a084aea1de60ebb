"""Sources and labels into answers of an endpoint: several at a time, kept as they come, asked for once."""

import json
from contextlib import closing
from pathlib import Path
from threading import Barrier

import pytest

from mlworkers.science.synthesis.asking import Asked, rows_asked
from mlworkers.science.synthesis.endpoint import ChatClient, EndpointError, endpoint_of
from mlworkers.science.synthesis.plan import GenerationPlan
from mlworkers.science.synthesis.rows import Source
from tests.ml.endpoint_server import KEY, Answering, Reply, Server, completion, serving

SOURCES = [Source(number, text, number) for number, text in enumerate(["A dog runs.", "A cat sleeps.", "x"])]


class KilledError(Exception):
    pass


def plan(**settings) -> GenerationPlan:
    return GenerationPlan(
        dataset="scenes", model="openai:tiny", **({"samples": 2, "concurrency": 2} | settings)
    )


def echo(request: dict) -> Reply:
    """An answer that follows from the request."""
    return completion(json.dumps({"sentence": f"{request['seed']}"}))


def asked(answering: Answering, answers: Path, how: GenerationPlan, **more) -> tuple[Asked, Server]:
    with serving(answering) as server:
        client = ChatClient(
            endpoint_of(server.address, KEY), "tiny", timeout=20, attempts=2, first_pause=0.001
        )
        with closing(client):
            return rows_asked(client, SOURCES, how, answers=answers, **more), server


def test_rows_come_by_source_label_and_sample(tmp_path: Path) -> None:
    (rows, refused), server = asked(echo, tmp_path / "answers", plan(labels="1,0"))

    places = [(source.id, label, sample) for source in SOURCES for label in ("1", "0") for sample in (0, 1)]
    assert [(row.source, row.label, row.sample) for row in rows] == places
    assert refused == []
    assert len(server.requests) == 12
    assert {(row.tokens, row.prompt_tokens, row.finish) for row in rows} == {(9, 30, "stop")}


def test_each_request_has_a_seed_of_its_own_that_the_order_of_sources_does_not_change(tmp_path: Path) -> None:
    (rows, _refused), server = asked(echo, tmp_path / "answers", plan())
    SOURCES.reverse()
    try:
        (reversed_rows, _refused), _server = asked(echo, tmp_path / "others", plan(concurrency=7))
    finally:
        SOURCES.reverse()

    assert len({request["seed"] for request in server.requests}) == len(rows) == 18
    assert sorted(rows, key=str) == sorted(reversed_rows, key=str)


def test_the_source_is_in_the_message_and_nowhere_else(tmp_path: Path) -> None:
    _asked, server = asked(echo, tmp_path / "answers", plan(labels="1", samples=1, top_p=1))

    request = next(each for each in server.requests if "A dog runs." in each["messages"][0]["content"])
    assert set(request) == {"model", "messages", "max_tokens", "temperature", "seed"}
    assert [message["role"] for message in request["messages"]] == ["user"]


def test_requests_are_open_at_the_same_time(tmp_path: Path) -> None:
    together = Barrier(6, timeout=20)  # broken, and an error, unless six requests are open at once

    def answering(request: dict) -> Reply:
        together.wait()
        return echo(request)

    (rows, _refused), _server = asked(answering, tmp_path / "answers", plan(concurrency=6))

    assert len(rows) == 18


def test_who_was_killed_asks_only_for_what_is_missing(tmp_path: Path) -> None:
    answers = tmp_path / "answers"
    (whole, _refused), _server = asked(echo, tmp_path / "whole", plan())

    def killed(done: int, _total: int, _message: str) -> None:
        if done >= 7:
            raise KilledError

    with pytest.raises(KilledError):
        asked(echo, answers, plan(), report=killed)
    kept = answers.read_text().count('"text"')
    with answers.open("a") as file:
        file.write('{"source": 0, "lab')  # the line at which it was killed

    (rows, _refused), server = asked(echo, answers, plan())

    assert rows == whole
    assert kept >= 7
    assert len(server.requests) == 18 - kept


def test_a_request_that_is_refused_leaves_the_others(tmp_path: Path) -> None:
    def answering(request: dict) -> Reply:
        if '"x"' in request["messages"][0]["content"]:
            return Reply(400, {"error": {"message": "too short"}})
        return echo(request)

    (rows, refused), _server = asked(answering, tmp_path / "answers", plan(concurrency=1))

    assert {row.source for row in rows} == {0, 1}
    assert refused == ["The endpoint refused the request (400): too short"] * 6


def test_where_the_first_requests_are_all_refused_the_others_are_not_sent(tmp_path: Path) -> None:
    requests = []

    def answering(request: dict) -> Reply:
        requests.append(request)
        return Reply(400, {"error": {"message": "no such field: seed"}})

    with pytest.raises(EndpointError, match="no such field: seed"):
        asked(answering, tmp_path / "answers", plan(concurrency=1))

    assert len(requests) < 18


def test_a_first_source_that_is_refused_as_a_whole_leaves_the_others(tmp_path: Path) -> None:
    def answering(request: dict) -> Reply:
        if "A dog runs." in request["messages"][0]["content"]:
            return Reply(400, {"error": {"message": "too long"}})
        return echo(request)

    (rows, refused), _server = asked(answering, tmp_path / "answers", plan(concurrency=1))

    assert {row.source for row in rows} == {1, 2}
    assert len(refused) == 6


def test_an_endpoint_that_fails_ends_the_work_at_once(tmp_path: Path) -> None:
    with pytest.raises(EndpointError, match="has no model “tiny”"):
        asked(lambda _request: Reply(404), tmp_path / "answers", plan())
