"""Workers that are killed, stopped and started again, as real processes."""

import json
import signal

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

    assert run == ("succeeded", 2, 1, "2,000 pairs added, 0 unchanged, 0 rows rejected")
    assert installed.rows(IMPORTED) == rows


def test_a_worker_that_is_stopped_lets_go_of_its_run_and_the_next_one_takes_it_up(installation, rows) -> None:
    installed = installation("filesystem")
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
