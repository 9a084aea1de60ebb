"""What a crowd's pages and files show: people, their hours, and what they said about themselves, as counts."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import Count, Max, QuerySet

from annotation.crowds.entering import ABOUT
from annotation.models import Crowd, CrowdAnswers, CrowdPerson, CrowdSubmission, Judgement, Participation

PEOPLE_PER_PAGE = 50
FEWEST_SHOWN = 5  # a smaller group could tell somebody who knows the person who they are
SECONDS_PER_HOUR = 3600
HOURS_COLUMNS = (
    "annotator",
    "external_id",
    "study",
    "submissions",
    "began",
    "ended",
    "sittings",
    "judgements",
    "hours",
)


@dataclass(frozen=True)
class Hours:
    """How long one person worked: sittings are stretches without a pause of half an hour. ended: their last answer."""

    participation: Participation
    external_id: str
    study: str
    submissions: Sequence[str]
    began: datetime | None
    ended: datetime | None
    sittings: int
    judgements: int
    hours: float

    def as_row(self) -> list[object]:
        return [
            self.participation.user.username,
            self.external_id,
            self.study,
            " ".join(self.submissions),
            self.began.isoformat() if self.began else "",
            self.ended.isoformat() if self.ended else "",
            self.sittings,
            self.judgements,
            f"{self.hours:.3f}",
        ]


def hours_of(participations: QuerySet[Participation]) -> Iterator[Hours]:
    """The hours of each person, by when they joined. Constant number of queries.

    Those who rate in a slider arm are left out. Every judgement is work, whether it counts for scores or not: nothing
    here reads that, nor who is excluded.
    """
    people = list(participations.filter(rates=False).select_related("user").order_by("pk"))
    stretches: dict[int, list[tuple[datetime, datetime, int]]] = {person.pk: [] for person in people}
    worked = (
        Judgement.objects.filter(participation__in=people, sitting__isnull=False)
        .order_by()
        .values("participation", "sitting", "sitting__started_at")
        .annotate(last=Max("submitted_at"), number=Count("pk"))
    )
    for row in worked:
        stretch = (row["sitting__started_at"], row["last"], row["number"])
        stretches[row["participation"]].append(stretch)
    crowd_people = CrowdPerson.objects.filter(participation__in=people).prefetch_related("submissions")
    known = {person.participation_id: person for person in crowd_people}
    for person in people:
        mine, entered = stretches[person.pk], known.get(person.pk)
        submissions = list(entered.submissions.all()) if entered else []
        seconds = sum(max(0.0, (last - started).total_seconds()) for started, last, _number in mine)
        yield Hours(
            participation=person,
            external_id=entered.external_id if entered else "",
            study=submissions[-1].study if submissions else "",
            submissions=[each.submission for each in submissions if each.submission],
            began=min((started for started, _last, _number in mine), default=None),
            ended=max((last for _started, last, _number in mine), default=None),
            sittings=len(mine),
            judgements=sum(number for _started, _last, number in mine),
            hours=seconds / SECONDS_PER_HOUR,
        )


def people_of(crowd: Crowd, *, page: int = 1) -> Page[Any]:
    """A page of the crowd's people, the last to come first, each with `hours` and the submission that is `now`."""
    people = crowd.people.select_related("participation__user", "consent").prefetch_related("submissions")
    shown: Page[Any] = Paginator(people.order_by("-pk"), PEOPLE_PER_PAGE).get_page(page)
    on_page = Participation.objects.filter(crowd_person__in=[person.pk for person in shown])
    hours = {each.participation.pk: each for each in hours_of(on_page)}
    for person in shown:
        person.hours = hours[person.participation_id]
        person.now = list(person.submissions.all())[-1]
    return shown


def outcomes_of(crowd: Crowd) -> list[tuple[str, int]]:
    """How many people are underway, and how many left with each outcome, by their last submission."""
    ended = Counter(
        CrowdSubmission.objects.filter(
            person__crowd=crowd,
            pk__in=crowd.people.annotate(last=Max("submissions")).values_list("last", flat=True),
        ).values_list("outcome", flat=True)
    )
    return [(outcome, ended.get(outcome, 0)) for outcome in ("", *CrowdSubmission.Outcome.values)]


def about_counts(crowd: Crowd) -> list[tuple[str, list[tuple[str, int]], int]]:
    """What people said about themselves, question by question: answers with their numbers, and how many said nothing or
    are in a group of fewer than five, which is not shown.
    """
    total = crowd.people.count()
    counted = []
    for name in ABOUT:
        field: Any = CrowdAnswers._meta.get_field(name)
        labels = dict(field.choices or [])
        answers = CrowdAnswers.objects.filter(person__crowd=crowd).exclude(**{name: ""})
        said = answers.values_list(name, flat=True)
        counts = Counter(answer if labels else answer.strip().casefold() for answer in said)
        shown = [
            (str(labels.get(answer, answer)), n) for answer, n in counts.most_common() if n >= FEWEST_SHOWN
        ]
        counted.append((str(field.verbose_name), shown, total - sum(n for _label, n in shown)))
    return counted
