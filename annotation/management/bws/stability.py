"""`bws stability`: how near scores from few judgements come to those of other people on other tuples."""

from argparse import ArgumentParser
from collections.abc import Iterator
from functools import partial
from time import monotonic
from typing import Any

import numpy as np
from django.utils.translation import gettext as _

from annotation.bws.judgements import Judgements, tuple_numbers
from annotation.bws.reliability.replication import Scored, Stability, stability
from annotation.bws.scores.scoring import counting_scores, maxdiff_scores
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

HELP = "Compare counting and MaxDiff by how well they repeat on other tuples."
METHODS: dict[str, Scored] = {
    "counting": counting_scores,
    "maxdiff": partial(maxdiff_scores, with_errors=False),
}
NUMBERS = (1, 2, 3, 4, 6, 8, 12, 16)


def add_arguments(parser: ArgumentParser) -> None:
    add_judgements(parser)
    parser.add_argument("--trials", type=whole, default=20, help="random halves of the tuples (default 20)")
    add_seed(parser)


def run(options: dict[str, Any]) -> Answer:
    started = monotonic()
    seed, file = seed_of(options), judgements_of(options)
    with errors_shown():
        points = [
            {
                name: stability(
                    file.judgements, method, judgements_per_tuple=number, trials=options["trials"], seed=seed
                )
                for name, method in METHODS.items()
            }
            for number in _numbers(file.judgements)
        ]
    figures = {
        "trials": options["trials"],
        **file_figures(file),
        "points": [_figures(point) for point in points],
        "seconds": round(monotonic() - started, 3),
    }
    return Answer([*file_lines(file), *_lines(points, options["trials"])], figures)


def _numbers(judgements: Judgements) -> list[int]:
    """The numbers of judgements a tuple that most tuples have."""
    usual = float(np.median(np.bincount(tuple_numbers(judgements.items))))
    return [number for number in NUMBERS if number <= usual] or [1]


def _figures(point: dict[str, Stability]) -> dict[str, float]:
    one = point["counting"]
    figures: dict[str, float] = {
        "judgements_per_tuple": one.judgements_per_tuple,
        "judgements": one.judgements,
    }
    for name, found in point.items():
        figures |= {f"{name}_mean": found.spearman_mean, f"{name}_sd": found.spearman_sd}
    return figures


def _lines(points: list[dict[str, Stability]], trials: int) -> Iterator[str]:
    yield _(
        "Spearman between scores from so many judgements of each tuple of one half and scores from all "
        "judgements of the other half, mean ± sd of %(trials)s splits:"
    ) % {"trials": trials}
    yield _("a tuple  judgements  counting         MaxDiff")
    for point in points:
        counting, maxdiff = point["counting"], point["maxdiff"]
        yield (
            f"{counting.judgements_per_tuple:7}  {counting.judgements:10,}  "
            f"{counting.spearman_mean:.3f} ± {counting.spearman_sd:.3f}    "
            f"{maxdiff.spearman_mean:.3f} ± {maxdiff.spearman_sd:.3f}"
        )
