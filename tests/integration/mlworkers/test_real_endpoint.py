"""Pairs written through a server that is not ours: that of the transformers library, in a process of its own."""

import json
import os
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import httpx2 as httpx
import pytest

from mlworkers.runs.services import run_start
from mlworkers.runs.storage import run_folder
from tests.factories import DatasetFactory, PairFactory, SentenceFactory
from tests.runs import run_execute

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.serving]

PATIENCE = 120.0  # seconds; a machine may be busy
COMMAND = Path(sys.executable).with_name("transformers")
MODEL = "./chat"  # as the server knows it


@pytest.fixture(scope="module")
def server(tmp_path_factory) -> Iterator[str]:
    """The address of a server with the chat model of the tests."""
    from tests.ml.chat_model import chat_model_write

    folder = tmp_path_factory.mktemp("serving")
    chat_model_write(folder / MODEL)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = folder / "log.txt"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [COMMAND, "serve", MODEL, "--device", "cpu", "--host", "127.0.0.1", "--port", str(port)],
            cwd=folder,
            env={**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"},
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        wait_for(f"http://127.0.0.1:{port}/health", process, log)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.terminate()
        process.wait(timeout=30)


def wait_for(address: str, process: subprocess.Popen, log: Path) -> None:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until and process.poll() is None:
        try:
            httpx.get(address, timeout=5, trust_env=False).raise_for_status()
            return
        except httpx.TransportError:
            time.sleep(0.1)
    pytest.fail(f"The server did not start:\n{log.read_text()[-2000:]}")


@pytest.mark.exhaustive
def test_rows_are_written_through_the_chat_template_of_a_real_server(server: str, settings) -> None:
    settings.OPENAI_BASE_URL = server
    dataset = DatasetFactory(slug="walks")
    for number in range(3):
        a, b = (
            SentenceFactory(dataset=dataset, text=f"A {who} walks {number} miles.")
            for who in ("man", "woman")
        )
        PairFactory(dataset=dataset, a=a, b=b, split="train")
    plan = {
        "dataset": "walks",
        "model": f"openai:{MODEL}",
        "sources": 5,
        "labels": "0,1",
        "samples": 1,
        "sampled": 0,
    }

    run = run_start(kind="generate_pairs", plan=plan, by=None)
    run_execute(run, "succeeded")
    rows = [
        json.loads(line) for line in next(run_folder(run.pk).rglob("rows.jsonl")).read_text().splitlines()
    ]
    # The server's template begins the answer by what the message asks for; without it the model writes something else.
    assert Counter((row["label"], " ".join(row["text"].split()[:2]), row["dropped"]) for row in rows) == {
        ("0", "A train", None): 5,
        ("1", "A dog", None): 5,
    }
    assert len({row["text"] for row in rows}) > 2  # drawn, each with a seed of its own
    assert run.result["kept"] == dataset.pairs.filter(run_ref=run.pk).count() == 10
    assert run.result["tokens_written"] == sum(row["tokens"] for row in rows) > 0
