"""A run's moves: who gets it, who loses it, and who may no longer write."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from mlworkers.models import Artifact, Run
from mlworkers.runs import lifecycle
from mlworkers.runs.lifecycle import RunStopped, run_claim
from mlworkers.runs.selectors import runs_to_invite
from tests.factories import RunFactory

pytestmark = pytest.mark.django_db
NOW = timezone.now()
MUCH_LATER = NOW + timedelta(minutes=10)


def claim(run: Run, at=NOW, worker: str = "first"):
    return run_claim(run_id=run.pk, worker=worker, at=at)


def now_in_database(run: Run) -> Run:
    return Run.objects.get(pk=run.pk)


def test_a_queued_run_goes_to_the_worker_that_claims_it() -> None:
    run = RunFactory()

    taken = claim(run)

    stored = now_in_database(run)
    assert taken == lifecycle.Claim(run.pk, attempt=1)
    assert (stored.state, stored.attempt, stored.worker, stored.started_at) == ("running", 1, "first", NOW)


def test_of_two_claims_one_wins() -> None:
    run = RunFactory()

    claims = [claim(run, worker="first"), claim(run, worker="second")]

    assert [taken is not None for taken in claims] == [True, False]
    assert now_in_database(run).worker == "first"


class BeforeTheFirstUpdate:
    """Does something once, after the claim has read the run and before it writes."""

    def __init__(self, does: Callable[[], object]) -> None:
        self.does: Callable[[], object] | None = does

    def __call__(self, execute, sql, params, many, context):
        if sql.startswith("UPDATE") and self.does:
            does, self.does = self.does, None
            does()
        return execute(sql, params, many, context)


def test_of_two_claims_that_both_saw_the_run_free_one_wins() -> None:
    run = RunFactory()

    with connection.execute_wrapper(BeforeTheFirstUpdate(lambda: claim(run, worker="second"))):
        taken = claim(run, worker="first")

    assert taken is None
    assert (now_in_database(run).worker, now_in_database(run).attempt) == ("second", 1)


@pytest.mark.parametrize("after", [timedelta(0), timedelta(seconds=20)], ids=["at once", "behind a lock"])
def test_a_worker_that_wakes_while_its_run_is_claimed_keeps_it(after: timedelta) -> None:
    run = RunFactory()
    paused = claim(run)
    wakes = BeforeTheFirstUpdate(lambda: lifecycle.run_beat(claim=paused, at=MUCH_LATER + after))

    with connection.execute_wrapper(wakes):
        taken = claim(run, at=MUCH_LATER, worker="second")

    assert taken is None
    assert (now_in_database(run).worker, now_in_database(run).attempt) == ("first", 1)


def test_a_run_whose_worker_fell_silent_goes_to_the_next_one() -> None:
    run = RunFactory()
    claim(run)

    taken = claim(run, at=MUCH_LATER, worker="second")

    stored = now_in_database(run)
    assert taken == lifecycle.Claim(run.pk, attempt=2)
    assert (stored.worker, stored.lost, stored.started_at, stored.claimed_at) == (
        "second",
        1,
        NOW,
        MUCH_LATER,
    )


@pytest.mark.parametrize("ahead", [timedelta(seconds=30), timedelta(hours=1)])
def test_a_heartbeat_from_the_future_does_not_hide_a_dead_worker(ahead: timedelta) -> None:
    run = RunFactory()
    claim(run, at=NOW + ahead)

    assert claim(run, at=NOW, worker="second") == lifecycle.Claim(run.pk, attempt=2)


def test_a_heartbeat_written_a_moment_after_we_looked_at_the_clock_is_no_silence() -> None:
    run = RunFactory()
    claim(run, at=NOW + timedelta(seconds=2))

    assert claim(run, at=NOW, worker="second") is None


def test_a_heartbeat_keeps_a_run_from_others() -> None:
    run = RunFactory()
    taken = claim(run)

    lifecycle.run_beat(claim=taken, at=MUCH_LATER - timedelta(seconds=59))

    assert claim(run, at=MUCH_LATER, worker="second") is None


@pytest.mark.parametrize(
    "write",
    [
        lambda old: lifecycle.run_beat(claim=old, at=MUCH_LATER, done=99),
        lambda old: lifecycle.run_finish(claim=old, at=MUCH_LATER, message="late", result={}),
        lambda old: lifecycle.run_fail(claim=old, at=MUCH_LATER, message="late"),
        lambda old: lifecycle.run_leave(claim=old),
    ],
    ids=["heartbeat", "finish", "fail", "leave"],
)
def test_a_worker_that_was_paused_can_write_no_more(write) -> None:
    run = RunFactory()
    paused = claim(run)
    claim(run, at=MUCH_LATER, worker="second")
    before = Run.objects.values().get(pk=run.pk)

    with pytest.raises(RunStopped):
        write(paused)

    assert Run.objects.values().get(pk=run.pk) == before


def test_a_late_finish_leaves_no_files_in_the_database() -> None:
    run = RunFactory()
    paused = claim(run)
    claim(run, at=MUCH_LATER, worker="second")
    file = Artifact(run=run, kind="pairs", path="runs/1/1/pairs.csv", sha256="0" * 64)

    with pytest.raises(RunStopped):
        lifecycle.run_finish(claim=paused, at=MUCH_LATER, message="late", result={}, artifacts=[file])

    assert not run.artifacts.exists()


def test_a_run_that_was_left_is_taken_up_at_once_and_counts_as_no_loss() -> None:
    run = RunFactory()
    lifecycle.run_leave(claim=claim(run))

    taken = claim(run, at=NOW + timedelta(seconds=1), worker="second")

    assert taken == lifecycle.Claim(run.pk, attempt=2)
    assert now_in_database(run).lost == 0


def test_a_run_that_silenced_three_workers_is_given_to_no_fourth() -> None:
    run = RunFactory()
    for number in range(3):
        assert claim(run, at=NOW + number * timedelta(minutes=10)) is not None

    taken = claim(run, at=NOW + timedelta(minutes=30))

    stored = now_in_database(run)
    assert taken is None
    assert stored.state == Run.State.FAILED
    assert "3 workers stopped responding" in stored.message


def test_a_run_that_was_left_is_offered_to_others_at_once_though_it_was_offered_just_now() -> None:
    run = RunFactory()
    lifecycle.run_invited(run=run, at=NOW)
    lifecycle.run_leave(claim=claim(run))

    assert list(runs_to_invite(NOW + timedelta(seconds=1), ["default"])) == [run]


@pytest.mark.parametrize(
    "invited", [timedelta(seconds=-11), timedelta(hours=1)], ids=["lately", "in the future"]
)
def test_a_queued_run_that_nobody_took_is_offered_again_soon(invited: timedelta) -> None:
    run = RunFactory()
    lifecycle.run_invited(run=run, at=NOW + invited)

    assert list(runs_to_invite(NOW, ["default"])) == [run]


def test_runs_of_other_queues_are_offered_by_their_own_workers() -> None:
    RunFactory(queue="gpu")

    assert not runs_to_invite(NOW, ["default"]).exists()


@pytest.mark.parametrize("state", ["succeeded", "failed", "cancelled"])
def test_a_run_that_ended_is_never_claimed_again(state: str) -> None:
    run = RunFactory(state=state)

    assert claim(run, at=MUCH_LATER) is None


def test_a_queued_run_can_be_cancelled() -> None:
    run = RunFactory()

    cancelled = lifecycle.run_cancel(run_id=run.pk, at=NOW, message="Cancelled.")

    assert cancelled
    assert claim(run) is None


def test_the_worker_of_a_cancelled_run_finds_out_when_it_writes() -> None:
    run = RunFactory()
    taken = claim(run)
    lifecycle.run_cancel(run_id=run.pk, at=NOW, message="Cancelled.")

    with pytest.raises(RunStopped):
        lifecycle.run_beat(claim=taken, at=NOW, done=1)

    assert now_in_database(run).state == Run.State.CANCELLED


def test_a_run_that_ended_cannot_be_cancelled() -> None:
    run = RunFactory(state="succeeded", message="done")

    cancelled = lifecycle.run_cancel(run_id=run.pk, at=NOW, message="Cancelled.")

    assert not cancelled
    assert now_in_database(run).message == "done"
