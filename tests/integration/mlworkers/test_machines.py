"""Workers with a disk each, which share a database and a store: one goes on with what another began."""

import os
import re
import signal
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from tests.integration.mlworkers.installation import (
    PATIENCE,
    Installation,
    another_machine,
    copied,
    installation_with_tables,
)
from tests.integration.mlworkers.long_runs import carry_out, number, outcome, prepare, queue, twin
from tests.integration.mlworkers.networks import SERVICES, Network, addresses_here, moved, networks, ports_of
from tests.integration.mlworkers.nursery import kill_nine
from tests.ml.tiny import tiny_encoder
from tests.shared_store import Line, StoreServer
from tests.template_databases import database_of_its_own

pytestmark = [pytest.mark.kills, pytest.mark.exhaustive]
CHAIN = ("bootstrap", "generation", "realism", "evaluation", "comparison")
RUN = "SELECT state, attempt, lost FROM mlworkers_run WHERE id = {}"
HOLDER = "SELECT worker, done FROM mlworkers_run WHERE id = {}"
WORKERS = "SELECT name FROM mlworkers_workerheartbeat"
HEARTBEAT = "SELECT heartbeat_at FROM mlworkers_run WHERE id = {}"
MESSAGE = "SELECT state, message FROM mlworkers_run WHERE id = {}"
SHARDS = "SELECT state, worker FROM mlworkers_runshard WHERE run_id = {} ORDER BY stage, number"
LINES = "SELECT text FROM mlworkers_runline WHERE run_id = {} AND {} ORDER BY id"
PATIENT = {"RUN_STALE_SECONDS": "60"}  # nobody counts as silent here, however busy the machine


@dataclass(frozen=True)
class Alone:
    """An installation in which one worker carried the chain out, and how each run ended."""

    installed: Installation
    made: dict[str, dict[str, Any]]


@pytest.fixture(scope="module")
def alone(tmp_path_factory, nursery, store_server, tables) -> Iterator[Alone]:
    home = tmp_path_factory.mktemp("alone")
    broker = "redis" if os.environ.get("REDIS_URL") else "filesystem"
    with installation_with_tables(home, f"semblance_alone_{os.getpid()}", tables, broker) as installed:
        installed.environment |= store_server.environment(store_server.bucket())
        prepare(installed, tiny_encoder(tmp_path_factory.mktemp("models")), tmp_path_factory.mktemp("none"))
        with nursery.worker(installed):
            made = {name: carry_out(installed, number(name)) for name in CHAIN}
        assert {told["state"] for told in made.values()} == {"succeeded"}, made
        yield Alone(installed, made)


@pytest.fixture
def here(alone, tmp_path, store_server) -> Iterator[Installation]:
    """A copy of it, on the first machine, with files of its own in the store."""
    name = alone.installed.database_url.rpartition("/")[2]
    with database_of_its_own(f"semblance_here_{os.getpid()}", template=name) as database:
        installed = Installation(copied(alone.installed.home, tmp_path / "here"), database)
        kept = ("REDIS_URL", *(name for name in alone.installed.environment if "AWS_" in name))
        installed.environment |= {name: alone.installed.environment[name] for name in kept}
        bucket, prefix = alone.installed.environment["STORAGE_URL"].removeprefix("s3://").split("/")
        own = uuid4().hex
        store_server.copy(bucket, prefix, own)
        installed.environment["STORAGE_URL"] = f"s3://{bucket}/{own}"
        yield installed


@pytest.fixture
def elsewhere(here, tmp_path) -> Installation:
    """A machine with an empty disk."""
    return another_machine(here, tmp_path / "elsewhere")


@pytest.fixture
def apart(here, elsewhere) -> Iterator[list[Network]]:
    """The networks of the two machines, which reach nothing but the database, Redis and the store."""
    with networks(["first", "second"], ports_of(here)) as made:
        moved(here, made[0])
        moved(elsewhere, made[1])
        yield made


