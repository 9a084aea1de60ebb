"""`manage.py bws`: Best-Worst Scaling on files, like the scripts of Kiritchenko and Mohammad.

Only `import` and `bundle` need the database. A verb is a module: its docstring is what `--help` says of it.
"""

import sys
from argparse import SUPPRESS
from time import monotonic
from typing import Any

from django.core.management.base import CommandParser
from django.utils.translation import gettext as _

from annotation.management.bws import (
    bundle,
    design,
    forecast,
    imported,
    reliability,
    replication,
    score,
    verify,
)
from annotation.management.bws.verb import refuse_repeats
from curation.command import Command as BaseCommand
from curation.errors import UserError, errors_shown

VERBS = {
    "design": design,
    "score": score,
    "reliability": reliability,
    "replication": replication,
    "forecast": forecast,
    "import": imported,
    "bundle": bundle,
    "verify": verify,
}


class Command(BaseCommand):
    help = "Best-Worst Scaling on files: designs, scores, reliability, forecasts."

    def add_arguments(self, parser: CommandParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True, metavar="|".join(VERBS))
        for name, verb in VERBS.items():
            verb_parser = verbs.add_parser(name, help=verb.__doc__, description=verb.__doc__)
            refuse_repeats(verb_parser)
            verb.add_arguments(verb_parser)
            # Not set if it is not given, so that `bws --json score` keeps the value of `bws`.
            verb_parser.add_argument(
                "--json",
                action="store_true",
                default=SUPPRESS,
                help="Print one JSON object as the last line.",
            )
            if parser.called_from_command_line:
                verb_parser.error = self._wrong_usage  # type: ignore[method-assign]

    def handle(self, *, verb: str, **options: Any) -> None:
        started = monotonic()
        if options.get("seed", 0) < 0:
            raise UserError(_("The seed %(seed)s is negative; give 0 or more."), seed=options["seed"])
        with errors_shown():
            answer = VERBS[verb].run(options)
        seconds = {"seconds": round(monotonic() - started, 3)} if answer.timed else {}
        self.answer(answer.figures | seconds, *answer.lines, as_json=options["json"])
        if answer.status:
            sys.exit(answer.status)
