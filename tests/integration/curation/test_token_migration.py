"""Tokens that people had before only digests were kept."""

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.test import Client

from tests.factories import UserFactory

BEFORE, AFTER = "0004_invitation_bars_and_password_tries", "0005_api_tokens_as_digests"
NOW = "0028_several_tokens"
OLD_TABLE = """
    CREATE TABLE authtoken_token (
        key varchar(40) NOT NULL PRIMARY KEY, created {time} NOT NULL,
        user_id bigint NOT NULL UNIQUE REFERENCES curation_user (id) DEFERRABLE INITIALLY DEFERRED
    )
"""


def migrate(name: str) -> None:
    MigrationExecutor(connection).migrate([("curation", name)])


@pytest.mark.exhaustive
def test_an_old_token_opens_the_api_still_and_is_kept_nowhere(empty_database) -> None:
    migrate(BEFORE)
    key, user = "0123456789" * 4, UserFactory()
    with connection.cursor() as cursor:
        kind = "datetime" if connection.vendor == "sqlite" else "timestamp with time zone"
        cursor.execute(OLD_TABLE.format(time=kind))
        row = [key, "2026-03-01 12:00:00", user.pk]
        cursor.execute("INSERT INTO authtoken_token (key, created, user_id) VALUES (%s, %s, %s)", row)

    migrate(AFTER)
    migrate(NOW)

    answer = Client().get("/api/v1/datasets/", headers={"Authorization": f"Token {key}"})
    assert answer.status_code == 200
    token = user.api_tokens.get()
    assert (token.beginning, token.scope, token.expires_at) == ("01234567", "write", None)
    assert f"{token.created_at:%Y-%m-%d}" == "2026-03-01"
    assert "authtoken_token" not in connection.introspection.table_names()
