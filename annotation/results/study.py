"""Working out what a campaign's dashboard shows beyond counts, and keeping it until the campaign has changed.

Up to `MOST_AT_ONCE` judgements a page works it out itself, within about a second. Above, a worker does
(`annotation.results.works`), and pages show the last one with its time. Either way it is a row: web processes share no
memory, and without Redis no cache.
"""

import math
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from time import monotonic
from typing import Any

import numpy as np

from annotation.bws.annotators.carelessness import reading_letters
from annotation.bws.annotators.gold_gate import TRIALS_PER_GOLD
from annotation.bws.designs.design import tuple_count
from annotation.bws.designs.swapping import Report, unreported
from annotation.bws.judgements import IntArray
from annotation.bws.studies.study import CampaignRecord, StudyPlan, study
from annotation.models import Campaign, CampaignStudy, Participation, TupleItem
from annotation.results.figures import (
    FEWER_RESAMPLES,
    MANY,
    RESAMPLES,
    campaign_mark,
    live_figures,
)
from annotation.results.record import campaign_judgements
from curation.models import Pair

MOST_AT_ONCE = 500
MADE_AGAIN_AFTER = timedelta(seconds=60)


@dataclass(frozen=True)
class CampaignFindings:
    """A study as a page shows it. figures are empty before the first; people and tuples go by primary keys.

    stale: whether the campaign has changed since.
    """

    figures: dict[str, Any]
    computed_at: datetime | None
    stale: bool


def study_latest(campaign: Campaign, mark: str) -> CampaignFindings:
    """The last study there is, of a page or of a worker. One query."""
    stored = CampaignStudy.objects.filter(campaign=campaign, computed_at__isnull=False).first()
    if stored is None:
        return CampaignFindings({}, None, stale=True)
    return CampaignFindings(stored.figures, stored.computed_at, stale=stored.mark != mark)


def signs_of(person: Participation) -> list[dict[str, Any]]:
    """The signs of carelessness that the newest study found in the person's answers."""
    figures = study_latest(person.campaign, "").figures
    return next((row.get("signs", []) for row in figures.get("people", ()) if row["person"] == person.pk), [])


def study_is_quick(campaign: Campaign, judged: int) -> bool:
    """Whether a page may work it out: few judgements are there, and few in the campaigns that are simulated.

    Of many judgements nothing more is asked: the pairs of a large campaign take seconds to count.
    """
    if judged > MOST_AT_ONCE:
        return False
    items = min(StudyPlan.most_items_simulated, _items(campaign))
    simulated = tuple_count(items, campaign.factor) * campaign.judgements_per_tuple
    return simulated <= MOST_AT_ONCE


@dataclass(frozen=True)
class ComputedStudy:
    """A study of the state that has the mark, which is not stored yet; seconds: that it took."""

    mark: str
    figures: dict[str, Any]
    seconds: float


def study_compute(campaign: Campaign, report: Report = unreported) -> ComputedStudy:
    """Study the campaign. Nothing is written. The report may end it where it takes too long."""
    began = monotonic()
    mark = campaign_mark(campaign)  # before the judgements are read: what comes between makes it stale
    figures = _as_json(_figures(campaign, mark, report))
    return ComputedStudy(mark, figures, round(monotonic() - began, 3))


def study_store(*, campaign: Campaign, computed: ComputedStudy, at: datetime) -> None:
    """Store what was found for all pages."""
    CampaignStudy.objects.update_or_create(campaign=campaign, defaults={**vars(computed), "computed_at": at})


def study_make(*, campaign: Campaign, at: datetime, report: Report = unreported) -> CampaignFindings:
    """Study the campaign at once, and store it."""
    computed = study_compute(campaign, report)
    study_store(campaign=campaign, computed=computed, at=at)
    return CampaignFindings(computed.figures, at, stale=False)


def study_is_new(campaign: Campaign, *, at: datetime) -> bool:
    """Whether a worker has just made one. While people judge, every judgement outdates the study; a page that stays
    open must not keep a worker busy.
    """
    return CampaignStudy.objects.filter(campaign=campaign, computed_at__gt=at - MADE_AGAIN_AFTER).exists()


def _figures(campaign: Campaign, mark: str, report: Report) -> dict[str, Any]:
    seconds, reliability, note = live_figures(campaign, mark)
    judged = campaign_judgements(campaign)
    filed = judged.as_filed(judged.designed)
    plan = StudyPlan(
        size=campaign.tuple_size,
        factor=campaign.factor,
        judgements_per_tuple=campaign.judgements_per_tuple,
        items=_items(campaign),
        resamples=RESAMPLES if len(judged) <= MANY else FEWER_RESAMPLES,
        seed=campaign.seed,
    )
    rows = judged.designed
    number = {int(person): index for index, person in enumerate(filed.people)}
    excluded, gold_shares = set(), {}
    for person in campaign.participations.filter(pk__in=number):
        if person.excluded:
            excluded.add(number[person.pk])
        if person.gold_trials >= TRIALS_PER_GOLD * campaign.gold_minimum:
            gold_shares[number[person.pk]] = person.gold_right / person.gold_trials
    people = np.searchsorted(filed.people, judged.people[rows])

    # How many letters the texts of each tuple (n, k) of the campaign have; -1 is not a pair. One query.
    pairs = judged.pairs[rows]
    asked = Pair.objects.filter(pk__in=TupleItem.objects.for_scores(campaign).values("pair"))
    texts = list(asked.order_by("pk").values_list("pk", "a__text", "b__text"))
    known = np.array([pk for pk, _a, _b in texts], dtype=np.int64)
    letters = np.array([reading_letters(a) + reading_letters(b) for _pk, a, b in texts], dtype=np.int64)
    of_pairs: IntArray = np.where(pairs >= 0, letters[np.searchsorted(known, np.maximum(pairs, known[0]))], 0)
    sums: IntArray = of_pairs.sum(axis=1)
    record = CampaignRecord(
        judged=replace(filed.judgements, annotators=people),
        named=judged.named,
        tuples=judged.tuples[rows],
        best_slot=judged.best_slot[rows],
        worst_slot=judged.worst_slot[rows],
        best_position=judged.best[rows],
        worst_position=judged.worst[rows],
        required=judged.required[rows],
        counted=judged.collected[rows],
        excluded=frozenset(excluded),
        gold_shares=gold_shares,
        seconds=judged.seconds[rows],
        letters=sums,
    )
    figures = study(record, plan, now=(reliability, note), report=report)
    for row in (*figures["people"], *figures["exclusions"]):
        row["person"] = int(filed.people[row["person"]])
    # The keys of JSON are texts.
    return figures | {"seconds": {str(person): value for person, value in seconds.items()}}


def _items(campaign: Campaign) -> int:
    return TupleItem.objects.for_scores(campaign).values("pair").distinct().count()


def _as_json(value: Any) -> Any:
    """The figures as a JSON column gives them back; what is not known (NaN) is null, which PostgreSQL asks for."""
    if isinstance(value, dict):
        return {str(key): _as_json(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_as_json(each) for each in value]
    return None if isinstance(value, float) and math.isnan(value) else value
