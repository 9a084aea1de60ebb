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
from annotation.campaigns.designing import design_count
from annotation.campaigns.selectors import pairs_fitting
from annotation.models import Campaign, Crowd
from annotation.results.annotators import gate_sentence
from curation.foundation.errors import UserError, errors_shown
from curation.models import Dataset
from curation.people.members import members_of

# Sizes of tuples are compared while somebody waits: few pairs and few campaigns are simulated, within some seconds.
SIZES_PLAN = ForecastPlan(items=0, campaigns=12, trials=5, most_items=100)
MOST_TUPLES_COMPARED, MOST_JUDGEMENTS_COMPARED = 400, 10


@dataclass(frozen=True)
class Gate:
    """What the gold gate can do in a campaign. The campaign's form, draft and gold page show the same.

    needed: the gate can stop a person after this number of gold answers, if all are wrong; None if it never can.
    tuples: the number of tuples in which a person is asked that many gold tuples; None if the gate never stops anybody.
    people: the number of people who share the work.
    crowd: the number of these who come by the link of a crowd: its places, or if the link is closed, those who came.
    each: the number of tuples that each person gets.
    proposed: ask one gold tuple in this number of tuples, so that each person gets enough gold tuples; None if no
        number is small enough.
    in_use: the number of gold tuples that the campaign has; None before there is a campaign.
    required: the number of gold tuples that the campaign should have, at most as many as a person is asked.
    sentence: the share of people that the gate stops, with the gold tuples in use, or with the required ones before
        there is a campaign; empty if the gate cannot act.
    """

    needed: int | None
    tuples: int | None
    people: int
    crowd: int
    each: int
    proposed: int | None
    in_use: int | None
    required: int
    sentence: str

    @property
    def reaches(self) -> bool:
        """Whether each person gets enough tuples for the first possible stop."""
        return self.tuples is not None and self.tuples <= self.each

    @property
    def few(self) -> bool:
        """Whether too few gold tuples exist to stop anybody."""
        return self.in_use is not None and self.in_use < (self.needed or 0)

    @property
    def acts(self) -> bool:
        return self.reaches and not self.few

    @property
    def missing(self) -> int:
        """The number of gold tuples to add."""
        return 0 if self.in_use is None else max(0, self.required - self.in_use)

    @property
    def ready(self) -> bool:
        """Whether the gate can act and has all required gold tuples."""
        return self.acts and not self.missing


@dataclass(frozen=True)
class CampaignWork:
    """What the settings of a campaign ask for.

    asked: the number of pairs that the form asks for, which may be more than fit; None for all.
    pay: for all people together; None if the form has no pay.
    gate: None if the form lacks the minimum of gold.
    refusal: the sentence that says why no such design can be made; empty if one can.
    """

    pairs: int
    tuples: int
    costs: CampaignCosts
    pay: float | None
    gate: Gate | None
    refusal: str = ""
    asked: int | None = None

    @property
    def label_of_pairs(self) -> str:
        return _("Pairs, all that fit") if (self.asked or 0) > self.pairs else _("Pairs")


def campaign_estimate(
    dataset: Dataset, settings: Mapping[str, Any], *, campaign: Campaign | None = None
) -> CampaignWork:
    """Estimate the work of a campaign from its settings. Two queries, four with a campaign.

    campaign: the stored campaign whose gold tuples and crowd count; None before there is one.
    """
    pairs = _pairs(dataset, settings)
    try:
        tuples = design_count(pairs, size=settings["tuple_size"], factor=settings["factor"])
    except UserError as error:
        return CampaignWork(pairs, 0, _costs(settings, 0), pay=None, gate=None, refusal=str(error))
    costs = _costs(settings, tuples * settings["judgements_per_tuple"])
    pay = settings.get("pay")
    gate = None
    if settings["gold_minimum"] is not None:
        gate = _gate(dataset, settings, costs.answers, campaign)
    whole = None if pay is None else costs.hours * pay
    return CampaignWork(pairs, tuples, costs, whole, gate, asked=settings.get("number"))


