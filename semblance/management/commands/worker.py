"""`semblance worker`: one worker of the queues that it is given, beside those that `serve` starts."""

import os
import sys
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.db import connection

from curation.foundation.command import Command as BaseCommand
from semblance.broker import IN_ORDER
from semblance.serving.programs import worker_of


class Command(BaseCommand):
    help = "Run one worker, which takes what people wait for before long runs, one thing at a time."
    needs_database = True

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--queues",
            default=",".join(IN_ORDER),
            help="Names of queues, separated by commas. Default: %(default)s.",
        )
        parser.add_argument(
            "--name", default="", help="What pages call it, before @ and the host. Default: its queues."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        arguments = worker_of(options["queues"], name=options["name"])
        connection.close()
        os.chdir(settings.WORKING_FOLDER)
        os.execv(sys.executable, [sys.executable, *arguments])  # noqa: S606 - our own program
