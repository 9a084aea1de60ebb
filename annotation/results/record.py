"""What people judged in a campaign, whole and as arrays: what is published, bundled and studied."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annotation.bws.judgements import FloatArray, IntArray, Judgements
from annotation.models import Campaign, Judgement, Tuple, TupleItem

Mask = NDArray[np.bool_]
_COLUMNS = (
    "tuple",
    "participation",
    "best_slot",
    "worst_slot",
    "order_shown",
    "standing",
    "tuple__wanted",
    "tuple__number",
    "tuple__phase",
    "active_ms",
    "guideline__version",
)


@dataclass(frozen=True, eq=False)
class Work:
    """All n judgements of a campaign in order of arrival, those of gold tuples and of repeats and those that do not
    count included.

    tuples, people: (n,) primary keys of tuples and participations. shown: (n, k) primary keys of the pairs in
    the order of the screen. best, worst: (n,) places on the screen, from 0. best_slot, worst_slot: (n,) of the
    design. standing: (n,) values of
    Judgement.Standing. wanted, numbers, phase: (n,) of the tuples. seconds: (n,) NaN where nobody measured.
    guidelines: (n,) versions, 0 for none.
    """

    tuples: IntArray
    people: IntArray
    shown: IntArray
    best: IntArray
    worst: IntArray
    best_slot: IntArray
    worst_slot: IntArray
    standing: NDArray[np.str_]
    wanted: IntArray
    numbers: IntArray
    phase: NDArray[np.str_]
    seconds: FloatArray
    guidelines: IntArray

    def __len__(self) -> int:
        return len(self.tuples)

    @property
    def gold(self) -> Mask:
        return self._stands(Judgement.Standing.GOLD)

    @property
    def again(self) -> Mask:
        """Answers to hidden repeats: they have the number of the tuple that they repeat, and count for nothing."""
        return self._stands(Judgement.Standing.REPEAT)

    @property
    def counted(self) -> Mask:
        return self._stands(Judgement.Standing.COUNTED)

    @property
    def designed(self) -> Mask:
        """Judgements of tuples that were designed before anybody answered: what counting and reliability read."""
        found: Mask = (self.phase != Tuple.Phase.ADAPTIVE.value) & ~self.gold & ~self.again
        return found

    def feeding(self, method: str) -> Mask:
        """The judgements that count for scores by a method of `annotation.bws.scores.scoring.METHODS`.

        Counting takes whom a pair met for chance, which the adaptive phase does not leave to it; the models do not.
        """
        return self.counted & self.designed if method == "counting" else self.counted

    def _stands(self, standing: Judgement.Standing) -> Mask:
        found: Mask = self.standing == standing.value
        return found

    def filed(self, chosen: Mask) -> "Filed":
        """The chosen judgements as a file of them is read: items numbered as they first appear in it.

        Scores that are fitted depend in their last digits on the order of the items, so that all scores which
        people see are computed from this order.
        """
        shown, people = self.shown[chosen], self.people[chosen]
        pairs, first, number = np.unique(shown.ravel(), return_index=True, return_inverse=True)
        place = np.empty(len(pairs), dtype=np.int64)
        place[np.argsort(first)] = np.arange(len(pairs))
        persons, annotators = np.unique(people, return_inverse=True)
        judgements = Judgements.from_slots(
            place[number].reshape(shown.shape),
            self.best[chosen],
            self.worst[chosen],
            item_count=len(pairs),
            annotators=annotators,
        )
        return Filed(judgements, pairs[np.argsort(place)], persons)


@dataclass(frozen=True, eq=False)
class Filed:
    """Judgements, and what their numbers stand for: pairs (m,) and participations (a,), as primary keys."""

    judgements: Judgements
    pairs: IntArray
    people: IntArray


def campaign_work(campaign: Campaign) -> Work:
    """Everything that was judged in the campaign. Two queries."""
    judgements = Judgement.objects.filter(participation__campaign=campaign).order_by("pk")
    columns: list[Any] = list(zip(*judgements.values_list(*_COLUMNS), strict=True)) or [[]] * len(_COLUMNS)
    tuples, people, best, worst, orders, standing, wanted, numbers, phase, milliseconds, versions = columns
    size = campaign.tuple_size
    members = TupleItem.objects.filter(tuple__campaign=campaign).order_by("tuple", "slot")
    rows = np.array(list(members.values_list("tuple", "pair")), dtype=np.int64).reshape(-1, 2)
    asked = np.array(tuples, dtype=np.int64)
    place = np.searchsorted(rows[::size, 0], asked)
    shown_slots = np.array(orders, dtype=np.int64).reshape(-1, size)  # (n, k)
    screen = np.argsort(shown_slots, axis=1)  # (n, k): where on the screen each slot stood
    best_slot, worst_slot = (np.array(slots, dtype=np.int64) for slots in (best, worst))
    each = np.arange(len(asked))
    return Work(
        tuples=asked,
        people=np.array(people, dtype=np.int64),
        shown=np.take_along_axis(rows[:, 1].reshape(-1, size)[place], shown_slots, axis=1),
        best=screen[each, best_slot],
        worst=screen[each, worst_slot],
        best_slot=best_slot,
        worst_slot=worst_slot,
        standing=np.array(standing, dtype=np.str_),
        wanted=np.array(wanted, dtype=np.int64),
        numbers=np.array(numbers, dtype=np.int64),
        phase=np.array(phase, dtype=np.str_),
        seconds=np.array([np.nan if ms is None else ms / 1000 for ms in milliseconds], dtype=np.float64),
        guidelines=np.array([version or 0 for version in versions], dtype=np.int64),
    )
