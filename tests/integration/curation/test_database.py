"""Databases with the many migrations of before: those with all of them go on, those with some are refused."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.recorder import MigrationRecorder

from curation.foundation import database
from curation.foundation.database import database_ready, migrations_missing
from curation.foundation.errors import UserError

pytestmark = pytest.mark.django_db
APPS = ("annotation", "curation", "mlworkers")
SQUASHED = "0001_squashed"
ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(autouse=True)
def asked_again(monkeypatch) -> None:
    monkeypatch.setattr(database, "_up_to_date", set())


def single_migrations(app: str) -> list[str]:
    return [name for _app, name in MigrationExecutor(connection).loader.replacements[app, SQUASHED].replaces]


def forget(app: str, *names: str) -> None:
    for name in names:
        MigrationRecorder(connection).record_unapplied(app, name)


def applied() -> set[tuple[str, str]]:
    return set(MigrationRecorder(connection).applied_migrations())


def test_a_database_with_all_single_migrations_has_the_squashed_ones_without_a_change() -> None:
    before = applied()
    for app in APPS:
        forget(app, SQUASHED)

    assert migrations_missing() == 0
    executor = MigrationExecutor(connection)
    assert not executor.migration_plan(executor.loader.graph.leaf_nodes())
    call_command("migrate", verbosity=0)

    assert applied() == before > {(app, SQUASHED) for app in APPS}


@pytest.mark.parametrize("app", APPS)
@pytest.mark.parametrize("there", [slice(1), slice(-1), slice(1, None)], ids=["first", "all-but-last", "gap"])
def test_a_database_with_some_single_migrations_is_refused_and_left_as_it_was(app: str, there: slice) -> None:
    single = single_migrations(app)
    forget(app, SQUASHED, *(set(single) - set(single[there])))
    before = applied()

    with pytest.raises(
        CommandError, match=r"Install Semblance 1\.0\.0rc1 and run `semblance migrate`"
    ) as refused:
        call_command("migrate", verbosity=0)
    with pytest.raises(UserError, match=r"Install Semblance 1\.0\.0rc1"):
        database_ready()

    assert refused.value.returncode == 2
    assert applied() == before


def test_a_command_that_comes_while_another_records_its_migrations_waits_and_looks_again(
    settings, monkeypatch
) -> None:
    settings.EMBEDDED = True
    single = single_migrations("curation")
    forget("curation", SQUASHED, *single[1:])
    whole = {*applied(), *(("curation", name) for name in (*single, SQUASHED))}

    def other_ends(_folder: int, _how: int) -> None:
        for name in (*single[1:], SQUASHED):
            MigrationRecorder(connection).record_applied("curation", name)

    monkeypatch.setattr(database.fcntl, "flock", other_ends)
    database_ready()

    assert migrations_missing() == 0
    assert applied() == whole


@pytest.mark.exhaustive
@pytest.mark.own_site
def test_commands_that_begin_at_the_same_time_migrate_an_empty_installation_once(tmp_path) -> None:
    services = {"DATABASE_URL", "REDIS_URL"}
    environment = {name: value for name, value in os.environ.items() if name not in services}
    environment["SEMBLANCE_HOME"] = str(tmp_path)

    started = [
        subprocess.Popen([sys.executable, "manage.py", "reclaim"], cwd=ROOT, env=environment)
        for _number in range(3)
    ]

    assert [one.wait() for one in started] == [0, 0, 0]
