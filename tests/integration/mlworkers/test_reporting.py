"""How a running attempt says where it stands, and finds out that it should stop."""

import time
from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.utils import timezone

from mlworkers.models import Run
from mlworkers.runs import lifecycle, selectors
from mlworkers.runs.lifecycle import RunStopped, run_claim
from mlworkers.runs.reporting import SENTENCES_MAX, Reporter, WorkerLeaves, leaving
from mlworkers.runs.selectors import progress_of
from mlworkers.runs.storage import RunLog
from tests.factories import RunFactory

# The heartbeat has a connection of its own, which sees only what is committed.
pytestmark = pytest.mark.django_db(transaction=True)
PATIENCE = 60.0  # seconds; a machine may be busy


@pytest.fixture
def run() -> Run:
    return RunFactory()


@pytest.fixture
def reporter(run: Run) -> Reporter:
    claim = run_claim(run_id=run.pk, worker="first", at=timezone.now())
    return Reporter(claim, RunLog(run.pk))


@pytest.fixture
def worker_that_leaves() -> Iterator[None]:
    leaving.set()
    yield
    leaving.clear()


def eventually(run: Run, is_so) -> Run:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        run.refresh_from_db()
        if is_so(run):
            return run
        time.sleep(0.05)
    pytest.fail(f"The run stayed at {run.done} of {run.total}, {run.message!r}, {run.heartbeat_at}.")


def report_until_stopped(reporter: Reporter) -> None:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        reporter(1, 2, "working")
        time.sleep(0.05)


def test_a_report_reaches_the_run_s_row(run: Run, reporter: Reporter) -> None:
    with reporter.heartbeat():
        reporter(30, 100, "Reading")

        stored = eventually(run, lambda run: run.done)

    assert (stored.done, stored.total, stored.message) == (30, 100, "Reading")


@pytest.mark.exhaustive
def test_what_is_reported_stands_in_the_log_once(run: Run, reporter: Reporter) -> None:
    with reporter.heartbeat():
        reporter(30, 100, "Reading")
        eventually(run, lambda run: run.done == 30)
        reporter(60, 100, "Reading")
        eventually(run, lambda run: run.done == 60)

    assert RunLog(run.pk).tail().count("Reading") == 1


def test_what_is_said_between_two_heartbeats_stands_in_the_log_too(run: Run, reporter: Reporter) -> None:
    reporter(30, 100, "Encoding")
    reporter(30, 100, "Memory ran short: going on with 8 rows at a time")
    reporter(40, 100, "Encoding")

    lines = [line.split(" ", 2)[2] for line in RunLog(run.pk).tail().splitlines()]
    assert lines == ["Encoding", "Memory ran short: going on with 8 rows at a time"]


def test_sentences_that_count_do_not_fill_the_log(run: Run, reporter: Reporter) -> None:
    for number in range(SENTENCES_MAX + 50):
        reporter(0, 0, f"Row {number}")

    assert len(RunLog(run.pk).tail(10_000).splitlines()) == SENTENCES_MAX


def test_a_run_that_reports_nothing_keeps_its_heartbeat(run: Run, reporter: Reporter, settings) -> None:
    settings.RUN_STALE_SECONDS = 1
    run.refresh_from_db()
    began = run.heartbeat_at

    with reporter.heartbeat():
        stored = eventually(run, lambda run: run.heartbeat_at > began)

    assert stored.state == Run.State.RUNNING


def test_a_clock_that_is_put_back_silences_no_live_worker(run: Run, reporter: Reporter, settings) -> None:
    settings.RUN_STALE_SECONDS = 0.06
    earlier = timezone.now() - timedelta(hours=1)
    time.sleep(0.02)

    reporter.beat(earlier)

    run.refresh_from_db()
    assert run.heartbeat_at == earlier


@pytest.mark.postgres
def test_heartbeats_are_written_by_the_clock_of_the_database(
    run: Run, reporter: Reporter, monkeypatch
) -> None:
    before = timezone.now()
    monkeypatch.setattr(timezone, "now", lambda: before + timedelta(days=1))  # this machine's clock is wrong

    with reporter.heartbeat():
        reporter(1, 2, "Reading")
        stored = eventually(run, lambda run: run.done)

    assert abs(stored.heartbeat_at - before) < timedelta(minutes=10)


def test_the_heartbeat_ends_with_the_work(run: Run, reporter: Reporter, settings) -> None:
    settings.RUN_STALE_SECONDS = 1
    with reporter.heartbeat():
        pass
    run.refresh_from_db()
    last = run.heartbeat_at

    time.sleep(1.5)

    run.refresh_from_db()
    assert run.heartbeat_at == last


def test_work_that_was_cancelled_stops_at_a_report(run: Run, reporter: Reporter) -> None:
    with reporter.heartbeat():
        lifecycle.run_cancel(run_id=run.pk, at=timezone.now(), message="Cancelled.")

        with pytest.raises(RunStopped):
            report_until_stopped(reporter)


def test_a_worker_that_was_asked_to_end_stops_at_the_next_report(
    reporter: Reporter, worker_that_leaves
) -> None:
    with pytest.raises(WorkerLeaves):
        reporter(1, 2, "working")


def test_a_count_above_its_total_is_shown_as_all(run: Run, reporter: Reporter) -> None:
    with reporter.heartbeat():
        reporter(101, 100, "Reading")

        stored = eventually(run, lambda run: run.done)

    assert (stored.done, stored.total) == (101, 101)


@pytest.mark.exhaustive
def test_the_rate_counts_from_where_this_attempt_began(run: Run, reporter: Reporter, monkeypatch) -> None:
    monkeypatch.setattr(selectors, "STEADY_AFTER", 0)
    with reporter.heartbeat():
        reporter(900, 1000, "Reading")
        eventually(run, lambda run: run.done == 900)
        reporter(910, 1000, "Reading")
        stored = eventually(run, lambda run: run.done == 910)

    seconds = (stored.heartbeat_at - stored.claimed_at).total_seconds()
    assert progress_of(stored).rate == pytest.approx(10 / seconds)
    assert progress_of(stored).seconds_left == pytest.approx(90 * seconds / 10)


@pytest.mark.exhaustive
def test_a_new_stage_has_a_rate_of_its_own(run: Run, reporter: Reporter) -> None:
    with reporter.heartbeat():
        reporter(1000, 0, "Reading")
        eventually(run, lambda run: run.done == 1000)
        reporter(0, 500, "Writing")
        reporter(20, 500, "Writing")
        stored = eventually(run, lambda run: run.done == 20)

    seconds = (stored.heartbeat_at - stored.claimed_at).total_seconds()
    assert progress_of(stored).rate == pytest.approx(20 / seconds)
