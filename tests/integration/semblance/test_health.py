"""`/healthz` says what does not work, as JSON with status 503, and gives nothing away."""

import json
from pathlib import Path

import pytest
from django.db import connection
from django.db.utils import OperationalError
from django.http import HttpResponse
from django.test import Client

from curation import database

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def forgotten(monkeypatch, settings) -> None:
    monkeypatch.setattr(database, "_up_to_date", set())
    settings.REDIS_URL = ""
    settings.DISK_FREE_MIN_BYTES = 1


def asked() -> HttpResponse:
    return Client().get("/healthz")


def test_a_healthy_site_says_so() -> None:
    answer = asked()

    assert answer.status_code == 200
    assert answer.json() == {"status": "ok", "problems": {}}


def test_redis_that_is_away_is_named_without_its_address_or_password(settings) -> None:
    settings.REDIS_URL = "redis://:secret-word@127.0.0.1:1/0"

    answer = asked()

    assert answer.status_code == 503
    assert answer.json()["problems"].keys() == {"redis"}
    assert "secret-word" not in answer.content.decode()
    assert "127.0.0.1" not in answer.content.decode()


def test_a_disk_that_is_nearly_full_is_named(settings) -> None:
    settings.DISK_FREE_MIN_BYTES = 2**62

    answer = asked()

    assert answer.status_code == 503
    assert "nearly full" in answer.json()["problems"]["disk"]


def test_a_folder_that_takes_no_file_is_named(settings, tmp_path: Path) -> None:
    settings.SEMBLANCE_HOME = tmp_path / "gone"

    answer = asked()

    assert answer.status_code == 503
    assert "Nothing can be written" in answer.json()["problems"]["disk"]
    assert str(tmp_path) not in answer.content.decode()


def test_a_database_without_its_last_migration_is_named() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT max(name) FROM django_migrations WHERE app = 'mlworkers'")
        cursor.execute(
            "DELETE FROM django_migrations WHERE app = 'mlworkers' AND name = %s", cursor.fetchone()
        )

    answer = asked()

    assert answer.status_code == 503
    assert "manage.py migrate" in answer.json()["problems"]["database"]


def test_a_database_that_is_away_is_named_without_its_address() -> None:
    def away(*_arguments: object) -> None:
        raise OperationalError("connection to server at db.internal failed for user semblance")

    with connection.execute_wrapper(away):
        answer = asked()

    assert answer.status_code == 503
    assert answer.json()["problems"].keys() == {"database"}
    assert "db.internal" not in json.dumps(answer.json())
