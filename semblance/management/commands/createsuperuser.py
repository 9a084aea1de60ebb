"""`semblance createsuperuser`: Django's command, which here makes the tables of an embedded database first."""

from typing import Any

from django.contrib.auth.management.commands.createsuperuser import Command as CreateSuperuserCommand

from curation.foundation.command import Error
from curation.foundation.database import database_ready
from curation.foundation.errors import UserError


class Command(CreateSuperuserCommand):
    help = "Create administrators."
    requires_migrations_checks = False  # it would tell of tables that are made a moment later

    def execute(self, *args: Any, **options: Any) -> str | None:
        try:
            database_ready()
        except UserError as error:
            raise Error(error) from error
        told: str | None = super().execute(*args, **options)
        return told
