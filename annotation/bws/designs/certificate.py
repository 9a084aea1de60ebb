"""What a design guarantees, counted from its finished tuples."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from annotation.bws.designs.meetings import (
    clashing_meetings,
    comparison_components,
    duplicate_tuples,
    fewest_repeated_meetings,
    meeting_keys,
    repeated_keys,
)
from annotation.bws.judgements import IntArray


@dataclass(frozen=True)
class Certificate:
    """The figures of a design. Histograms give, for each number of times, how many there are.

    factor: tuples per item, as asked for. appearances: in how many tuples an item is. meetings: how often two items
    meet. places: how often an item has one of the k positions. repeated_pairs: pairs of items that meet more than once;
    repeated_meetings: their meetings beyond the first; fewest_repeated_meetings: a bound that no design of this size is
    below. shared_sentences: meetings of items that share a sentence. components: parts of the design that no tuple
    joins.
    """

    items: int
    tuples: int
    size: int
    factor: float
    seed: int
    algorithm: str
    min_appearances: int
    max_appearances: int
    appearances: dict[str, int]
    repeated_pairs: int
    repeated_meetings: int
    fewest_repeated_meetings: int
    meetings: dict[str, int]
    duplicate_tuples: int
    shared_sentences: int
    components: int
    min_place: int
    max_place: int
    places: dict[str, int]

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def certify(
    tuples: IntArray,
    item_count: int,
    *,
    factor: float,
    seed: int,
    algorithm: str,
    sentences: IntArray | None = None,
) -> Certificate:
    """Count what tuples (T, k) of item_count items, m, guarantee; sentences: (m, s) ids, or None."""
    size = tuples.shape[1]
    appearances = np.bincount(tuples.ravel(), minlength=item_count)  # (m,)
    # (m k,): cell item * k + position counts how often the item has the position.
    places = np.bincount((tuples * size + np.arange(size)).ravel(), minlength=item_count * size)
    keys = meeting_keys(tuples, item_count)  # (k (k - 1) / 2, T)
    times = repeated_keys(keys)[1]  # of each pair of items that meets more than once
    distinct = keys.size - int((times - 1).sum())
    pairs = item_count * (item_count - 1) // 2
    return Certificate(
        items=item_count,
        tuples=len(tuples),
        size=size,
        factor=factor,
        seed=seed,
        algorithm=algorithm,
        min_appearances=int(appearances.min()),
        max_appearances=int(appearances.max()),
        appearances=_histogram(appearances),
        repeated_pairs=len(times),
        repeated_meetings=keys.size - distinct,
        fewest_repeated_meetings=fewest_repeated_meetings(appearances, size),
        meetings={"0": pairs - distinct, "1": distinct - len(times)} | _histogram(times),
        # Two equal tuples repeat every one of their meetings.
        duplicate_tuples=duplicate_tuples(tuples) if len(times) else 0,
        shared_sentences=0 if sentences is None else int(clashing_meetings(tuples, sentences).sum()),
        components=comparison_components(tuples, item_count)[0],
        min_place=int(places.min()),
        max_place=int(places.max()),
        places=_histogram(places),
    )


def _histogram(times: IntArray) -> dict[str, int]:
    values, counts = np.unique(times, return_counts=True)
    return {str(value): int(count) for value, count in zip(values, counts, strict=True)}
