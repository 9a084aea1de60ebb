"""The clock of a worker jumps: what lives is not taken for dead, and nothing is released too early."""

import time
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.faults.imports import import_begun, imported
from tests.faults.site import STALE, Site

pytestmark = [pytest.mark.postgres_server, pytest.mark.redis_server, pytest.mark.faketime]
LIBRARY = "faketime/libfaketimeMT.so.1"
ROWS = 20_000
RUN = "SELECT state, attempt, lost FROM mlworkers_run WHERE id = {}"
EXPIRE = "from annotation.tasks import expire_leases; print('released', expire_leases())"


@contextmanager
def clock_of_its_own(site: Site, place: Path):
    """Programs that are started meanwhile have the clock that the file says: "+2h" is two hours ahead."""
    [library] = Path("/usr/lib").glob(f"*/{LIBRARY}")
    clock = {
        "LD_PRELOAD": str(library),
        "FAKETIME_TIMESTAMP_FILE": str(place),
        "FAKETIME_NO_CACHE": "1",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
    }
    before = site.environment
    site.environment = before | clock
    try:
        yield
    finally:
        site.environment = before


def test_a_run_whose_worker_s_clock_jumps_is_not_taken_from_it(site: Site, tmp_path) -> None:
    clock = tmp_path / "clock"
    clock.write_text("+0")
    site.kill("default")
    with ExitStack() as stack:
        with clock_of_its_own(site, clock):
            stack.enter_context(site.worker("threads"))  # whose imports are written in small steps
        run = import_begun(site, "jumping", rows=ROWS)
        site.start("default")  # its clock is right, and it looks for runs whose worker fell silent
        site.wait_for_worker()
        states = []
        for jump in ("+2h", "-3h", "+0"):
            clock.write_text(jump)
            time.sleep(1.5 * STALE)
            states.append(site.row(RUN.format(run)))
        [(_state, attempt, lost)] = site.eventually(RUN.format(run), lambda found: found[0][0] == "succeeded")

    assert states[0][0] == "running", "the import was over before the clock jumped"
    assert (attempt, lost) == (1, 0), states
    assert imported(site, "jumping") == (ROWS, ROWS)


def test_a_worker_whose_clock_is_ahead_releases_no_tuple_that_somebody_judges(site: Site, tmp_path) -> None:
    clock = tmp_path / "clock"
    clock.write_text("+2h")
    status, claimed = site.ask(f"campaigns/{site.other_campaign}/claim/", {})
    assert status == 200, claimed

    with clock_of_its_own(site, clock):
        said = site.manage(
            "shell", "-v", "0", "-c", f"import datetime; print(datetime.datetime.now()); {EXPIRE}"
        )

    assert said.splitlines()[-1] == "released 0", said
