"""`bws replication`: its options and its answer."""

from argparse import ArgumentParser
from typing import Any

import numpy as np
from django.utils.translation import gettext as _

from annotation.bws.judgements import tuple_numbers
from annotation.bws.reliability.replication import compared_methods, replication
from annotation.bws.scores.refitting import maxdiff_fit
from annotation.management.bws import verb
from curation.foundation.command import seed_argument

NUMBERS = (1, 2, 3, 4, 6, 8, 12, 16)
ROW = (
    "{judgements_per_tuple:9}  {judgements:10,}  {counting_mean:.3f} ± {counting_sd:.3f}    "
    "{maxdiff_mean:.3f} ± {maxdiff_sd:.3f}"
)


def add_arguments(parser: ArgumentParser) -> None:
    verb.add_judgements(parser)
    parser.add_argument(
        "--trials", type=verb.whole, default=20, help="Random halves of the tuples (default 20)."
    )
    seed_argument(parser)


def run(options: dict[str, Any]) -> verb.Answer:
    seed, trials, file = options["seed"], options["trials"], verb.judgements_of(options)
    # Numbers of judgements per tuple that most tuples have.
    usual = np.median(np.bincount(tuple_numbers(file.judgements.items)))
    numbers = [number for number in NUMBERS if number <= usual] or [1]
    methods = compared_methods(maxdiff_fit(file.judgements).settings)
    points = []
    for number in numbers:
        point: dict[str, float] = {}
        for name, method in methods.items():
            result = replication(
                file.judgements, method, judgements_per_tuple=number, trials=trials, seed=seed
            )
            # The number of judgements is the same for all methods, because the halves are.
            point |= {"judgements_per_tuple": number, "judgements": result.judgements}
            point |= {f"{name}_mean": result.spearman_mean, f"{name}_sd": result.spearman_sd}
        points.append(point)
    heading = _(
        "Spearman between scores of one half of the tuples, from a few judgements per tuple, and scores of the other "
        "half, from all judgements; mean ± sd of %(trials)s splits:"
    ) % {"trials": trials}
    table = [_("per tuple  judgements  counting         MaxDiff"), *(ROW.format(**point) for point in points)]
    figures = {"trials": trials, **verb.file_figures(file), "points": points}
    return verb.Answer([*verb.file_lines(file), heading, *table], figures)
