"""What a curator reads while reviewing: what waits, where a p_D stands among people's, what the verdicts say so far."""

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from threading import Lock

from django.core.cache import cache
from django.db.models import (
    BigIntegerField,
    Count,
    Exists,
    ExpressionWrapper,
    F,
    FloatField,
    Max,
    Min,
    OuterRef,
    Q,
    QuerySet,
    Value,
)
from django.db.models.functions import Cast, Floor

from curation.models import (
    Dataset,
    Pair,
    PairScore,
    ReviewDecision,
    ScoreSet,
    Sentence,
    SentenceScore,
    User,
)
from curation.pairs.keeping import Kept, KeptFrom, kept_by_p_d, kept_share
from curation.pairs.overlap import WordIndex

REVIEWABLE = (Pair.Status.ACTIVE, Pair.Status.PENDING)
LAST = 10  # verdicts whose effect on the estimated precision is told
MOST_INDEXED = (
    100_000  # human sentences searched for the nearest; some seconds to index, once for each process
)
PAUSE = timedelta(minutes=5)  # whoever decides nothing for so long has begun anew: the pace counts from there
_BINS = 200
_KEPT_SECONDS = 24 * 3600
# Multiplied by the one, modulo the other (a prime), numbers in a row come out in no order that tells of p_D.
_SCATTER, _SCATTERED = 48_271, 65_537


@dataclass(frozen=True)
class Queue:
    """What is reviewed: the machine sentences of a p_D score set, the `share` of them with the lowest p_D.

    blind: p_D is hidden, and the order does not follow it.
    """

    score_set: ScoreSet
    share: float = 1.0
    blind: bool = False


@dataclass(frozen=True)
class Progress:
    """Machine sentences of a queue: all of them, and those with a standing decision."""

    total: int
    decided: int


@dataclass(frozen=True)
class HumanScores:
    """How many human sentences have which p_D: counts in equal bins over the score set's scale."""

    low: float
    high: float
    counts: tuple[int, ...]

    @property
    def n(self) -> int:
        return sum(self.counts)

    def place(self, value: float) -> float:
        """Where a value lies on the scale, 0..1."""
        return min(1.0, max(0.0, (value - self.low) / (self.high - self.low)))

    def share_below(self, value: float) -> float | None:
        """The share of human sentences with a lower p_D, to the width of a bin; None where none is scored."""
        bin_ = min(int(self.place(value) * len(self.counts)), len(self.counts) - 1)
        below = sum(self.counts[:bin_])
        return below / self.n if self.n else None


@dataclass(frozen=True)
class Neighbour:
    """A human sentence, its word overlap (Dice) with a machine's, and whether all human sentences were searched."""

    text: str
    overlap: float
    searched_all: bool


@dataclass(frozen=True)
class Precision:
    """What share of the sentences reviewed could stay as the machine wrote them.

    before: without the last verdicts, so that one sees what those did. levels: from which p_D upwards.
    """

    now: Kept
    before: Kept
    last: Kept
    levels: Sequence[KeptFrom]


@dataclass(frozen=True)
class Pace:
    """What one person decided in this sitting. per_hour: None before the fifth."""

    decided: int
    per_hour: int | None


# What waits ------------------------------------------------------------------------------------------------------


def realism_sets(dataset: Dataset) -> list[ScoreSet]:
    """The dataset's p_D score sets, the newest first."""
    return list(dataset.score_sets.filter(kind=ScoreSet.Kind.REALISM).order_by("-created_at", "-pk"))


def standing() -> QuerySet[ReviewDecision]:
    return ReviewDecision.objects.filter(undone_at=None)


def queue_scores(queue: Queue) -> QuerySet[PairScore]:
    """The waiting sentences in the order of the queue, each by the first of its pairs that waits, with its p_D."""
    waiting = _waiting(Q(score_set=queue.score_set) & Q(value__lte=_highest(queue)))
    earlier = _waiting(Q(score_set=queue.score_set)).filter(
        pair__b=OuterRef("pair__b"), pair_id__lt=OuterRef("pair_id")
    )
    first = waiting.filter(~Exists(earlier)).select_related("pair__a", "pair__b")
    if queue.blind:
        scattered = ExpressionWrapper(
            F("pair_id") * Value(_SCATTER) % Value(_SCATTERED), output_field=BigIntegerField()
        )
        return first.order_by(scattered, "pair_id")
    return first.order_by("value", "pair_id")


