"""Log a person out of every browser, for the administrator of a site."""

from typing import Any

from django.core.management.base import CommandParser

from curation.accounts.sessions import sessions_end
from curation.command import Command as SemblanceCommand
from curation.errors import UserError
from curation.models import User


class Command(SemblanceCommand):
    help = "Log a person out of every browser. Their password and their API tokens stay as they are."
    needs_database = True

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username")

    def handle(self, *_arguments: Any, username: str, **options: Any) -> None:
        user = User.objects.filter(username=username).first()
        if user is None:
            raise UserError("There is no account called “%(name)s”.", name=username)
        ended = sessions_end(user=user)
        self.answer({"ended": ended}, f"Sessions ended: {ended}.", as_json=options["json"])
