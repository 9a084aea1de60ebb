"""Remove the second factor of somebody who lost the app and the recovery codes."""

from typing import Any

from django.core.management.base import CommandParser

from curation.foundation.command import Command as SemblanceCommand
from curation.foundation.errors import UserError
from curation.people.accounts.lookup import account_named
from curation.people.members import second_factor_remove


class Command(SemblanceCommand):
    help = "Remove the second factor of a person, who then logs in with the password alone. The log has an entry."
    needs_database = True

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username", help="Username of the person.")

    def handle(self, *_arguments: Any, username: str, **options: Any) -> None:
        if not second_factor_remove(user=account_named(username)):
            raise UserError("The account “%(name)s” has no second factor.", name=username)
        self.answer(
            {"removed": username}, f"Removed the second factor of {username}.", as_json=options["json"]
        )
