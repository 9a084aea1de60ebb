"""Every kind of run, its workers killed with kill -9 at moments drawn by chance: it ends as if nothing had happened.

KILLED_ROUNDS=N draws N times as many moments, and KILLED_SEED=N others (`make kills`).
"""

import json
import os
import random
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from mlworkers.plans.kinds import KINDS
from tests.integration.mlworkers.installation import PATIENCE, Installation, copied
from tests.integration.mlworkers.long_runs import LONG, number, outcome, queue, twin
from tests.integration.mlworkers.moments import END, WORK, moments_path
from tests.integration.mlworkers.nursery import Nursery, lives
from tests.template_databases import database_of_its_own

pytestmark = pytest.mark.kills
ROUNDS = int(os.environ.get("KILLED_ROUNDS", "1"))
SEED = os.environ.get("KILLED_SEED", "13")
RUN = "SELECT state, attempt, lost FROM mlworkers_run WHERE id = {}"
# Nobody waits here until a worker counts as silent.


@pytest.fixture(scope="session")
def ward(tmp_path_factory) -> Iterator[tuple[Installation, Nursery]]:
    """An installation that is made again and again, and workers of it that begin quickly."""
    with database_of_its_own(f"semblance_killed_{os.getpid()}") as database:
        installed = Installation(tmp_path_factory.mktemp("killed") / "installation", database)
        nursery = Nursery(installed)
        yield installed, nursery
        nursery.close()


@pytest.fixture
def copy(ward, undisturbed) -> Iterator[Callable[[], Installation]]:
    """Makes the installation a copy of the undisturbed one again."""
    installed, _nursery = ward

    @contextmanager
    def renewed() -> Iterator[Installation]:
        template = undisturbed.installed.database_url.rpartition("/")[2]
        with database_of_its_own(installed.database_url.rpartition("/")[2], template=template):
            shutil.rmtree(installed.home, ignore_errors=True)
            copied(undisturbed.installed.home, installed.home)
            yield installed

    return renewed


def drawn(installed: Installation, name: str, again: int) -> list[str]:
    """Two moments: one in the work, and one in what is written at its end.

    The first run of all makes some folders that its twin finds, so that the twin has a few moments less.
    """
    counts = json.loads(moments_path(installed.home, number(name)).read_text())
    rng = random.Random(f"{SEED} {name} {again}")
    return [f"{WORK} {rng.randint(1, counts[WORK] * 9 // 10)}", f"{END} {rng.randint(1, counts[END])}"]


def died(process: int, installed: Installation, run: int) -> bool:
    """Wait until the worker is dead; False where it lived until the run was over."""
    until = time.monotonic() + PATIENCE
    while lives(process) and time.monotonic() < until:
        time.sleep(0.02)
        if moments_path(installed.home, run).exists():
            return False
    return not lives(process)


def test_every_kind_of_run_is_among_those_that_are_killed() -> None:
    assert set(KINDS) == {long.kind for long in LONG}


@pytest.mark.kills
@pytest.mark.exhaustive
@pytest.mark.parametrize("again", range(ROUNDS))
@pytest.mark.parametrize("long", LONG, ids=lambda long: long.name)
def test_a_run_whose_workers_are_killed_ends_as_if_nothing_had_happened(
    ward, copy, undisturbed, long, again: int
) -> None:
    run, nursery = twin(long.name), ward[1]
    with copy() as installed:
        moments = drawn(installed, long.name, again)
        queue(installed, run)
        for moment in moments:
            if installed.rows(RUN.format(run))[0][0] == "succeeded":
                break  # the worker was killed just after the run's end
            with nursery.worker(installed, "doomed", DIE_AT=moment) as doomed:
                assert died(doomed, installed, run), (moments, installed.worker_log())
            installed.fall_silent()
        [[state, attempt, _lost]] = installed.rows(RUN.format(run))

        with nursery.worker(installed, "successor"):
            made = outcome(installed, run)

    assert attempt == len(moments) or state == "succeeded", moments
    assert made == undisturbed.made[long.name], moments
