"""`/healthz` says what does not work, as JSON with status 503, and gives nothing away."""

import json
import math
import os
from pathlib import Path

import pytest
from django.db import connection
from django.db.utils import OperationalError
from django.http import HttpResponse
from django.test import Client

from curation.foundation import database
from semblance import health
from tests.shared_store import store_settings

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def forgotten(monkeypatch, settings) -> None:
    monkeypatch.setattr(database, "_up_to_date", set())
    settings.REDIS_URL = ""
    settings.DISK_FREE_MIN_BYTES = 1
    monkeypatch.setattr(health.storage_answer, "_asked", -math.inf)


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


@pytest.mark.parametrize("kept", ["none", "0001_initial"])
def test_a_database_that_lacks_migrations_is_named(kept: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM django_migrations WHERE app = 'mlworkers' AND name != %s", [kept])

    answer = asked()

    assert answer.status_code == 503
    assert "semblance migrate" in answer.json()["problems"]["database"]


def test_a_database_that_is_away_is_named_without_its_address() -> None:
    def away(*_arguments: object) -> None:
        raise OperationalError("connection to server at db.internal failed for user semblance")

    with connection.execute_wrapper(away):
        answer = asked()

    assert answer.status_code == 503
    assert answer.json()["problems"].keys() == {"database"}
    assert "db.internal" not in json.dumps(answer.json())


def test_a_file_storage_that_answers_is_no_problem(stored) -> None:
    assert asked().json() == {"status": "ok", "problems": {}}


def test_a_file_storage_that_is_away_is_named_without_its_address_and_asked_again_after_a_while(
    stored, settings, monkeypatch
) -> None:
    there = os.environ["AWS_ENDPOINT_URL_S3"]
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", "http://127.0.0.1:1")
    settings.STORAGES = {**settings.STORAGES}  # the storage is made anew

    answer = asked()

    assert answer.status_code == 503
    assert "does not answer" in answer.json()["problems"]["storage"]
    assert "127.0.0.1" not in answer.content.decode()

    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", there)
    settings.STORAGES = {**settings.STORAGES}
    assert asked().status_code == 503, "it was asked a moment ago"
    monkeypatch.setattr(health, "SECONDS_BETWEEN_STORAGE_CHECKS", 0.0)
    assert asked().status_code == 200


def test_a_file_storage_without_the_bucket_is_named_without_it(stored, settings) -> None:
    settings.STORAGES = store_settings("s3://another-bucket/lab")

    answer = asked()

    assert answer.status_code == 503
    assert "semblance doctor" in answer.json()["problems"]["storage"]
    assert "another-bucket" not in answer.content.decode()
