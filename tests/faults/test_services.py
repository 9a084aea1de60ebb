"""Redis forgets everything: what was queued goes on by itself."""

import pytest

from tests.faults.site import Site

pytestmark = [pytest.mark.postgres_server, pytest.mark.redis_server]
RUNS = "SELECT state, attempt, message FROM mlworkers_run WHERE id IN ({}) ORDER BY id"


def all_succeeded(site: Site, runs: list[int]) -> list[tuple[object, ...]]:
    query = RUNS.format(", ".join(map(str, runs)))
    return site.eventually(query, lambda found: {row[0] for row in found} == {"succeeded"})


def test_queued_runs_go_on_after_redis_was_emptied(site: Site) -> None:
    site.kill("default")
    runs = [site.run_start("export_dataset", dataset="scenes") for _ in range(3)]

    forgotten = site.redis.forget_everything()
    site.start("default")
    ended = all_succeeded(site, runs)

    assert forgotten > 0
    assert [attempt for _state, attempt, _message in ended] == [1, 1, 1]


def test_a_worker_that_was_connected_when_redis_was_emptied_takes_new_runs(site: Site) -> None:
    site.redis.forget_everything()

    run = site.run_start("export_dataset", dataset="scenes")

    [(_state, attempt, _message)] = all_succeeded(site, [run])
    assert attempt == 1
