"""What people rated in a campaign's slider arm: progress, people, every rating for a file, and the comparison."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.db.models import Count, Exists, Max, OuterRef, Q, QuerySet
from django.utils.translation import gettext as _

from annotation.bws.reliability.ratings import Ratings
from annotation.bws.reliability.split_half import TooFewJudgements
from annotation.bws.studies.methods import MethodsCompared, MethodsPoint, Timed, methods_compared
from annotation.models import Campaign, Judgement, PairRating, Participation, SliderArm
from annotation.results.figures import campaign_mark, kept
from annotation.results.record import annotator_codes, campaign_judgements, judgements_at_most, pair_names
from curation.pairs.judged_by import judged_by
from curation.results.estimates import as_stored, estimate_stored
from curation.statistics.influence import Correlation

COMPARED_AT_ONCE = 2_000  # judgements and ratings that a request compares, within about half a second
RATING_COLUMNS = ("rating", "pair", "annotator", "value", "guideline", "seconds")
_GIVEN = Q(pair_ratings__value__isnull=False)


@dataclass(frozen=True)
class SliderProgress:
    """pairs: of the arm; done: those with all ratings. ratings: given; required: for all pairs. skipped: answers.

    people: who rate, each with how many pairs they `rated` and `skipped` and when they did last (`last_at`).
    """

    pairs: int
    done: int
    ratings: int
    required: int
    skipped: int
    people: Sequence[Participation]

    @property
    def is_complete(self) -> bool:
        return self.done == self.pairs


def slider_progress(arm: SliderArm) -> SliderProgress:
    """How far the arm is. Three queries."""
    given = Count("ratings", filter=Q(ratings__value__isnull=False))
    counts = list(arm.pairs.order_by().annotate(given=given).values_list("given", flat=True))
    people = list(
        Participation.objects.filter(campaign=arm.campaign_id, rates=True)
        .select_related("user")
        .annotate(
            rated=Count("pair_ratings", filter=_GIVEN),
            skipped=Count("pair_ratings", filter=Q(pair_ratings__value=None, pair_ratings__isnull=False)),
            last_at=Max("pair_ratings__submitted_at"),
        )
        .order_by("user__username")
    )
    return SliderProgress(
        pairs=len(counts),
        done=sum(count >= arm.ratings_per_pair for count in counts),
        ratings=sum(counts),
        required=len(counts) * arm.ratings_per_pair,
        skipped=sum(person.skipped for person in people),
        people=people,
    )


def judges_of_both(campaign: Campaign) -> str:
    """Who judged or rated, in the words of files: people, a program that simulates them, or both."""
    judged = Exists(Judgement.objects.filter(participation=OuterRef("pk")))
    people = campaign.participations.filter(Q(judged) | Q(rates=True), excluded=False)
    counts = people.aggregate(annotators=Count("pk"), simulated=Count("pk", filter=Q(user__simulated=True)))
    return judged_by("human", **counts) if counts["annotators"] else ""


def rating_rows(campaign: Campaign) -> Iterator[list[object]]:
    """Every rating for a file, in order of arrival: its number, the pair's id, the annotator's code, the value (empty
    where the pair was skipped), the version of the guidelines, and seconds that the page was looked at.
    """
    names, codes = pair_names(campaign), annotator_codes(campaign)
    ratings = PairRating.objects.filter(rated__arm__campaign=campaign).order_by("pk")
    columns = ("rated__pair", "participation", "value", "guideline__version", "active_ms")
    for number, (pair, person, value, version, milliseconds) in enumerate(ratings.values_list(*columns), 1):
        yield [
            number,
            names[pair],
            codes[person],
            "" if value is None else value,
            version or 0,
            "" if milliseconds is None else milliseconds / 1000,
        ]


@dataclass(frozen=True)
class Comparison:
    """What an owner reads of both methods; `found` is None where there is too little, and `why` says what is missing.

    judgement_hours, rating_hours: of all that counts, None where no times are known. judgements, ratings: how many.
    """

    judgements: int
    judgement_hours: float | None
    ratings: int
    rating_hours: float | None
    found: MethodsCompared | None
    why: str = ""


def comparison_of(arm: SliderArm, *, standardised: bool = False) -> Comparison:
    """Both methods in the same time, computed once for each state of the campaign and its ratings.

    standardised: each rater's values less their mean, by their standard deviation.
    """
    mark = comparison_mark(arm, standardised=standardised)
    what = "slider-standardised" if standardised else "slider"
    return kept(arm.campaign, what, mark, lambda: comparison_compute(arm, standardised=standardised))


def comparison_mark(arm: SliderArm, *, standardised: bool) -> str:
    """A mark of what is compared: of the campaign's judgements, the ratings, and how they are taken."""
    rated = PairRating.objects.filter(rated__arm=arm)
    last = rated.aggregate(last=Max("pk"), number=Count("pk"))
    state = f"{campaign_mark(arm.campaign)} {last} {standardised}"
    return hashlib.sha256(state.encode()).hexdigest()


