"""What a worker does with an invitation, and how runs end."""

import errno
import gc
import sys
import weakref
from datetime import timedelta
from functools import partial
from types import ModuleType, SimpleNamespace

import pytest
from celery.worker import state
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from curation.files.writing import folder_replacing, sha256_of
from curation.foundation.errors import UserError
from curation.foundation.heartbeats import LOST_MAX, database_now
from curation.foundation.shared_files import StorageAway
from mlworkers import tasks
from mlworkers.kinds.exchange import pairs
from mlworkers.models import Run, WorkerHeartbeat
from mlworkers.runs import presence as presence_of_workers
from mlworkers.runs.draining import Intake
from mlworkers.runs.invitations import invite, kept_forget
from mlworkers.runs.jobs import NewArtifact, Outcome
from mlworkers.runs.lifecycle import RunStopped, run_cancel, run_claim
from mlworkers.runs.presence import Presence, workers_announce
from mlworkers.runs.reporting import WorkerLeaves, leaving
from mlworkers.runs.selectors import (
    live_workers,
    queue_is_served,
    queue_is_starting,
    runs_to_invite,
    worker_for,
)
from mlworkers.runs.services import run_again
from mlworkers.runs.storage import RunLog, kept_folder, run_folder, runs_with_kept
from tests.factories import DatasetFactory, PairFactory, RunFactory
from tests.integration.mlworkers.broker import InvitedRuns, broker_gone, folder_broken, sweep
from tests.runs import run_execute

pytestmark = pytest.mark.django_db


@pytest.fixture
def pipeline(monkeypatch):
    """Register what the export of these tests does."""

    def register(does) -> None:
        monkeypatch.setattr(pairs, "export_dataset", does)

    return register


class Model:
    """What a run loads."""


def raising(error: BaseException):
    def does(plan, job):
        raise error

    return does


def test_a_run_ends_with_its_outcome_and_its_file() -> None:
    dataset = DatasetFactory(slug="scenes")
    PairFactory.create_batch(3, dataset=dataset)
    run = run_execute(RunFactory(dataset=dataset))

    artifact = run.artifacts.get(kind="pairs")
    path = run_folder(run.pk) / "1" / "scenes.csv"
    assert (run.state, run.message, run.result["rows"]) == ("succeeded", "3 pairs written", 3)
    assert (artifact.name, artifact.sha256, artifact.size) == (
        "scenes.csv",
        sha256_of(path),
        path.stat().st_size,
    )


def test_an_invitation_to_a_run_that_another_worker_holds_is_let_be() -> None:
    run = RunFactory()
    run_claim(run_id=run.pk, worker="other", at=timezone.now())

    run_execute(run)

    assert (run.state, run.attempt, run.worker) == ("running", 1, "other")


@pytest.mark.parametrize("error", [UserError, ValueError])
def test_an_error_that_people_can_mend_is_shown_as_it_is(pipeline, error: type[Exception]) -> None:
    pipeline(raising(error("The file is empty; upload another.")))

    run = run_execute(RunFactory())

    assert (run.state, run.message) == ("failed", "The file is empty; upload another.")


def test_an_unexpected_error_is_shown_with_a_reference_that_the_log_explains(pipeline, caplog) -> None:
    pipeline(raising(KeyError("secret detail")))

    run = run_execute(RunFactory())

    reference = run.message.split("reference ")[1].split(" ")[0]
    log = RunLog(run.pk).tail()
    assert run.state == "failed"
    assert "secret detail" not in run.message
    assert "KeyError: 'secret detail'" in log
    assert reference in log
    assert reference in caplog.text


def test_a_full_disk_is_said_in_a_sentence(pipeline) -> None:
    pipeline(raising(OSError(errno.ENOSPC, "No space left on device")))

    run = run_execute(RunFactory(lost=LOST_MAX - 1))

    assert (run.state, run.message.split(",")[0]) == ("failed", "The disk is full")


def test_a_read_only_disk_is_said_in_a_sentence(pipeline) -> None:
    pipeline(raising(OSError(errno.EROFS, "Read-only file system")))

    run = run_execute(RunFactory(lost=LOST_MAX - 1))

    sentence = "The disk is read-only, so the run stopped. Make it writable and start the run again."
    assert (run.state, run.message) == ("failed", sentence)


def test_an_artefact_that_fills_the_disk_leaves_nothing_and_the_run_started_again_succeeds(
    pipeline, staff
) -> None:
    disk = {"full": True}

    def does(plan, job):
        with folder_replacing(job.folder / "model") as folder:
            (folder / "weights").write_text("new")
            (job.kept / "checkpoint").write_text("half of it")
            if disk["full"]:
                raise Exception("Error while serializing: I/O error: No space left on device (os error 28)")
        return Outcome("trained", {}, [NewArtifact("encoder", job.folder / "model")])

    pipeline(does)
    failed = run_execute(RunFactory(lost=LOST_MAX - 1))
    disk["full"] = False
    again = run_execute(run_again(run=failed, by=staff))

    sentence = "The disk is full, so model was not written; free some space and try again."
    assert (failed.state, failed.message) == ("failed", sentence)
    assert [path.name for path in run_folder(failed.pk).iterdir()] == ["log.txt"]
    assert (again.state, again.artifacts.get().name) == ("succeeded", "model")


