"""Forecast the judgements, hours, cost and reliability of a campaign by simulating it."""

import math
from argparse import ArgumentParser
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from django.utils.translation import gettext as _

from annotation.bws.files.judgement_files import read_judgements
from annotation.bws.studies.forecast import ExpectedRange, Forecast, ForecastPlan, fitted_noise, forecast
from annotation.management.bws import verb
from curation.errors import UserError

DEFAULTS = asdict(ForecastPlan(items=0))


def add_arguments(parser: ArgumentParser) -> None:
    parser.set_defaults(**DEFAULTS)
    parser.add_argument(
        "--items", type=verb.whole, required=True, metavar="N", help="Number of items to score."
    )
    parser.add_argument("--size", type=verb.whole, help="Items in each tuple (default %(default)s).")
    parser.add_argument("--factor", type=float, help="Tuples per item (default %(default)g).")
    parser.add_argument(
        "--judgements",
        type=verb.whole,
        dest="judgements_per_tuple",
        metavar="J",
        help="Judgements per tuple (default %(default)s).",
    )
    noise = parser.add_mutually_exclusive_group()
    noise.add_argument(
        "--noise",
        type=float,
        metavar="S",
        help="How much annotators disagree: the noise that each adds to the items' true values, in standard "
        "deviations of these values (default %(default)s).",
    )
    noise.add_argument(
        "--like", type=Path, metavar="JUDGEMENTS", help="Estimate the noise from these judgements."
    )
    parser.add_argument(
        "--seconds-each",
        type=float,
        dest="seconds_per_judgement",
        metavar="SECONDS",
        help="Seconds per judgement (default %(default)g).",
    )
    parser.add_argument(
        "--pay",
        type=float,
        metavar="AMOUNT",
        help="Pay for an hour, in any currency; without it no cost is shown.",
    )
    verb.add_seed(parser)


def run(options: dict[str, Any]) -> verb.Answer:
    pay = options["pay"]
    if pay is not None and not 0 <= pay < math.inf:
        raise UserError(_("The pay for an hour cannot be %(pay)g; give a number of 0 or more."), pay=pay)
    plan = ForecastPlan(**{name: options[name] for name in DEFAULTS})
    if options["like"]:
        noise, noise_error = fitted_noise(read_judgements(options["like"]).judgements, seed=plan.seed)
        plan = replace(plan, noise=noise, noise_error=noise_error)
    expected = forecast(plan)
    cost = None if pay is None else expected.hours * pay
    share = expected.maxdiff_share
    enough = None if share is None else round(share * expected.judgements)
    figures = asdict(plan) | {
        "noise": round(plan.noise, 4),
        "noise_error": round(plan.noise_error, 4),
        "tuples": expected.tuples,
        "judgements": expected.judgements,
        "hours": round(expected.hours, 2),
        "cost": None if cost is None else round(cost, 2),
        **_figures("spearman", expected.reliability),
        **_figures("counting_accuracy", expected.counting_accuracy),
        **_figures("maxdiff_accuracy", expected.maxdiff_accuracy),
        "maxdiff_judgements": enough,
    }
    return verb.Answer(list(_lines(plan, expected, cost, enough)), figures)


def _figures(name: str, expected: ExpectedRange | None) -> dict[str, float | None]:
    return {f"{name}_{part}": getattr(expected, part, None) for part in ("mean", "low", "high")}


def _lines(plan: ForecastPlan, expected: Forecast, cost: float | None, enough: int | None) -> Iterator[str]:
    shape = {"size": plan.size, "each": plan.judgements_per_tuple}
    yield _("%(items)s items in %(tuples)s tuples of %(size)s, each judged %(each)s times.") % (
        shape | verb.with_commas(items=plan.items, tuples=expected.tuples)
    )
    yield _("%(judgements)s judgements: %(hours).1f hours at %(seconds)g seconds each.") % {
        "judgements": f"{expected.judgements:,}",
        "hours": expected.hours,
        "seconds": plan.seconds_per_judgement,
    }
    if cost is not None:
        yield _("Cost: %(cost)s.") % {"cost": f"{cost:,.2f}"}
    yield _(
        "Simulated %(campaigns)s times with annotators whose noise is %(noise).2f standard deviations "
        "of the true values; 95 %% of campaigns should be within:"
    ) % {"campaigns": plan.campaigns, "noise": plan.noise}
    if expected.reliability is None:
        yield _("Split-half reliability needs at least two judgements per tuple.")
    else:
        yield _("Split-half reliability (Spearman) %(range)s") % {"range": _range(expected.reliability)}
    yield _("Counting against the true values  %(range)s") % {"range": _range(expected.counting_accuracy)}
    yield _("MaxDiff against the true values   %(range)s") % {"range": _range(expected.maxdiff_accuracy)}
    if enough is not None:
        saved = _("MaxDiff is as accurate as counting from about %(some)s of the %(all)s judgements.")
        yield saved % verb.with_commas(some=enough, all=expected.judgements)


def _range(expected: ExpectedRange) -> str:
    return _("%(mean).3f (%(low).3f to %(high).3f)") % asdict(expected)
