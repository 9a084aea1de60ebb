"""Workers that share a run: none does what another does, and each may vanish."""

import threading
import time
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.db import transaction
from django.utils import timezone

from curation.foundation.heartbeats import LOST_MAX
from mlworkers import tasks
from mlworkers.kinds.exchange import pairs
from mlworkers.models import Run, RunShard, WorkerHeartbeat
from mlworkers.runs.lifecycle import (
    RunStopped,
    run_beat,
    run_cancel,
    run_claim,
    run_leave,
    shard_claim,
    shard_finish,
    shards_open,
)
from mlworkers.runs.reporting import WorkerLeaves, leaving
from mlworkers.runs.storage import RunLog, kept_folder, run_folder
from tests.factories import RunFactory
from tests.integration.mlworkers.broker import InvitedRuns, sweep
from tests.integration.mlworkers.sharing import (
    PATIENCE,
    SIZE,
    Drawing,
    assisted,
    at_the_same_time,
    carried_out,
    held,
    in_a_thread,
)

# Every worker has a connection of its own, which sees only what is committed.
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def draws(monkeypatch) -> Callable[..., Drawing]:
    """What the export of these tests does instead."""

    def register(count: int, **how) -> Drawing:
        drawing = Drawing(count, **how)
        monkeypatch.setattr(pairs, "export_dataset", drawing)
        return drawing

    return register


@pytest.fixture
def run() -> Run:
    return RunFactory()


@pytest.fixture
def quick(settings) -> None:
    """Silence counts soon."""
    settings.RUN_STALE_SECONDS = 1.2


def idle_workers(count: int) -> None:
    for number in range(count):
        WorkerHeartbeat.objects.create(name=f"{number}", queues=["default"], seen_at=timezone.now())


def states(run: Run) -> list[str]:
    return list(run.shards.order_by("number").values_list("state", flat=True))


def eventually(is_so: Callable[[], object]) -> None:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        if is_so():
            return
        time.sleep(0.02)
    pytest.fail("It did not come about.")


def sum_of(run: Run) -> str:
    return run.artifacts.get().sha256


def test_two_workers_share_a_run_do_no_shard_twice_and_make_what_one_makes(draws, run) -> None:
    alone = draws(6)
    expected = sum_of(carried_out())
    both_are_there = threading.Barrier(2)
    drawing = draws(6, meanwhile=lambda number, report: number < 2 and both_are_there.wait(PATIENCE))

    with at_the_same_time("holder", held, run):
        eventually(run.shards.exists)
        assisted(run)

    run.refresh_from_db()
    assert (run.state, run.attempt, run.done, run.total) == ("succeeded", 1, 60, 60)
    assert drawing.calls == drawing.once_each == alone.calls
    assert len(drawing.workers) == 2
    assert sum_of(run) == expected
    assert set(states(run)) == {"done"}


def test_a_worker_alone_does_every_shard_and_invites_nobody(draws, queue: InvitedRuns) -> None:
    drawing = draws(3)
    idle_workers(1)  # the holder itself

    run = carried_out()

    assert (run.state, run.message, run.result) == ("succeeded", "drawn", {"shards": 3})
    assert drawing.calls == drawing.once_each
    assert queue.read("mlworkers.assist") == []


@pytest.mark.parametrize(("workers", "shards", "invited"), [(3, 9, 2), (9, 3, 3), (2, 1, 0)])
def test_as_many_idle_workers_are_invited_as_there_are_shards_for(
    draws, run, queue: InvitedRuns, workers: int, shards: int, invited: int
) -> None:
    draws(shards)
    idle_workers(workers)

    carried_out(run)

    assert queue.read("mlworkers.assist") == [run.pk] * invited


def test_the_sweep_invites_again_to_shards_that_nobody_does(run, queue: InvitedRuns) -> None:
    idle_workers(3)
    run_claim(run_id=run.pk, worker="holder", at=timezone.now())
    shards_open(run_id=run.pk, stage="draw", sizes=[SIZE] * 5)
    for worker in ("holder", "assistant"):
        shard_claim(run_id=run.pk, stage="draw", worker=worker, at=timezone.now())

    sweep()

    assert queue.read("mlworkers.assist") == [run.pk]  # one worker holds the run, one assists, one is idle


