"""What a campaign will cost, before anything is stored."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from django.db.models import Sum
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
    """What the gold gate can do in a campaign: the one promise of its form, its draft, its gold page and its dashboard.

    needed, tuples: the first possible stop comes after so many gold answers, all wrong, and so many tuples; None where
    it never stops anybody. each: the tuples that each of `people` gets. proposed: one gold tuple in how many, so that
    people get enough of them. existing: gold tuples in use, None where there is no campaign yet. wanted: how many there
    should be, no more than a person is asked. sentence: how often it stops whom with the gold tuples that exist, or
    with those that are wanted where there is no campaign yet; empty where it cannot act.
    """

    needed: int | None
    tuples: int | None
    people: int
    each: int
    proposed: int | None
    existing: int | None
    wanted: int
    sentence: str

    @property
    def reaches(self) -> bool:
        """Whether people get tuples enough for the first possible stop."""
        return self.tuples is not None and self.tuples <= self.each

    @property
    def few(self) -> bool:
        """Whether too few gold tuples exist to stop anybody."""
        return self.existing is not None and self.existing < (self.needed or 0)

    @property
    def acts(self) -> bool:
        return self.reaches and not self.few

    @property
    def missing(self) -> int:
        return 0 if self.existing is None else max(0, self.wanted - self.existing)

    @property
    def ready(self) -> bool:
        """Whether it keeps everything that the settings ask of it."""
        return self.acts and not self.missing


@dataclass(frozen=True)
class Estimate:
    """pay: of all people together, None where none was given. gate: None where the settings do not say enough of it."""

    pairs: int
    tuples: int
    costs: CampaignCosts
    pay: float | None
    gate: Gate | None


def campaign_estimate(dataset: Dataset, settings: Mapping[str, Any], *, golds: int | None = None) -> Estimate:
    """From settings to work. Two queries. golds: how many gold tuples exist, None before there is a campaign."""
    pairs = _pairs(dataset, settings)
    tuples = tuple_count(pairs, settings["factor"])
    costs = _costs(settings, tuples * settings["judgements_per_tuple"])
    pay = settings.get("pay")
    gate = _gate(dataset, settings, costs.answers, golds) if settings["gold_minimum"] is not None else None
    return Estimate(pairs, tuples, costs, None if pay is None else costs.hours * pay, gate)


def _costs(settings: Mapping[str, Any], judgements: int) -> CampaignCosts:
    return campaign_costs(
        judgements,
        seconds_per_judgement=settings.get("seconds", seconds_at_size(settings["tuple_size"])),
        gold_every=settings["gold_every"],
        repeat_every=settings["repeat_every"],
    )


def gate_of_campaign(campaign: Campaign) -> Gate:
    """With the gold tuples that the campaign has. Three queries."""
    settings = settings_of(campaign)
    golds = campaign.tuples.gold_in_use().count()
    if campaign.state == Campaign.State.DRAFT:
        pairs = _pairs(campaign.dataset, settings)
        judgements = tuple_count(pairs, campaign.factor) * campaign.judgements_per_tuple
    else:
        asked = campaign.tuples.for_scores().aggregate(judgements=Sum("required", default=0))
        judgements = asked["judgements"]
    return _gate(campaign.dataset, settings, _costs(settings, judgements).answers, golds)


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


def _gate(dataset: Dataset, settings: Mapping[str, Any], handed: float, existing: int | None) -> Gate:
    """handed: how many tuples people get, all together. existing: gold tuples, None where there is no campaign yet."""
    rule = {"minimum": settings["gold_minimum"], "threshold": settings["gold_threshold"] or 0.0}
    people = _people(dataset, settings)
    each = int(handed / people)
    needed = golds_before_stop(**rule)
    planned = each // settings["gold_every"]
    wanted = max(needed or 0, min(planned, rule["minimum"]))
    gate = Gate(
        needed=needed,
        tuples=tuples_before_stop(every=settings["gold_every"], **rule),
        people=people,
        each=each,
        proposed=gate_proposed(each, **rule),
        existing=existing,
        wanted=wanted,
        sentence="",
    )
    if not gate.acts:
        return gate
    answered = min(planned, wanted if existing is None else existing)
    return replace(gate, sentence=gate_sentence(golds=answered, size=settings["tuple_size"], **rule))


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
