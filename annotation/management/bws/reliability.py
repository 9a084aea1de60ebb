"""`bws reliability`: how well halves of the judgements agree."""

from argparse import ArgumentParser
from collections.abc import Iterator
from time import monotonic
from typing import Any

from django.utils.translation import gettext as _

from annotation.bws.reliability.split_half import Reliability, Split, split_half_reliability
from annotation.management.bws.verb import (
    Answer,
    add_judgements,
    add_seed,
    file_figures,
    file_lines,
    judgements_of,
    one_of,
    seed_of,
    whole,
)
from curation.errors import errors_shown

HELP = "Measure the split-half reliability of judgements."


def add_arguments(parser: ArgumentParser) -> None:
    add_judgements(parser)
    parser.add_argument("--trials", type=whole, default=1000, help="random splits (default 1000)")
    parser.add_argument(
        "--split",
        type=one_of(Split),
        default=Split.JUDGEMENTS,
        metavar="WHAT",
        help="what is halved: the judgements of each tuple (default), the tuples, or the annotators",
    )
    add_seed(parser)


def run(options: dict[str, Any]) -> Answer:
    started = monotonic()
    seed, file = seed_of(options), judgements_of(options)
    with errors_shown():
        found = split_half_reliability(
            file.judgements, trials=options["trials"], seed=seed, split=options["split"]
        )
    figures = found.as_dict() | file_figures(file) | {"seconds": round(monotonic() - started, 3)}
    return Answer([*file_lines(file), *_lines(found)], figures)


def _lines(found: Reliability) -> Iterator[str]:
    halves = {
        Split.JUDGEMENTS: _("halves of each tuple's judgements"),
        Split.TUPLES: _("halves of the tuples"),
        Split.ANNOTATORS: _("halves of the annotators"),
    }
    yield _("%(judgements)s judgements of %(tuples)s tuples, %(trials)s splits into %(halves)s:") % {
        "judgements": f"{found.judgements:,}",
        "tuples": f"{found.tuples:,}",
        "trials": f"{found.trials:,}",
        "halves": halves[found.split],
    }
    yield _("Spearman %(mean).4f ± %(sd).4f") % {"mean": found.spearman_mean, "sd": found.spearman_sd}
    yield _("Pearson  %(mean).4f ± %(sd).4f") % {"mean": found.pearson_mean, "sd": found.pearson_sd}
    yield _("Spearman-Brown %(value).4f: the same for all judgements instead of half of them") % {
        "value": found.spearman_brown
    }
