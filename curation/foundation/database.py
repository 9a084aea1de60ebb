"""The database that a command needs: reached, and with every table."""

import fcntl
import os
from collections.abc import Iterable

from django.conf import settings
from django.core.management import call_command
from django.db import OperationalError, connection, connections
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, ngettext

from curation.foundation.errors import UserError

# The last version with the many migrations that one migration of each app replaces since.
LAST_UNSQUASHED = "1.0.0rc1"
DATABASE_TOO_OLD = gettext_noop(
    "The database comes from a version before Semblance %(version)s. Install Semblance %(version)s and run "
    "`semblance migrate`; then install this version again."
)
Migration = tuple[str, str]
_up_to_date: set[str] = set()


def migrations_today(given: Iterable[Migration], loader: MigrationLoader, too_old: str) -> set[Migration]:
    """These migrations as this version names them: a squashed migration instead of all that it replaces.

    Raises UserError with the sentence `too_old` if only some of those are given, because the others cannot be run here.
    """
    today = set(given)
    for key, migration in loader.replacements.items():
        replaced = set(migration.replaces)
        if replaced <= today:
            today = today - replaced | {key}
        elif replaced & today:
            raise UserError(_(too_old), version=LAST_UNSQUASHED)
    return today


def migrations_applied(using: str) -> list[Migration]:
    """(app, name) of every migration that the database has and this version knows, sorted.

    Raises UserError if the database is too old for this version.
    """
    loader = MigrationLoader(connections[using])
    return sorted(
        migrations_today(loader.applied_migrations, loader, DATABASE_TOO_OLD) & set(loader.graph.nodes)
    )


def migrations_missing() -> int:
    """How many. A database that once had them all keeps them, so each process counts once.

    Raises UserError if the database is too old for this version.
    """
    name = str(connection.settings_dict["NAME"])
    if name in _up_to_date:
        return 0
    executor = MigrationExecutor(connection)
    migrations_today(executor.loader.applied_migrations, executor.loader, DATABASE_TOO_OLD)
    missing = len(executor.migration_plan(executor.loader.graph.leaf_nodes()))
    if not missing:
        _up_to_date.add(name)
    return missing


def database_ready() -> None:
    """Raise UserError if the database cannot be reached or lacks migrations. An embedded one is migrated instead."""
    try:
        missing = migrations_missing()
    except OperationalError as error:
        reason = str(error).strip().splitlines()[0]
        sentence = _("The database cannot be reached (%(reason)s). Check DATABASE_URL.")
        raise UserError(sentence, reason=reason) from error
    except UserError:
        # Another command may be recording what it applied, one migration after the other: look again once it has ended.
        if not settings.EMBEDDED:
            raise
        missing = 1
    if not missing:
        return
    if not settings.EMBEDDED:
        raise UserError(migrations_sentence(missing))
    folder = os.open(settings.SEMBLANCE_HOME, os.O_RDONLY)
    try:
        # The first of several commands migrates, and the others wait for it and look again.
        fcntl.flock(folder, fcntl.LOCK_EX)
        if migrations_missing():
            call_command("migrate", verbosity=0, interactive=False)
    finally:
        os.close(folder)


def migrations_sentence(missing: int) -> str:
    return ngettext(
        "The database lacks %(number)s migration. Run `semblance migrate`.",
        "The database lacks %(number)s migrations. Run `semblance migrate`.",
        missing,
    ) % {"number": missing}
