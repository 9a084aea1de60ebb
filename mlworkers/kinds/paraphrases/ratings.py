"""What people rated of a round-trip translation's candidates, and which candidate comes next."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from django.db.models import Count, F, Q, QuerySet
from django.utils.translation import gettext_lazy as _

from curation.models import User
from mlworkers.models import CandidateRating, RatedCandidate, Run
from mlworkers.science.paraphrasing.ratings import (
    HIGHEST,
    LOWEST,
    SCALES,
    Rating,
    SettingRated,
    order_of_person,
    settings_rated,
)

STEPS = range(LOWEST, HIGHEST + 1)
CSV_COLUMNS = ("setting", "candidates rated", "ratings", "scale", "mean", "low", "high")
LABELS = {"fluency": _("Fluency"), "meaning": _("Meaning"), "wording": _("Wording")}
EXPLAINED = {
    "fluency": _(
        "Is the second sentence good language? 1: hardly to be understood, 5: as a native speaker writes."
    ),
    "meaning": _("Do both sentences say the same? 1: something else, 5: the same."),
    "wording": _("Do both use the same words? 1: quite other words, 5: nearly the same words."),
}


class Progress(NamedTuple):
    rated: int
    all: int


class Waiting(NamedTuple):
    """Candidates of a run that a person has not rated yet, some or all."""

    run: Run
    progress: Progress


@dataclass(frozen=True)
class RatingsShown:
    settings: Sequence[SettingRated]
    drawn: int
    raters: int

    @property
    def ratings(self) -> int:
        return sum(one.ratings for one in self.settings)


def next_candidate(run: Run, person: User) -> tuple[RatedCandidate | None, Progress]:
    """The first that the person has not rated, in their own order; None where they rated all."""
    candidates = list(run.rated_candidates.order_by("place"))
    rated = set(
        CandidateRating.objects.filter(candidate__run=run, person=person).values_list(
            "candidate_id", flat=True
        )
    )
    order = order_of_person(len(candidates), seed=run.pk, person=person.pk)
    following = (candidates[place] for place in order if candidates[place].pk not in rated)
    return next(following, None), Progress(len(rated), len(candidates))


def ratings_waiting(person: User, runs: QuerySet[Run]) -> list[Waiting]:
    """Of these runs, those with candidates that the person has not rated; one query."""
    own = Count(
        "rated_candidates__ratings", filter=Q(rated_candidates__ratings__person=person), distinct=True
    )
    counted = runs.annotate(drawn=Count("rated_candidates", distinct=True), own=own)
    open_ones = counted.filter(drawn__gt=F("own")).select_related("dataset").order_by("-pk")
    return [Waiting(run, Progress(run.own, run.drawn)) for run in open_ones]


def ratings_shown(run: Run) -> RatingsShown:
    """Of all people, by setting."""
    candidates = run.rated_candidates.order_by("place")
    drawn = dict(candidates.values_list("pk", "setting"))
    rows = list(
        CandidateRating.objects.filter(candidate__run=run).values_list("candidate_id", "person_id", *SCALES)
    )
    settings = [one["setting"] for one in run.result.get("settings", ())]
    ratings = [Rating(pk, drawn[pk], (a, b, c)) for pk, _person, a, b, c in rows]
    return RatingsShown(settings_rated(settings, ratings), len(drawn), len({row[1] for row in rows}))


def ratings_csv_rows(shown: RatingsShown) -> Iterator[list[object]]:
    """A row for each setting that was rated and each scale, under CSV_COLUMNS."""
    for one in shown.settings:
        for scale, mean in zip(SCALES, one.means, strict=False):
            figures = (None if value is None else round(value, 4) for value in mean)
            yield [one.setting, one.candidates, one.ratings, scale, *figures]
