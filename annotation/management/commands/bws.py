"""`semblance bws`: Best-Worst Scaling on files, like the scripts of Kiritchenko and Mohammad.

Only `import` and `bundle` need the database. A verb is a module.
"""

import sys
from argparse import SUPPRESS
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from time import monotonic
from types import ModuleType
from typing import Any

from django.core.management.base import CommandParser
from django.utils.translation import gettext as _

from curation.foundation.command import Command as BaseCommand
from curation.foundation.errors import UserError, errors_shown

# The module of each verb, and what `bws --help` says of it. It stands here alone, because a module of a verb takes long
# to load.
VERBS = {
    "design": ("design", "Design balanced tuples from a list of items."),
    "score": ("score", "Score items from the judgements of their tuples."),
    "reliability": ("reliability", "Compute the reliability of judgements and of the scores from them."),
    "replication": (
        "replication",
        "Compare counting and MaxDiff by how well their scores repeat on other tuples.",
    ),
    "forecast": (
        "forecast",
        "Forecast the judgements, hours, cost and reliability of a campaign by simulating it.",
    ),
    "import": (
        "imported",
        "Import finished judgements as a campaign, with its dashboard, scores and bundle.",
    ),
    "bundle": (
        "bundle",
        "Write a campaign as a bundle: items, tuples, judgements, exclusions, scores, guidelines, checksums.",
    ),
    "verify": ("verify", "Check a bundle against its manifest: no file is missing, changed or added."),
}


def module_of(verb: str) -> ModuleType:
    return import_module(f"annotation.management.bws.{VERBS[verb][0]}")


class VerbParser(CommandParser):
    """Gets its options when it is asked: the modules of the verbs load SciPy, which takes longer than Django."""

    options_add: Callable[[], None] | None = None

    def parse_known_args(self, args: Sequence[str] | None = None, namespace: Any = None) -> Any:  # type: ignore[override]
        if self.options_add is not None:
            add, self.options_add = self.options_add, None
            add()
        return super().parse_known_args(args, namespace)


class Command(BaseCommand):
    help = "Best-Worst Scaling on files: designs, scores, reliability, forecasts."

    def add_arguments(self, parser: CommandParser) -> None:
        verbs = parser.add_subparsers(
            dest="verb", required=True, metavar="|".join(VERBS), parser_class=VerbParser
        )
        for name, (_module, what) in VERBS.items():
            verb_parser = verbs.add_parser(name, help=what, description=what)
            verb_parser.called_from_command_line = parser.called_from_command_line
            verb_parser.options_add = partial(self._options_add, name, verb_parser)

    def _options_add(self, name: str, parser: VerbParser) -> None:
        from annotation.management.bws.verb import refuse_repeats  # noqa: PLC0415 - it reads files with SciPy

        refuse_repeats(parser)
        module_of(name).add_arguments(parser)
        # Not set if it is not given, so that `bws --json score` keeps the value of `bws`.
        parser.add_argument(
            "--json",
            action="store_true",
            default=SUPPRESS,
            help="Print one JSON object as the last line of standard output.",
        )
        if parser.called_from_command_line:
            parser.error = self._wrong_usage  # type: ignore[method-assign]

    def handle(self, *, verb: str, **options: Any) -> None:
        started = monotonic()
        if options.get("seed", 0) < 0:
            raise UserError(_("The seed %(seed)s is negative; give 0 or more."), seed=options["seed"])
        with errors_shown():
            answer = module_of(verb).run(options)
        seconds = {"seconds": round(monotonic() - started, 3)} if answer.timed else {}
        self.answer(answer.figures | seconds, *answer.lines, as_json=options["json"])
        if answer.status:
            sys.exit(answer.status)
