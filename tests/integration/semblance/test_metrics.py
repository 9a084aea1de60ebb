"""`/metrics` for the program that has the token, and reports of errors to the address that is set."""

import gzip
import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from uuid import uuid4

import pytest
from django.test import Client
from django.utils.timezone import now
from prometheus_client.parser import text_string_to_metric_families

from annotation.models import Judgement
from mlworkers.models import BeatHeartbeat, WorkerHeartbeat
from mlworkers.runs.task_times import TaskTimes
from semblance.serving import web_server
from tests.factories import DatasetFactory, PairFactory, ParticipationFactory, RunFactory, TupleFactory
from tests.integration.semblance.test_settings import installed  # noqa: F401 - a fixture

TOKEN = "0123456789"
DEPLOYMENT = Path(__file__).resolve().parents[3] / "deployment"


def read(settings, token: str = TOKEN) -> dict[tuple[str, ...], float]:
    settings.METRICS_TOKEN = TOKEN
    answer = Client().get("/metrics", headers={"Authorization": f"Bearer {token}"})
    assert answer.status_code == 200
    families = text_string_to_metric_families(answer.content.decode())
    return {
        (sample.name, *sample.labels.values()): sample.value  # labels by their names
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


@pytest.mark.exhaustive
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


@pytest.mark.django_db
def test_how_long_runs_took_is_told_in_steps_that_add_up(settings) -> None:
    ended = now()
    for seconds in (5, 59, 10_000):
        started = ended - timedelta(seconds=seconds)
        RunFactory(kind="score_realism", state="succeeded", started_at=started, finished_at=ended)
    RunFactory(kind="score_realism", state="cancelled", finished_at=ended)  # nobody had begun it

    figures = read(settings)

    steps = [
        figures["semblance_run_seconds_bucket", "score_realism", limit, "succeeded"]
        for limit in ("10.0", "60.0", "300.0", "1800.0", "7200.0", "28800.0", "+Inf")
    ]
    assert steps == [1, 2, 2, 2, 2, 3, 3]
    assert figures["semblance_run_seconds_count", "score_realism", "succeeded"] == 3
    assert figures["semblance_run_seconds_sum", "score_realism", "succeeded"] == pytest.approx(10_064)
    assert ("semblance_run_seconds_count", "score_realism", "cancelled") not in figures


@pytest.mark.django_db
def test_runs_that_stand_still_tasks_and_beat_are_told(settings) -> None:
    ago = now() - timedelta(seconds=100)
    RunFactory(kind="train_encoder", state="running", claimed_at=ago, progressed_at=ago)
    RunFactory(kind="train_encoder", state="running", claimed_at=ago, progressed_at=now())
    tasks = {"curation.sweep": {"buckets": [2, 1, 0, 0, 0, 0, 1], "seconds": 4_000.5}}
    WorkerHeartbeat.objects.create(name="one@here/7", queues=["default"], seen_at=now(), tasks=tasks)
    BeatHeartbeat.objects.create(host="here", started_at=ago, seen_at=ago)

    figures = read(settings)

    assert figures["semblance_run_without_progress_seconds", "train_encoder"] == pytest.approx(100, abs=30)
    assert figures["semblance_task_seconds_bucket", "1.0", "curation.sweep", "one@here/7"] == 3
    assert figures["semblance_task_seconds_count", "curation.sweep", "one@here/7"] == 4
    assert figures["semblance_beat_age_seconds",] == pytest.approx(100, abs=30)


@pytest.mark.django_db
def test_requests_are_counted_by_view_method_and_status(settings, client) -> None:
    settings.METRICS_TOKEN = TOKEN
    client.handler.load_middleware()
    before = read(settings).get(("semblance_request_seconds_count", "GET", "200", "alive"), 0)

    client.get("/livez")
    client.get("/nowhere/of/mine/")

    figures = read(settings)
    assert figures["semblance_request_seconds_count", "GET", "200", "alive"] == before + 1
    assert not any("mine" in part for labels in figures for part in labels)


@pytest.mark.django_db
def test_every_figure_of_the_rules_and_the_dashboard_is_told(settings, client) -> None:
    """A figure without a value has no line, so that there is one of everything first."""
    settings.METRICS_TOKEN = TOKEN
    ago = now() - timedelta(seconds=100)
    RunFactory(state="running", claimed_at=ago)
    RunFactory(state="failed", started_at=ago, finished_at=now())
    shown = TupleFactory()
    Judgement.objects.create(
        tuple=shown,
        participation=ParticipationFactory(campaign=shown.campaign),
        best_slot=0,
        worst_slot=1,
        order_shown=[0, 1, 2, 3],
        client_id=uuid4(),
        submitted_at=now(),
    )
    tasks = {"curation.sweep": {"buckets": [1, 0, 0, 0, 0, 0, 0], "seconds": 0.1}}
    WorkerHeartbeat.objects.create(name="one", queues=["default"], seen_at=now(), tasks=tasks)
    BeatHeartbeat.objects.create(host="here", started_at=ago, seen_at=ago)
    client.handler.load_middleware()
    client.get("/livez")

    told = {labels[0] for labels in read(settings)}

    for name in ("prometheus-rules.yml", "grafana.json"):
        named = set(re.findall(r"\bsemblance_[a-z_]+", (DEPLOYMENT / name).read_text()))
        assert len(named) >= 7
        assert named <= told


def test_tasks_are_counted_in_the_step_that_they_took() -> None:
    moments = iter([0.0, 0.05, 10.0, 15.0])
    times = TaskTimes(clock=lambda: next(moments))

    times.begin("a")
    times.end("a", "sweep")
    times.begin("b")
    times.end("b", "sweep")
    times.end("never begun", "sweep")

    assert times.of_all() == {"sweep": {"buckets": [1, 0, 1, 0, 0, 0, 0], "seconds": pytest.approx(5.05)}}


SAMPLE = '"semblance_request_seconds_count", {"view": "alive", "method": "GET", "status": "200"}'
COUNT = """
from semblance.request_times import histogram
histogram().labels(view="alive", method="GET", status="200").observe(0.01)
"""


def test_processes_of_a_web_server_count_together_in_a_folder_that_goes_with_it(
    settings, monkeypatch
) -> None:
    settings.METRICS_TOKEN = TOKEN
    monkeypatch.setenv(web_server.FOLDER, "")
    web_server.on_starting(None)
    folder = Path(os.environ[web_server.FOLDER])
    for _process in range(2):
        subprocess.run([sys.executable, "-c", COUNT], check=True)
    told = (
        f"from semblance.request_times import counted_by_all as all; print(all().get_sample_value({SAMPLE}))"
    )

    done = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True)

    assert float(done.stdout) == 2
    web_server.on_exit(None)
    assert not folder.exists()
    assert not os.environ.get(web_server.FOLDER)
