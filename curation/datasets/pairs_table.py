"""A page of a dataset's pairs, whatever their number: what is read is what is shown, and not much more.

Each order follows an index, so that a page begins where the index says and nothing is sorted. Pairs are counted up to a
bound, and pages end there. A page deep in the table passes over the index's entries before it.
"""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, cast

from django.core.paginator import Page, Paginator
from django.db import connection
from django.db.models import FilteredRelation, Q, QuerySet
from django.utils.functional import cached_property

from curation.datasets.selectors import (
    PairFilter,
    beyond,
    fields_of_order,
    pairs_of_any_score,
    score_in,
    with_values,
    within_bounds,
)
from curation.models import Dataset, Pair

# Above these, how many pairs a filter finds is "more than": of pairs alone, by their scores, and by words.
COUNTED_MOST = 100_000
SCORED_COUNTED_MOST = 10_000
WORDED_COUNTED_MOST = 1_000


@dataclass(frozen=True)
class PairChoices:
    """The sources, subsets and splits that occur in a dataset, at most `most` of each."""

    dataset: Dataset
    most: int = 200

    @cached_property
    def sources(self) -> list[str]:
        return _distinct(self.dataset, "source", self.most)

    @cached_property
    def splits(self) -> list[str]:
        return _distinct(self.dataset, "split", self.most)

    @cached_property
    def subsets(self) -> list[str]:
        # No index holds them: all pairs are read.
        named = Pair.objects.filter(dataset=self.dataset).exclude(subset="").order_by("subset")
        return list(named.values_list("subset", flat=True).distinct()[: self.most])


class PairsPaginator(Paginator):  # type: ignore[type-arg]  # the class takes no argument when it runs
    """Counts pairs up to a bound. are_more: whether there are others, which the pages do not show."""

    @cached_property
    def _most(self) -> int:
        return cast("PairsFound", self.object_list).counted_most

    @cached_property
    def _counted(self) -> int:
        return cast("PairsFound", self.object_list).count(self._most + 1)

    @cached_property
    def count(self) -> int:
        return min(self._counted, self._most)

    @property
    def are_more(self) -> bool:
        return self._counted > self._most


class PairsFound:
    """The pairs that a filter finds, in an order; a slice is a list of them, with their sentences and `value`.

    Those without a score stand last, whichever way the scores go. order: one of ORDERS.
    """

    def __init__(self, dataset: Dataset, filter: PairFilter, order: str = "pk") -> None:
        any_score = pairs_of_any_score(dataset, filter)
        self._filter, self._order = filter, order
        self._matching = within_bounds(any_score, filter)
        by_score = filter.low is not None or filter.high is not None
        self.counted_most = SCORED_COUNTED_MOST if by_score else COUNTED_MOST
        if filter.search:
            self.counted_most = WORDED_COUNTED_MOST
        self._parts = _parts(any_score, filter, order)
        self._rows = [part.where(Q()) for part in self._parts]

    def count(self, most: int | None = None) -> int:
        """How many the filter finds, or `most` where they are more."""
        return self._matching.order_by()[:most].count()

    def after(self, pair: Pair) -> "PairsFound":
        """Those behind a pair, which need not be among them. To reach them, none of those before it is read."""
        own, value = _place(self._parts, pair, self._filter, self._order)
        later = copy(self)
        later._rows = [part.where(Q()) for part in self._parts[own + 1 :]]
        if own < len(self._parts):
            later._rows.insert(0, self._parts[own].behind(pair, value))
        return later

    def __getitem__(self, places: slice) -> list[Pair]:
        """The pairs at places start to stop. An earlier part is counted only where a later one is read.

        They are found among numbers alone, and only what is given back is joined with its texts.
        """
        first = places.start or 0
        wanted = places.stop - first
        pks: list[int] = []
        for rows in self._rows:
            numbers = rows.values_list("pk", flat=True)
            pks += numbers[first : first + wanted - len(pks)]
            if len(pks) == wanted or rows is self._rows[-1]:
                break
            first = max(0, first - numbers.order_by().count()) if first and not pks else 0
        found = with_values(Pair.objects.filter(pk__in=pks), self._filter.score_set)
        by_pk = {pair.pk: pair for pair in found.select_related("a", "b")}
        return [by_pk[pk] for pk in pks]


