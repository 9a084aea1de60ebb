"""Which machine-written sentences wait for a verdict, and in which order."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, cast
from urllib.parse import urlencode

from django.core.cache import cache
from django.db.models import BigIntegerField, Count, Exists, F, Min, OuterRef, Q, QuerySet, Value
from django.db.models.expressions import ExpressionWrapper

from curation.models import Dataset, Pair, PairScore, ReviewDecision, ScoreSet, Sentence

Frame = ReviewDecision.Frame
REVIEWABLE = (Pair.Status.ACTIVE, Pair.Status.PENDING)
_KEPT_SECONDS = 24 * 3600
# Multiplied by the one, modulo the other (a prime), numbers in a row come out in no order that tells of p_D.
_SCATTER, _SCATTERED = 48_271, 65_537


@dataclass(frozen=True)
class Queue:
    """What is reviewed: the machine sentences of a p_D score set, the `share` of them with the lowest p_D.

    frame: chosen is for a sentence that no queue showed. blind: p_D is hidden, and the order does not follow it.
    """

    score_set: ScoreSet
    frame: Frame = Frame.LOWEST
    share: float = 1.0
    blind: bool = False

    @property
    def address(self) -> str:
        """The query string under which a page shows this queue."""
        named: dict[str, object] = {"set": self.score_set.pk, "share": self.share}
        return urlencode(named | ({"blind": "on"} if self.blind else {}))


class Progress(NamedTuple):
    """Machine sentences of a queue: all of them, and those with a standing decision."""

    total: int
    decided: int


def realism_sets(dataset: Dataset) -> list[ScoreSet]:
    """The dataset's p_D score sets, the newest first."""
    return list(dataset.score_sets.filter(kind=ScoreSet.Kind.REALISM).order_by("-created_at", "-pk"))


def standing() -> QuerySet[ReviewDecision]:
    """The decisions that are valid: those that nobody undid, without opinions, which change nothing."""
    return ReviewDecision.objects.filter(undone_at=None, binding=True)


def queue_scores(queue: Queue) -> QuerySet[PairScore]:
    """The waiting sentences in the order of the queue, each by the first of its pairs that waits, with its p_D."""
    waiting = _waiting(Q(score_set=queue.score_set, value__lte=_limits(queue)[0]))
    same_sentence = _waiting(Q(score_set=queue.score_set)).filter(pair__b=OuterRef("pair__b"))
    earlier = same_sentence.filter(pair_id__lt=OuterRef("pair_id"))
    first = waiting.filter(~Exists(earlier)).select_related("pair__a", "pair__b")
    if queue.blind:
        scattered = F("pair_id") * Value(_SCATTER) % Value(_SCATTERED)
        return first.order_by(ExpressionWrapper(scattered, output_field=BigIntegerField()), "pair_id")
    return first.order_by("value", "pair_id")


def queue_waiting(queue: Queue) -> int:
    """How many sentences of the queue wait: counted when nothing is left to show, or a share is offered."""
    waiting = _waiting(Q(score_set=queue.score_set, value__lte=_limits(queue)[0]))
    number: int = waiting.aggregate(n=Count("pair__b", distinct=True))["n"]
    return number


def queue_progress(queue: Queue) -> Progress:
    highest, total = _limits(queue)
    shown = standing().filter(alongside=None)
    decided = shown.filter(pair__scores__score_set=queue.score_set, pair__scores__value__lte=highest)
    return Progress(total, decided.aggregate(n=Count("sentence", distinct=True))["n"])


def waiting_by_set(datasets: Iterable[Dataset]) -> dict[int, int]:
    """How many machine sentences wait, by the number of their p_D score set; sets with none are left out."""
    waiting = _waiting(Q(score_set__dataset__in=list(datasets), score_set__kind=ScoreSet.Kind.REALISM))
    counted = waiting.values("score_set").order_by().annotate(n=Count("pair__b", distinct=True))
    return dict(counted.values_list("score_set", "n"))


def waiting_of(dataset: Dataset) -> int:
    """How many machine sentences wait in the newest p_D score set."""
    newest = realism_sets(dataset)[:1]
    return waiting_by_set([dataset]).get(newest[0].pk, 0) if newest else 0


def _waiting(wanted: Q) -> QuerySet[PairScore]:
    decided = standing().filter(pair=OuterRef("pair"))
    return _machine(wanted).filter(~Exists(decided), pair__status__in=REVIEWABLE)


def _machine(wanted: Q) -> QuerySet[PairScore]:
    """Scores of pairs that hold a machine's sentence, whatever became of them."""
    return PairScore.objects.filter(
        wanted, pair__origin=Pair.Origin.GENERATED, pair__b__origin=Sentence.Origin.MACHINE
    )


def _limits(queue: Queue) -> tuple[float, int]:
    """The highest p_D of the queue's share, and how many sentences that share holds: a published set never changes."""
    score_set = queue.score_set
    key = f"review:{score_set.pk}:{score_set.created_at.timestamp()}:{queue.share}"
    return cast("tuple[float, int]", cache.get_or_set(key, lambda: _limits_counted(queue), _KEPT_SECONDS))


def _limits_counted(queue: Queue) -> tuple[float, int]:
    scores = _machine(Q(score_set=queue.score_set))
    by_sentence = scores.values("pair__b").order_by().annotate(p_d=Min("value"))
    total = by_sentence.count()
    if queue.share >= 1 or not total:
        return queue.score_set.high, total
    last = math.ceil(queue.share * total) - 1
    highest: float = by_sentence.order_by("p_d").values_list("p_d", flat=True)[last]
    return highest, by_sentence.filter(p_d__lte=highest).count()


def queue_wider(queue: Queue, shares: Sequence[float]) -> Queue | None:
    """The queue of the next larger share in which something waits, if there is one."""
    wider = (replace(queue, share=share) for share in sorted(shares) if share > queue.share)
    return next((each for each in wider if queue_waiting(each)), None)
