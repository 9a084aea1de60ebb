"""Workers that are killed, stopped and started again, as real processes."""

import json
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator

import pytest

from tests.integration.mlworkers.installation import PATIENCE, Installation, kill

IMPORTED = """
SELECT a.text, b.text, score.value FROM curation_pair pair
JOIN curation_sentence a ON a.id = pair.a_id JOIN curation_sentence b ON b.id = pair.b_id
JOIN curation_pairscore score ON score.pair_id = pair.id ORDER BY pair.id
"""
PAIRS = "SELECT count(*) FROM curation_pair"
RUN = "SELECT state, attempt, lost, message FROM mlworkers_run"


def start_import(installation: Installation) -> None:
    batch = installation.row("SELECT max(id) FROM curation_importbatch")[0]
    installation.manage("run", "import_pairs", "dataset=scenes", f"batch={batch}")


def wait_for_the_middle(installation: Installation, rows: list[object]) -> None:
    """Some pairs are written, and not all."""
    [[written]] = installation.eventually(PAIRS, lambda found: found[0][0] > 0)
    assert written < len(rows)


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("broker", "first", "second"),
    [
        ("filesystem", "threads", "solo"),
        pytest.param("redis", "prefork", "threads", marks=pytest.mark.redis),
    ],
)
def test_an_import_whose_worker_is_killed_is_taken_up_and_ends_with_the_same_rows(
    installation, rows, broker: str, first: str, second: str
) -> None:
    installed = installation(broker)
    start_import(installed)
    with installed.worker(first) as worker:
        wait_for_the_middle(installed, rows)
        kill(worker)

    with installed.worker(second):
        [run] = installed.eventually(RUN, lambda found: found[0][0] == "succeeded")

    assert run == ("succeeded", 2, 1, "2,000 pairs added, 0 updated, 0 unchanged, 0 rows rejected")
    assert installed.rows(IMPORTED) == rows


BROKERS = ["filesystem", pytest.param("redis", marks=pytest.mark.redis)]
NEVER = {"RUN_STALE_SECONDS": "3600"}  # nobody waits here until a worker counts as silent


@pytest.mark.exhaustive
def test_a_worker_that_is_stopped_lets_go_of_its_run_and_the_next_one_takes_it_up_at_once(
    installation, rows
) -> None:
    installed = installation("filesystem")
    installed.environment |= NEVER
    start_import(installed)
    with installed.worker("threads") as worker:
        wait_for_the_middle(installed, rows)
        worker.send_signal(signal.SIGTERM)
        worker.wait(PATIENCE)
    left = installed.row("SELECT state, heartbeat_at FROM mlworkers_run")

    with installed.worker("solo"):
        [run] = installed.eventually(RUN, lambda found: found[0][0] == "succeeded")

    assert left == ("running", None)
    assert run[1:3] == (2, 0)
    assert installed.rows(IMPORTED) == rows


@pytest.mark.exhaustive
@pytest.mark.parametrize("broker", BROKERS)
def test_where_one_of_two_workers_is_stopped_the_other_goes_on_with_its_run_at_once(
    installation, rows, broker: str
) -> None:
    installed = installation(broker)
    installed.environment |= NEVER
    start_import(installed)
    with installed.worker("threads") as first:
        wait_for_the_middle(installed, rows)
        with installed.worker("threads"):
            first.send_signal(signal.SIGTERM)
            [run] = installed.eventually(RUN, lambda found: found[0][0] == "succeeded")

    assert run[1:3] == (2, 0)
    assert installed.rows(IMPORTED) == rows


@pytest.mark.exhaustive
def test_a_run_whose_invitation_was_lost_is_found_by_a_worker_without_beat(installation, rows) -> None:
    installed = installation("filesystem")
    installed.environment |= NEVER
    start_import(installed)
    for message in (installed.home / "broker" / "messages").glob("*"):
        message.unlink()

    with installed.worker("threads"):
        [run] = installed.eventually(RUN, lambda found: found[0][0] == "succeeded")

    assert run[1:3] == (1, 0)


@pytest.mark.exhaustive
@pytest.mark.parametrize("pool", ["solo", "prefork"])
def test_a_live_worker_is_known_with_its_queues_and_forgotten_when_it_ends(installation, pool: str) -> None:
    installed = installation("filesystem")
    workers = "SELECT name, queues FROM mlworkers_workerheartbeat"

    with installed.worker(pool) as worker:
        [[_name, queues]] = installed.eventually(workers, bool)
        worker.send_signal(signal.SIGTERM)
        worker.wait(PATIENCE)

    assert (json.loads(queues) if isinstance(queues, str) else queues) == ["default"]
    assert installed.rows(workers) == []


class Redis:
    """A server of the test's own, which can be taken away; it forgets everything then."""

    def __init__(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.start()

    def start(self) -> None:
        arguments = ["redis-server", "--port", str(self.port), "--save", "", "--appendonly", "no"]
        self._process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL)

    def stop(self) -> None:
        self._process.kill()
        self._process.wait()


@pytest.fixture
def redis() -> Iterator[Redis]:
    if shutil.which("redis-server") is None:
        pytest.skip("no redis-server to start and stop is installed")
    server = Redis()
    yield server
    server.stop()


@pytest.mark.exhaustive
@pytest.mark.redis
def test_a_run_goes_on_while_redis_is_away_and_one_that_is_started_meanwhile_is_done_when_it_is_back(
    installation, rows, redis: Redis
) -> None:
    installed = installation("redis")
    installed.environment |= NEVER | {"REDIS_URL": f"redis://127.0.0.1:{redis.port}/0"}
    start_import(installed)
    with installed.worker("threads"):
        wait_for_the_middle(installed, rows)
        redis.stop()
        [imported] = installed.eventually(RUN, lambda found: found[0][0] == "succeeded")
        installed.manage("run", "export_dataset", "dataset=scenes")
        queued = installed.row(f"{RUN} ORDER BY id DESC LIMIT 1")
        redis.start()
        installed.eventually(RUN, lambda found: {row[0] for row in found} == {"succeeded"})

    assert imported[1:3] == (1, 0)
    assert (queued[0], "The message broker cannot be reached" in queued[3]) == ("queued", True)
    assert installed.rows(IMPORTED) == rows
