"""Compute the split-half reliability of judgements."""

from argparse import ArgumentParser
from typing import Any

from django.utils.translation import gettext as _

from annotation.bws.reliability.split_half import Split, split_half_reliability
from annotation.management.bws import verb


def add_arguments(parser: ArgumentParser) -> None:
    verb.add_judgements(parser)
    parser.add_argument(
        "--trials", type=verb.whole, default=1000, help="Number of random splits (default 1000)."
    )
    parser.add_argument(
        "--split",
        type=verb.one_of(Split),
        default=Split.JUDGEMENTS,
        metavar="WHAT",
        help="What is split in half: the judgements of each tuple (judgements, the default), the tuples, or the "
        "annotators.",
    )
    verb.add_seed(parser)


def run(options: dict[str, Any]) -> verb.Answer:
    file = verb.judgements_of(options)
    reliability = split_half_reliability(
        file.judgements, trials=options["trials"], seed=options["seed"], split=options["split"]
    )
    halves = {
        Split.JUDGEMENTS: _("halves of each tuple's judgements"),
        Split.TUPLES: _("halves of the tuples"),
        Split.ANNOTATORS: _("halves of the annotators"),
    }
    counts = verb.with_commas(
        judgements=reliability.judgements, tuples=reliability.tuples, trials=reliability.trials
    )
    figures = reliability.as_dict()
    lines = [
        _("%(judgements)s judgements of %(tuples)s tuples, %(trials)s splits into %(halves)s:")
        % (counts | {"halves": halves[reliability.split]}),
        _("Spearman %(spearman_mean).4f ± %(spearman_sd).4f") % figures,
        _("Pearson  %(pearson_mean).4f ± %(pearson_sd).4f") % figures,
        _("Spearman-Brown %(spearman_brown).4f: the estimate for all judgements instead of half of them")
        % figures,
    ]
    return verb.Answer([*verb.file_lines(file), *lines], figures | verb.file_figures(file))
