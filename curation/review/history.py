"""What was decided, by whom and how fast, and what the verdicts so far say of the sentences that still wait."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.db.models.functions import Coalesce

from curation.models import Dataset, Pair, ReviewDecision, ScoreSet, User
from curation.pairs.keeping import KeptShare, KeptShareAbove, kept_by_p_d, kept_share
from curation.review.queue import Queue, standing

LAST = 10  # verdicts whose effect on the estimated precision is shown
_WITH = ("sentence", "pair", "reviewer", "replacement__b", "undone_by")
PAUSE = timedelta(minutes=5)  # after a pause this long, the pace counts from the next verdict


class Precision(NamedTuple):
    """What share of the sentences reviewed could stay as the machine wrote them.

    before: without the last verdicts, so that one sees what those did. levels: from which p_D upwards.
    """

    now: KeptShare
    before: KeptShare
    last: KeptShare
    levels: Sequence[KeptShareAbove]


class Pace(NamedTuple):
    """What one person decided in this sitting. per_hour: None before the fifth."""

    decided: int
    per_hour: int | None


def decisions_of_dataset(dataset: Dataset) -> QuerySet[ReviewDecision]:
    """The decisions on the pairs that were shown, the newest first, undone ones among them."""
    return ReviewDecision.objects.filter(pair__dataset=dataset, alongside=None).select_related(*_WITH)


def decisions_at(dataset: Dataset, moment: datetime) -> QuerySet[ReviewDecision]:
    """The decisions that were valid at a moment, one for each pair; those on pairs that were not shown among them."""
    then = Q(undone_at=None) | Q(undone_at__gt=moment)
    resolutions = ReviewDecision.objects.filter(settles=OuterRef("shown"))
    decided = ReviewDecision.objects.filter(then, pair__dataset=dataset, decided_at__lte=moment)
    # What a resolution replaced was binding before, and is again once the resolution is undone.
    return decided.alias(shown=Coalesce("alongside", "pk")).filter(
        Q(binding=True) | Exists(resolutions), ~Exists(resolutions.filter(then, decided_at__lte=moment))
    )


def last_decisions(queue: Queue, reviewer: User, *, most: int = LAST) -> list[ReviewDecision]:
    """Everybody's; in a queue that is blind or asks two people the person's own, of whatever kind."""
    valid = decisions_of_dataset(queue.score_set.dataset).filter(undone_at=None)
    return list((valid.filter(reviewer=reviewer) if queue.discreet else valid.filter(binding=True))[:most])


def last_decision_of(dataset: Dataset, reviewer: User) -> ReviewDecision | None:
    return decisions_of_dataset(dataset).filter(undone_at=None, reviewer=reviewer).first()


def decisions_of_pair(pair: Pair) -> list[ReviewDecision]:
    """What was decided about a pair, and the edit that it came from, the newest first.

    Of opinions only the decisions that a resolution replaced: a second reviewer who opens the page sees no other's.
    """
    decided = Q(binding=True) | Q(settled_by__isnull=False)
    about = ReviewDecision.objects.filter(decided, Q(pair=pair) | Q(replacement=pair)).distinct()
    return list(about.select_related(*_WITH).order_by("-pk"))


def review_precision(score_set: ScoreSet) -> Precision:
    """What the standing verdicts on a p_D score set's sentences say of all that lie where those lie."""
    shown = standing().filter(alongside=None, pair__scores__score_set=score_set)
    rows = shown.order_by("decided_at", "pk").values_list("pair__scores__value", "verdict")
    verdicts = [(p_d, verdict == ReviewDecision.Verdict.KEEP) for p_d, verdict in rows]
    parts = (verdicts, verdicts[:-LAST], verdicts[-LAST:])
    now, before, last = (kept_share(sum(kept for _p_d, kept in part), len(part)) for part in parts)
    return Precision(now, before, last, kept_by_p_d(verdicts))


def review_pace(dataset: Dataset, reviewer: User, *, at: datetime) -> Pace:
    """How many a person decided in this sitting, and how fast, by the last hundred."""
    recent = decisions_of_dataset(dataset).filter(undone_at=None, reviewer=reviewer)
    times = list(recent.order_by("-decided_at").values_list("decided_at", flat=True)[:100])
    sitting: list[datetime] = []
    later = at
    for time in times:
        if later - time > PAUSE:
            break
        sitting.append(time)
        later = time
    if len(sitting) < 5:
        return Pace(len(sitting), None)
    seconds = max(1.0, (sitting[0] - sitting[-1]).total_seconds())
    return Pace(len(sitting), round((len(sitting) - 1) * 3600 / seconds))
