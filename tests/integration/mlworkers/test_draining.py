"""Draining: what the worker's process does when its row says so, and what others then see of it."""

from collections.abc import Iterator
from types import SimpleNamespace

import pytest
from celery.worker import state
from django.utils.timezone import now

from curation.models import AuditEntry
from mlworkers import tasks
from mlworkers.models import WorkerHeartbeat
from mlworkers.runs.draining import Intake, work_in_hand, worker_drain, worker_undrain
from mlworkers.runs.presence import Presence
from mlworkers.runs.reporting import drained
from mlworkers.runs.selectors import assistants_wanted, queue_is_served, runs_to_invite
from tests.factories import RunFactory
from tests.integration.mlworkers.broker import InvitedRuns

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def not_drained() -> Iterator[None]:
    yield
    drained.clear()


class Consumer:
    """Celery's, as far as it is asked: what it is told it does when it comes to it."""

    def __init__(self) -> None:
        self.reads = {"default", "gpu"}
        self.asked = []
        self.away = False

    def call_soon(self, does) -> None:
        self.asked.append(does)

    def cancel_task_queue(self, queue: str) -> None:
        if self.away:
            raise ConnectionError
        self.reads.discard(queue)

    def add_task_queue(self, queue: str) -> None:
        self.reads.add(queue)

    def comes_to_it(self) -> None:
        asked, self.asked = self.asked, []
        for does in asked:
            does()


@pytest.fixture
def consumer() -> Consumer:
    return Consumer()


@pytest.fixture
def intake(consumer) -> Intake:
    return Intake(consumer, ["default", "gpu"])


def presence(intake: Intake, work=list) -> Presence:
    return Presence("gpu@host", ["gpu", "default"], intake=intake, work=work)


def test_a_drained_worker_reads_no_queue_as_soon_as_its_consumer_comes_to_it(intake, consumer) -> None:
    intake.follow(drain=True)
    before = (set(consumer.reads), intake.is_closed, drained.is_set())
    consumer.comes_to_it()

    assert before == ({"default", "gpu"}, False, True)  # runs learn of it at once
    assert (consumer.reads, intake.is_closed) == (set(), True)


def test_an_undrained_worker_reads_its_queues_again(intake, consumer) -> None:
    intake.follow(drain=True)
    consumer.comes_to_it()

    intake.follow(drain=False)
    consumer.comes_to_it()

    assert (consumer.reads, intake.is_closed, drained.is_set()) == ({"default", "gpu"}, False, False)


def test_a_worker_that_is_undrained_before_its_consumer_came_to_it_reads_on(intake, consumer) -> None:
    intake.follow(drain=True)
    intake.follow(drain=False)
    consumer.comes_to_it()

    assert (consumer.reads, intake.is_closed) == ({"default", "gpu"}, False)


def test_a_broker_that_was_away_is_told_with_the_next_heartbeat(intake, consumer) -> None:
    consumer.away = True
    intake.follow(drain=True)
    with pytest.raises(ConnectionError):
        consumer.comes_to_it()
    still_open = not intake.is_closed

    consumer.away = False
    intake.follow(drain=True)
    consumer.comes_to_it()

    assert still_open
    assert (consumer.reads, intake.is_closed) == (set(), True)


def test_a_worker_follows_its_row_and_says_what_it_has(intake, consumer) -> None:
    doing = [{"task": "mlworkers.execute", "about": 7, "seconds": 3}]
    worker = presence(intake, work=lambda: doing)
    worker._beat()
    row = WorkerHeartbeat.objects.get()
    started = row.started_at

    worker_drain(worker=row, by=None, at=now())
    worker._beat()
    consumer.comes_to_it()
    doing = []
    worker._beat()

    row.refresh_from_db()
    assert (row.is_closed, row.work, row.drain_at is not None) == (True, [], True)
    assert (row.queues, row.started_at) == (["default", "gpu"], started)


def test_a_process_of_a_drained_worker_s_name_is_not_drained(intake, consumer) -> None:
    worker = presence(intake)
    worker._beat()
    worker_drain(worker=WorkerHeartbeat.objects.get(), by=None, at=now())

    presence(Intake(consumer, ["gpu"]))._beat()

    assert WorkerHeartbeat.objects.get().drain_at is None
    assert not drained.is_set()


def test_what_celery_has_in_hand_is_told_with_its_number(monkeypatch) -> None:
    has = {
        "a": SimpleNamespace(name="annotation.design", args=[5], time_start=None),
        "b": SimpleNamespace(name="curation.sweep", args=[], time_start=None),
    }
    monkeypatch.setattr(state, "requests", has)

    assert work_in_hand() == [
        {"task": "annotation.design", "about": 5, "seconds": 0},
        {"task": "curation.sweep", "about": None, "seconds": 0},
    ]


def test_a_drained_worker_leaves_an_invitation_to_others_and_sends_none(queue: InvitedRuns) -> None:
    run = RunFactory(invited_at=now())
    drained.set()

    tasks.execute(run.pk)
    sweeps = tasks._sweep_if_idle(SimpleNamespace(limit=1), ["default"], now())

    run.refresh_from_db()
    assert (run.state, run.attempt) == ("queued", 0)
    assert (sweeps, queue.read()) == (None, [])
    assert list(runs_to_invite(now(), ["default"])) == [run]


def test_a_drained_worker_serves_no_queue_and_assists_with_nothing() -> None:
    run = RunFactory(state="running", queue="gpu", heartbeat_at=now())
    run.shards.create(stage="s", number=0)
    for name in ("one", "two"):
        WorkerHeartbeat.objects.create(name=name, queues=["gpu"], seen_at=now())
    wanted_before = assistants_wanted(run, now())

    worker_drain(worker=WorkerHeartbeat.objects.get(name="two"), by=None, at=now())
    wanted = assistants_wanted(run, now())
    served_by_one = queue_is_served("gpu", now())
    worker_drain(worker=WorkerHeartbeat.objects.get(name="one"), by=None, at=now())

    assert (wanted_before, wanted) == (1, 0)
    assert served_by_one
    assert not queue_is_served("gpu", now())


def test_each_change_is_one_entry_of_the_log(staff) -> None:
    worker = WorkerHeartbeat.objects.create(name="gpu@host/7", queues=["gpu"], seen_at=now())

    done = [worker_drain(worker=worker, by=staff, at=now()) for _again in range(2)]
    done += [worker_undrain(worker=worker, by=None) for _again in range(2)]

    entries = AuditEntry.objects.order_by("pk").values_list("action", "by", "via", "subject", "dataset")
    assert done == [True, False, True, False]
    assert list(entries) == [
        ("worker_drained", staff.pk, "site", "gpu@host/7", None),
        ("worker_undrained", None, "command", "gpu@host/7", None),
    ]