def queue_waiting(queue: Queue) -> int:
    """How many sentences of the queue wait: counted when nothing is left to show, or a share is offered."""
    waiting = _waiting(Q(score_set=queue.score_set, value__lte=_highest(queue)))
    number: int = waiting.aggregate(n=Count("pair__b", distinct=True))["n"]
    return number


def queue_progress(queue: Queue) -> Progress:
    highest, total = _limits(queue)
    decided = standing().filter(
        alongside=None, pair__scores__score_set=queue.score_set, pair__scores__value__lte=highest
    )
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
    return _machine(wanted).filter(
        ~Exists(standing().filter(pair=OuterRef("pair"))), pair__status__in=REVIEWABLE
    )


def _machine(wanted: Q) -> QuerySet[PairScore]:
    """Scores of pairs that hold a machine's sentence, whatever became of them."""
    return PairScore.objects.filter(
        wanted, pair__origin=Pair.Origin.GENERATED, pair__b__origin=Sentence.Origin.MACHINE
    )


def _highest(queue: Queue) -> float:
    return _limits(queue)[0]


def _limits(queue: Queue) -> tuple[float, int]:
    """The highest p_D of the queue's share, and how many sentences that share holds: a published set never changes."""
    score_set = queue.score_set
    key = f"review:{score_set.pk}:{score_set.created_at.timestamp()}:{queue.share}"
    limits: tuple[float, int] | None = cache.get(key)
    if limits is None:
        limits = _limits_counted(queue)
        cache.set(key, limits, _KEPT_SECONDS)
    return limits


def _limits_counted(queue: Queue) -> tuple[float, int]:
    by_sentence = (
        _machine(Q(score_set=queue.score_set)).values("pair__b").order_by().annotate(p_d=Min("value"))
    )
    total = by_sentence.count()
    if queue.share >= 1 or not total:
        return queue.score_set.high, total
    last = math.ceil(queue.share * total) - 1
    highest: float = by_sentence.order_by("p_d").values_list("p_d", flat=True)[last]
    return highest, by_sentence.filter(p_d__lte=highest).count()


# What stands beside a sentence -------------------------------------------------------------------------------------


def sentence_scores_of(pair: Pair) -> list[tuple[ScoreSet, float | None, float | None]]:
    """What each score set says of a pair's two sentences by themselves, such as p_D, the oldest first."""
    scores = SentenceScore.objects.filter(sentence__in=[pair.a_id, pair.b_id]).select_related("score_set")
    by_set: dict[ScoreSet, dict[int, float]] = {}
    for score in scores.order_by("score_set__created_at", "score_set_id"):
        by_set.setdefault(score.score_set, {})[score.sentence_id] = score.value
    return [(found, values.get(pair.a_id), values.get(pair.b_id)) for found, values in by_set.items()]


def intended_of(pair_ids: Collection[int]) -> dict[int, PairScore]:
    """The similarity each pair was meant to have, as the newest set of that kind says."""
    scores = PairScore.objects.filter(pair__in=pair_ids, score_set__kind=ScoreSet.Kind.TARGET)
    return {score.pair_id: score for score in scores.select_related("score_set").order_by("score_set_id")}


def human_scores(score_set: ScoreSet) -> HumanScores:
    key = f"human-p-d:{score_set.pk}:{score_set.created_at.timestamp()}"
    counts: tuple[int, ...] | None = cache.get(key)
    if counts is None:
        counts = _human_counts(score_set)
        cache.set(key, counts, _KEPT_SECONDS)
    return HumanScores(score_set.low, score_set.high, counts)


def _human_counts(score_set: ScoreSet) -> tuple[int, ...]:
    width = (score_set.high - score_set.low) / _BINS
    human = SentenceScore.objects.filter(score_set=score_set, sentence__origin=Sentence.Origin.HUMAN)
    place = Floor(Cast((F("value") - score_set.low) / width, FloatField()))
    counts = [0] * _BINS
    for at, n in human.values(place=place).order_by().annotate(n=Count("pk")).values_list("place", "n"):
        counts[min(int(at), _BINS - 1)] += n
    return tuple(counts)


