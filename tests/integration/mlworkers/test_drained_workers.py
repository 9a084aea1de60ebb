"""Workers that are drained, as real processes: what they give back, and what they take again."""

import json
import time

import pytest

from tests.integration.mlworkers.installation import WORKER
from tests.integration.mlworkers.test_killed_workers import (
    BROKERS,
    IMPORTED,
    NEVER,
    RUN,
    start_import,
    wait_for_the_middle,
)

# A second for each of a hundred parts, as long as the file is there: somebody drains the worker meanwhile.
SLOW_WORKER = WORKER.replace(
    "sys.argv[0]",
    """importing.ONE_TRANSACTION_ROWS = importing.CHUNK_ROWS = 20
import os, time
import mlworkers.runs.presence as presence
presence.SECONDS_BETWEEN_BEATS = 0.5  # it reads then whether it is drained
prepared = importing.prepared_meanwhile
def slowly(parts):
    for part in prepared(parts):
        if os.path.exists(os.environ["SEMBLANCE_HOME"] + "/slow"):
            time.sleep(1)
        yield part
importing.prepared_meanwhile = slowly
sys.argv[0]""",
)
HELD = "SELECT state, heartbeat_at FROM mlworkers_run"
PATIENCE = "170"


def workers(installed, *arguments: str) -> list[dict]:
    return json.loads(installed.manage("workers", *arguments, "--json").splitlines()[-1])["workers"]


@pytest.mark.parametrize(
    ("broker", "pool"), [("filesystem", "solo"), pytest.param("redis", "threads", marks=pytest.mark.redis)]
)
@pytest.mark.exhaustive
def test_a_drained_worker_hands_its_run_back_and_takes_nothing_until_it_is_undrained(
    installation, rows, broker: str, pool: str
) -> None:
    installed = installation(broker)
    installed.environment |= NEVER
    start_import(installed)
    slow = installed.home / "slow"
    slow.touch()
    with installed.worker(pool, SLOW_WORKER) as worker:
        wait_for_the_middle(installed, rows)
        [drained] = workers(installed, "drain", "--all", "--wait", PATIENCE)
        left = installed.row(HELD)
        installed.manage("run", "export_dataset", "dataset=scenes")
        time.sleep(1.5)  # long enough for an idle worker to sweep and take what waits
        waiting = installed.rows(f"{HELD} ORDER BY id")
        lives = worker.poll() is None
        slow.unlink()
        installed.manage("workers", "undrain", "--all")
        runs = installed.eventually(
            f"{RUN} ORDER BY id", lambda found: {row[0] for row in found} == {"succeeded"}
        )

    assert (drained["state"], drained["carries_out"]) == ("drained", [])
    assert left == ("running", None)  # its holder has left it
    assert waiting == [("running", None), ("queued", None)]
    assert lives
    assert [run[1:3] for run in runs] == [(2, 0), (1, 0)]
    assert installed.rows(IMPORTED) == rows


@pytest.mark.parametrize("broker", BROKERS)
@pytest.mark.exhaustive
def test_what_a_drained_worker_gives_back_another_takes_which_is_not_drained(
    installation, rows, broker: str
) -> None:
    installed = installation(broker)
    installed.environment |= NEVER
    start_import(installed)
    (installed.home / "slow").touch()
    with installed.worker("solo", SLOW_WORKER) as first:
        wait_for_the_middle(installed, rows)
        workers(installed, "drain", "--all", "--wait", PATIENCE)
        with installed.worker("solo"):
            [run] = installed.eventually(RUN, lambda found: found[0][0] == "succeeded")
            lives = first.poll() is None
            states = sorted(row["state"] == "drained" for row in workers(installed))

    assert lives
    assert run[1:3] == (2, 0)
    assert states == [False, True]
    assert installed.rows(IMPORTED) == rows
