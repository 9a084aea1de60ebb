"""`bws forecast`: what a campaign will take and what it will be worth."""

import math
from argparse import ArgumentParser
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from time import monotonic
from typing import Any

from django.utils.translation import gettext as _

from annotation.bws.files.judgement_files import read_judgements
from annotation.bws.studies.forecast import Expected, Forecast, ForecastPlan, fitted_noise, forecast
from annotation.management.bws.verb import Answer, add_seed, seed_of, whole
from curation.errors import UserError, errors_shown

HELP = "Forecast judgements, hours, cost and reliability of a campaign by simulating it."
DEFAULTS = ForecastPlan(items=0)


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--items", type=whole, required=True, metavar="N", help="how many are to be scored")
    parser.add_argument(
        "--size", type=whole, default=DEFAULTS.size, help=f"items in each tuple (default {DEFAULTS.size})"
    )
    parser.add_argument(
        "--factor",
        type=float,
        default=DEFAULTS.factor,
        help=f"how many tuples for each item (default {DEFAULTS.factor:g})",
    )
    parser.add_argument(
        "--judgements",
        type=whole,
        default=DEFAULTS.judgements_per_tuple,
        metavar="J",
        help=f"of each tuple (default {DEFAULTS.judgements_per_tuple})",
    )
    noise = parser.add_mutually_exclusive_group()
    noise.add_argument(
        "--noise",
        type=float,
        default=DEFAULTS.noise,
        metavar="S",
        help=f"of an annotator, in standard deviations of the true values (default {DEFAULTS.noise})",
    )
    noise.add_argument("--like", type=Path, metavar="JUDGEMENTS", help="take the noise from these judgements")
    parser.add_argument(
        "--seconds-each",
        type=float,
        default=DEFAULTS.seconds_per_judgement,
        metavar="SECONDS",
        help=f"that one judgement takes (default {DEFAULTS.seconds_per_judgement:g})",
    )
    parser.add_argument(
        "--pay", type=float, metavar="AMOUNT", help="for an hour, in any currency, to tell the cost"
    )
    add_seed(parser)


def run(options: dict[str, Any]) -> Answer:
    started = monotonic()
    pay = options["pay"]
    if pay is not None and not 0 <= pay < math.inf:
        raise UserError(_("An hour cannot be paid with %(pay)g; give a number of 0 or more.") % {"pay": pay})
    plan = _plan(options)
    with errors_shown():
        found = forecast(plan)
    cost = None if pay is None else found.hours * pay
    figures = _plan_figures(plan) | {
        "tuples": found.tuples,
        "judgements": found.judgements,
        "hours": round(found.hours, 2),
        "cost": None if cost is None else round(cost, 2),
        **_figures("spearman", found.reliability),
        **_figures("counting_accuracy", found.counting_accuracy),
        **_figures("maxdiff_accuracy", found.maxdiff_accuracy),
        "maxdiff_judgements": _enough_for_maxdiff(found),
        "seconds": round(monotonic() - started, 3),
    }
    return Answer(list(_lines(plan, found, cost)), figures)


def _plan(options: dict[str, Any]) -> ForecastPlan:
    seed = seed_of(options)
    noise, noise_error = options["noise"], 0.0
    if options["like"]:
        with errors_shown():
            noise, noise_error = fitted_noise(read_judgements(options["like"]).judgements, seed=seed)
    return ForecastPlan(
        items=options["items"],
        size=options["size"],
        factor=options["factor"],
        judgements_per_tuple=options["judgements"],
        noise=noise,
        noise_error=noise_error,
        seconds_per_judgement=options["seconds_each"],
        seed=seed,
    )


def _plan_figures(plan: ForecastPlan) -> dict[str, Any]:
    return asdict(plan) | {"noise": round(plan.noise, 4), "noise_error": round(plan.noise_error, 4)}


def _figures(name: str, expected: Expected | None) -> dict[str, float | None]:
    values = (None, None, None) if expected is None else (expected.mean, expected.low, expected.high)
    return {f"{name}_{part}": value for part, value in zip(("mean", "low", "high"), values, strict=True)}


def _lines(plan: ForecastPlan, found: Forecast, cost: float | None) -> Iterator[str]:
    yield _("%(items)s items in %(tuples)s tuples of %(size)s, each judged %(each)s times.") % {
        "items": f"{plan.items:,}",
        "tuples": f"{found.tuples:,}",
        "size": plan.size,
        "each": plan.judgements_per_tuple,
    }
    yield _("%(judgements)s judgements: %(hours).1f hours at %(seconds)g seconds each.") % {
        "judgements": f"{found.judgements:,}",
        "hours": found.hours,
        "seconds": plan.seconds_per_judgement,
    }
    if cost is not None:
        yield _("Cost: %(cost)s.") % {"cost": f"{cost:,.2f}"}
    yield _(
        "Simulated %(campaigns)s times with annotators whose noise is %(noise).2f standard deviations "
        "of the true values; 95 %% of campaigns should lie between:"
    ) % {"campaigns": plan.campaigns, "noise": plan.noise}
    if found.reliability is None:
        yield _("Split-half reliability needs at least two judgements of each tuple.")
    else:
        yield _("Split-half reliability (Spearman) %(range)s") % {"range": _range(found.reliability)}
    yield _("Counting against the true values  %(range)s") % {"range": _range(found.counting_accuracy)}
    yield _("MaxDiff against the true values   %(range)s") % {"range": _range(found.maxdiff_accuracy)}
    if (enough := _enough_for_maxdiff(found)) is not None:
        yield _("MaxDiff comes as near as counting does from about %(some)s of the %(all)s judgements.") % {
            "some": f"{enough:,}",
            "all": f"{found.judgements:,}",
        }


def _enough_for_maxdiff(found: Forecast) -> int | None:
    return None if found.maxdiff_share is None else round(found.maxdiff_share * found.judgements)


def _range(expected: Expected) -> str:
    return _("%(mean).3f (%(low).3f to %(high).3f)") % asdict(expected)
