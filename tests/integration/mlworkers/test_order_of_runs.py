"""Which of the runs that wait a worker takes: the order is in their rows, not in the messages."""

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils.timezone import now

from curation.foundation.heartbeats import LOST_MAX
from curation.models import AuditEntry
from mlworkers import tasks
from mlworkers.kinds.exchange import pairs
from mlworkers.models import Run
from mlworkers.plans.kinds import KINDS, LONG
from mlworkers.runs.jobs import Outcome
from mlworkers.runs.lifecycle import run_claim_next
from mlworkers.runs.selectors import LONG_AT_ONCE, runs_before, runs_to_invite
from mlworkers.runs.services import run_put_first
from tests.factories import RunFactory, client_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def waiting() -> list[Run]:
    """Three runs of a queue, and one of another that was put first there."""
    RunFactory(queue="gpu", priority=9)
    return RunFactory.create_batch(3)


@pytest.fixture
def taken(monkeypatch) -> list[int]:
    """The numbers of the runs in the order in which they are carried out."""
    numbers = []

    def does(plan, job):
        numbers.append(job.run_id)
        return Outcome("done", {})

    monkeypatch.setattr(pairs, "export_dataset", does)
    return numbers


def test_runs_are_taken_in_the_order_of_their_start(waiting, taken) -> None:
    for run in waiting:
        tasks.execute(run.pk)

    assert taken == [run.pk for run in waiting]


def test_a_run_that_was_put_first_is_taken_by_the_next_invitation_and_none_is_forgotten(
    waiting, taken
) -> None:
    first, second, third = waiting
    put = run_put_first(run=third, by=None)

    for run in waiting:
        tasks.execute(run.pk)

    assert put
    assert taken == [third.pk, first.pk, second.pk]


def test_the_last_one_that_was_put_first_goes_first(waiting) -> None:
    first, second, third = waiting
    run_put_first(run=second, by=None)
    run_put_first(run=third, by=None)

    line = list(runs_to_invite(now(), ["default"]))

    assert line == [third, second, first]
    for run in waiting:
        run.refresh_from_db()
    assert [runs_before(run).count() for run in (third, second, first)] == [0, 1, 2]


def test_a_run_that_has_begun_cannot_be_put_first(waiting) -> None:
    Run.objects.filter(pk=waiting[2].pk).update(state="running")

    assert not run_put_first(run=waiting[2], by=None)
    assert set(Run.objects.filter(queue="default").values_list("priority", flat=True)) == {0}
    assert not AuditEntry.objects.exists()


def test_an_invitation_to_a_run_that_was_deleted_takes_nothing(waiting, taken) -> None:
    tasks.execute(max(run.pk for run in waiting) + 1000)

    assert taken == []


def test_several_that_were_put_first_go_before_all_others_and_none_is_forgotten(taken) -> None:
    runs = RunFactory.create_batch(5)
    run_put_first(run=runs[3], by=None)
    run_put_first(run=runs[2], by=None)

    for run in runs:
        tasks.execute(run.pk)

    assert taken == [runs[number].pk for number in (2, 3, 0, 1, 4)]


def test_a_run_that_is_given_up_is_not_taken(waiting) -> None:
    silent = {"state": "running", "heartbeat_at": now() - timedelta(hours=1), "lost": LOST_MAX - 1}
    Run.objects.filter(pk=waiting[0].pk).update(**silent)

    claim = run_claim_next(run_id=waiting[0].pk, worker="w", at=now())

    waiting[0].refresh_from_db()
    assert (waiting[0].state, claim) == ("failed", None)


def test_long_runs_leave_some_of_a_worker_s_threads_to_what_people_wait_for(waiting, taken) -> None:
    held = {"kind": LONG[0], "state": "running", "heartbeat_at": now(), "worker": "w"}
    for _number in range(LONG_AT_ONCE - 1):
        RunFactory(**held)
    one_more = RunFactory(kind=LONG[1], priority=3)
    room_for_one = run_claim_next(run_id=waiting[0].pk, worker="w", at=now(), without=left("w"))
    RunFactory(kind=LONG[1], priority=4)
    then = run_claim_next(run_id=waiting[0].pk, worker="w", at=now(), without=left("w"))

    assert room_for_one is not None
    assert room_for_one.run_id == one_more.pk
    assert then is not None
    assert then.run_id == waiting[0].pk
    assert left("another") == []
    assert {KINDS[name].queue for name in LONG} == {"default"}


def left(worker: str) -> list[str]:
    return tasks.kinds_left_to_others(worker, now())


def test_staff_put_a_waiting_run_first_on_its_page(client, staff, waiting) -> None:
    client.force_login(staff)
    page = reverse("mlworkers:run_detail", args=[waiting[2].pk])
    before = client.get(page).text

    client.post(reverse("mlworkers:run_first", args=[waiting[2].pk]))

    after = client.get(page).text
    entry = AuditEntry.objects.get()
    assert "2 runs of the queue “default” go before this one." in before
    assert "Run next" in before
    assert "before this one" not in after
    assert (entry.action, entry.dataset, entry.details) == (
        "run_put_first",
        waiting[2].dataset,
        {"run": waiting[2].pk},
    )


def test_members_see_how_many_go_before_and_cannot_change_it(client, owner, dataset, waiting) -> None:
    run = RunFactory(dataset=dataset)
    client.force_login(owner)

    page = client.get(reverse("mlworkers:run_detail", args=[run.pk])).text
    answer = client.post(reverse("mlworkers:run_first", args=[run.pk]))

    assert "3 runs of the queue “default” go before this one." in page
    assert "Run next" not in page
    assert answer.status_code == 403


def test_programs_of_staff_put_a_run_first_too(staff, waiting) -> None:
    answer = client_of(staff).post(f"/api/v1/runs/{waiting[2].pk}/first/")

    assert (answer.status_code, answer.json()["priority"]) == (200, 2)