_indexes: dict[int, tuple[object, WordIndex]] = {}
_indexes_lock = Lock()


def nearest_human(dataset: Dataset, asked: Sequence[tuple[str, Collection[int]]]) -> list[Neighbour | None]:
    """For each text the human sentence that shares most words with it, but for those whose numbers are left out.

    Two queries, once the process has indexed the dataset's human sentences; then work in proportion to their number.
    """
    index = _index_of(dataset)
    found = [index.nearest(text, without=without) for text, without in asked]
    numbers = {nearest.number for nearest in found if nearest}
    texts = dict(Sentence.objects.filter(pk__in=numbers).values_list("pk", "text"))
    whole = len(index) < MOST_INDEXED
    return [
        Neighbour(texts[nearest.number], nearest.overlap, whole)
        if nearest and nearest.number in texts
        else None
        for nearest in found
    ]


def _index_of(dataset: Dataset) -> WordIndex:
    """The dataset's human sentences as an index, kept by this process until the dataset has a newer sentence."""
    newest = Sentence.objects.filter(dataset=dataset).aggregate(newest=Max("pk"))["newest"]
    mark = (dataset.created_at, newest)
    kept = _indexes.get(dataset.pk)
    if kept and kept[0] == mark:
        return kept[1]
    human = Sentence.objects.filter(dataset=dataset, origin=Sentence.Origin.HUMAN).order_by("pk")
    index = WordIndex(human.values_list("pk", "text")[:MOST_INDEXED].iterator(chunk_size=5_000))
    with _indexes_lock:
        _indexes.pop(dataset.pk, None)
        if len(_indexes) >= 4:
            _indexes.pop(next(iter(_indexes)))
        _indexes[dataset.pk] = (mark, index)
    return index


# What was decided ----------------------------------------------------------------------------------------------------


def decisions_of_dataset(dataset: Dataset) -> QuerySet[ReviewDecision]:
    """The decisions on the pairs that were shown, the newest first, undone ones among them."""
    shown = ReviewDecision.objects.filter(pair__dataset=dataset, alongside=None)
    return shown.select_related("sentence", "pair", "reviewer", "replacement__b", "undone_by")


def last_decisions(dataset: Dataset, *, most: int = LAST) -> list[ReviewDecision]:
    return list(decisions_of_dataset(dataset).filter(undone_at=None)[:most])


def last_decision_of(dataset: Dataset, reviewer: User) -> ReviewDecision | None:
    return decisions_of_dataset(dataset).filter(undone_at=None, reviewer=reviewer).first()


def decisions_of_pair(pair: Pair) -> list[ReviewDecision]:
    """What was decided about a pair, and the edit that it came from, the newest first."""
    about = ReviewDecision.objects.filter(Q(pair=pair) | Q(replacement=pair))
    return list(
        about.select_related("sentence", "pair", "reviewer", "replacement__b", "undone_by").order_by("-pk")
    )


def review_precision(score_set: ScoreSet) -> Precision:
    """What the standing verdicts on a p_D score set's sentences say of all that lie where those lie."""
    shown = standing().filter(alongside=None, pair__scores__score_set=score_set)
    rows = shown.order_by("decided_at", "pk").values_list("pair__scores__value", "verdict")
    verdicts = [(p_d, verdict == ReviewDecision.Verdict.KEEP) for p_d, verdict in rows]
    return Precision(
        now=_kept(verdicts),
        before=_kept(verdicts[:-LAST]),
        last=_kept(verdicts[-LAST:]),
        levels=kept_by_p_d(verdicts),
    )


def _kept(verdicts: Sequence[tuple[float, bool]]) -> Kept:
    return kept_share(sum(kept for _p_d, kept in verdicts), len(verdicts))


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


def queue_wider(queue: Queue, shares: Sequence[float]) -> Queue | None:
    """The queue of the next larger share in which something waits, if there is one."""
    wider = (replace(queue, share=share) for share in sorted(shares) if share > queue.share)
    return next((each for each in wider if queue_waiting(each)), None)
