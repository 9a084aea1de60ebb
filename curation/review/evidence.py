"""What a curator sees beside a sentence: the nearest human sentence, p_D of human sentences, target similarity."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import NamedTuple

from django.core.cache import cache
from django.db.models import Count, F, FloatField, Max
from django.db.models.functions import Cast, Floor

from curation.models import Dataset, PairScore, ScoreSet, Sentence, SentenceScore
from curation.pairs.overlap import WordIndex

# Human sentences searched for the nearest; some seconds to index, once for each process.
MOST_INDEXED = 100_000
_BINS = 200
_KEPT_SECONDS = 24 * 3600


@dataclass(frozen=True)
class HumanScores:
    """How many human sentences have which p_D: counts in equal bins over the score set's scale."""

    low: float
    high: float
    counts: tuple[int, ...]

    @property
    def n(self) -> int:
        return sum(self.counts)

    def position(self, value: float) -> float:
        """Where a value lies on the scale, 0..1."""
        return min(1.0, max(0.0, (value - self.low) / (self.high - self.low)))

    def share_below(self, value: float) -> float | None:
        """The share of human sentences with a lower p_D, to the width of a bin; None where none is scored."""
        bin_ = min(int(self.position(value) * len(self.counts)), len(self.counts) - 1)
        below = sum(self.counts[:bin_])
        return below / self.n if self.n else None


class Neighbour(NamedTuple):
    """A human sentence, its word overlap (Dice) with a machine's, and whether all human sentences were searched."""

    text: str
    overlap: float
    searched_all: bool


_indexes: dict[int, tuple[object, WordIndex]] = {}
_indexes_lock = Lock()


def intended_of(pair_ids: Collection[int]) -> dict[int, PairScore]:
    """The similarity each pair was meant to have, as the newest set of that kind says."""
    scores = PairScore.objects.filter(pair__in=pair_ids, score_set__kind=ScoreSet.Kind.TARGET)
    return {score.pair_id: score for score in scores.select_related("score_set").order_by("score_set_id")}


def human_scores(score_set: ScoreSet) -> HumanScores:
    key = f"human-p-d:{score_set.pk}:{score_set.created_at.timestamp()}"
    if (kept := cache.get(key)) is not None:
        return HumanScores(score_set.low, score_set.high, kept)
    width = (score_set.high - score_set.low) / _BINS
    human = SentenceScore.objects.filter(score_set=score_set, sentence__origin=Sentence.Origin.HUMAN)
    bin_number = Floor(Cast((F("value") - score_set.low) / width, FloatField()))
    counts = [0] * _BINS
    for at, n in human.values(bin=bin_number).order_by().annotate(n=Count("pk")).values_list("bin", "n"):
        counts[min(int(at), _BINS - 1)] += n
    cache.set(key, tuple(counts), _KEPT_SECONDS)
    return HumanScores(score_set.low, score_set.high, tuple(counts))


def nearest_human(dataset: Dataset, asked: Sequence[tuple[str, Collection[int]]]) -> list[Neighbour | None]:
    """For each text the human sentence that shares most words with it, but for those whose numbers are left out.

    Two queries, once the process has indexed the dataset's human sentences; then work in proportion to their number.
    """
    # The dataset's human sentences as an index, kept by this process until the dataset has a newer sentence.
    newest = Sentence.objects.filter(dataset=dataset).aggregate(newest=Max("pk"))["newest"]
    mark = (dataset.created_at, newest)
    kept = _indexes.get(dataset.pk)
    if kept and kept[0] == mark:
        index = kept[1]
    else:
        human = Sentence.objects.filter(dataset=dataset, origin=Sentence.Origin.HUMAN).order_by("pk")
        index = WordIndex(human.values_list("pk", "text")[:MOST_INDEXED].iterator(chunk_size=5_000))
        with _indexes_lock:
            _indexes.pop(dataset.pk, None)
            if len(_indexes) >= 4:
                _indexes.pop(next(iter(_indexes)))
            _indexes[dataset.pk] = (mark, index)
    nearest_of_each = [index.nearest(text, without=without) for text, without in asked]
    numbers = {nearest.number for nearest in nearest_of_each if nearest}
    texts = dict(Sentence.objects.filter(pk__in=numbers).values_list("pk", "text"))
    whole = len(index) < MOST_INDEXED
    return [
        Neighbour(texts[each.number], each.overlap, whole) if each and each.number in texts else None
        for each in nearest_of_each
    ]
