"""Log a person out of every browser, for the administrator of a site."""

from typing import Any

from django.core.management.base import CommandParser

from curation.foundation.command import Command as SemblanceCommand
from curation.people.accounts.lookup import account_named
from curation.people.accounts.sessions import sessions_end


class Command(SemblanceCommand):
    help = "Log a person out of every browser. Their password and API tokens stay."
    needs_database = True

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username", help="Username of the person.")

    def handle(self, *_arguments: Any, username: str, **options: Any) -> None:
        ended = sessions_end(user=account_named(username))
        self.answer({"ended": ended}, f"Sessions ended: {ended}.", as_json=options["json"])
