"""The figures of a campaign's dashboard."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import median

from django.db.models import Count, F, Max, Min, Q
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.bws.annotators.gold_gate import golds_before_stop
from annotation.models import Campaign, Flag, Judgement, Participation
from annotation.results.annotators import Consistency, consistency_by_person, consistency_of_all
from annotation.results.figures import LiveReliability, campaign_mark, kept, live_reliability
from annotation.results.selectors import GoldRow, PhaseSums, golds_of, phase_sums
from annotation.results.study import MOST_AT_ONCE, study_shown

DAY = timedelta(days=1)
EVERYBODY = 0  # no participation has this primary key


@dataclass(frozen=True)
class AnnotatorRow:
    """One person's work in a campaign. Gold trials are since they joined; best and worst are two."""

    participation: Participation
    judgements: int
    counted: int
    median_seconds: float | None
    last_at: datetime | None
    consistency: Consistency | None


@dataclass(frozen=True)
class Dashboard:
    """mark: of the campaign's state. judged, wanted: judgements that count, and how many will.

    pace: judgements an hour, in the last day. hours_left: of one person's work. reliability is None where there
    is too little for one, as the note says. consistency: of all who are not excluded, None
    before the first repeat.
    """

    mark: str
    judged: int
    wanted: int
    surplus: int
    excluded: int
    pace: float | None
    hours_left: float | None
    median_seconds: float | None
    reliability: LiveReliability | None
    reliability_note: str
    annotators: list[AnnotatorRow]
    consistency: Consistency | None
    golds: list[GoldRow]
    gold_note: str
    flags_open: int
    phases: Mapping[str, PhaseSums]

    @property
    def share(self) -> float:
        return self.judged / self.wanted if self.wanted else 0.0


def campaign_dashboard(campaign: Campaign, *, at: datetime) -> Dashboard:
    """Everything the dashboard shows, in a constant number of queries."""
    mark = campaign_mark(campaign)
    standings = _standings(campaign, at)
    phases = phase_sums(campaign)
    wanted = sum(phase.wanted for phase in phases.values())
    if standings.judged > MOST_AT_ONCE:
        seconds, found = _studied(campaign, mark)
    else:
        seconds = kept(campaign, "seconds", mark, lambda: _median_seconds(campaign))
        found = live_reliability(campaign, mark)
    golds = golds_of(campaign)
    consistency = kept(campaign, "consistency", mark, lambda: consistency_by_person(campaign))
    annotators = _annotators(campaign, seconds, consistency)
    return Dashboard(
        mark=mark,
        judged=standings.counted,
        wanted=wanted,
        surplus=standings.surplus,
        excluded=standings.excluded,
        # What was imported came at once, at no pace.
        pace=None if "imported" in campaign.certificate else _pace(standings.day, standings.day_began, at),
        hours_left=_hours_left(wanted - standings.counted, seconds.get(EVERYBODY)),
        median_seconds=seconds.get(EVERYBODY),
        reliability=found if isinstance(found, LiveReliability) else None,
        reliability_note=found if isinstance(found, str) else "",
        annotators=annotators,
        consistency=consistency_of_all(
            row.consistency for row in annotators if row.consistency and not row.participation.excluded
        ),
        golds=golds,
        gold_note=gold_note(campaign, len(golds)),
        flags_open=Flag.objects.filter(tuple__campaign=campaign, resolved_at=None).count(),
        phases=phases,
    )


def _studied(campaign: Campaign, mark: str) -> tuple[dict[int, float], LiveReliability | str]:
    """Median times and reliability of the last study: too many judgements to read them all for a page."""
    figures = study_shown(campaign, mark).figures
    seconds = {int(person): value for person, value in figures.get("seconds", {}).items()}
    if found := figures.get("reliability"):
        return seconds, LiveReliability(**found)
    return seconds, figures.get("note") or _("It is being worked out; come back in a minute.")


@dataclass(frozen=True)
class _Standings:
    """How many judgements stand how, and how many came in the last day, since when."""

    counted: int
    surplus: int
    excluded: int
    day: int
    day_began: datetime | None

    @property
    def judged(self) -> int:
        return self.counted + self.surplus + self.excluded


def _standings(campaign: Campaign, at: datetime) -> _Standings:
    today = Q(submitted_at__gt=at - DAY) & ~Q(standing=Judgement.Standing.REPEAT)
    found = Judgement.objects.filter(participation__campaign=campaign).aggregate(
        counted=Count("pk", filter=Q(standing=Judgement.Standing.COUNTED)),
        surplus=Count("pk", filter=Q(standing=Judgement.Standing.SURPLUS)),
        excluded=Count("pk", filter=Q(standing=Judgement.Standing.EXCLUDED)),
        day=Count("pk", filter=today),
        day_began=Min("submitted_at", filter=today),
    )
    return _Standings(**found)


def _pace(judgements: int, began: datetime | None, at: datetime) -> float | None:
    """Judgements an hour since the first of the last day, taken as an hour ago at least."""
    if began is None:
        return None
    return judgements / max(1.0, (at - began) / timedelta(hours=1))


def _hours_left(judgements: int, seconds_each: float | None) -> float | None:
    return None if seconds_each is None else max(0, judgements) * seconds_each / 3600


def _median_seconds(campaign: Campaign) -> dict[int, float]:
    """Median seconds that a tuple was looked at, by participation and of everybody, where measured."""
    # Whoever has seen the pairs before may be quicker.
    judgements = Judgement.objects.filter(participation__campaign=campaign).exclude(
        standing=Judgement.Standing.REPEAT
    )
    seconds: dict[int, list[float]] = defaultdict(list)
    for participation, milliseconds in judgements.values_list("participation", "active_ms"):
        if milliseconds is not None:
            seconds[participation].append(milliseconds / 1000)
            seconds[EVERYBODY].append(milliseconds / 1000)
    return {participation: median(times) for participation, times in seconds.items()}


def _annotators(
    campaign: Campaign, seconds: Mapping[int, float], consistency: Mapping[int, Consistency]
) -> list[AnnotatorRow]:
    people = (
        campaign.participations.select_related("user", "campaign")
        .annotate(
            given=Count("judgements"),
            counting=Count("judgements", filter=Q(judgements__standing=Judgement.Standing.COUNTED)),
            last_at=Max("judgements__submitted_at"),
        )
        .order_by(F("last_at").desc(nulls_last=True), "pk")
    )
    return [
        AnnotatorRow(
            participation=person,
            judgements=person.given,
            counted=person.counting,
            median_seconds=seconds.get(person.pk),
            last_at=person.last_at,
            consistency=consistency.get(person.pk),
        )
        for person in people
    ]


def gold_note(campaign: Campaign, golds: int) -> str:
    """What keeps the gate from stopping anyone, if something does."""
    if not golds:
        return _("There are no gold tuples, so nobody is stopped by them; add some.")
    needed = golds_before_stop(minimum=campaign.gold_minimum, threshold=campaign.gold_threshold)
    if needed is None:
        return _("Nobody can be stopped by gold tuples: the share of trials that must be right is too low.")
    missing = needed - golds
    if missing <= 0:
        return ""
    sentence = ngettext(
        "No one is stopped before %(minimum)d gold answers; add %(missing)d more gold tuple or want fewer.",
        "No one is stopped before %(minimum)d gold answers; add %(missing)d more gold tuples or want fewer.",
        missing,
    )
    return sentence % {"minimum": needed, "missing": missing}
