"""Which places of a corpus are learned from, and which are held out."""

from typing import NamedTuple, Protocol

import numpy as np

from mlworkers.science.contexts.corpus import Corpus, Places


class SplitPlan(Protocol):
    """Settings of a model that learns from a corpus."""

    @property
    def seed(self) -> int: ...
    @property
    def held_out(self) -> float: ...
    @property
    def places(self) -> int: ...
    @property
    def evaluated(self) -> int: ...
    @property
    def left(self) -> int: ...
    @property
    def right(self) -> int: ...


class SplitPlaces(NamedTuple):
    """Places that are learned from and places that are held out; no sentence of one is in a context of the other."""

    train: Places
    held_out: Places


def places_split(corpus: Corpus, plan: SplitPlan) -> SplitPlaces:
    """Whole segments at random are held out, or the end of the largest one where that would be too much.

    At most `plan.places` are learned from, and `plan.evaluated` held out, drawn at random. Ascending.
    """
    rng = np.random.default_rng(plan.seed)
    starts, ends = np.asarray(corpus.segments[:-1]), np.asarray(corpus.segments[1:])
    # The first and the last sentence of a segment lack a neighbour on one side, so they are not counted.
    sizes = np.maximum(ends - starts - 2, 0)  # places of each segment
    total = int(sizes.sum())
    wanted = max(1, round(plan.held_out * total))  # held-out places
    held, found = np.zeros(len(sizes), dtype=bool), 0  # found: places held out so far
    for segment in rng.permutation(np.flatnonzero(sizes)).tolist():
        # Greedy filling in random order: at most twice the wanted share is held out, and at least one place
        # is left.
        if found < wanted and found + sizes[segment] <= min(2 * wanted, total - 1):
            held[segment] = True
            found += int(sizes[segment])
    if found:
        ranges = [np.arange(start + 1, end - 1) for start, end in zip(starts, ends, strict=True)]
        train_parts = [part for part, is_held in zip(ranges, held, strict=True) if not is_held]
        held_parts = [part for part, is_held in zip(ranges, held, strict=True) if is_held]
    else:
        largest = int(np.argmax(sizes))  # one long text: its end is held out
        # The contexts of learned places end at place + right, those of held-out ones begin at place - left. A
        # gap of left + right places between the two keeps every sentence on one side.
        first_held = int(ends[largest]) - 1 - wanted
        train_parts = [
            np.arange(
                start + 1, end - 1 if segment != largest else max(start, first_held - plan.left - plan.right)
            )
            for segment, (start, end) in enumerate(zip(starts.tolist(), ends.tolist(), strict=True))
        ]
        held_parts = [np.arange(first_held, first_held + wanted)]
    return SplitPlaces(
        _drawn(np.concatenate(train_parts), plan.places, rng),
        _drawn(np.concatenate(held_parts), plan.evaluated, rng),
    )


def _drawn(places: Places, most: int, rng: np.random.Generator) -> Places:
    if not most or len(places) <= most:
        return places
    return np.sort(rng.permutation(places)[:most])  # without replacement