@pytest.mark.parametrize("ahead", [timedelta(seconds=30), timedelta(hours=1)])
def test_a_shard_s_heartbeat_from_the_future_does_not_hide_a_dead_worker(run, ahead: timedelta) -> None:
    run_claim(run_id=run.pk, worker="holder", at=timezone.now())
    shards_open(run_id=run.pk, stage="draw", sizes=[SIZE])
    wanted = {"run_id": run.pk, "stage": "draw"}
    shard_claim(**wanted, worker="dead", at=timezone.now() + ahead)

    assert shard_claim(**wanted, worker="next", at=timezone.now()) is not None


def test_the_sweep_invites_nobody_to_a_run_whose_holder_is_silent(run, queue: InvitedRuns) -> None:
    idle_workers(3)
    run_claim(run_id=run.pk, worker="killed", at=timezone.now() - timedelta(minutes=10))
    shards_open(run_id=run.pk, stage="draw", sizes=[SIZE] * 5)

    sweep()

    assert queue.read("mlworkers.assist") == []


@pytest.mark.parametrize("state", ["queued", "succeeded", "failed", "cancelled"])
def test_an_invitation_that_comes_too_late_or_too_early_changes_nothing(draws, state: str) -> None:
    drawing = draws(3)
    run = RunFactory(state=state)
    shards_open(run_id=run.pk, stage="draw", sizes=[SIZE] * 3)

    tasks.assist(run.pk)

    run.refresh_from_db()
    assert (run.state, states(run), drawing.calls) == (state, ["waiting"] * 3, {})
    assert not run_folder(run.pk).exists()


def test_a_worker_that_assists_finishes_no_run_and_leaves_no_file_of_its_own(draws, run) -> None:
    drawing = draws(3)
    run_claim(run_id=run.pk, worker="holder", at=timezone.now())
    shards_open(run_id=run.pk, stage="draw", sizes=[SIZE] * 3)

    tasks.assist(run.pk)
    tasks.assist(run.pk)  # the invitation came twice

    run.refresh_from_db()
    assert (run.state, run.artifacts.count(), states(run)) == ("running", 0, ["done"] * 3)
    assert drawing.calls == drawing.once_each
    files = [path for path in run_folder(run.pk).rglob("*") if path.is_file() and path.name != "log.txt"]
    assert {path.parent.name for path in files} == {"draw"}


def test_a_shard_whose_assistant_was_killed_is_done_by_the_holder(draws, run) -> None:
    drawing = draws(3)
    long_ago = timezone.now() - timedelta(minutes=10)
    run_leave(claim=run_claim(run_id=run.pk, worker="first", at=long_ago))
    shards_open(run_id=run.pk, stage="draw", sizes=[SIZE] * 3)
    shard_claim(run_id=run.pk, stage="draw", worker="killed", at=long_ago)

    held(run)

    run.refresh_from_db()
    assert (run.state, drawing.calls) == ("succeeded", drawing.once_each)
    assert list(run.shards.order_by("number").values_list("attempt", flat=True)) == [2, 1, 1]


def test_the_holder_waits_for_a_shard_until_its_worker_has_been_silent_for_long(draws, run, quick) -> None:
    drawing = draws(2)
    run_leave(claim=run_claim(run_id=run.pk, worker="first", at=timezone.now()))
    shards_open(run_id=run.pk, stage="draw", sizes=[SIZE] * 2)
    claimed = timezone.now()
    shard_claim(run_id=run.pk, stage="draw", worker="killed a moment ago", at=claimed)

    held(run)

    run.refresh_from_db()
    assert (run.state, drawing.calls) == ("succeeded", drawing.once_each)
    assert run.finished_at > claimed + timedelta(seconds=1.2)


def test_what_was_done_before_the_holder_was_killed_is_not_done_again(draws, run) -> None:
    first = draws(4, meanwhile=lambda number, report: number == 2 and killed())

    def killed() -> None:
        raise SystemExit(9)

    with pytest.raises(SystemExit):
        held(run)
    second = draws(4)
    held(run)

    run.refresh_from_db()
    assert (run.state, run.attempt) == ("succeeded", 2)
    assert [number for _stage, number in sorted(first.calls)] == [0, 1, 2]
    assert [number for _stage, number in sorted(second.calls)] == [2, 3]


