"""`bws score`: a file of judgements into a file of scores."""

from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from time import monotonic
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.bws.files.item_files import write_scores
from annotation.bws.scores.distinction import Groups
from annotation.bws.scores.posterior import ErrorKind
from annotation.bws.scores.scoring import METHODS, Scale
from annotation.management.bws.verb import (
    Answer,
    add_judgements,
    file_figures,
    file_lines,
    judgements_of,
    keep_apart,
    one_of,
)
from curation.errors import errors_shown

HELP = "Score items by the judgements of their tuples."
OUT_HELP = (
    "CSV, best score first: item, score, standard_error, appearances, best, worst, group. Items that share a group "
    "cannot be told apart at 95 %%; 3..7 is groups 3 to 7"
)


def add_arguments(parser: ArgumentParser) -> None:
    add_judgements(parser)
    parser.add_argument("--out", type=Path, required=True, metavar="SCORES", help=OUT_HELP)
    parser.add_argument(
        "--method",
        choices=METHODS,
        default="counting",
        help="how often best minus how often worst, per appearance (counting, the default), or a model that also "
        "knows whom an item met",
    )
    parser.add_argument(
        "--scale",
        type=one_of(Scale),
        default=Scale.SIGNED,
        metavar="SCALE",
        help="signed: -1 to 1 (default); unit: 0 to 1",
    )


def run(options: dict[str, Any]) -> Answer:
    started = monotonic()
    keep_apart(options["judgements"], options["out"])
    file, method = judgements_of(options), options["method"]
    with errors_shown():
        scores = METHODS[method](file.judgements, scale=options["scale"])
        groups = write_scores(options["out"], file.items, scores)
    figures = {
        "items": len(file.items),
        **file_figures(file),
        "method": method,
        "scale": options["scale"],
        "standard_errors": scores.error_kind,
        "groups": None if scores.error_kind is ErrorKind.NONE else len(groups.starts),
        "seconds": round(monotonic() - started, 3),
    }
    line = ngettext(
        "%(items)s items scored by %(method)s from %(judgements)s judgement, written to %(out)s.",
        "%(items)s items scored by %(method)s from %(judgements)s judgements, written to %(out)s.",
        len(file.judgements),
    ) % {
        "items": f"{len(file.items):,}",
        "method": method,
        "judgements": f"{len(file.judgements):,}",
        "out": options["out"],
    }
    return Answer([*file_lines(file), line, *_error_lines(scores.error_kind, groups)], figures)


def _error_lines(kind: ErrorKind, groups: Groups) -> Iterator[str]:
    if kind is ErrorKind.NONE:
        yield _("This method has no standard errors, so no groups either; counting and maxdiff have them.")
        return
    yield _(
        "Of all pairs of items, %(share).1f %% are told apart at 95 %%; groups of items that are not: %(groups)s."
    ) % {"share": 100 * groups.told_apart, "groups": f"{len(groups.starts):,}"}
    if kind is ErrorKind.ESTIMATED:
        yield _(
            "Standard errors are estimates, each within some per cent: so many items allow no exact ones."
        )
