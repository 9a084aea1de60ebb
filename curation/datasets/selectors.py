"""What pages, commands and files read of datasets, pairs and scores."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from hashlib import blake2b
from typing import Any, NamedTuple

from django.core.cache import cache
from django.db.models import (
    Avg,
    Count,
    Exists,
    F,
    FilteredRelation,
    FloatField,
    Max,
    Min,
    OuterRef,
    Q,
    QuerySet,
    Value,
)
from django.db.models.functions import Floor
from django.utils.translation import gettext as _

from curation.datasets.inclusion import included
from curation.foundation.errors import UserError
from curation.models import Dataset, Pair, PairScore, ScoreSet, Sentence, SentenceScore, mark_shown
from curation.pairs.judged_by import judged_by_all
from curation.statistics.histograms import Histogram, histogram

ORDERS = ("pk", "-pk", "external_id", "-external_id", "source", "-source", "score", "-score")
# What is shown where nobody names a score set: what people judged, then what a file gave.
SHOWN_FIRST = ("human", "reference", "model", "target", "realism", "consistency")
# To count the pairs of a dataset takes 100 ms and more from half a million on.
FACTS_KEPT_FROM = 100_000
FACTS_KEPT_SECONDS = 60
# Words that at most so many sentences hold are looked up among the sentences.
FEW_SENTENCES = 20_000


@dataclass(frozen=True)
class PairFilter:
    """Which pairs of a dataset. "" and None take any; low and high are on the chosen score set's scale.

    generated_pairs: an `Inclusion`, of the pairs with a machine-written sentence.
    scored: names of score sets, of which at least one scores the pair.
    """

    search: str = ""
    source: str = ""
    subset: str = ""
    split: str = ""
    origin: str = ""
    status: str = ""
    generated_pairs: str = ""
    scored: tuple[str, ...] = ()
    score_set: int | None = None
    low: float | None = None
    high: float | None = None

    def as_json(self) -> dict[str, Any]:
        """What the filter asks for, without what it leaves open."""
        return {name: value for name, value in asdict(self).items() if value not in ("", None, ())}


@dataclass(frozen=True)
class DatasetFacts:
    """The facts at the head of a dataset's pages. shr, of shr_n judgements: of the newest human score set.

    judged, referenced: pairs with a score of people, and with one that a file gave.
    judged_by: who gave the judgements behind all human score sets, in the words of files.
    """

    pairs: int = 0
    active: int = 0
    judged: int = 0
    referenced: int = 0
    generated: int = 0
    rejected: int = 0
    score_sets: int = 0
    shr: float | None = None
    shr_n: int | None = None
    judged_by: str = ""

    @property
    def mark(self) -> str:
        return mark_shown(self.judged_by)


@dataclass(frozen=True)
class ScoreSetRow:
    """mean, sd, smallest and largest are on the set's own scale; None where it holds no score."""

    score_set: ScoreSet
    count: int
    mean: float | None
    sd: float | None
    smallest: float | None
    largest: float | None

    @property
    def state(self) -> str:
        """Changes with the scores of the set: an import may add some, or correct some. Short, for a cache's keys."""
        figures = (self.score_set.pk, self.count, self.mean, self.sd, self.smallest, self.largest)
        return blake2b(repr(figures).encode(), digest_size=16).hexdigest()


class PairLife(NamedTuple):
    """scores: of every set, the oldest first; twins: other pairs with the same sentences, in either order.

    sentence_scores: each set that scores single sentences, such as p_D, the oldest first, with its values for the
    pair's two.
    """

    scores: Sequence[PairScore]
    sentence_scores: Sequence[tuple[ScoreSet, float | None, float | None]]
    twins: Sequence[Pair]


def dataset_by_slug(slug: str) -> Dataset | None:
    return Dataset.objects.filter(slug=slug).first()


def dataset_named(slug: str) -> Dataset:
    """The dataset with this short name. Raises UserError where there is none."""
    named = dataset_by_slug(slug)
    if named is None:
        raise UserError(_("There is no dataset “%(slug)s”. Check its short name."), slug=slug)
    return named


def has_active_pairs(dataset: Dataset) -> bool:
    """Whether there is an active pair: what exports and snapshots hold."""
    return Pair.objects.filter(dataset=dataset, status=Pair.Status.ACTIVE).exists()


def pairs_matching(dataset: Dataset, filter: PairFilter) -> QuerySet[Pair]:
    """The pairs that a filter finds, in no order, without their sentences and scores."""
    return within_bounds(pairs_of_any_score(dataset, filter), filter)