@pytest.mark.exhaustive
def test_a_shard_that_takes_long_keeps_its_worker(draws, run, quick) -> None:
    drawing = draws(2, meanwhile=lambda number, report: time.sleep(2.0))

    with at_the_same_time("holder", held, run):
        eventually(lambda: run.shards.filter(state="running").exists())
        assisted(run)

    run.refresh_from_db()
    assert (run.state, drawing.calls) == ("succeeded", drawing.once_each)


def test_a_paused_worker_that_comes_late_changes_nothing(run) -> None:
    run_claim(run_id=run.pk, worker="holder", at=timezone.now())
    shards_open(run_id=run.pk, stage="draw", sizes=[SIZE])
    paused = shard_claim(
        run_id=run.pk, stage="draw", worker="paused", at=timezone.now() - timedelta(minutes=10)
    )
    shard_claim(run_id=run.pk, stage="draw", worker="next", at=timezone.now())
    before = RunShard.objects.values().get()

    shard_finish(claim=paused, at=timezone.now())

    assert RunShard.objects.values().get() == before


def test_of_two_workers_that_want_one_shard_one_gets_it(run) -> None:
    run_claim(run_id=run.pk, worker="holder", at=timezone.now())
    shards_open(run_id=run.pk, stage="draw", sizes=[SIZE])

    claims = [shard_claim(run_id=run.pk, stage="draw", worker=name, at=timezone.now()) for name in "ab"]

    assert [claim is not None for claim in claims] == [True, False]


def test_a_claim_that_had_to_wait_for_another_s_write_does_not_undo_it(run) -> None:
    run_claim(run_id=run.pk, worker="holder", at=timezone.now())
    shards_open(run_id=run.pk, stage="draw", sizes=[SIZE])
    claims = []

    def claim_too(run: Run) -> None:
        claims.append(shard_claim(run_id=run.pk, stage="draw", worker="second", at=timezone.now()))

    with transaction.atomic():
        first = shard_claim(run_id=run.pk, stage="draw", worker="first", at=timezone.now())
        shard_finish(claim=first, at=timezone.now())
        second = in_a_thread("second", claim_too, run)
        time.sleep(0.3)  # it has seen the shard wait, and wants to write
    second.join(PATIENCE)

    assert claims == [None]
    assert states(run) == ["done"]


def test_a_shard_whose_file_is_gone_is_done_again(draws, run) -> None:
    drawing = draws(3)
    run_claim(run_id=run.pk, worker="holder", at=timezone.now())
    shards_open(run_id=run.pk, stage="draw", sizes=[SIZE] * 3)
    tasks.assist(run.pk)
    (kept_folder(run.pk) / "shards" / "draw" / "00001").unlink()
    Run.objects.filter(pk=run.pk).update(heartbeat_at=None)

    held(run)

    run.refresh_from_db()
    assert run.state == "succeeded"
    assert drawing.calls - drawing.once_each == {("draw", 1): 1}


def test_a_cancel_reaches_both_the_holder_and_who_assists(draws, run) -> None:
    begun = threading.Barrier(3)

    def until_stopped(number: int, report) -> None:
        begun.wait(PATIENCE)
        for done in range(int(PATIENCE / 0.02)):
            report(done % SIZE, SIZE, "drawing")
            time.sleep(0.02)

    draws(2, meanwhile=until_stopped)
    with at_the_same_time("holder", held, run):
        eventually(run.shards.exists)
        with at_the_same_time("assistant", assisted, run):
            begun.wait(PATIENCE)
            run_cancel(run_id=run.pk, at=timezone.now(), message="Cancelled.")

    run.refresh_from_db()
    assert (run.state, run.message) == ("cancelled", "Cancelled.")
    assert not kept_folder(run.pk).exists()
    assert not run.artifacts.exists()


