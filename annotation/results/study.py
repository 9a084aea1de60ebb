"""Working out what a campaign's dashboard shows beyond counts, and keeping it until the campaign has changed.

Up to `MOST_AT_ONCE` judgements a page works it out itself, within about two seconds. Above, a worker does, and
pages show the last one with its time.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from time import monotonic
from typing import Any

import numpy as np
from django.db.models import Q

from annotation.bws.annotators.gold_gate import TRIALS_PER_GOLD
from annotation.bws.designs.design import tuple_count
from annotation.bws.designs.swapping import Report, unreported
from annotation.bws.studies.study import CampaignRecord, StudyPlan, study
from annotation.models import Campaign, CampaignStudy, TupleItem
from annotation.results.figures import campaign_mark
from annotation.results.record import Filed, Mask, Work, campaign_work

MOST_AT_ONCE = 4_000
MANY = 20_000  # above, fewer resamples tell as much: the interval is narrow
ASKED_AGAIN_AFTER = timedelta(seconds=90)
MADE_AGAIN_AFTER = timedelta(seconds=60)
EVERYBODY = "0"  # no participation has this primary key, and keys of JSON are texts


@dataclass(frozen=True)
class Shown:
    """A study as a page shows it. figures are empty before the first; people and tuples go by primary keys.

    stale: whether the campaign has changed since.
    """

    figures: dict[str, Any]
    computed_at: datetime | None
    stale: bool


def study_shown(campaign: Campaign, mark: str) -> Shown:
    """The last study there is. One query."""
    stored = CampaignStudy.objects.filter(campaign=campaign).first()
    if stored is None or stored.computed_at is None:
        return Shown({}, None, stale=True)
    return Shown(stored.figures, stored.computed_at, stale=stored.mark != mark)


def study_is_quick(campaign: Campaign, judged: int) -> bool:
    """Whether a page may work it out: few judgements are there, and few in the campaigns that are simulated."""
    simulated = tuple_count(StudyPlan.most_items_simulated, campaign.factor) * campaign.judgements_per_tuple
    return max(judged, simulated) <= MOST_AT_ONCE


def study_make(*, campaign: Campaign, at: datetime, report: Report = unreported) -> Shown:
    """Work it out now, and keep it. The report may end it where the forecast's design takes too long."""
    began = monotonic()
    mark = campaign_mark(campaign)  # before the judgements are read: what comes between makes it stale
    figures = _figures(campaign, report)
    seconds = round(monotonic() - began, 3)
    CampaignStudy.objects.update_or_create(
        campaign=campaign,
        defaults={"mark": mark, "figures": figures, "computed_at": at, "seconds": seconds, "asked_at": None},
    )
    return Shown(figures, at, stale=False)


def study_wanted(*, campaign: Campaign, at: datetime) -> bool:
    """Note that a newer study is wanted; False where a worker was asked a short while ago, or has just made one.

    While people judge, every judgement outdates the study; a page that stays open must not keep a worker busy.
    """
    CampaignStudy.objects.get_or_create(campaign=campaign)
    asked, made = Q(asked_at__gt=at - ASKED_AGAIN_AFTER), Q(computed_at__gt=at - MADE_AGAIN_AFTER)
    if CampaignStudy.objects.filter(asked | made, campaign=campaign).exists():
        return False
    CampaignStudy.objects.filter(campaign=campaign).update(asked_at=at)
    return True


def _figures(campaign: Campaign, report: Report) -> dict[str, Any]:
    work = campaign_work(campaign)
    rows = work.designed
    filed = work.filed(rows)
    found = study(_record(campaign, work, filed, rows), _plan(campaign, len(work)), report=report)
    for row in (*found["people"], *found["exclusions"]):
        row["person"] = int(filed.people[row["person"]])
    return found | {"seconds": _median_seconds(work)}


def _record(campaign: Campaign, work: Work, filed: Filed, rows: Mask) -> CampaignRecord:
    number = {int(person): place for place, person in enumerate(filed.people)}
    excluded, gold_shares = set(), {}
    for person in campaign.participations.filter(pk__in=number):
        if person.excluded:
            excluded.add(number[person.pk])
        if person.gold_trials >= TRIALS_PER_GOLD * campaign.gold_minimum:
            gold_shares[number[person.pk]] = person.gold_right / person.gold_trials
    return CampaignRecord(
        judged=filed.judgements,
        tuples=work.tuples[rows],
        best_slot=work.best_slot[rows],
        worst_slot=work.worst_slot[rows],
        best_position=work.best[rows],
        worst_position=work.worst[rows],
        required=work.wanted[rows],
        counted=work.counted[rows],
        excluded=frozenset(excluded),
        gold_shares=gold_shares,
    )


def _plan(campaign: Campaign, judgements: int) -> StudyPlan:
    return StudyPlan(
        size=campaign.tuple_size,
        factor=campaign.factor,
        judgements_per_tuple=campaign.judgements_per_tuple,
        items=TupleItem.objects.for_scores(campaign).values("pair").distinct().count(),
        resamples=200 if judgements <= MANY else 60,
        seed=campaign.seed,
    )


def _median_seconds(work: Work) -> dict[str, float]:
    """Median seconds that a tuple was looked at, by participation and of everybody, where measured."""
    timed = ~np.isnan(work.seconds) & ~work.again  # whoever has seen the pairs before may be quicker
    if not timed.any():
        return {}
    people = np.unique(work.people[timed]).tolist()
    found = {
        str(person): float(np.median(work.seconds[timed & (work.people == person)])) for person in people
    }
    return {EVERYBODY: float(np.median(work.seconds[timed])), **found}
