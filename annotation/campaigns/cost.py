"""What a campaign will cost, before anything is stored."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from django.forms.models import model_to_dict
from django.utils.translation import gettext as _

from annotation.bws.annotators.gold_gate import gate_proposed, golds_before_stop, tuples_before_stop
from annotation.bws.designs.design import tuple_count
from annotation.bws.studies.costs import CampaignCosts, campaign_costs, seconds_at_size
from annotation.bws.studies.forecast import ForecastPlan, SizeForecast, forecast_sizes
from annotation.campaigns.selectors import pairs_fitting
from annotation.models import Campaign
from annotation.results.annotators import gate_sentence
from curation.datasets.people import members_of
from curation.errors import UserError, errors_shown
from curation.models import Dataset

# Sizes of tuples are compared while somebody waits: on so many pairs and in so few campaigns, within some seconds.
SIZES_PLAN = ForecastPlan(items=0, campaigns=12, trials=5, most_items=100)
MOST_TUPLES_COMPARED, MOST_JUDGEMENTS_COMPARED = 400, 10


@dataclass(frozen=True)
class Gate:
    """When the gold gate can stop somebody first, beside what there is to judge.

    golds, tuples: after so many gold answers, all wrong, and so many tuples; None where it never stops anybody.
    each: the tuples that each of `people` gets. proposed: one gold tuple in how many, so that it acts. sentence: how
    often it stops whom.
    """

    golds: int | None
    tuples: int | None
    people: int
    each: int
    proposed: int | None
    sentence: str

    @property
    def acts(self) -> bool:
        return self.tuples is not None and self.tuples <= self.each


@dataclass(frozen=True)
class Estimate:
    """pay: of all people together, None where none was given. gate: None where the settings do not say enough of it."""

    pairs: int
    tuples: int
    costs: CampaignCosts
    pay: float | None
    gate: Gate | None


def campaign_estimate(dataset: Dataset, settings: Mapping[str, Any]) -> Estimate:
    """From settings to work. Two queries."""
    pairs = _pairs(dataset, settings)
    tuples = tuple_count(pairs, settings["factor"])
    costs = campaign_costs(
        tuples * settings["judgements_per_tuple"],
        seconds_per_judgement=settings.get("seconds", seconds_at_size(settings["tuple_size"])),
        gold_every=settings["gold_every"],
        repeat_every=settings["repeat_every"],
    )
    pay = settings.get("pay")
    gate = _gate(dataset, settings, costs.answers) if settings["gold_minimum"] is not None else None
    return Estimate(pairs, tuples, costs, None if pay is None else costs.hours * pay, gate)


def sizes_compared(dataset: Dataset, settings: Mapping[str, Any]) -> list[SizeForecast]:
    """What the campaign would reach with tuples of 3 to 6 pairs, simulated on few pairs.

    Raises UserError where that takes too long or cannot be.
    """
    plan = replace(
        SIZES_PLAN,
        items=_pairs(dataset, settings),
        size=settings["tuple_size"],
        factor=settings["factor"],
        judgements_per_tuple=settings["judgements_per_tuple"],
        people=_people(dataset, settings),
        seconds_per_judgement=settings["seconds"],
    )
    tuples = tuple_count(min(plan.items, plan.most_items), plan.factor)
    if tuples > MOST_TUPLES_COMPARED or plan.judgements_per_tuple > MOST_JUDGEMENTS_COMPARED:
        sentence = _(
            "There are too many judgements per pair to compare sizes here; "
            "`manage.py bws forecast --sizes` can do it."
        )
        raise UserError(sentence)
    with errors_shown():
        return _sizes(plan)


@lru_cache(maxsize=100)
def _sizes(plan: ForecastPlan) -> list[SizeForecast]:
    return forecast_sizes(plan)


def _pairs(dataset: Dataset, settings: Mapping[str, Any]) -> int:
    fitting: int = pairs_fitting(dataset, settings).count()
    return min(fitting, settings.get("number") or fitting)


def _people(dataset: Dataset, settings: Mapping[str, Any]) -> int:
    """Who share the work. Nobody judges a tuple twice, so there are at least as many as judgements of a tuple."""
    least: int = settings["judgements_per_tuple"]
    return max(settings.get("people") or members_of(dataset).count(), least)


def _gate(dataset: Dataset, settings: Mapping[str, Any], handed: float) -> Gate:
    """handed: how many tuples people get, all together."""
    threshold = settings["gold_threshold"] or 0.0
    rule = {"minimum": settings["gold_minimum"], "threshold": threshold}
    people = _people(dataset, settings)
    each = int(handed / people)
    return Gate(
        golds=golds_before_stop(**rule),
        tuples=tuples_before_stop(every=settings["gold_every"], **rule),
        people=people,
        each=each,
        proposed=gate_proposed(each, **rule),
        sentence=gate_sentence(golds=each // settings["gold_every"], size=settings["tuple_size"], **rule),
    )


def campaign_proposed(dataset: Dataset) -> Campaign:
    """An unsaved campaign of all pairs, with a gold gate that can act where the campaign is large enough for one."""
    campaign = Campaign(dataset=dataset)
    estimate = campaign_estimate(dataset, settings_of(campaign))
    if estimate.gate and estimate.gate.proposed:
        campaign.gold_every = estimate.gate.proposed
    return campaign


def settings_of(campaign: Campaign) -> dict[str, Any]:
    """What the estimate of a stored campaign is made from."""
    names = "tuple_size factor judgements_per_tuple repeat_every gold_every gold_minimum gold_threshold"
    return {**model_to_dict(campaign, names.split()), **campaign.pair_filter}
