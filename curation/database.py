"""The database that a command needs: reached, and with every table."""

from django.conf import settings
from django.core.management import call_command
from django.db import OperationalError, connection
from django.db.migrations.executor import MigrationExecutor
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from curation.errors import UserError

_up_to_date: set[str] = set()


def migrations_missing() -> int:
    """How many. A database that once had them all keeps them, so each process counts once."""
    name = str(connection.settings_dict["NAME"])
    if name in _up_to_date:
        return 0
    executor = MigrationExecutor(connection)
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
    if not missing:
        return
    if not settings.EMBEDDED:
        raise UserError(migrations_sentence(missing))
    call_command("migrate", verbosity=0, interactive=False)


def migrations_sentence(missing: int) -> str:
    return ngettext(
        "The database lacks %(number)s migration. Run `manage.py migrate`.",
        "The database lacks %(number)s migrations. Run `manage.py migrate`.",
        missing,
    ) % {"number": missing}
