"""`/metrics` for the program that has the token, and reports of errors to the address that is set."""

import gzip
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from django.test import Client
from django.utils.timezone import now
from prometheus_client.parser import text_string_to_metric_families

from mlworkers.models import WorkerHeartbeat
from tests.factories import DatasetFactory, PairFactory, RunFactory
from tests.integration.semblance.test_settings import installed  # noqa: F401 - a fixture

TOKEN = "0123456789"


def read(settings, token: str = TOKEN) -> dict[tuple[str, ...], float]:
    settings.METRICS_TOKEN = TOKEN
    answer = Client().get("/metrics", headers={"Authorization": f"Bearer {token}"})
    assert answer.status_code == 200
    families = text_string_to_metric_families(answer.content.decode())
    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in families
        for sample in family.samples
    }


@pytest.mark.django_db
def test_the_figures_are_those_of_the_database(settings) -> None:
    dataset = DatasetFactory()
    PairFactory.create_batch(3, dataset=dataset)
    PairFactory(dataset=dataset, status="rejected")
    RunFactory.create_batch(2, dataset=dataset, queue="default")
    RunFactory(dataset=dataset, queue="gpu", state="failed")
    WorkerHeartbeat.objects.create(name="one@here", queues=["default", "gpu"], seen_at=now())

    figures = read(settings)

    assert figures["semblance_pairs",] == 3
    assert figures["semblance_runs", "default", "queued"] == 2
    assert figures["semblance_runs", "gpu", "failed"] == 1
    assert figures["semblance_workers", "gpu"] == 1
    assert figures["semblance_workers", "playground"] == 0
    assert figures["semblance_oldest_queued_seconds",] >= 0
    assert figures["semblance_problem", "database"] == 0


@pytest.mark.django_db
@pytest.mark.parametrize("sent", ["", "Bearer wrong", "Token 0123456789", "Bearer é"])
def test_nobody_reads_them_without_the_token(settings, sent: str) -> None:
    settings.METRICS_TOKEN = TOKEN

    answer = Client().get("/metrics", headers={"Authorization": sent})

    assert answer.status_code == 401


@pytest.mark.django_db
def test_without_a_token_in_the_settings_there_is_nothing(settings) -> None:
    settings.METRICS_TOKEN = ""

    assert Client().get("/metrics", headers={"Authorization": "Bearer "}).status_code == 404


class Reports(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.received.append(gzip.decompress(body) if body[:2] == b"\x1f\x8b" else body)
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_arguments: object) -> None:
        pass


@pytest.fixture
def sentry() -> Iterator[ThreadingHTTPServer]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Reports) as server:
        server.received = []
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


BROKEN = """
import django; django.setup()
import logging
def broken():
    sentence = "Nobody outside reads this."
    raise ValueError("17 rows")
try:
    broken()
except ValueError:
    logging.getLogger("semblance").exception("It failed.")
"""


def test_an_error_is_reported_without_the_values_of_variables(installed, sentry) -> None:  # noqa: F811
    dsn = f"http://key@127.0.0.1:{sentry.server_port}/1"

    ended = installed("-c", BROKEN.replace("\n    raise", "\n    assert sentence\n    raise"), SENTRY_DSN=dsn)

    assert ended.returncode == 0, ended.stderr
    sent = b"\n".join(sentry.received).decode()
    event = json.loads(next(line for line in sent.splitlines() if '"exception"' in line))
    assert event["exception"]["values"][0]["value"] == "17 rows"
    assert '"vars"' not in sent


def test_an_address_that_is_none_stops_the_start_in_a_sentence(installed) -> None:  # noqa: F811
    ended = installed("-c", "import django; django.setup()", SENTRY_DSN="nowhere")

    assert "SENTRY_DSN is not the address of a project" in ended.stderr