@pytest.mark.parametrize("ends", [None, UserError, RunStopped])
def test_what_a_run_loaded_does_not_stay_in_the_worker_s_memory(pipeline, monkeypatch, ends) -> None:
    monkeypatch.setitem(sys.modules, "torch", ModuleType("torch"))
    monkeypatch.setitem(
        sys.modules, "mlworkers.science.pretrained.compute", SimpleNamespace(release_memory=gc.collect)
    )
    loaded = []

    def does(plan, job):
        model = Model()
        model.itself = model  # only a collection finds it
        loaded.append(weakref.ref(model))
        if ends:
            raise ends("too little memory, perhaps")
        return Outcome("done", {})

    pipeline(does)
    gc.disable()
    try:
        run_execute(RunFactory())
    finally:
        gc.enable()

    assert loaded[0]() is None


def test_a_worker_that_is_asked_to_end_lets_go_of_its_run_and_invites_another(
    pipeline, queue: InvitedRuns
) -> None:
    pipeline(raising(WorkerLeaves()))

    run = run_execute(RunFactory(invited_at=timezone.now()))

    assert (run.state, run.heartbeat_at) == ("running", None)
    assert queue.read() == [run.pk]
    assert run_claim(run_id=run.pk, worker="next", at=timezone.now()) is not None


def test_a_worker_that_was_asked_to_end_leaves_an_invitation_to_others() -> None:
    run = RunFactory(invited_at=timezone.now())

    leaving.set()
    try:
        run_execute(run)
    finally:
        leaving.clear()

    assert (run.state, run.attempt) == ("queued", 0)
    assert list(runs_to_invite(timezone.now(), ["default"])) == [run]


def test_a_worker_that_must_exit_at_once_lets_go_of_its_run_too(pipeline) -> None:
    pipeline(raising(SystemExit(1)))
    run = RunFactory()

    with pytest.raises(SystemExit):
        tasks.execute(run.pk)

    run.refresh_from_db()
    assert (run.state, run.heartbeat_at) == ("running", None)


def test_a_run_that_was_cancelled_while_it_worked_stays_cancelled(pipeline) -> None:
    def does(plan, job):
        run_cancel(run_id=run.pk, at=timezone.now(), message="Cancelled by the owner.")
        return Outcome("done after all", {})

    pipeline(does)
    run = RunFactory()

    run_execute(run)

    assert (run.state, run.message) == ("cancelled", "Cancelled by the owner.")


def test_files_of_an_attempt_that_was_given_up_are_removed() -> None:
    run = RunFactory()
    run_claim(run_id=run.pk, worker="killed", at=timezone.now() - timedelta(hours=1))
    left = run_folder(run.pk) / "1" / "half.csv"
    left.parent.mkdir(parents=True)
    left.write_text("half")

    run_execute(run)

    assert (run.state, run.attempt) == ("succeeded", 2)
    assert not left.parent.exists()


@pytest.mark.parametrize("error", [UserError("The disk is full."), RunStopped("cancelled")])
def test_files_of_a_run_that_came_to_nothing_are_removed(pipeline, error: Exception) -> None:
    def does(plan, job):
        (job.folder / "half.csv").write_text("half")
        raise error

    pipeline(does)
    run = RunFactory()

    run_execute(run)

    assert not list(run_folder(run.pk).rglob("half.csv"))


def test_what_a_killed_worker_could_not_remove_goes_with_the_next_start() -> None:
    runs = {state: RunFactory(state=state) for state in ("queued", "running", "failed", "succeeded")}
    for run in runs.values():
        kept_folder(run.pk).mkdir(parents=True)

    kept_forget(runs_with_kept())

    assert [state for state, run in runs.items() if kept_folder(run.pk).exists()] == ["queued", "running"]


def test_a_store_that_is_away_ends_neither_the_tidying_nor_its_other_half(monkeypatch) -> None:
    run = RunFactory(state="failed")
    kept_folder(run.pk).mkdir(parents=True)

    def away(**_about: object) -> None:
        raise StorageAway("The file storage does not answer.")

    monkeypatch.setattr(tasks, "imports_tidy", away)
    tasks._tidy()

    assert not kept_folder(run.pk).exists()


def test_the_sweep_invites_to_runs_that_nobody_took_and_to_those_of_silent_workers(
    queue: InvitedRuns,
) -> None:
    long_ago = timezone.now() - timedelta(minutes=10)
    forgotten = RunFactory()
    silent = RunFactory()
    run_claim(run_id=silent.pk, worker="killed", at=long_ago)
    at_work = RunFactory()
    run_claim(run_id=at_work.pk, worker="busy", at=timezone.now())
    RunFactory(state="succeeded")

    sweep()

    assert sorted(queue.read()) == sorted([forgotten.pk, silent.pk])