@pytest.mark.exhaustive
def test_what_assistants_have_done_counts_in_the_run_s_progress(draws, run) -> None:
    half_way, go_on = threading.Barrier(2), threading.Event()

    def wait(number: int, report) -> None:
        half_way.wait(PATIENCE)
        while not go_on.wait(0.02):
            report(SIZE // 2, SIZE, "drawing")

    draws(2, meanwhile=wait)
    seen = []
    with at_the_same_time("holder", held, run):
        eventually(run.shards.exists)
        with at_the_same_time("assistant", assisted, run):
            try:
                eventually(Run.objects.filter(pk=run.pk, done=SIZE).exists)
                seen.append(Run.objects.get(pk=run.pk))
            finally:
                go_on.set()

    assert (seen[0].done, seen[0].total, seen[0].message) == (SIZE, 2 * SIZE, "Stage draw")


def test_what_a_shard_s_work_says_stands_in_the_run_s_log_whoever_does_it(draws, run) -> None:
    both_are_there = threading.Barrier(2)

    def says(number: int, report) -> None:
        report(1, SIZE, "Memory ran short")
        both_are_there.wait(PATIENCE)

    draws(2, meanwhile=says)
    with at_the_same_time("holder", held, run):
        eventually(run.shards.exists)
        assisted(run)

    log = RunLog(run.pk).tail(100)
    assert log.count("Memory ran short") == 2
    assert log.count("assistant: Memory ran short") == 1


def test_an_assistant_s_error_ends_its_own_help_and_not_the_run(draws, run, caplog) -> None:
    def fails_elsewhere(number: int, report) -> None:
        if threading.current_thread().name == "assistant":
            raise KeyError("no such driver")
        assistant_failed.wait(PATIENCE)

    assistant_failed = threading.Event()
    drawing = draws(3, meanwhile=fails_elsewhere)
    with at_the_same_time("holder", held, run):
        eventually(lambda: run.shards.filter(state="running").exists())
        with at_the_same_time("assistant", assisted, run):
            pass
        assistant_failed.set()

    run.refresh_from_db()
    assert (run.state, run.result) == ("succeeded", {"shards": 3})
    assert sum(drawing.calls.values()) == 4
    assert "no such driver" in RunLog(run.pk).tail(100)
    assert "the assistance of assistant failed" in caplog.text


def test_a_shard_that_came_to_nothing_three_times_is_left_to_the_holder(run, queue: InvitedRuns) -> None:
    run_claim(run_id=run.pk, worker="holder", at=timezone.now())
    shards_open(run_id=run.pk, stage="draw", sizes=[SIZE])
    RunShard.objects.update(attempt=3)
    wanted = {"run_id": run.pk, "stage": "draw", "worker": "w", "at": timezone.now()}

    idle_workers(3)
    sweep()

    assert queue.read("mlworkers.assist") == []
    assert shard_claim(**wanted, assisting=True) is None
    assert shard_claim(**wanted) is not None


def test_an_assistant_that_is_asked_to_end_lets_go_of_its_shard(draws, run) -> None:
    def leaves(number: int, report) -> None:
        raise WorkerLeaves

    draws(2, meanwhile=leaves)
    run_claim(run_id=run.pk, worker="holder", at=timezone.now())
    shards_open(run_id=run.pk, stage="draw", sizes=[SIZE] * 2)

    assisted(run)

    run.refresh_from_db()
    assert (run.state, states(run)) == ("running", ["waiting", "waiting"])


LONG = 600  # seconds of silence after which nobody doubts


def held_by_one_that_vanished(run: Run, shards: int, *, silent_for: float = LONG) -> None:
    """Its holder had the first shard."""
    at = timezone.now() - timedelta(seconds=silent_for)
    run_claim(run_id=run.pk, worker="gone", at=at)
    Run.objects.filter(pk=run.pk).update(total=shards * SIZE)
    shards_open(run_id=run.pk, stage="draw", sizes=[SIZE] * shards)
    shard_claim(run_id=run.pk, stage="draw", worker="gone", at=at)


def held_by_the_assistant(run: Run) -> bool:
    return Run.objects.filter(pk=run.pk, worker="assistant", attempt=2).exists()


def test_who_assists_takes_over_from_a_holder_that_vanished_in_the_middle_of_its_shard_and_ends_the_run(
    draws, run, quick
) -> None:
    expected = sum_of(carried_out()) if draws(4) else ""
    drawing = draws(4, meanwhile=lambda number, report: eventually(lambda: held_by_the_assistant(run)))
    held_by_one_that_vanished(run, 4)

    assisted(run)

    run.refresh_from_db()
    assert (run.state, run.attempt, run.lost, run.worker) == ("succeeded", 2, 1, "assistant")
    assert drawing.calls == drawing.once_each
    assert (sum_of(run), run.done, run.total) == (expected, 40, 40)


def test_two_that_assist_with_a_run_whose_holder_vanished_get_one_holder(draws, run) -> None:
    taken_over = Run.objects.filter(pk=run.pk, attempt__gt=1)
    drawing = draws(6, meanwhile=lambda number, report: eventually(taken_over.all().exists))
    held_by_one_that_vanished(run, 6)

    with at_the_same_time("first", assisted, run), at_the_same_time("second", assisted, run):
        pass

    run.refresh_from_db()
    assert (run.state, run.attempt, run.artifacts.count()) == ("succeeded", 2, 1)
    assert drawing.calls == drawing.once_each


def test_progress_moves_while_who_assists_holds_the_run(draws, run) -> None:
    def wait(number: int, report) -> None:
        report(SIZE // 2, SIZE, "drawing")
        moved = Run.objects.filter(
            pk=run.pk, attempt=2, done=SIZE + SIZE // 2, total=3 * SIZE, message="Stage draw"
        )
        eventually(lambda: number != 1 or moved.all().exists())

    draws(3, meanwhile=wait)
    held_by_one_that_vanished(run, 3)

    assisted(run)

    assert Run.objects.get(pk=run.pk).state == "succeeded"


def test_progress_moves_by_what_others_finish_before_a_quiet_holder_counts_as_gone(draws, run) -> None:
    moved = Run.objects.filter(pk=run.pk, attempt=1, worker="gone", done__gte=SIZE)
    draws(3, meanwhile=lambda number, report: eventually(lambda: number != 2 or moved.all().exists()))
    held_by_one_that_vanished(run, 3, silent_for=25)
    before = Run.objects.get(pk=run.pk).heartbeat_at

    assisted(run)

    assert (moved.exists(), Run.objects.get(pk=run.pk).heartbeat_at) == (True, before)


def test_who_took_a_run_over_and_is_asked_to_end_hands_it_back(draws, run, queue: InvitedRuns) -> None:
    def leaves(number: int, report) -> None:
        eventually(lambda: held_by_the_assistant(run))
        leaving.set()
        report(SIZE // 2, SIZE, "drawing")

    draws(3, meanwhile=leaves)
    held_by_one_that_vanished(run, 3)

    try:
        assisted(run)
    finally:
        leaving.clear()

    run.refresh_from_db()
    assert (run.state, run.heartbeat_at) == ("running", None)
    assert queue.read() == [run.pk]


def test_a_holder_that_was_only_paused_can_write_no_more_after_it_was_replaced(draws, run) -> None:
    draws(2, meanwhile=lambda number, report: eventually(lambda: held_by_the_assistant(run)))
    paused = run_claim(run_id=run.pk, worker="paused", at=timezone.now() - timedelta(seconds=LONG))
    shards_open(run_id=run.pk, stage="draw", sizes=[SIZE] * 2)

    assisted(run)

    with pytest.raises(RunStopped):
        run_beat(claim=paused, at=timezone.now(), done=1)


def test_who_assists_passes_a_stage_that_is_done_to_the_one_that_waits(draws, run) -> None:
    drawing = draws(2, stages=("draw", "colour"))
    run_claim(run_id=run.pk, worker="holder", at=timezone.now())
    for stage in drawing.stages:
        shards_open(run_id=run.pk, stage=stage, sizes=[SIZE] * 2)

    assisted(run)

    assert drawing.calls == drawing.once_each
    assert Run.objects.get(pk=run.pk).state == "running"


def test_who_assists_goes_no_further_than_the_last_stage(draws, run) -> None:
    drawing = draws(2, stages=("draw", "colour"))
    run_claim(run_id=run.pk, worker="holder", at=timezone.now())
    shards_open(run_id=run.pk, stage="draw", sizes=[SIZE] * 2)

    assisted(run)

    assert drawing.calls == {("draw", 0): 1, ("draw", 1): 1}


def test_a_shard_that_fills_the_disk_fails_the_run_with_one_sentence_and_leaves_nothing(draws, run) -> None:
    def full(number: int, report) -> None:
        if number == 1:
            raise OSError(28, "No space left on device")

    draws(3, meanwhile=full)
    run.lost = LOST_MAX - 1
    run.save()

    carried_out(run)

    assert (run.state, run.message) == (
        "failed",
        "The disk is full, so the run stopped. Free some space and start the run again.",
    )
    assert [path.name for path in run_folder(run.pk).iterdir()] == ["log.txt"]
