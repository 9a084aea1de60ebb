"""Equal pairs of a dataset, in either order of their sentences, to which one score set gives different scores."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from django.db.models import F, Max, Min, QuerySet
from django.db.models.functions import Greatest, Least

from curation.foundation.parts import in_parts
from curation.models import Dataset, DuplicateFound, DuplicateSearch, Pair, PairScore, ScoreSet
from curation.pairs.text import unordered

# A model's scores, a target or p_D may depend on the order of the sentences; people's scores contradict each other.
OF_PEOPLE = (ScoreSet.Kind.REFERENCE, ScoreSet.Kind.HUMAN)
_AT_ONCE = 200


class Differing(NamedTuple):
    """Two or more equal pairs. low, high: their lowest and highest score. scores: all of them, by pair."""

    score_set: ScoreSet
    low: float
    high: float
    scores: Sequence[PairScore]


class _Twos(NamedTuple):
    """score_set, one, other: numbers of the set and of the two sentences, the lower first."""

    score_set: int
    one: int
    other: int
    low: float
    high: float


class DifferingScores:
    """All of a dataset's active pairs, or those that a search found; the largest differences first.

    A difference is compared with the length of the scale of its set. Each set of people's scores is asked by itself.
    """

    def __init__(self, dataset: Dataset, *, found_by: DuplicateSearch | None = None) -> None:
        self._sets = {one.pk: one for one in dataset.score_sets.offered().filter(kind__in=OF_PEOPLE)}
        scores = PairScore.objects.filter(score_set__in=self._sets, pair__status=Pair.Status.ACTIVE)
        if found_by is not None:
            found = DuplicateFound.objects.filter(search=found_by).order_by()
            scores = scores.filter(pair__in=found.values("pair"))
        self._scores: QuerySet[PairScore] = scores.order_by()
        twos = self._scores.values(
            "score_set", one=Least("pair__a", "pair__b"), other=Greatest("pair__a", "pair__b")
        )
        differing = twos.annotate(low=Min("value"), high=Max("value")).filter(low__lt=F("high"))
        rows = differing.values_list("score_set", "one", "other", "low", "high")
        lengths = {pk: one.high - one.low for pk, one in self._sets.items()}
        self._twos = sorted(
            (_Twos(*row) for row in rows.iterator()),
            key=lambda each: ((each.low - each.high) / lengths[each.score_set], each),
        )

    def __len__(self) -> int:
        return len(self._twos)

    def first(self, most: int | None = None) -> Iterator[Differing]:
        """The equal pairs with the largest differences. most: how many groups of them; None for all."""
        for part in in_parts(self._twos[:most], _AT_ONCE):
            scores: dict[tuple[int, int, int], list[PairScore]] = {twos[:3]: [] for twos in part}
            sentences = {number for _set, *both in scores for number in both}
            rows = self._scores.filter(
                pair__a__in=sentences, pair__b__in=sentences, score_set__in={key[0] for key in scores}
            )
            for score in rows.select_related("pair__a", "pair__b", "score_set").order_by("pair"):
                key = (score.score_set_id, *unordered(score.pair.a_id, score.pair.b_id))
                if key in scores:
                    scores[key].append(score)
            for twos in part:
                yield Differing(self._sets[twos.score_set], twos.low, twos.high, scores[twos[:3]])

    def pairs(self) -> set[int]:
        """The numbers of all these pairs."""
        return {score.pair_id for one in self.first() for score in one.scores}