def pairs_of_any_score(dataset: Dataset, filter: PairFilter) -> QuerySet[Pair]:
    """The pairs that a filter without its bounds of scores finds. A filter with words asks the database at once."""
    pairs = Pair.objects.filter(dataset=dataset)
    names = ("source", "subset", "split", "origin", "status")
    pairs = pairs.filter(**{name: value for name in names if (value := getattr(filter, name))})
    if filter.generated_pairs:
        pairs = pairs.filter(included(filter.generated_pairs))
    if filter.scored:
        sets = ScoreSet.objects.filter(dataset=dataset, name__in=filter.scored).values("pk")
        pairs = pairs.filter(Exists(PairScore.objects.filter(pair=OuterRef("pk"), score_set__in=sets)))
    if not filter.search:
        return pairs
    # The pairs whose sentences hold the words, or whose id they are.
    words = filter.search
    sentences = Sentence.objects.filter(dataset=dataset, text__icontains=words)
    if sentences[FEW_SENTENCES : FEW_SENTENCES + 1].exists():
        # So many pairs have them that the pairs, read in order, soon fill a page.
        in_a, in_b = Q(a__text__icontains=words), Q(b__text__icontains=words)
        return pairs.filter(in_a | in_b | Q(external_id=words))
    # From the sentences to their pairs by the pairs' indexes, one for each side: a condition with "or" would use none.
    found = sentences.values("pk")
    named, in_a, in_b = Q(dataset=dataset, external_id=words), Q(a__in=found), Q(b__in=found)
    sides = [Pair.objects.filter(condition).order_by().values("pk") for condition in (in_a, in_b, named)]
    return pairs.filter(pk__in=sides[0].union(*sides[1:]))


def within_bounds(pairs: QuerySet[Pair], filter: PairFilter) -> QuerySet[Pair]:
    """Those of the pairs whose score in the filter's set is within its bounds; all where it names none."""
    bounds = {"scores__value__gte": filter.low, "scores__value__lte": filter.high}
    bounds = {name: value for name, value in bounds.items() if value is not None}
    if filter.score_set is None or not bounds:
        return pairs
    return pairs.filter(scores__score_set=filter.score_set, **bounds)


def fields_of_order(name: str) -> tuple[str, ...]:
    """What an order compares, the pair's number last. name: of an order; without a score set, "score" is by number."""
    return ("pk",) if name in {"pk", "score"} else (name, "pk")


def score_in(pair: Pair, score_set: int) -> float | None:
    scores = PairScore.objects.filter(pair=pair, score_set=score_set)
    return scores.values_list("value", flat=True).first()


def beyond(pair: Pair, names: Sequence[str], value: Any, side: str) -> Q:
    """The pairs on one side ("lt" or "gt") of a pair in an order; those that are equal there go by number.

    names: what the order compares, the pair's number last. value: the pair's in the first of two.
    """
    if len(names) == 1:
        return Q(**{f"{names[0]}__{side}": pair.pk})
    field, number = names
    further = Q(**{f"{field}__{side}": value}) | Q(**{field: value, f"{number}__{side}": pair.pk})
    return (
        Q(**{f"{field}__{side}e": value}) & further
    )  # said twice, so that the index is entered at the value


def facts_of(datasets: Iterable[Dataset]) -> dict[int, DatasetFacts]:
    """The facts of each dataset by its number, in three queries for however many."""
    ids = [dataset.pk for dataset in datasets]
    pairs = Pair.objects.filter(dataset__in=ids).values("dataset").order_by()
    counted = pairs.annotate(
        pairs=Count("pk"),
        active=Count("pk", filter=Q(status=Pair.Status.ACTIVE)),
        generated=Count("pk", filter=Q(origin=Pair.Origin.GENERATED)),
        rejected=Count("pk", filter=Q(status=Pair.Status.REJECTED)),
    )
    facts: dict[int, dict[str, Any]] = {pk: {} for pk in ids}
    for row in counted:
        facts[row["dataset"]] = {name: number for name, number in row.items() if name != "dataset"}
    names: dict[str, str] = {ScoreSet.Kind.HUMAN: "judged", ScoreSet.Kind.REFERENCE: "referenced"}
    scores = PairScore.objects.filter(
        score_set__in=ScoreSet.objects.offered().filter(dataset__in=ids, kind__in=names)
    )
    by_kind = scores.values("score_set__dataset", "score_set__kind").order_by()
    for pk, kind, number in by_kind.annotate(number=Count("pair", distinct=True)).values_list(
        "score_set__dataset", "score_set__kind", "number"
    ):
        facts[pk][names[kind]] = number
    for score_set in ScoreSet.objects.offered().filter(dataset__in=ids).order_by("created_at", "pk"):
        told = facts[score_set.dataset_id]
        told["score_sets"] = told.get("score_sets", 0) + 1
        told["judged_by"] = judged_by_all([told.get("judged_by", ""), score_set.judged_by])
        # What scores that people made say of their split-half reliability, if they say anything.
        if score_set.kind == ScoreSet.Kind.HUMAN and (shr := score_set.parameters.get("reliability")):
            told |= {"shr": shr.get("spearman_mean"), "shr_n": shr.get("judgements")}
    return {pk: DatasetFacts(**told) for pk, told in facts.items()}


