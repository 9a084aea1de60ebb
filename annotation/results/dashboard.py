"""The figures of a campaign's dashboard."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, F, Max, Min, Q
from django.utils.translation import gettext as _

from annotation.models import Campaign, Judgement, Participation
from annotation.results.annotators import (
    RepeatAgreement,
    repeat_agreement_by_person,
    repeat_agreement_of_all,
)
from annotation.results.figures import campaign_mark, kept, live_figures
from annotation.results.record import EVERYBODY
from annotation.results.selectors import PhaseSums, phase_sums, score_sets_of
from annotation.results.study import study_latest
from curation.models import ScoreSet

LIVE_AT_ONCE = 4_000  # judgements whose reliability a page computes, within about a third of a second
DAY = timedelta(days=1)
SHORTEST_SECONDS = 0.5  # nobody reads a tuple in less: a program answered, or the page measured nothing
HALVINGS_DIFFER = 0.002  # five standard errors of the mean over 1,000 random halvings


@dataclass(frozen=True)
class AnnotatorRow:
    """One person's work in a campaign. Gold trials are since they joined; best and worst are two."""

    participation: Participation
    judgements: int
    collected: int
    median_seconds: float | None
    last_at: datetime | None
    repeat_agreement: RepeatAgreement | None


@dataclass(frozen=True)
class Dashboard:
    """mark: of the campaign's state. collected, required: judgements that count, and how many are needed.

    pace: judgements an hour, in the last day. hours_left: of one person's work, None before judgements were timed.
    reliability is None where there is too little for one, as the note says. repeat_agreement: of all who are not
    excluded, None before the first repeat. closed: whether nobody is asked for what is missing.
    """

    mark: str
    collected: int
    required: int
    extra: int
    excluded: int
    pace: float | None
    hours_left: float | None
    median_seconds: float | None
    reliability: Mapping[str, Any] | None
    reliability_note: str
    annotators: list[AnnotatorRow]
    repeat_agreement: RepeatAgreement | None
    phases: Mapping[str, PhaseSums]
    closed: bool

    @property
    def finished(self) -> bool:
        """Whether nothing is left to forecast."""
        return self.closed or self.complete

    @property
    def people_counted(self) -> int:
        return sum(row.collected > 0 for row in self.annotators)

    @property
    def people_excluded(self) -> int:
        return sum(row.participation.excluded for row in self.annotators)

    @property
    def complete(self) -> bool:
        """Whether all required judgements are collected."""
        return 0 < self.required <= self.collected


def campaign_dashboard(campaign: Campaign, *, at: datetime) -> Dashboard:
    """Everything the dashboard shows, in a constant number of queries."""
    mark = campaign_mark(campaign)
    # How many judgements there are of each status that matters, and how many came in the last day, since when.
    today = Q(submitted_at__gt=at - DAY) & ~Q(status=Judgement.Status.REPEAT)
    statuses = (Judgement.Status.COLLECTED, Judgement.Status.EXTRA, Judgement.Status.EXCLUDED)
    numbers = Judgement.objects.filter(participation__campaign=campaign).aggregate(
        **{status.value: Count("pk", filter=Q(status=status)) for status in statuses},
        day=Count("pk", filter=today),
        day_began=Min("submitted_at", filter=today),
    )
    phases = phase_sums(campaign)
    required = sum(phase.required for phase in phases.values())
    judged = numbers["collected"] + numbers["extra"] + numbers["excluded"]
    if judged > LIVE_AT_ONCE:  # too many to read them all for a page: the figures are those of the last study
        figures = study_latest(campaign, mark).figures
        seconds: Mapping[int, float] = {
            int(person): value for person, value in figures.get("seconds", {}).items()
        }
        reliability = figures.get("reliability") or None
        computing = _("This is being computed. Come back in a minute.")
        note = "" if reliability else figures.get("note") or computing
    else:
        seconds, reliability, note = live_figures(campaign, mark)
    measured = seconds.get(EVERYBODY, 0.0)
    seconds_each = measured if measured >= SHORTEST_SECONDS else None
    missing = max(0, required - numbers["collected"])
    repeat_agreement = kept(campaign, "repeat_agreement", mark, lambda: repeat_agreement_by_person(campaign))
    annotators = _annotators(campaign, seconds, repeat_agreement)
    # Judgements an hour since the first of the last day, taken as an hour ago at least. What was imported came at
    # once, at no pace.
    pace, began = None, numbers["day_began"]
    if not campaign.is_imported and began is not None:
        pace = numbers["day"] / max(1.0, (at - began) / timedelta(hours=1))
    return Dashboard(
        mark=mark,
        collected=numbers["collected"],
        required=required,
        extra=numbers["extra"],
        excluded=numbers["excluded"],
        pace=pace,
        hours_left=None if seconds_each is None else missing * seconds_each / 3600,
        median_seconds=seconds_each,
        reliability=as_published(campaign, reliability),
        reliability_note=note,
        annotators=annotators,
        repeat_agreement=repeat_agreement_of_all(
            row.repeat_agreement
            for row in annotators
            if row.repeat_agreement and not row.participation.excluded
        ),
        phases=phases,
        closed=campaign.state == Campaign.State.CLOSED,
    )


def as_published(campaign: Campaign, now: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """The reliability, with the figures of the newest published scores where these are of the same judgements: one page
    must not say .841 in its head and .840 below. Of many judgements, the page's interval is from fewer resamples.
    """
    published = score_sets_of(campaign).filter(kind=ScoreSet.Kind.HUMAN).first() if now else None
    told = (published.parameters.get("reliability") if published else None) or {}
    if not now or told.get("judgements") != now["judgements"]:
        return now
    if abs(told["spearman_mean"] - now["spearman"]) > HALVINGS_DIFFER:
        return now
    return {
        **now,
        "spearman": told["spearman_mean"],
        "low": told["spearman_low"],
        "high": told["spearman_high"],
        "people": told["people_resampled"],
        "spearman_brown": told["spearman_brown"],
        "trials": told["trials"],
    }


def _annotators(
    campaign: Campaign, seconds: Mapping[int, float], repeat_agreement: Mapping[int, RepeatAgreement]
) -> list[AnnotatorRow]:
    people = (
        campaign.participations.filter(rates=False)
        .select_related("user", "campaign")
        .annotate(
            given=Count("judgements"),
            counting=Count("judgements", filter=Q(judgements__status=Judgement.Status.COLLECTED)),
            last_at=Max("judgements__submitted_at"),
        )
        .order_by(F("last_at").desc(nulls_last=True), "pk")
    )
    return [
        AnnotatorRow(
            participation=person,
            judgements=person.given,
            collected=person.counting,
            median_seconds=seconds.get(person.pk),
            last_at=person.last_at,
            repeat_agreement=repeat_agreement.get(person.pk),
        )
        for person in people
    ]
