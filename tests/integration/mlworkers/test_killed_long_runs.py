"""Workers of long runs that are killed with kill -9, as real processes: the artefact is the same, bit for bit."""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial

import pytest

from tests.integration.mlworkers.installation import (
    Installation,
    copied,
)
from tests.integration.mlworkers.long_runs import outcome, queue, twin
from tests.integration.mlworkers.nursery import kill_nine
from tests.template_databases import database_of_its_own

pytestmark = [pytest.mark.kills, pytest.mark.exhaustive]

RUN = "SELECT state, attempt, lost FROM mlworkers_run WHERE id = {}"
HELD = "SELECT worker, state, attempt, lost FROM mlworkers_run WHERE id = {}"
SHARDS = "SELECT number, attempt, worker FROM mlworkers_runshard WHERE run_id = {} ORDER BY stage, number"
BROKERS = ["filesystem", pytest.param("redis", marks=pytest.mark.redis)]


@pytest.fixture
def copy(tmp_path, undisturbed) -> Iterator[Callable[[str], Installation]]:
    """Makes a copy of that installation, whose messages go through the named broker."""
    with ExitStack() as stack:

        def make(broker: str) -> Installation:
            name = undisturbed.installed.database_url.rpartition("/")[2]
            own = database_of_its_own(f"semblance_long_copy_{os.getpid()}", template=name)
            database = stack.enter_context(own)
            home = copied(undisturbed.installed.home, tmp_path / "installation")
            return Installation(home, database, broker)

        yield make


@pytest.mark.parametrize("broker", BROKERS)
def test_two_workers_on_one_run_make_what_one_makes_and_do_no_shard_twice(
    copy, nursery, undisturbed, broker: str
) -> None:
    installed, run = copy(broker), twin("generation")
    queue(installed, run)

    patient = {"PAUSE": "0.2", "RUN_STALE_SECONDS": "60"}  # nobody dies here, however busy the machine
    with nursery.worker(installed, "first", **patient), nursery.worker(installed, "second", **patient):
        made = outcome(installed, run)

    shards = installed.rows(SHARDS.format(run))
    assert made == undisturbed.made["generation"]
    assert {attempt for _number, attempt, _worker in shards} == {1}
    assert {worker for _number, _attempt, worker in shards} == {"first@test", "second@test"}


def test_a_worker_that_is_killed_while_it_assists_costs_its_shard_alone(copy, nursery, undisturbed) -> None:
    installed, run = copy("filesystem"), twin("generation")
    queue(installed, run)
    with nursery.worker(installed, "holder", PAUSE="0.25"):
        installed.eventually(RUN.format(run), lambda found: found[0][0] == "running")
        with nursery.worker_that_stops(installed, "Writing sentences", 0, "assistant") as assistant:
            kill_nine(assistant)
        made = outcome(installed, run)

    shards = installed.rows(SHARDS.format(run))
    assert made == undisturbed.made["generation"]
    assert installed.rows(RUN.format(run)) == [("succeeded", 1, 0)]
    assert sorted(attempt for _number, attempt, _worker in shards) == [1] * (len(shards) - 1) + [2]
    assert {worker for _number, _attempt, worker in shards} == {"holder@test"}


@pytest.mark.parametrize("broker", BROKERS)
def test_a_worker_that_assists_takes_the_run_over_while_it_does_its_shard_when_the_holder_is_killed(
    copy, nursery, undisturbed, broker: str
) -> None:
    installed, run = copy(broker), twin("generation")
    queue(installed, run)
    stops = partial(nursery.worker_that_stops, installed, "Writing sentences", 0)
    with stops("holder") as holder, stops("assistant") as assistant:
        kill_nine(holder)
        taken = installed.eventually(HELD.format(run), lambda found: found[0][0] == "assistant@test")
        kill_nine(assistant)

    with nursery.worker(installed, "successor"):
        made = outcome(installed, run)

    assert taken == [("assistant@test", "running", 2, 1)]
    assert installed.rows(RUN.format(run)) == [("succeeded", 3, 2)]
    assert made == undisturbed.made["generation"]
