"""Beat writes that it lives; `/healthz`, doctor and the page of workers say where it does not."""

from datetime import timedelta

import pytest
from celery import Celery
from django.db import connection
from django.db.utils import OperationalError
from django.urls import reverse
from django.utils.timezone import now

from mlworkers.models import BeatHeartbeat, WorkerHeartbeat
from semblance import beat as beat_module
from semblance.beat import SECONDS_BETWEEN_BEATS, BeatThatSaysSo
from semblance.doctor import State, findings
from semblance.health import beat_problem
from tests.factories import client_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def beat(monkeypatch) -> BeatThatSaysSo:
    """Beat of an application that has nothing to send."""
    monkeypatch.setattr(beat_module, "close_old_connections", lambda: None)  # that of the test stays
    return BeatThatSaysSo(app=Celery("nothing", set_as_current=False), schedule={}, lazy=True)


def heard(ago: timedelta) -> BeatHeartbeat:
    at = now() - ago
    return BeatHeartbeat.objects.create(host="here", started_at=at, seen_at=at)


def test_each_beat_is_written_at_most_every_few_seconds(beat) -> None:
    assert beat.tick() <= SECONDS_BETWEEN_BEATS
    first = BeatHeartbeat.objects.get()

    beat.tick()
    assert BeatHeartbeat.objects.get().seen_at == first.seen_at

    beat._said_at -= SECONDS_BETWEEN_BEATS
    beat.tick()
    later = BeatHeartbeat.objects.get()
    assert later.seen_at > first.seen_at
    assert later.started_at == first.started_at


def test_a_database_that_is_away_does_not_keep_beat_from_sending(beat, monkeypatch, caplog) -> None:
    def away(*_arguments: object) -> None:
        raise OperationalError("the database is away")

    monkeypatch.setattr(beat_module.connection, "close", lambda: None)
    with connection.execute_wrapper(away):
        assert beat.tick() <= SECONDS_BETWEEN_BEATS

    assert "the database is away" in caplog.text


def test_a_beat_that_fell_silent_is_a_problem_everywhere(client, staff) -> None:
    heard(timedelta(minutes=3))

    assert client.get("/healthz").json()["problems"].keys() == {"beat"}
    assert [one.state for one in findings() if "Beat does not run" in one.sentence] == [State.PROBLEM]
    client.force_login(staff)
    assert "Beat does not run" in client.get(reverse("workers")).content.decode()


def test_a_beat_that_lives_is_none(staff) -> None:
    heard(timedelta(seconds=20))

    assert beat_problem() == ""
    assert "Beat runs on here." in [one.sentence for one in findings()]
    assert "runs on here" in client_of(staff).get(reverse("workers")).content.decode()


@pytest.mark.parametrize(("minutes", "is_problem"), [(1, False), (5, True)])
def test_workers_that_have_run_for_long_miss_a_beat_that_never_came(minutes: int, is_problem: bool) -> None:
    started = now() - timedelta(minutes=minutes)
    WorkerHeartbeat.objects.create(name="one", queues=["default"], started_at=started, seen_at=now())

    assert bool(beat_problem()) is is_problem