@pytest.mark.exhaustive
def test_a_generation_whose_holder_is_killed_goes_on_on_another_machine(
    here, elsewhere, nursery, alone
) -> None:
    run = twin("generation")
    queue(here, run)
    with nursery.worker_that_stops(here, "Writing sentences", 0.5, "first") as first:
        before = [worker for state, worker in here.rows(SHARDS.format(run)) if state == "done"]
        kill_nine(first)

    with nursery.worker(elsewhere, "second"):
        made = outcome(elsewhere, run)

    after = [worker for _state, worker in here.rows(SHARDS.format(run))]
    assert made == alone.made["generation"]
    assert elsewhere.rows(RUN.format(run)) == [("succeeded", 2, 1)]
    assert len(before) >= 2
    assert after.count("first@test") >= len(before)  # what it had done was fetched, and not done again


def test_a_comparison_whose_holder_is_killed_goes_on_on_another_machine_from_its_checkpoint(
    here, elsewhere, nursery, alone
) -> None:
    run = twin("comparison")
    queue(here, run)
    with nursery.worker_that_stops(here, "Training", 0.7, "first") as first:
        kill_nine(first)
    here.fall_silent()
    before = [name for name in stored(here, run) if "/checkpoints/" in name]
    with nursery.worker_that_stops(elsewhere, "Training", 0, "second") as second:
        fetched = checkpoints(elsewhere, run)
        # It may have come to assist, and takes the run over as soon as it finds that nobody holds it.
        elsewhere.eventually(RUN.format(run), lambda found: found[0][1] == 2)
        kill_nine(second)
    elsewhere.fall_silent()

    with nursery.worker(elsewhere, "third"):
        made = outcome(elsewhere, run)

    log = [text for (text,) in elsewhere.rows(LINES.format(run, "NOT curve"))]
    assert made == alone.made["comparison"]
    assert elsewhere.rows(RUN.format(run)) == [("succeeded", 3, 2)]
    assert len(before) >= 1
    assert set(fetched) == set(before)  # the second worker begins with what the first had trained
    assert elsewhere.rows(LINES.format(run, "curve"))
    for told in ("Attempt 1 begins", "second@test assists|Attempt 2 begins"):
        assert any(re.search(told, line) for line in log), log
    assert not (elsewhere.home / "runs" / str(run) / "log.txt").exists()


def test_a_worker_that_is_stopped_hands_its_run_to_another_machine(here, elsewhere, nursery, alone) -> None:
    run = twin("generation")
    queue(here, run)
    with nursery.worker(here, "first", PAUSE="0.3", **PATIENT) as first:
        here.eventually(SHARDS.format(run), lambda found: ("done", "first@test") in found)
        os.kill(first, signal.SIGTERM)
        here.eventually(HEARTBEAT.format(run), lambda found: found == [(None,)])

    with nursery.worker(elsewhere, "second", **PATIENT):
        made = outcome(elsewhere, run)

    assert made == alone.made["generation"]
    assert elsewhere.rows(RUN.format(run)) == [("succeeded", 2, 0)]


def test_a_run_waits_while_the_store_is_away_and_ends_when_it_is_back(
    here, nursery, alone, store_server: StoreServer
) -> None:
    run, line = twin("generation"), Line(store_server.port)
    here.environment["AWS_ENDPOINT_URL_S3"] = f"http://127.0.0.1:{line.port}"
    queue(here, run)
    with nursery.worker(here, "first", PAUSE="0.3", **PATIENT):
        here.eventually(SHARDS.format(run), lambda found: any(state == "done" for state, _worker in found))
        line.cut()
        here.eventually(MESSAGE.format(run), lambda found: "file storage" in found[0][1])
        line.mend()
        made = outcome(here, run)

    assert made == alone.made["generation"]
    assert here.rows(RUN.format(run)) == [("succeeded", 1, 0)]