def test_a_second_sweep_does_not_repeat_a_fresh_invitation(queue: InvitedRuns) -> None:
    RunFactory()
    sweep()
    queue.read()

    sweep()

    assert queue.read() == []


def test_of_two_sweeps_at_once_one_sends_the_invitation(queue: InvitedRuns) -> None:
    run = RunFactory()
    seen_by_both = [Run.objects.get(pk=run.pk), Run.objects.get(pk=run.pk)]

    for seen in seen_by_both:
        invite(seen, timezone.now())

    assert queue.read() == [run.pk]


def one_beat(pool: SimpleNamespace) -> Presence:
    """A worker's presence that has written its first heartbeat."""
    sweep = partial(tasks._sweep_if_idle, pool, ["default"])
    intake = Intake(SimpleNamespace(), ["default"])
    presence = Presence("default@host", ["default"], intake=intake, work=list, sweep=sweep)
    presence._beat()
    return presence


@pytest.mark.django_db(transaction=True)
def test_an_idle_worker_costs_one_transaction_with_each_heartbeat_and_none_for_tidying() -> None:
    presence = one_beat(SimpleNamespace(limit=1))

    with CaptureQueriesContext(connection) as asked:
        presence._beat()
        tasks._tidy()

    statements = [query["sql"].partition(" ")[0] for query in asked.captured_queries]
    assert (statements[0], statements[-1]) == ("BEGIN", "COMMIT")
    assert (statements.count("BEGIN"), statements.count("COMMIT")) == (1, 1)


def test_an_idle_worker_looks_again_as_soon_as_a_silent_run_is_to_be_had(queue: InvitedRuns) -> None:
    presence = one_beat(SimpleNamespace(limit=1))
    at = database_now()
    for silent in (1, 58):  # of 60 seconds; the other run's holder will be heard of again
        run_claim(run_id=RunFactory().pk, worker="other", at=at - timedelta(seconds=silent))

    soon = presence._beat()
    Run.objects.update(state="succeeded")
    later = presence._beat()

    assert 1 < soon <= 2
    assert later == presence_of_workers.SECONDS_BETWEEN_BEATS


@pytest.mark.parametrize("away", [broker_gone, folder_broken])
def test_where_the_broker_is_away_a_sweep_asks_it_once_and_does_not_fail(away, caplog, tmp_path) -> None:
    RunFactory.create_batch(3)

    with away() if away is broker_gone else away(tmp_path):
        sweep()

    assert len([record for record in caplog.records if "cannot be reached" in record.message]) == 1


def test_a_busy_worker_invites_nobody(queue: InvitedRuns) -> None:
    run, message = RunFactory(), Model()
    one_at_a_time = SimpleNamespace(limit=1)

    state.reserved_requests.add(message)
    presence = one_beat(one_at_a_time)
    while_busy = queue.read()
    state.reserved_requests.discard(message)
    presence._beat()

    assert (while_busy, queue.read()) == ([], [run.pk])


def test_workers_that_were_killed_long_ago_are_forgotten() -> None:
    old = timezone.now() - timedelta(days=2)
    WorkerHeartbeat.objects.create(name="killed", queues=["default"], seen_at=old)

    tasks.tidy()

    assert not WorkerHeartbeat.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_a_worker_is_known_from_its_start_to_its_end() -> None:
    intake = Intake(SimpleNamespace(), ["default"])
    presence = Presence("default@host", ["default"], intake=intake, work=list)

    presence.start()
    while_it_lives = queue_is_served("default", timezone.now())
    presence.end()

    assert while_it_lives
    assert not queue_is_served("gpu", timezone.now())
    assert not queue_is_served("default", timezone.now())


@pytest.mark.django_db(transaction=True)
def test_a_worker_is_starting_until_its_first_heartbeat() -> None:
    workers_announce(["default", "gpu"])
    announced = worker_for("default")
    presence = Presence("default@host", ["default"], intake=Intake(SimpleNamespace(), ["default"]), work=list)

    presence.start()
    begun = worker_for("default")
    presence.end()

    assert (announced["served"], announced["starting"]) == (False, True)
    assert (begun["served"], begun["starting"]) == (True, False)
    assert not worker_for("default")["starting"], "it has started, and ended"
    assert worker_for("gpu")["starting"]
    assert live_workers(timezone.now()) == []


def test_a_worker_that_never_starts_is_starting_for_half_a_minute() -> None:
    workers_announce(["default"])

    assert queue_is_starting("default", timezone.now() + timedelta(seconds=29))
    assert not queue_is_starting("default", timezone.now() + timedelta(seconds=31))


def test_a_worker_that_was_killed_is_taken_for_dead_after_half_a_minute() -> None:
    seen = timezone.now()
    WorkerHeartbeat.objects.create(name="killed", queues=["default"], seen_at=seen)

    assert queue_is_served("default", seen + timedelta(seconds=29))
    assert not queue_is_served("default", seen - timedelta(hours=1))  # the clock was put back since
    assert not queue_is_served("default", seen + timedelta(seconds=31))
