"""The figures of a campaign's dashboard."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Count, F, Max, Min, Q
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.bws.annotators.gold_gate import golds_before_stop
from annotation.models import Campaign, Flag, Judgement, Participation
from annotation.results.annotators import RepeatAgreement, repeat_agreement_by_person, repeat_agreement_of_all
from annotation.results.figures import LiveFigures, LiveReliability, campaign_mark, kept, live_figures
from annotation.results.record import EVERYBODY
from annotation.results.selectors import GoldRow, PhaseSums, golds_of, phase_sums
from annotation.results.study import MOST_AT_ONCE, study_latest

DAY = timedelta(days=1)


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

    pace: judgements an hour, in the last day. hours_left: of one person's work. reliability is None where there
    is too little for one, as the note says. repeat_agreement: of all who are not excluded, None
    before the first repeat.
    """

    mark: str
    collected: int
    required: int
    extra: int
    excluded: int
    pace: float | None
    hours_left: float | None
    median_seconds: float | None
    reliability: LiveReliability | None
    reliability_note: str
    annotators: list[AnnotatorRow]
    repeat_agreement: RepeatAgreement | None
    golds: list[GoldRow]
    gold_note: str
    flags_open: int
    phases: Mapping[str, PhaseSums]

    @property
    def share(self) -> float:
        return self.collected / self.required if self.required else 0.0


def campaign_dashboard(campaign: Campaign, *, at: datetime) -> Dashboard:
    """Everything the dashboard shows, in a constant number of queries."""
    mark = campaign_mark(campaign)
    numbers = _numbers(campaign, at)
    phases = phase_sums(campaign)
    required = sum(phase.required for phase in phases.values())
    large = numbers.judged > MOST_AT_ONCE
    live = _studied(campaign, mark) if large else live_figures(campaign, mark)
    seconds = live.median_seconds
    golds = golds_of(campaign)
    repeat_agreement = kept(campaign, "repeat_agreement", mark, lambda: repeat_agreement_by_person(campaign))
    annotators = _annotators(campaign, seconds, repeat_agreement)
    return Dashboard(
        mark=mark,
        collected=numbers.collected,
        required=required,
        extra=numbers.extra,
        excluded=numbers.excluded,
        # What was imported came at once, at no pace.
        pace=None if "imported" in campaign.certificate else _pace(numbers.day, numbers.day_began, at),
        hours_left=_hours_left(required - numbers.collected, seconds.get(EVERYBODY)),
        median_seconds=seconds.get(EVERYBODY),
        reliability=live.reliability,
        reliability_note=live.note,
        annotators=annotators,
        repeat_agreement=repeat_agreement_of_all(
            row.repeat_agreement
            for row in annotators
            if row.repeat_agreement and not row.participation.excluded
        ),
        golds=golds,
        gold_note=gold_note(campaign, len(golds)),
        flags_open=Flag.objects.filter(tuple__campaign=campaign, resolved_at=None).count(),
        phases=phases,
    )


def _studied(campaign: Campaign, mark: str) -> LiveFigures:
    """Those of the last study: there are too many judgements to read them all for a page."""
    figures = study_latest(campaign, mark).figures
    seconds = {int(person): value for person, value in figures.get("seconds", {}).items()}
    if reliability := figures.get("reliability"):
        return LiveFigures(seconds, LiveReliability(**reliability))
    return LiveFigures(
        seconds, None, figures.get("note") or _("This is being computed. Come back in a minute.")
    )


@dataclass(frozen=True)
class _Numbers:
    """How many judgements stand how, and how many came in the last day, since when."""

    collected: int
    extra: int
    excluded: int
    day: int
    day_began: datetime | None

    @property
    def judged(self) -> int:
        return self.collected + self.extra + self.excluded


def _numbers(campaign: Campaign, at: datetime) -> _Numbers:
    today = Q(submitted_at__gt=at - DAY) & ~Q(status=Judgement.Status.REPEAT)
    found = Judgement.objects.filter(participation__campaign=campaign).aggregate(
        collected=Count("pk", filter=Q(status=Judgement.Status.COLLECTED)),
        extra=Count("pk", filter=Q(status=Judgement.Status.EXTRA)),
        excluded=Count("pk", filter=Q(status=Judgement.Status.EXCLUDED)),
        day=Count("pk", filter=today),
        day_began=Min("submitted_at", filter=today),
    )
    return _Numbers(**found)


def _pace(judgements: int, began: datetime | None, at: datetime) -> float | None:
    """Judgements an hour since the first of the last day, taken as an hour ago at least."""
    if began is None:
        return None
    return judgements / max(1.0, (at - began) / timedelta(hours=1))


def _hours_left(judgements: int, seconds_each: float | None) -> float | None:
    return None if seconds_each is None else max(0, judgements) * seconds_each / 3600


def _annotators(
    campaign: Campaign, seconds: Mapping[int, float], repeat_agreement: Mapping[int, RepeatAgreement]
) -> list[AnnotatorRow]:
    people = (
        campaign.participations.select_related("user", "campaign")
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


def gold_note(campaign: Campaign, golds: int) -> str:
    """What keeps the gate from stopping anyone, if something does."""
    if not golds:
        return _("There are no gold tuples, so nobody can be stopped by them. Add some.")
    needed = golds_before_stop(minimum=campaign.gold_minimum, threshold=campaign.gold_threshold)
    if needed is None:
        return _(
            "Gold tuples cannot stop anybody, because the share of trials that must be right is too low."
        )
    missing = needed - golds
    if missing <= 0:
        return ""
    sentence = ngettext(
        "Nobody is stopped before %(minimum)d gold answers. Add %(missing)d more gold tuple, or lower that number.",
        "Nobody is stopped before %(minimum)d gold answers. Add %(missing)d more gold tuples, or lower that number.",
        missing,
    )
    return sentence % {"minimum": needed, "missing": missing}
