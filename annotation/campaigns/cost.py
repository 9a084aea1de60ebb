"""What a campaign will cost, before anything is stored."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.forms.models import model_to_dict

from annotation.bws.annotators.gold_gate import gate_proposed, golds_before_stop, tuples_before_stop
from annotation.bws.designs.design import tuple_count
from annotation.bws.studies.costs import SECONDS_PER_JUDGEMENT, CampaignCosts, campaign_costs
from annotation.campaigns.selectors import pairs_fitting
from annotation.models import Campaign
from annotation.results.annotators import gate_sentence
from curation.datasets.people import members_of
from curation.models import Dataset


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
    fitting = pairs_fitting(dataset, settings).count()
    pairs = min(fitting, settings.get("number") or fitting)
    tuples = tuple_count(pairs, settings["factor"])
    costs = campaign_costs(
        tuples * settings["judgements_per_tuple"],
        seconds_per_judgement=settings.get("seconds", SECONDS_PER_JUDGEMENT),
        gold_every=settings["gold_every"],
        repeat_every=settings["repeat_every"],
    )
    pay = settings.get("pay")
    gate = _gate(dataset, settings, costs.answers) if settings["gold_minimum"] is not None else None
    return Estimate(pairs, tuples, costs, None if pay is None else costs.hours * pay, gate)


def _gate(dataset: Dataset, settings: Mapping[str, Any], handed: float) -> Gate:
    """handed: how many tuples people get, all together."""
    threshold = settings["gold_threshold"] or 0.0
    rule = {"minimum": settings["gold_minimum"], "threshold": threshold}
    # Nobody judges a tuple twice, so there are at least as many people as judgements of a tuple.
    people = max(settings.get("people") or members_of(dataset).count(), settings["judgements_per_tuple"])
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
