"""`bws forecast`: its options and its answer."""

import math
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from django.utils.translation import gettext as _

from annotation.bws.studies.costs import seconds_at_size
from annotation.bws.studies.forecast import (
    SIZES_COMPARED,
    ExpectedRange,
    Forecast,
    ForecastPlan,
    SizeForecast,
    fitted_noise,
    forecast,
    forecast_sizes,
)
from annotation.management.bws import verb
from curation.foundation.command import seed_argument
from curation.foundation.errors import UserError

DEFAULTS = asdict(ForecastPlan(items=0))


def add_arguments(parser: ArgumentParser) -> None:
    parser.set_defaults(**DEFAULTS | {"seconds_per_judgement": None})
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
        help="How much annotators disagree: their noise in standard deviations of the items' true values "
        "(default %(default)s).",
    )
    noise.add_argument(
        "--like",
        type=Path,
        metavar="JUDGEMENTS",
        help="Estimate the noise from these judgements.",
    )
    parser.add_argument(
        "--people",
        type=verb.whole,
        metavar="N",
        help="Annotators who share the work (default %(default)s).",
    )
    parser.add_argument(
        "--careless",
        type=float,
        metavar="SHARE",
        help="Share of answers at random, 0 to 1 (default %(default)g).",
    )
    parser.add_argument(
        "--sizes",
        action="store_true",
        help="Compare tuples of 3 to 6 items at the same number of judgements, and in the same time.",
    )
    _cost_add(parser)
    seed_argument(parser)
    verb.add_reading(parser, items="--item-columns")


def _cost_add(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--seconds-each",
        type=float,
        dest="seconds_per_judgement",
        metavar="SECONDS",
        help="Seconds per judgement (default 25 with 4 items in a tuple, and in proportion with other "
        "sizes).",
    )
    parser.add_argument(
        "--pay",
        type=float,
        metavar="AMOUNT",
        help="Pay for an hour, in any currency; without it no cost is shown.",
    )


def run(options: dict[str, Any]) -> verb.Answer:
    pay = options["pay"]
    if pay is not None and not 0 <= pay < math.inf:
        raise UserError(_("The pay for an hour cannot be %(pay)g; give a number of 0 or more."), pay=pay)
    if options["seconds_per_judgement"] is None:
        options["seconds_per_judgement"] = seconds_at_size(options["size"])
    plan = ForecastPlan(**{name: options[name] for name in DEFAULTS})
    like = verb.judgements_of(options, options["like"]) if options["like"] else None
    if like:
        noise, noise_error = fitted_noise(like.judgements, plan)
        ties = float(like.judgements.ties.mean())
        plan = replace(plan, noise=noise, noise_error=noise_error, ties=ties)
    expected = forecast(plan)
    sizes = forecast_sizes(plan) if options["sizes"] else []
    cost = None if pay is None else expected.hours * pay
    share = expected.maxdiff_share
    enough = None if share is None else round(share * expected.judgements)
    figures = asdict(plan) | {
        "noise": round(plan.noise, 4),
        "noise_error": round(plan.noise_error, 4),
        "ties": round(plan.ties, 4),
        "tuples": expected.tuples,
        "judgements": expected.judgements,
        "hours": round(expected.hours, 2),
        "cost": None if cost is None else round(cost, 2),
        **_figures("spearman", expected.reliability),
        **_figures("counting_accuracy", expected.counting_accuracy),
        **_figures("maxdiff_accuracy", expected.maxdiff_accuracy),
        "maxdiff_judgements": enough,
    }
    if like:
        figures["like"] = verb.file_figures(like)
    if sizes:
        figures["sizes"] = [
            {
                "same": "time" if each.same_time else "judgements",
                "size": each.plan.size,
                "factor": round(each.plan.factor, 4),
                "tuples": each.tuples,
                "judgements": each.judgements,
                "seconds_per_judgement": round(each.plan.seconds_per_judgement, 2),
                "hours": round(each.hours, 2),
                **_figures("spearman", each.reliability),
                **_figures("counting_accuracy", each.counting_accuracy),
                **_figures("maxdiff_accuracy", each.maxdiff_accuracy),
            }
            for each in sizes
        ]
    read = verb.file_lines(like) if like else ()
    return verb.Answer([*read, *_lines(plan, expected, cost, enough, sizes)], figures)


def _figures(name: str, expected: ExpectedRange | None) -> dict[str, float | None]:
    return {f"{name}_{part}": getattr(expected, part, None) for part in ("mean", "low", "high")}


def _lines(
    plan: ForecastPlan,
    expected: Forecast,
    cost: float | None,
    enough: int | None,
    sizes: Sequence[SizeForecast],
) -> Iterator[str]:
    shape = {"size": plan.size, "each": plan.judgements_per_tuple}
    yield _("%(items)s items in %(tuples)s tuples of %(size)s, each annotated %(each)s times.") % (
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
        "Simulated %(campaigns)s times with %(people)s annotators who differ (median noise %(noise).2f standard "
        "deviations of the true values, %(careless)g %% of answers careless); 95 %% of campaigns should be within:"
    ) % {
        "campaigns": plan.campaigns,
        "people": f"{max(plan.people, plan.judgements_per_tuple):,}",
        "noise": plan.noise,
        "careless": 100 * plan.careless,
    }
    if expected.reliability is None:
        yield _("Split-half reliability needs at least two judgements per tuple.")
    else:
        yield _("Split-half reliability (Spearman) %(range)s") % {"range": _range(expected.reliability)}
    yield _("Counting against the true values  %(range)s") % {"range": _range(expected.counting_accuracy)}
    yield _("MaxDiff against the true values   %(range)s") % {"range": _range(expected.maxdiff_accuracy)}
    if enough is not None:
        saved = _("MaxDiff is as accurate as counting from about %(some)s of the %(all)s judgements.")
        yield saved % verb.with_commas(some=enough, all=expected.judgements)
    for each in sizes:
        if each.plan.size == SIZES_COMPARED[0]:
            yield _("In as much time:") if each.same_time else _("In as many judgements:")
        yield _(
            "  %(size)s items in a tuple: %(judgements)s judgements of %(seconds).1f seconds, %(hours).1f hours; "
            "reliability %(reliability)s, counting %(counting).3f, MaxDiff %(maxdiff).3f"
        ) % {
            "size": each.plan.size,
            "judgements": f"{each.judgements:,}",
            "seconds": each.plan.seconds_per_judgement,
            "hours": each.hours,
            "reliability": f"{each.reliability.mean:.3f}" if each.reliability else "–",
            "counting": each.counting_accuracy.mean,
            "maxdiff": each.maxdiff_accuracy.mean,
        }
    if sizes:
        yield _(
            "These are means. The seconds are in proportion to the items, and people are taken to see an item as "
            "clearly among six as among three; both are assumptions."
        )


def _range(expected: ExpectedRange) -> str:
    return _("%(mean).3f (%(low).3f to %(high).3f)") % asdict(expected)