def test_two_machines_share_one_generation_make_what_one_makes_and_leave_nothing_else(
    here, elsewhere, nursery, alone
) -> None:
    run = twin("generation")
    queue(here, run)
    slow = {**PATIENT, "PAUSE": "0.2", "TIDY_EVERY": "0.5"}

    with nursery.worker(here, "first", **slow), nursery.worker(elsewhere, "second", **slow):
        made = outcome(here, run)
        by = {worker for _state, worker in here.rows(SHARDS.format(run))}
        gone([home / "runs" / str(run) / "kept" for home in (here.home, elsewhere.home)])

    assert made == alone.made["generation"]
    assert by == {"first@test", "second@test"}
    assert stored(here, run) == []  # of what the attempts shared


@pytest.mark.networks
@pytest.mark.postgres
@pytest.mark.redis
def test_workers_in_two_networks_carry_out_two_runs_though_one_of_them_is_killed(
    here, elsewhere, apart, nursery, alone
) -> None:
    generation, comparison = twin("generation"), twin("comparison")
    both = {"first@test", "second@test"}
    slow = {"PAUSE": "0.1"}

    with nursery.worker(here, "first", **slow) as one, nursery.worker(elsewhere, "second", **slow) as other:
        here.eventually(
            WORKERS, lambda found: {name.split(" ")[0].split("/")[0] for (name,) in found} >= both
        )
        queue(here, generation)
        written = outcome(here, generation)
        inside = [network.holds(worker) for network, worker in zip(apart, (one, other), strict=True)]
        queue(here, comparison)
        [[holder, _done]] = here.eventually(HOLDER.format(comparison), lambda found: found[0][1] > 0)
        killed, survivor = (one, elsewhere) if holder == "first@test" else (other, here)
        kill_nine(killed)
        compared = outcome(survivor, comparison)

    assert inside == [True, True]
    assert written == alone.made["generation"]
    assert {worker for _state, worker in here.rows(SHARDS.format(generation))} == both
    assert compared == alone.made["comparison"]
    [[state, attempt, lost]] = here.rows(RUN.format(comparison))
    assert state == "succeeded"
    assert min(attempt - 1, lost) >= 1  # more where a busy machine let the holder be silent too
    assert here.rows(HOLDER.format(comparison))[0][0] in both - {holder}


@pytest.mark.exhaustive
@pytest.mark.networks
@pytest.mark.postgres
@pytest.mark.redis
def test_from_each_of_the_two_networks_nothing_can_be_reached_but_the_services(here, apart) -> None:
    first, second = apart
    served = ports_of(here)
    with first.listening() as worker, socket.create_server(("", 0)) as anybody:
        theirs, ours = worker.getsockname()[1], anybody.getsockname()[1]
        answered = [second.refusal(SERVICES, port) for port in served]
        at_services = {second.refusal(SERVICES, port) for port in (theirs, ours)}
        on_loopback = {second.refusal("127.0.0.1", port) for port in (*served, theirs, ours)}
        far = [first.address, *addresses_here(), "203.0.113.1"]
        elsewhere = {second.refusal(address, port) for address in far for port in (*served, theirs, ours)}
        second.ip("route", "add", first.address, "via", SERVICES)
        by_a_route_of_its_own = second.refusal(first.address, theirs, seconds=1)

    assert answered == ["", "", ""]
    assert at_services == on_loopback == {"Connection refused"}
    assert elsewhere == {"Network is unreachable"}
    assert by_a_route_of_its_own == "TimeoutError"  # what is between them forwards nothing


def stored(installed: Installation, run: int) -> list[str]:
    """What the store has of what attempts share, relative to SEMBLANCE_HOME."""
    asked = (
        f"from curation.foundation.shared_files import *; print(*shared_names('runs/{run}/kept'), sep='\\n')"
    )
    return installed.manage("shell", "-v", "0", given=asked).split()


def checkpoints(installed: Installation, run: int) -> list[str]:
    """Those on the machine's own disk."""
    kept = installed.home / "runs" / str(run) / "kept"
    return [path.relative_to(installed.home).as_posix() for path in kept.glob("checkpoints/*/step-*")]


def gone(folders: list[Path]) -> None:
    until = time.monotonic() + PATIENCE
    while any(folder.exists() for folder in folders):
        assert time.monotonic() < until, folders
        time.sleep(0.1)
