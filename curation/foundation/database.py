"""The database that a command needs: reached, and with every table."""

from django.conf import settings
from django.core.management import call_command
from django.db import OperationalError, connection
from django.db.migrations.executor import MigrationExecutor
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from curation.foundation.errors import UserError

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
    tables_make(MigrationExecutor(connection))
    call_command("migrate", verbosity=0, interactive=False)


def tables_make(executor: MigrationExecutor) -> bool:
    """Make all tables of an empty SQLite database as its migrations would leave them, and note these as applied.

    Whether it was empty. A hundred migrations, of which each changes the tables of the one before, take ten times
    as long. What some of them do to rows has nothing to do in an empty database.
    """
    database, loader = executor.connection, executor.loader
    executor.recorder.ensure_schema()
    models = loader.project_state().apps.get_models()
    with database.schema_editor() as editor:
        # Within the transaction: another process may have been quicker.
        if set(database.introspection.table_names()) - {executor.recorder.Migration._meta.db_table}:
            return False
        for model in models:
            if model._meta.can_migrate(database):
                editor.create_model(model)
        for app, name in loader.graph.nodes:
            executor.recorder.record_applied(app, name)
    return True


def migrations_sentence(missing: int) -> str:
    return ngettext(
        "The database lacks %(number)s migration. Run `manage.py migrate`.",
        "The database lacks %(number)s migrations. Run `manage.py migrate`.",
        missing,
    ) % {"number": missing}
