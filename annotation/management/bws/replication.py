"""`bws replication`: how near scores from few judgements are to those of other people on other tuples."""

from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

import numpy as np
from django.utils.translation import gettext as _

from annotation.bws.judgements import Judgements, tuple_numbers
from annotation.bws.reliability.replication import COMPARED_METHODS, Replication, replication
from annotation.management.bws.verb import (
    Answer,
    add_judgements,
    add_seed,
    file_figures,
    file_lines,
    judgements_of,
    seed_of,
    whole,
)
from curation.errors import errors_shown

HELP = "Compare counting and MaxDiff by how well their scores repeat on other tuples."
NUMBERS = (1, 2, 3, 4, 6, 8, 12, 16)


def add_arguments(parser: ArgumentParser) -> None:
    add_judgements(parser)
    parser.add_argument("--trials", type=whole, default=20, help="Random halves of the tuples (default 20).")
    add_seed(parser)


def run(options: dict[str, Any]) -> Answer:
    seed, trials, file = seed_of(options), options["trials"], judgements_of(options)
    with errors_shown():
        points = [
            {
                name: replication(
                    file.judgements, method, judgements_per_tuple=number, trials=trials, seed=seed
                )
                for name, method in COMPARED_METHODS.items()
            }
            for number in _numbers(file.judgements)
        ]
    figures = {
        "trials": trials,
        **file_figures(file),
        "points": [_figures(point) for point in points],
    }
    return Answer([*file_lines(file), *_lines(points, trials)], figures)


def _numbers(judgements: Judgements) -> list[int]:
    """The numbers of judgements per tuple that most tuples have."""
    usual = float(np.median(np.bincount(tuple_numbers(judgements.items))))
    return [number for number in NUMBERS if number <= usual] or [1]


def _figures(point: dict[str, Replication]) -> dict[str, float]:
    counting = point["counting"]
    figures: dict[str, float] = {
        "judgements_per_tuple": counting.judgements_per_tuple,
        "judgements": counting.judgements,
    }
    for name, result in point.items():
        figures |= {f"{name}_mean": result.spearman_mean, f"{name}_sd": result.spearman_sd}
    return figures


def _lines(points: list[dict[str, Replication]], trials: int) -> Iterator[str]:
    yield _(
        "Spearman between scores of one half of the tuples, from a few judgements per tuple, and scores of the other "
        "half, from all judgements; mean ± sd of %(trials)s splits:"
    ) % {"trials": trials}
    yield _("per tuple  judgements  counting         MaxDiff")
    for point in points:
        counting, maxdiff = point["counting"], point["maxdiff"]
        yield (
            f"{counting.judgements_per_tuple:9}  {counting.judgements:10,}  "
            f"{counting.spearman_mean:.3f} ± {counting.spearman_sd:.3f}    "
            f"{maxdiff.spearman_mean:.3f} ± {maxdiff.spearman_sd:.3f}"
        )
