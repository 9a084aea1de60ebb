"""A link that logs a superuser in once, for a site on which nobody logs in with a password."""

from typing import Any

from django.core.management.base import CommandParser
from django.urls import reverse

from curation.foundation.command import Command as SemblanceCommand
from curation.people.accounts.links import login_link_parts


class Command(SemblanceCommand):
    help = "Print a link that logs a superuser in, once and within an hour. Put the address of the site before it."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username", help="Username of the person.")

    def handle(self, *_arguments: Any, username: str, **_options: Any) -> None:
        self.stdout.write(reverse("login_link", args=login_link_parts(username)))
