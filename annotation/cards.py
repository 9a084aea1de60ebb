"""The pairs of a tuple as cards, in the order of a screen or of the design."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from django.core.paginator import Page
from django.db.models import QuerySet

from annotation.models import TupleItem
from curation.foundation.statements import built_once
from curation.models import Pair, Sentence

AT_ONCE = 10  # tuples: as many as a screen ever asks for, so that few statements are kept

CardsPage: TypeAlias = Page[Any]  # its rows have `cards`


class TupleWithOrder(Protocol):
    """A lease or a judgement: a tuple, and the order in which it was shown."""

    pk: Any
    tuple_id: int
    order_shown: Any


@dataclass(frozen=True)
class Card:
    """One pair of a tuple. `slot` is its position in the design, `position` its screen position, both from 0."""

    slot: int
    position: int
    pair: Pair

    @property
    def a(self) -> Sentence:
        return self.pair.a

    @property
    def b(self) -> Sentence:
        return self.pair.b


def cards_of(rows: Iterable[TupleWithOrder]) -> dict[int, list[Card]]:
    """Each row's cards in the order of the screen, by the row's primary key. One query."""
    rows = list(rows)
    pairs = _pairs_by_slot({row.tuple_id for row in rows})
    return {
        row.pk: [
            Card(slot, position, pairs[row.tuple_id][slot]) for position, slot in enumerate(row.order_shown)
        ]
        for row in rows
    }


def cards_by_tuple(tuple_ids: Iterable[int]) -> dict[int, list[Card]]:
    """Each tuple's cards in the order of the design. One query."""
    return {
        tuple_id: [Card(slot, slot, pair) for slot, pair in sorted(pairs.items())]
        for tuple_id, pairs in _pairs_by_slot(set(tuple_ids)).items()
    }


def _pairs_by_slot(tuple_ids: set[int]) -> dict[int, dict[int, Pair]]:
    pairs: dict[int, dict[int, Pair]] = defaultdict(dict)
    items = _items(*tuple_ids) if 0 < len(tuple_ids) <= AT_ONCE else _items.queryset(*tuple_ids)
    for item in items:
        pairs[item.tuple_id][item.slot] = item.pair
    return pairs


@built_once
def _items(*tuples: int) -> QuerySet[TupleItem]:
    items = TupleItem.objects.filter(tuple__pk__in=tuples).select_related("pair__a", "pair__b")
    return items.only("slot", "tuple", "pair__external_id", "pair__dataset", "pair__a__text", "pair__b__text")