def comparison_is_quick(arm: SliderArm) -> bool:
    """Whether somebody may wait for it. Two queries."""
    ratings = PairRating.objects.filter(rated__arm=arm)[: COMPARED_AT_ONCE + 1].count()
    return ratings <= COMPARED_AT_ONCE and judgements_at_most(arm.campaign, COMPARED_AT_ONCE - ratings)


def comparison_as_json(compared: Comparison) -> dict[str, Any]:
    return as_stored(compared)


def comparison_from_json(stored: Mapping[str, Any]) -> Comparison:
    """What `comparison_as_json` wrote."""
    found = stored["found"]
    if found is None:
        return Comparison(**stored)
    figures = ("best_worst", "slider", "difference")
    points = tuple(
        MethodsPoint(**{**point, **{name: estimate_stored(point[name]) for name in figures}})
        for point in found["points"]
    )
    compared = {**found, "points": points, "correlation": Correlation(**found["correlation"])}
    return Comparison(**{**stored, "found": MethodsCompared(**compared)})


def comparison_compute(arm: SliderArm, *, standardised: bool) -> Comparison:
    """Both methods in the same time."""
    judged = campaign_judgements(arm.campaign)
    feeding = judged.feeding("counting")
    numbered = judged.as_asked(feeding)
    judgements = Judgement.objects.filter(participation__campaign=arm.campaign).order_by("pk")
    # A tie took time too, although counting leaves it out. Gold tuples and repeats are part of neither method.
    judgement_hours = _hours(judgements, judged.collected & judged.designed)
    answers = PairRating.objects.filter(rated__arm=arm, participation__rates=True).order_by("pk")
    rows = list(answers.values_list("rated__pair", "participation", "value"))
    given = [(pair, person, value) for pair, person, value in rows if value is not None]
    rating_hours = _hours(answers, np.ones(len(rows), dtype=np.bool_))
    facts: dict[str, Any] = {
        "judgements": int(feeding.sum()),
        "judgement_hours": judgement_hours,
        "ratings": len(given),
        "rating_hours": rating_hours,
    }
    if not facts["judgements"] or not facts["ratings"]:
        return Comparison(**facts, found=None, why=_("There are no ratings or no judgements yet."))
    if not judgement_hours or not rating_hours:
        return Comparison(
            **facts,
            found=None,
            why=_("It is not known how long the answers took, so the methods have no common measure."),
        )
    # Items have the numbers of the campaign's pairs (m,), which are sorted.
    items, people, values = (np.array(column, dtype=np.int64) for column in zip(*given, strict=True))
    ratings = Ratings(
        np.searchsorted(numbered.pairs, items), people, values.astype(np.float64), len(numbered.pairs)
    )
    try:
        found = methods_compared(
            numbered.judgements,
            ratings.standardised() if standardised else ratings,
            judgement_seconds=3600 * judgement_hours / facts["judgements"],
            rating_seconds=3600 * rating_hours / facts["ratings"],
            seed=arm.campaign.seed,
        )
    except TooFewJudgements as error:
        return Comparison(**facts, found=None, why=str(error))
    return Comparison(**facts, found=found)


def _hours(answers: QuerySet[Any], counted: np.ndarray) -> float | None:
    """Of the answers that count: each person's time from answer to answer, without pauses. An answer whose time is not
    known takes the mean of the others. None where no time is known.
    """
    rows = list(answers.values_list("participation", "shown_at", "submitted_at"))
    if not rows:
        return None
    people, shown, given = zip(*rows, strict=True)
    timed = Timed(
        np.array(people),
        np.array([np.nan if moment is None else moment.timestamp() for moment in shown]),
        np.array([moment.timestamp() for moment in given]),
    )
    seconds = timed.seconds()[counted]
    known = ~np.isnan(seconds)
    return float(seconds[known].mean()) * len(seconds) / 3600 if known.any() else None


def verdict(found: MethodsCompared) -> str:
    """Which method is more reliable in the same time, if the interval of the difference says so."""
    difference = found.last.difference
    if difference.low is not None and difference.low > 0:
        return _("In the same time, Best-Worst judgements give more reliable scores than ratings.")
    if difference.high is not None and difference.high < 0:
        return _("In the same time, ratings give more reliable scores than Best-Worst judgements.")
    return _("The two methods cannot be distinguished: the interval of their difference includes 0.")
