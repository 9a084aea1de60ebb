"""Score items from the judgements of their tuples."""

from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.bws.files.item_files import write_scores
from annotation.bws.scores.distinction import TieGroups
from annotation.bws.scores.posterior import ErrorKind
from annotation.bws.scores.scoring import METHODS, Scale
from annotation.management.bws import verb


def add_arguments(parser: ArgumentParser) -> None:
    verb.add_judgements(parser)
    parser.add_argument(
        "--out",
        type=Path,
        required=True,
        metavar="SCORES",
        help="CSV, best score first: item, score, standard_error, appearances, best, worst, group. Items that share a "
        "tie group are not distinguishable at 95 %%; 3..7 means groups 3 to 7.",
    )
    parser.add_argument(
        "--method",
        choices=METHODS,
        default="counting",
        help="counting (default): times best minus times worst, divided by appearances. maxdiff, bradley-terry: models "
        "that also use which items each item met.",
    )
    parser.add_argument(
        "--scale",
        type=verb.one_of(Scale),
        default=Scale.SIGNED,
        metavar="SCALE",
        help="signed: -1 to 1 (default). unit: 0 to 1.",
    )


def run(options: dict[str, Any]) -> verb.Answer:
    verb.keep_apart(options["judgements"], options["out"])
    file, method = verb.judgements_of(options), options["method"]
    scores = METHODS[method](file.judgements, scale=options["scale"])
    groups = write_scores(options["out"], file.items, scores)
    figures = {
        "items": len(file.items),
        **verb.file_figures(file),
        "method": method,
        "scale": options["scale"],
        "standard_errors": scores.error_kind,
        "groups": None if scores.error_kind is ErrorKind.NONE else len(groups.starts),
    }
    line = ngettext(
        "%(items)s items scored by %(method)s from %(judgements)s judgement, written to %(out)s.",
        "%(items)s items scored by %(method)s from %(judgements)s judgements, written to %(out)s.",
        len(file.judgements),
    ) % (options | verb.with_commas(items=len(file.items), judgements=len(file.judgements)))
    return verb.Answer([*verb.file_lines(file), line, *_error_lines(scores.error_kind, groups)], figures)


def _error_lines(kind: ErrorKind, groups: TieGroups) -> Iterator[str]:
    if kind is ErrorKind.NONE:
        yield _(
            "This method has no standard errors, so there are no tie groups; counting and maxdiff have both."
        )
        return
    yield _(
        "Of all pairs of items, %(share).1f %% are distinguishable at 95 %%. Items that are not form tie groups: "
        "%(groups)s."
    ) % {"share": 100 * groups.distinguishable, "groups": f"{len(groups.starts):,}"}
    if kind is ErrorKind.ESTIMATED:
        yield _(
            "The standard errors are estimates, within a few per cent: there are too many items for exact ones."
        )
