"""`bws reliability`: how well halves of the judgements agree."""

from argparse import ArgumentParser
from collections.abc import Iterator
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

HELP = "Compute the split-half reliability of judgements."


def add_arguments(parser: ArgumentParser) -> None:
    add_judgements(parser)
    parser.add_argument("--trials", type=whole, default=1000, help="Number of random splits (default 1000).")
    parser.add_argument(
        "--split",
        type=one_of(Split),
        default=Split.JUDGEMENTS,
        metavar="WHAT",
        help="What is split in half: the judgements of each tuple (judgements, the default), the tuples, or the "
        "annotators.",
    )
    add_seed(parser)


def run(options: dict[str, Any]) -> Answer:
    seed, file = seed_of(options), judgements_of(options)
    with errors_shown():
        reliability = split_half_reliability(
            file.judgements, trials=options["trials"], seed=seed, split=options["split"]
        )
    figures = reliability.as_dict() | file_figures(file)
    return Answer([*file_lines(file), *_lines(reliability)], figures)


def _lines(reliability: Reliability) -> Iterator[str]:
    halves = {
        Split.JUDGEMENTS: _("halves of each tuple's judgements"),
        Split.TUPLES: _("halves of the tuples"),
        Split.ANNOTATORS: _("halves of the annotators"),
    }
    yield _("%(judgements)s judgements of %(tuples)s tuples, %(trials)s splits into %(halves)s:") % {
        "judgements": f"{reliability.judgements:,}",
        "tuples": f"{reliability.tuples:,}",
        "trials": f"{reliability.trials:,}",
        "halves": halves[reliability.split],
    }
    yield _("Spearman %(spearman_mean).4f ± %(spearman_sd).4f") % reliability.as_dict()
    yield _("Pearson  %(pearson_mean).4f ± %(pearson_sd).4f") % reliability.as_dict()
    yield (
        _("Spearman-Brown %(spearman_brown).4f: the estimate for all judgements instead of half of them")
        % reliability.as_dict()
    )
