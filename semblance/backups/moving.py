"""All rows of an SQLite installation into another database, with a proof that they are the same there."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import environ
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import DEFAULT_DB_ALIAS, connection, connections, transaction
from django.utils.translation import gettext as _

from curation.foundation.database import migrations_applied
from curation.foundation.errors import UserError
from curation.foundation.heartbeats import database_now
from mlworkers.runs.selectors import live_workers
from semblance.backups.archive import TableCopy
from semblance.backups.loading import (
    Source,
    TableProof,
    database_require_empty,
    migrations_finish,
    tables_fill,
    tables_prepare,
)
from semblance.backups.rows import fields_of, label_of, lines_of, sum_of, tables_of

OTHER = "moved_to"


def database_move(*, url: str) -> list[TableProof]:
    """Copy every row to the PostgreSQL database of this address, which must be empty.

    Raises UserError where the site is running, the other database is in use, or a row is not the same there; nothing
    is kept there then. While it runs nobody can write: this database is locked.
    """
    if connection.vendor != "sqlite":
        raise UserError(
            _(
                "This installation is on PostgreSQL already. Make a backup and restore it on the other server; "
                "nothing was changed."
            )
        )
    if workers := live_workers(database_now()):
        raise UserError(
            _("Stop the site first: the worker %(name)s is running. Nothing was changed."),
            name=workers[0].name,
        )
    with _other_database(url):
        database_require_empty(OTHER)
        migrations = migrations_applied(DEFAULT_DB_ALIAS)
        tables = tables_prepare(migrations, OTHER)
        with transaction.atomic(), transaction.atomic(using=OTHER):
            sources = []
            for model in tables_of(migrations, DEFAULT_DB_ALIAS):
                copy = TableCopy(label_of(model), tuple(fields_of(model)), *sum_of(model, DEFAULT_DB_ALIAS))
                sources.append(Source(copy, lines_of(model, DEFAULT_DB_ALIAS)))
            proofs = tables_fill(tables, sources, OTHER)
        migrations_finish(OTHER)
    return proofs


@contextmanager
def _other_database(url: str) -> Iterator[None]:
    try:
        database: dict[str, Any] = environ.Env.db_url_config(url)
    except (ImproperlyConfigured, ValueError) as error:
        raise UserError(_("%(url)s is not an address of a database."), url=url) from error
    if not str(database.get("ENGINE", "")).endswith("postgresql"):
        raise UserError(
            _("Give the address of a PostgreSQL database, such as postgres://user:password@host:5432/name.")
        )
    database["OPTIONS"] = settings.POSTGRESQL_OPTIONS | database.get("OPTIONS", {})
    connections.settings[OTHER] = connections.configure_settings({**connections.settings, OTHER: database})[
        OTHER
    ]
    try:
        yield
    finally:
        connections[OTHER].close()
        del connections[OTHER]
        del connections.settings[OTHER]
