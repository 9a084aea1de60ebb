"""`semblance migrate`: Django's command, which here refuses a database that is too old for this version."""

from typing import Any

from django.core.management.commands.migrate import Command as MigrateCommand

from curation.foundation.command import Error
from curation.foundation.database import migrations_applied
from curation.foundation.errors import UserError


class Command(MigrateCommand):
    def handle(self, *args: Any, **options: Any) -> None:
        try:
            migrations_applied(options["database"])
        except UserError as error:
            raise Error(error) from error
        super().handle(*args, **options)