def _costs(settings: Mapping[str, Any], judgements: int) -> CampaignCosts:
    return campaign_costs(
        judgements,
        seconds_per_judgement=settings.get("seconds", seconds_at_size(settings["tuple_size"])),
        gold_every=settings["gold_every"],
        repeat_every=settings["repeat_every"],
    )


def gate_of_campaign(campaign: Campaign) -> Gate:
    """The gate of a stored campaign. Four queries."""
    settings = settings_of(campaign)
    if campaign.state == Campaign.State.DRAFT:
        pairs = _pairs(campaign.dataset, settings)
        judgements = tuple_count(pairs, campaign.factor) * campaign.judgements_per_tuple
    else:
        asked = campaign.tuples.for_scores().aggregate(judgements=Sum("required", default=0))
        judgements = asked["judgements"]
    return _gate(campaign.dataset, settings, _costs(settings, judgements).answers, campaign)


def sizes_compared(dataset: Dataset, settings: Mapping[str, Any]) -> list[SizeForecast]:
    """Forecast the campaign with tuples of 3, 4, 5 and 6 pairs, by simulation on few pairs.

    Raises UserError if the simulation takes too long, or if the settings allow none.
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
            "`semblance bws forecast --sizes` can do it."
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


def _people(dataset: Dataset, settings: Mapping[str, Any], arriving: int = 0) -> int:
    """The number of people who share the work: at least the judgements of a tuple, as nobody judges it twice."""
    least: int = settings["judgements_per_tuple"]
    return max(settings.get("people") or members_of(dataset).count() + arriving, least)


def people_arriving(crowd: Crowd) -> int:
    """The number of people who come by the link of a crowd: its places, or if the link is closed, those who came."""
    return crowd.places if crowd.is_open else crowd.people.count()


def _gate(dataset: Dataset, settings: Mapping[str, Any], answers: float, campaign: Campaign | None) -> Gate:
    """The gate of a campaign, or before there is one, of its settings.

    answers: the number of tuples that all people together answer, with gold tuples and repeated questions.
    """
    rule = {"minimum": settings["gold_minimum"], "threshold": settings["gold_threshold"] or 0.0}
    in_use = campaign.tuples.gold_in_use().count() if campaign else None
    crowd = Crowd.objects.filter(campaign=campaign).first() if campaign else None
    arriving = people_arriving(crowd) if crowd and not settings.get("people") else 0
    people = _people(dataset, settings, arriving)
    each = int(answers / people)
    if crowd and arriving:
        each = min(each, crowd.screens)
    needed = golds_before_stop(**rule)
    asked = each // settings["gold_every"]
    required = max(needed or 0, min(asked, rule["minimum"]))
    gate = Gate(
        needed=needed,
        tuples=tuples_before_stop(every=settings["gold_every"], **rule),
        people=people,
        crowd=arriving,
        each=each,
        proposed=gate_proposed(each, **rule),
        in_use=in_use,
        required=required,
        sentence="",
    )
    if not gate.acts:
        return gate
    answered = min(asked, required if in_use is None else in_use)
    return replace(gate, sentence=gate_sentence(golds=answered, size=settings["tuple_size"], **rule))


def campaign_proposed(dataset: Dataset) -> Campaign:
    """An unsaved campaign of all pairs. If it is large enough, its gold gate can act."""
    campaign = Campaign(dataset=dataset)
    estimate = campaign_estimate(dataset, settings_of(campaign))
    if estimate.gate and estimate.gate.proposed:
        campaign.gold_every = estimate.gate.proposed
    return campaign


def settings_of(campaign: Campaign) -> dict[str, Any]:
    """The settings of a stored campaign that its estimate uses."""
    names = "tuple_size factor judgements_per_tuple repeat_every gold_every gold_minimum gold_threshold"
    return {**model_to_dict(campaign, names.split()), **campaign.pair_filter}