def pairs_page(
    dataset: Dataset, filter: PairFilter, *, order: str = "pk", number: int = 1, size: int = 50
) -> Page[Any]:
    """A page of the pairs found, with their sentences and `value`; after the last page comes the last page again."""
    found: Any = PairsFound(dataset, filter, order)  # slices are all that a paginator asks of it
    return PairsPaginator(found, size).get_page(max(number, 1))


def pair_neighbours(pair: Pair, filter: PairFilter, order: str = "pk") -> tuple[Pair | None, Pair | None]:
    """The pairs before and after this one, among those that the filter finds and in their order."""
    parts = _parts(pairs_of_any_score(pair.dataset, filter), filter, order)
    own, value = _place(parts, pair, filter, order)
    if own == len(parts):
        return parts[-1].where(Q()).last(), None
    before, after = parts[own].ahead(pair, value).last(), parts[own].behind(pair, value).first()
    if before is None and own:
        before = parts[own - 1].where(Q()).last()
    if after is None and own < len(parts) - 1:
        after = parts[own + 1].where(Q()).first()
    return before, after


def _place(parts: Sequence["_Part"], pair: Pair, filter: PairFilter, order: str) -> tuple[int, Any]:
    """The part that a pair belongs to, after all of them where it has no score and only scored ones are found.

    Beside it is what the order compares: the pair's value.
    """
    if order.endswith("score") and filter.score_set is not None:
        value = score_in(pair, filter.score_set)
        return int(value is None), value
    return 0, getattr(pair, parts[0].names[0])


def _distinct(dataset: Dataset, field: str, most: int) -> list[str]:
    """What a column holds but for "", each found in the column's index behind the one before: few rows are read."""
    column = connection.ops.quote_name(field)
    smallest = f"SELECT MIN({column}) FROM curation_pair WHERE dataset_id = %s AND {column} > "  # noqa: S608 - a name
    sql = f"""
        WITH RECURSIVE found(name, number) AS (
            SELECT ({smallest} ''), 1
            UNION ALL
            SELECT ({smallest} found.name), found.number + 1 FROM found
            WHERE found.name IS NOT NULL AND found.number < %s
        )
        SELECT name FROM found WHERE name IS NOT NULL ORDER BY name
    """  # noqa: S608 - a name
    with connection.cursor() as cursor:
        cursor.execute(sql, [dataset.pk, dataset.pk, most])
        return [name for (name,) in cursor.fetchall()]


@dataclass(frozen=True)
class _Part:
    """Some of the pairs found, in order. condition: what a join with scores must meet, said at once for one join."""

    pairs: QuerySet[Pair]
    names: tuple[str, ...]
    down: bool
    condition: Q

    def where(self, condition: Q) -> QuerySet[Pair]:
        ordered = self.pairs.filter(self.condition & condition).order_by(*self.names)
        return ordered.reverse() if self.down else ordered

    def behind(self, pair: Pair, value: Any) -> QuerySet[Pair]:
        return self.where(beyond(pair, self.names, value, "lt" if self.down else "gt"))

    def ahead(self, pair: Pair, value: Any) -> QuerySet[Pair]:
        return self.where(beyond(pair, self.names, value, "gt" if self.down else "lt"))


def _parts(any_score: QuerySet[Pair], filter: PairFilter, order: str) -> list[_Part]:
    """The pairs found in order, as one part; by score as two, the scored ones and then the others.

    any_score: as `pairs_of_any_score` gives them.
    """
    down = order.startswith("-")
    name = order.removeprefix("-")
    if name != "score" or filter.score_set is None:
        return [_Part(within_bounds(any_score, filter), fields_of_order(name), down, Q())]
    # The bounds go to the join that the order needs.
    of_set = Q(scores__score_set=filter.score_set)
    joined = any_score.annotate(chosen=FilteredRelation("scores", condition=of_set))
    bounds = {"chosen__value__gte": filter.low, "chosen__value__lte": filter.high}
    bounds = {name: bound for name, bound in bounds.items() if bound is not None}
    # The score's own number of its pair, so that values and numbers stand in one index.
    scored = _Part(
        joined, ("chosen__value", "chosen__pair_id"), down, Q(chosen__value__isnull=False, **bounds)
    )
    if bounds:
        return [scored]
    return [scored, _Part(joined, ("pk",), down, Q(chosen__value__isnull=True))]
