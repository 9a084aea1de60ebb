"""`semblance doctor` names what is wrong, and what to do."""

import json
from datetime import timedelta

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection
from django.utils.timezone import now

from mlworkers.models import WorkerHeartbeat
from semblance import doctor
from semblance.doctor import State, findings
from tests.factories import ArtifactFactory, RunFactory

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def good_settings(settings) -> None:
    settings.SECRET_KEY = "0123456789 abcdefghijklmnopqrstuvwxyz ABCDEFGHIJKLM"
    settings.HTTPS, settings.TRUSTED_PROXIES, settings.PUBLIC_HOSTS = False, 0, []
    settings.ALLOWED_HOSTS = ["localhost"]
    settings.DISK_FREE_MIN_BYTES = 1


def said(name: str, state: State) -> str:
    return " ".join(one.sentence for one in findings() if (one.name, one.state) == (name, state))


def test_an_installation_without_a_worker_is_only_warned(capsys) -> None:
    call_command("doctor", json=True)

    answer = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert answer["problems"] == 0
    assert {one["name"] for one in answer["checks"] if one["state"] == "warning"} >= {"workers"}


def test_a_worker_that_lives_is_named() -> None:
    WorkerHeartbeat.objects.create(name="default@here/7", queues=["default"], seen_at=now())

    assert "served by default@here/7" in said("workers", State.GOOD)


def test_a_run_that_no_worker_takes_is_a_problem_with_exit_status_2(capsys) -> None:
    WorkerHeartbeat.objects.create(name="old", queues=["default"], seen_at=now() - timedelta(hours=1))
    RunFactory()

    with pytest.raises(CommandError, match="1 problem was found") as failed:
        call_command("doctor")

    assert failed.value.returncode == 2
    assert "1 run waits for it" in capsys.readouterr().out


def test_a_file_that_is_gone_is_a_problem() -> None:
    ArtifactFactory(path="runs/3/1/weights")

    assert "for example runs/3/1/weights" in said("files", State.PROBLEM)


def test_clocks_that_differ_are_a_problem(monkeypatch) -> None:
    monkeypatch.setattr(doctor, "database_now", lambda: now() - timedelta(minutes=5))

    assert "differ by 300 seconds" in said("clock", State.PROBLEM)


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"DEBUG": True, "PUBLIC_HOSTS": ["a.example"]}, "DEBUG is on"),
        ({"SECRET_KEY": "short"}, "SECRET_KEY is short"),
        ({"SECRET_KEY": "x" * 60}, "SECRET_KEY is short"),
        ({"ALLOWED_HOSTS": ["*"]}, "ALLOWED_HOSTS is *"),
        ({"PUBLIC_HOSTS": ["a.example"]}, "HTTPS is off"),
        ({"HTTPS": True}, "TRUSTED_PROXIES is 0"),
    ],
)
def test_a_setting_that_is_not_safe_is_named(settings, changed, sentence: str) -> None:
    for name, value in changed.items():
        setattr(settings, name, value)

    assert sentence in said("settings", State.WARNING) + said("settings", State.PROBLEM)


@pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL's own machine keeps its files")
def test_a_sqlite_database_on_a_network_folder_is_a_problem(tmp_path, monkeypatch, settings) -> None:
    mounts = tmp_path / "mounts"
    mounts.write_text(f"/dev/sda / ext4 rw 0 0\nserver:/share {settings.SEMBLANCE_HOME} nfs4 rw 0 0\n")
    monkeypatch.setattr(doctor, "MOUNTS", mounts)

    assert "on a network folder (nfs4)" in said("disk", State.PROBLEM)


def test_redis_that_is_away_is_a_problem(settings) -> None:
    settings.REDIS_URL = "redis://127.0.0.1:1/0"

    assert "Redis does not answer" in said("redis", State.PROBLEM)
