"""Rows into a database that is empty: its tables as the rows need them, the rows, and the proof that all are there."""

from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from typing import NamedTuple

from django.core.management import call_command
from django.db import DatabaseError, InterfaceError, connections
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from curation.foundation.database import Migration, migrations_applied, migrations_today
from curation.foundation.errors import UserError
from semblance.backups.archive import TableCopy
from semblance.backups.rows import (
    Model,
    label_of,
    numbering_continue,
    rows_load,
    rows_remove,
    sum_of,
    tables_of,
    used_tables,
)

BACKUP_TOO_OLD = gettext_noop(
    "This backup comes from a version before Semblance %(version)s, which is the last version that reads it. Restore "
    "it with Semblance %(version)s and make a new backup there; nothing was changed."
)
# What rows raise that are none of ours: of unknown columns, other kinds, numbers that no column holds.
_NOT_TAKEN = (DatabaseError, InterfaceError, ValueError, KeyError, TypeError, AttributeError, ArithmeticError)


class TableProof(NamedTuple):
    """A table whose rows, read again from the new database, have the count and the SHA-256 that they should."""

    label: str
    rows: int
    sha256: str


class Source(NamedTuple):
    """A table to load: what it should become, and its lines."""

    copy: TableCopy
    lines: Generator[bytes, None, None]


def database_require_empty(using: str) -> None:
    """Raise UserError if somebody has used the database, or it cannot be reached."""
    try:
        used = used_tables(tables_of(migrations_applied(using), using), using)
    except (DatabaseError, InterfaceError) as error:
        reason = str(error).strip().splitlines()[0]
        raise UserError(_("The database cannot be reached: %(reason)s."), reason=reason) from error
    if used:
        raise UserError(
            _(
                "The database is in use: it has rows in %(tables)s. Name an empty database; nothing was changed."
            ),
            tables=", ".join(used[:5]),
        )


def migrations_known(migrations: Iterable[Migration], loader: MigrationLoader) -> set[Migration]:
    """The migrations of rows as this version names them. Reads no database.

    Raises UserError where this version does not know one of them any more or yet.
    """
    wanted = migrations_today(migrations, loader, BACKUP_TOO_OLD)
    if unknown := sorted(wanted - set(loader.graph.nodes)):
        raise UserError(
            _(
                "The rows are of a newer version of Semblance, with the migration %(name)s. Install that version."
            ),
            name=".".join(unknown[0]),
        )
    return wanted


def tables_prepare(migrations: Sequence[Migration], using: str) -> list[Model]:
    """Migrate an empty database to just these migrations. Returns a model of each of its tables.

    Raises UserError where this version does not know one of them any more or yet, or the database is past them.
    """
    executor = MigrationExecutor(connections[using])
    graph = executor.loader.graph
    wanted = migrations_known(migrations, executor.loader)
    applied = set(migrations_applied(using))
    if applied - wanted:
        raise UserError(
            _(
                "The database is empty, but it was migrated by a newer version than that of the rows. Name a "
                "database without tables; nothing was changed."
            )
        )
    if wanted - applied:
        last = [key for key in wanted if not any(child in wanted for child in graph.node_map[key].children)]
        executor.migrate(sorted(last))
    return tables_of(wanted, using)


def tables_fill(tables: Sequence[Model], sources: Iterable[Source], using: str) -> list[TableProof]:
    """Load the rows of every table and read them again. Call it in a transaction.

    Raises UserError where the database does not take a row, or gives back other rows than it was given.
    """
    by_label = {label_of(model): model for model in tables}
    proofs, filled = [], []
    rows_remove(tables, using)
    for copy, lines in sources:
        if copy.label not in by_label:
            raise UserError(_("There is no table for the rows of %(table)s."), table=copy.label)
        model = by_label[copy.label]
        # A refusal may be kept, and must not keep the file open.
        with _rows_taken(copy.label), closing(lines):
            rows_load(model, copy.fields, lines, using)
        filled.append((model, copy))
    with _rows_taken(", ".join(label_of(model) for model, _copy in filled[:3])):
        connections[using].check_constraints()
    for model, copy in filled:
        found = sum_of(model, using)
        if found != (copy.rows, copy.sha256):
            raise UserError(
                _(
                    "The table %(table)s should have %(rows)s rows with the checksum %(sum)s, and has %(found)s with "
                    "%(other)s. Nothing was kept."
                ),
                table=copy.label,
                rows=copy.rows,
                sum=copy.sha256[:12],
                found=found[0],
                other=found[1][:12],
            )
        proofs.append(TableProof(copy.label, *found))
    numbering_continue(tables, using)
    return proofs


def migrations_finish(using: str) -> None:
    """The migrations that came after the rows were written, and what Django adds once all are there."""
    call_command("migrate", database=using, verbosity=0, interactive=False)


@contextmanager
def _rows_taken(table: str) -> Iterator[None]:
    try:
        yield
    except _NOT_TAKEN as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise UserError(
            _("The database does not take the rows of %(table)s: %(reason)s. Nothing was kept."),
            table=table,
            reason=reason,
        ) from error
