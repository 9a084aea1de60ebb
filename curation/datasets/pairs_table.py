"""A page of a dataset's pairs, whatever their number: what is read is what is shown, and not much more.

Each order follows an index, so that a page begins where the index says and nothing is sorted. Pairs are counted up to a
bound, and pages end there. A page deep in the table passes over the index's entries before it.
"""

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
        return cast("_Ordered", self.object_list).counted_most

    @cached_property
    def _counted(self) -> int:
        return cast("_Ordered", self.object_list).matching.order_by()[: self._most + 1].count()

    @cached_property
    def count(self) -> int:
        return min(self._counted, self._most)

    @property
    def are_more(self) -> bool:
        return self._counted > self._most


class _Ordered:
    """Numbers of pairs in an order, by position; those without a score stand last, whichever way the scores go."""

    def __init__(self, dataset: Dataset, filter: PairFilter, order: str) -> None:
        any_score = pairs_of_any_score(dataset, filter)
        self.matching = within_bounds(any_score, filter)
        by_score = filter.low is not None or filter.high is not None
        self.counted_most = SCORED_COUNTED_MOST if by_score else COUNTED_MOST
        if filter.search:
            self.counted_most = WORDED_COUNTED_MOST
        self.parts = _parts(any_score, filter, order)

    def __getitem__(self, places: slice) -> list[int]:
        """The numbers at places start to stop. An earlier part is counted only where a later one is read."""
        first, wanted = places.start, places.stop - places.start
        found: list[int] = []
        for part in self.parts:
            numbers = part.where(Q()).values_list("pk", flat=True)
            found += numbers[first : first + wanted - len(found)]
            if len(found) == wanted or part is self.parts[-1]:
                break
            first = 0 if found else max(0, first - numbers.order_by().count())
        return found


def pairs_page(
    dataset: Dataset, filter: PairFilter, *, order: str = "pk", number: int = 1, size: int = 50
) -> Page[Any]:
    """A page of the pairs found, with their sentences and `value`; after the last page comes the last page again."""
    # A late page is found among numbers alone; only its own rows are joined with their texts.
    ordered: Any = _Ordered(dataset, filter, order)  # slices are all that a paginator asks of it
    page: Page[Any] = PairsPaginator(ordered, size).get_page(max(number, 1))
    pks = list(page.object_list)
    rows = with_values(Pair.objects.filter(pk__in=pks), filter.score_set).select_related("a", "b")
    by_pk = {pair.pk: pair for pair in rows}
    page.object_list = [by_pk[pk] for pk in pks]
    return page


def pair_neighbours(pair: Pair, filter: PairFilter, order: str = "pk") -> tuple[Pair | None, Pair | None]:
    """The pairs before and after this one, among those that the filter finds and in their order."""
    parts = _parts(pairs_of_any_score(pair.dataset, filter), filter, order)
    value: Any = getattr(pair, parts[0].names[0], None)
    own = 0
    if order.endswith("score") and filter.score_set is not None:
        value = score_in(pair, filter.score_set)
        own = int(value is None and len(parts) > 1)
        if value is None and not own:  # it is not among them
            return parts[0].where(Q()).last(), None
    part = parts[own]
    smaller, larger = (beyond(pair, part.names, value, side) for side in ("lt", "gt"))
    if part.down:
        smaller, larger = larger, smaller
    before, after = part.where(smaller).reverse().first(), part.where(larger).first()
    if before is None and own:
        before = parts[0].where(Q()).last()
    if after is None and own < len(parts) - 1:
        after = parts[1].where(Q()).first()
    return before, after


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
