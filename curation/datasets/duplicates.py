"""Pairs of one or several datasets that say the same."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from curation.errors import errors_shown
from curation.models import Dataset, Pair
from curation.pairs.duplicate_groups import Likeness, duplicate_groups

_ROWS_AT_ONCE = 5_000


@dataclass(frozen=True)
class DuplicatePair:
    """number: the pair's own. dataset: its short name."""

    number: int
    dataset: str
    id: str
    source: str
    split: str
    first: str
    second: str


@dataclass(frozen=True)
class Duplicates:
    """pairs: two or more, by dataset in the order asked, then by number."""

    likeness: Likeness
    pairs: Sequence[DuplicatePair]


def duplicates_found(
    dataset: Dataset, *, against: Sequence[Dataset] = (), threshold: float = 0.8
) -> list[Duplicates]:
    """The groups of active pairs that say the same, each with at least one pair of the dataset.

    Memory and time grow with all pairs of these datasets: for commands and workers. Raises UserError where the
    threshold is not above 0 and at most 1.
    """
    pairs = [pair for one in (dataset, *against) for pair in _active(one)]
    place: dict[str, int] = {}
    a, b = (
        np.array([place.setdefault(text, len(place)) for text in side], dtype=np.int64)
        for side in ([pair.first for pair in pairs], [pair.second for pair in pairs])
    )
    with errors_shown():
        groups = duplicate_groups(list(place), a, b, threshold=threshold)
    found = [Duplicates(group.likeness, [pairs[one] for one in group.places]) for group in groups]
    return [group for group in found if group.pairs[0].dataset == dataset.slug]


def _active(dataset: Dataset) -> list[DuplicatePair]:
    rows = Pair.objects.filter(dataset=dataset, status=Pair.Status.ACTIVE).order_by("pk")
    fields = ("pk", "dataset__slug", "external_id", "source", "split", "a__text", "b__text")
    return [DuplicatePair(*row) for row in rows.values_list(*fields).iterator(chunk_size=_ROWS_AT_ONCE)]
