"""`bws score`: a file of judgements into a file of scores."""

from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from time import monotonic
from typing import Any

from django.utils.translation import gettext as _

from annotation.bws.files import write_scores
from annotation.bws.scoring import METHODS, Scale
from annotation.bws.standard_errors import ErrorKind
from annotation.management.bws.verb import Answer, add_judgements, file_figures, file_lines, judgements_of
from curation.errors import errors_shown

HELP = "Score items by the judgements of their tuples."


def add_arguments(parser: ArgumentParser) -> None:
    add_judgements(parser)
    parser.add_argument("--out", type=Path, required=True, metavar="SCORES", help="CSV, best score first")
    parser.add_argument("--method", choices=METHODS, default="counting")
    parser.add_argument(
        "--scale", type=Scale, choices=list(Scale), default=Scale.SIGNED, help="-1 to 1, or 0 to 1"
    )


def run(options: dict[str, Any]) -> Answer:
    started = monotonic()
    file, method = judgements_of(options), options["method"]
    with errors_shown():
        scores = METHODS[method](file.judgements, scale=options["scale"])
        write_scores(options["out"], file.items, scores)
    figures = {
        "items": len(file.items),
        **file_figures(file),
        "method": method,
        "scale": options["scale"],
        "standard_errors": scores.error_kind,
        "seconds": round(monotonic() - started, 3),
    }
    line = _("%(items)s items scored by %(method)s from %(judgements)s judgements, written to %(out)s.") % {
        "items": f"{len(file.items):,}",
        "method": method,
        "judgements": f"{len(file.judgements):,}",
        "out": options["out"],
    }
    return Answer([*file_lines(file), line, *_error_lines(scores.error_kind)], figures)


def _error_lines(kind: ErrorKind) -> Iterator[str]:
    if kind is ErrorKind.ESTIMATED:
        yield _(
            "Standard errors are estimates, each within some per cent: so many items allow no exact ones."
        )
    if kind is ErrorKind.NONE:
        yield _("This method has no standard errors; maxdiff has them.")
