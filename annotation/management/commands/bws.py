"""`manage.py bws`: Best-Worst Scaling on files, as the scripts of the field do it.

Only `import` and `bundle` need the database.
"""

import sys
from argparse import SUPPRESS
from typing import Any

from django.core.management.base import CommandParser

from annotation.management.bws import (
    bundle,
    design,
    forecast,
    imported,
    reliability,
    score,
    stability,
    verify,
)
from annotation.management.bws.verb import refuse_repeats
from curation.command import Command as BaseCommand

VERBS = {
    "design": design,
    "score": score,
    "reliability": reliability,
    "stability": stability,
    "forecast": forecast,
    "import": imported,
    "bundle": bundle,
    "verify": verify,
}


class Command(BaseCommand):
    help = "Best-Worst Scaling on files: design, score, measure, forecast."

    def add_arguments(self, parser: CommandParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True, metavar="|".join(VERBS))
        for name, verb in VERBS.items():
            verb_parser = verbs.add_parser(name, help=verb.HELP, description=verb.HELP)
            refuse_repeats(verb_parser)
            verb.add_arguments(verb_parser)
            # Not set where it is not given, so that `bws --json score` keeps its own.
            verb_parser.add_argument(
                "--json",
                action="store_true",
                default=SUPPRESS,
                help="end with one JSON object on the last line",
            )
            if parser.called_from_command_line:
                verb_parser.error = self._wrong_usage  # type: ignore[method-assign]

    def handle(self, *, verb: str, **options: Any) -> None:
        answer = VERBS[verb].run(options)
        self.answer(answer.figures, *answer.lines, as_json=options["json"])
        if answer.status:
            sys.exit(answer.status)
