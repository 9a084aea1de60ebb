"""An empty embedded database gets the tables that its migrations would give it."""

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.recorder import MigrationRecorder

from curation.foundation.database import tables_make
from tests.template_databases import database_of_its_own, tables_template, url_of

ROOT = Path(__file__).resolve().parents[3]
SCHEMA = "SELECT type, name, tbl_name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'"
MIGRATIONS = "SELECT app, name FROM django_migrations"
TYPES = "SELECT app_label, model FROM django_content_type ORDER BY 1, 2"
# Of PostgreSQL. The order of columns means nothing, nor does the name of a check that a column brings with it: it is
# that of the column's first name.
COLUMNS = """
SELECT table_name, column_name, data_type, character_maximum_length, numeric_precision, is_nullable, column_default,
    is_identity, identity_generation, collation_name
FROM information_schema.columns WHERE table_schema = 'public'
"""
INDEXES = "SELECT tablename, indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'"
CONSTRAINTS = """
SELECT conrelid::regclass::text, contype::text, regexp_replace(conname, '.*_check$', ''), pg_get_constraintdef(oid)
FROM pg_constraint WHERE connamespace = 'public'::regnamespace
"""
SEQUENCES = """
SELECT sequencename, data_type::text, start_value, last_value FROM pg_sequences WHERE schemaname = 'public'
"""


def parts(sql: str) -> frozenset[str]:
    """Columns and constraints between the outer brackets of CREATE TABLE; their order means nothing."""
    found, depth, quote, part = [], 0, "", ""
    for letter in sql[sql.index("(") + 1 : sql.rindex(")")] + ",":
        if not quote and depth == 0 and letter == ",":
            found.append(" ".join(part.split()))
            part = ""
            continue
        if letter in "'\"":
            quote = "" if letter == quote else quote or letter
        elif not quote:
            depth += (letter == "(") - (letter == ")")
        part += letter
    return frozenset(found)


def schema(cursor) -> dict[tuple[str, str, str], object]:
    return {
        (kind, name, table): parts(sql) if kind == "table" else sql
        for kind, name, table, sql in cursor.execute(SCHEMA).fetchall()
    }


def manage(home: Path, *arguments: str, url: str = "") -> None:
    services = {"DATABASE_URL", "REDIS_URL"}
    environment = {name: value for name, value in os.environ.items() if name not in services}
    environment |= {"SEMBLANCE_HOME": str(home), "DATABASE_URL": url}
    if url:
        environment |= {"SECRET_KEY": "tests-only", "ALLOWED_HOSTS": "localhost"}
    command = [sys.executable, "manage.py", *arguments]
    subprocess.run(command, cwd=ROOT, env=environment, check=True)


@pytest.mark.exhaustive
@pytest.mark.own_site
def test_a_first_command_makes_the_tables_of_the_migrations_at_once(tmp_path, shared) -> None:
    manage(tmp_path / "at once", "reclaim")
    manage(tmp_path / "migrated", "migrate", "--verbosity", "0")

    with (
        closing(sqlite3.connect(tmp_path / "at once" / "semblance.sqlite3")) as made,
        closing(sqlite3.connect(tmp_path / "migrated" / "semblance.sqlite3")) as migrated,
        closing(sqlite3.connect(tables_template(shared, ""))) as tests,
    ):
        assert schema(made) == schema(migrated) == schema(tests)
        assert (
            set(made.execute(MIGRATIONS))
            == set(migrated.execute(MIGRATIONS))
            == set(tests.execute(MIGRATIONS))
        )
        types = [database.execute(TYPES).fetchall() for database in (made, migrated, tests)]
        assert types[0] == types[1] == types[2] != []


@pytest.mark.exhaustive
@pytest.mark.postgres
def test_the_tests_have_the_tables_that_the_migrations_make_on_postgresql(tmp_path, tables) -> None:
    with database_of_its_own(f"semblance_migrated_{os.getpid()}") as url:
        manage(tmp_path / "migrated", "migrate", "--verbosity", "0", url=url)
        with psycopg.connect(url) as migrated, psycopg.connect(url_of(tables)) as tests:
            for asked in (COLUMNS, INDEXES, CONSTRAINTS, SEQUENCES, MIGRATIONS, TYPES):
                there = sorted(migrated.execute(asked))
                assert sorted(tests.execute(asked)) == there != []


@pytest.mark.django_db(transaction=True)
def test_a_database_that_has_tables_is_left_to_its_migrations() -> None:
    before = MigrationRecorder(connection).applied_migrations()

    assert not tables_make(MigrationExecutor(connection))

    assert MigrationRecorder(connection).applied_migrations() == before