def dataset_facts(dataset: Dataset, *, now: bool = False) -> DatasetFacts:
    """The facts at the head of each page of the dataset; of a large one, as they were at most a minute ago, or now."""
    key = f"dataset-facts:{dataset.pk}"
    if not now and (kept := cache.get(key)):
        return DatasetFacts(**kept)
    facts = facts_of([dataset])[dataset.pk]
    if facts.pairs > FACTS_KEPT_FROM:
        cache.set(key, asdict(facts), FACTS_KEPT_SECONDS)
    return facts


def score_sets_in_order(dataset: Dataset, *, asked: int = 0) -> list[ScoreSet]:
    """The dataset's score sets, first those that are shown where nobody names one.

    asked: the number of one that is among them, as the last, also if it was withdrawn.
    """
    sets = dataset.score_sets.filter(Q(withdrawn_at=None) | Q(pk=asked))
    return sorted(
        sets, key=lambda each: (each.withdrawn_at is not None, SHOWN_FIRST.index(each.kind), -each.pk)
    )


def score_shown_first(dataset: Dataset) -> ScoreSet | None:
    return next(iter(score_sets_in_order(dataset)), None)


def score_sets_of(dataset: Dataset, *, withdrawn: bool = False) -> list[ScoreSetRow]:
    """A dataset's score sets by name, each with what its scores look like; with those that were withdrawn, if asked."""
    every = ScoreSet.objects.filter(dataset=dataset)
    value = F("scores__value")
    described: Any = (
        (every if withdrawn else every.offered())
        .annotate(
            count=Count("scores"),
            mean=Avg(value),
            mean_square=Avg(value * value),
            smallest=Min(value),
            largest=Max(value),
        )
        .order_by("name", "pk")
    )
    rows = []
    for each in described:
        # SQLite knows no standard deviation, and Django's own for it fails where there are no rows.
        sd = math.sqrt(max(0.0, each.mean_square - each.mean * each.mean)) if each.count else None
        rows.append(ScoreSetRow(each, each.count, each.mean, sd, each.smallest, each.largest))
    return rows


def score_histogram(score_set: ScoreSet, *, bins: int = 20, most: int = 5) -> Histogram:
    """How many scores fall into each bin, by the pairs' source; but for the largest as one."""
    width = (score_set.high - score_set.low) / bins
    # A score on an edge belongs to the bin above it, whatever rounding makes of the division.
    bin_number = Floor((F("value") - score_set.low) / width + 1e-9)
    counted = (
        PairScore.objects.filter(score_set=score_set)
        .values("pair__source", bin=bin_number)
        .order_by()
        .annotate(n=Count("pk"))
        .values_list("pair__source", "bin", "n")
    )
    binned = ((source, int(number), n) for source, number, n in counted)
    return histogram(score_set.low, score_set.high, bins, binned).with_largest(most, other=_("other"))


def pair_life(pair: Pair) -> PairLife:
    scores = PairScore.objects.filter(pair=pair).select_related("score_set")
    either_order = Q(a=pair.a_id, b=pair.b_id) | Q(a=pair.b_id, b=pair.a_id)
    twins = Pair.objects.filter(either_order, dataset=pair.dataset_id)
    of_sentences = SentenceScore.objects.filter(sentence__in=[pair.a_id, pair.b_id])
    by_set: dict[ScoreSet, dict[int, float]] = {}
    for score in of_sentences.select_related("score_set").order_by("score_set__created_at", "score_set_id"):
        by_set.setdefault(score.score_set, {})[score.sentence_id] = score.value
    return PairLife(
        scores=list(scores.order_by("score_set__created_at", "pk")),
        sentence_scores=[(each, by.get(pair.a_id), by.get(pair.b_id)) for each, by in by_set.items()],
        twins=list(twins.exclude(pk=pair.pk).select_related("a", "b").order_by("pk")),
    )


def with_values(pairs: QuerySet[Pair], score_set: int | None) -> QuerySet[Pair]:
    """The pairs with `value`: their score in the set, or None."""
    if score_set is None:
        return pairs.annotate(value=Value(None, output_field=FloatField()))
    chosen = FilteredRelation("scores", condition=Q(scores__score_set=score_set))
    return pairs.annotate(chosen=chosen, value=F("chosen__value"))
