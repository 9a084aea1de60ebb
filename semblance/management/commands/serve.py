"""`semblance serve`: the web server, the workers and beat together, until Ctrl+C."""

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.checks import run_checks
from django.db import connection
from django.utils.translation import gettext as _

from curation.foundation.command import Command as BaseCommand
from curation.foundation.database import database_ready
from mlworkers.plans.kinds import QUEUES
from mlworkers.runs.presence import workers_announce
from semblance.health import TAG
from semblance.serving.processes import Group, ProgramEnd
from semblance.serving.programs import address_of, answers, beat, listening, queues_named, web, workers


class Command(BaseCommand):
    help = "Run the web server, the workers and beat together. Ctrl+C stops them all."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--port",
            type=int,
            default=8000,
            help="Port to listen on; 0 chooses a free port. Default: %(default)s.",
        )
        parser.add_argument("--host", default="127.0.0.1", help="Address to listen on. Default: %(default)s.")
        parser.add_argument(
            "--workers",
            default=",".join(QUEUES),
            help="Queues, separated by commas, with a worker process each. Default: %(default)s.",
        )
        parser.add_argument(
            "--web-workers", type=int, default=2, help="Number of web processes. Default: %(default)s."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        others = [*workers(options["workers"]), beat()]
        with listening(options["host"], options["port"]) as listener:
            database_ready()
            workers_announce(queues_named(options["workers"]))
            connection.close()  # the programs that start now open their own
            programs = [web(listener, options["web_workers"]), *others]
            for warning in run_checks(tags=[TAG]):
                self._say(_("Warning: %(warning)s") % {"warning": warning.msg})
            address = address_of(listener)
            group = Group(programs, folder=settings.WORKING_FOLDER, write=self._say)
            waiting = [address]

            def announce() -> None:
                """Say once, as soon as the site answers, where it is."""
                if waiting and answers(address):
                    waiting.clear()
                    self._say(_("Semblance is at %(address)s (Ctrl+C stops it)") % {"address": address})

            ended = group.run(meanwhile=announce)
        if ended is not None:
            self.fail(why(ended))
        self._say(_("All programs have stopped."))

    def _say(self, line: str) -> None:
        """At once, also where the output is a file or a pipe."""
        self.stdout.write(line)
        self.stdout.flush()


def why(ended: ProgramEnd) -> str:
    return _(
        "%(program)s ended with status %(status)s, so everything was stopped. The lines above say why."
    ) % {"program": ended.name, "status": ended.status}
