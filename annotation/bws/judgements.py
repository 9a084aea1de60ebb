"""Best-Worst judgements as arrays: what every score and every reliability is computed from."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]
Mask = NDArray[np.bool_]


class UnknownAnnotators(ValueError):  # noqa: N818  (says what is the matter, like StopIteration)
    """Nobody wrote down who judged."""


@dataclass(frozen=True, eq=False)
class Judgements:
    """n judgements: in each, one person named the best and the worst of at most k of m items.

    items: (n, k) item numbers from 0 in the order of their positions, which may repeat; -1 after the last one.
    best, worst: (n,) item numbers, each among its row's items, perhaps the same; -1 both for a tie.
    item_count: m.
    annotators: (n,) numbers from 0, or None if they are not known.

    Raises ValueError if the arrays do not fit together or a best or worst is not among its row's items.
    """

    items: IntArray
    best: IntArray
    worst: IntArray
    item_count: int
    annotators: IntArray | None = None

    def __post_init__(self) -> None:
        if self.items.ndim != 2 or self.best.shape != (len(self),) or self.worst.shape != (len(self),):
            raise ValueError(
                f"judgements need items (n, k) and best and worst (n,), "
                f"not {self.items.shape}, {self.best.shape} and {self.worst.shape}"
            )
        if self.annotators is not None and self.annotators.shape != (len(self),):
            raise ValueError(f"{len(self)} judgements need as many annotators, not {self.annotators.shape}")
        if not self.items.size:
            return
        lowest = self.items.min()
        if not -1 <= lowest <= self.items.max() < self.item_count:
            raise ValueError(f"item numbers must lie between 0 and {self.item_count - 1}")
        if lowest < 0:
            present = self.items >= 0
            # -1 may only follow the items: no -1 in the first position, and none before an item.
            wrong = np.flatnonzero(~present[:, 0] | (present[:, 1:] & ~present[:, :-1]).any(axis=1))
            if len(wrong):
                raise ValueError(f"judgement {wrong[0] + 1} needs its items before the positions without one")
        ties = self.ties
        for name, chosen in (("best", self.best), ("worst", self.worst)):
            # (n,): best and worst among the row's items.
            among = (self.items == chosen[:, None]).any(axis=1) & (chosen >= 0)
            missing = np.flatnonzero(~among & ~ties)
            if len(missing):
                raise ValueError(f"the {name} of judgement {missing[0] + 1} is not among its items")

    def __len__(self) -> int:
        return len(self.items)

    @property
    def size(self) -> int:
        """How many items the largest tuple may hold."""
        return int(self.items.shape[1])

    @property
    def sizes(self) -> IntArray:
        """How many items each tuple (n,) holds."""
        sizes: IntArray = (self.items >= 0).sum(axis=1)
        return sizes

    @property
    def ties(self) -> Mask:
        """Which judgements (n,) found their items too close to call."""
        ties: Mask = (self.best < 0) & (self.worst < 0)
        return ties

    @property
    def people(self) -> IntArray:
        """The annotators (n,). Raises UnknownAnnotators if they are not known."""
        if self.annotators is None:
            raise UnknownAnnotators("The judgements do not say who made them; name the column of annotators.")
        return self.annotators

    @classmethod
    def from_slots(
        cls,
        items: IntArray,
        best_slot: IntArray,
        worst_slot: IntArray,
        *,
        item_count: int,
        annotators: IntArray | None = None,
    ) -> Self:
        """From positions instead of items: best_slot, worst_slot (n,) count from 0 within each row; -1 for a tie."""
        items = np.asarray(items, dtype=np.int64)
        chosen = []
        for name, slots in (("best", np.asarray(best_slot)), ("worst", np.asarray(worst_slot))):
            if len(slots) and not -1 <= slots.min() <= slots.max() < items.shape[1]:
                raise ValueError(f"{name} positions must lie between 0 and {items.shape[1] - 1}")
            # Slot to item; -1 stays a tie.
            named = np.where(slots >= 0, items[np.arange(len(items)), slots], -1)
            absent = np.flatnonzero((named < 0) & (slots >= 0))
            if len(absent):
                raise ValueError(f"the {name} of judgement {absent[0] + 1} is not among its items")
            chosen.append(named)
        best, worst = chosen
        return cls(items, best, worst, item_count, annotators)

    def only(self, kept: Mask | IntArray) -> "Judgements":
        """The judgements that `kept` picks, a mask (n,) or row numbers; items keep their numbers."""
        annotators = None if self.annotators is None else self.annotators[kept]
        return Judgements(self.items[kept], self.best[kept], self.worst[kept], self.item_count, annotators)


def tuple_numbers(items: IntArray) -> IntArray:
    """Number the tuples: rows (n, k) of the same *set* of items share a number (n,), counted from 0.

    The same items in another order are one tuple, and an item that is in a row twice counts once, as in the script of
    Kiritchenko and Mohammad. A position without an item, -1, changes nothing.
    """
    # Rows in rising order are compared as sets; items are at least 0, so -1 comes first.
    rows = np.sort(items, axis=1)
    repeated = rows[:, 1:] == rows[:, :-1]
    if repeated.any():
        # A repeated item becomes -1 and sinks to the front, so that (a, a, b) and (a, b, b) come out alike.
        rows[:, 1:][repeated] = -1
        rows.sort(axis=1)
    # Rows in lexicographic order: a row that differs from the one before it begins a new tuple.
    order = np.lexsort(rows.T[::-1])
    ordered = rows[order]
    numbers = np.zeros(len(rows), dtype=np.int64)
    numbers[order[1:]] = np.cumsum((ordered[1:] != ordered[:-1]).any(axis=1))  # the first row has number 0
    return numbers


def second_judgements(tuples: IntArray, people: IntArray) -> Mask:
    """Which judgements (n,) are of a tuple that the same person judged in an earlier row.

    tuples: (n,) numbers of tuples. people: (n,) numbers of annotators, -1 for one who is not known.
    """
    first = np.zeros(len(tuples), dtype=np.bool_)
    # Row of the first judgement of each (tuple, person).
    first[np.unique(np.column_stack([tuples, people]), axis=0, return_index=True)[1]] = True
    return ~first & (people >= 0)


def summed(numbers: IntArray, amounts: FloatArray | IntArray, count: int) -> FloatArray:
    """Sum the amounts of each number from 0 to count - 1; numbers and amounts are arrays of one shape."""
    return np.bincount(numbers.ravel(), weights=amounts.ravel(), minlength=count).astype(np.float64)


def tallied(numbers: IntArray, count: int) -> IntArray:
    """How often each number from 0 to count - 1 occurs in an array of any shape; -1 stands for none."""
    # Shifted by one, -1 is counted in cell 0, which is cut off.
    return np.bincount(numbers.ravel() + 1, minlength=count + 1)[1:]


def grouped_order(groups: IntArray) -> IntArray:
    """The order (n,) that puts equal numbers (n,), all at least 0, side by side and otherwise keeps the order.

    The same as a stable argsort. Number and position are sorted as one number, which numpy does several times faster
    than it sorts positions by number: designs of a million items sort eight million slots several times.
    """
    count = max(1, len(groups))
    # group n + position is unique and sorts as wanted; modulo n gives the position back (int64 is enough below 3e9).
    return np.sort(groups * count + np.arange(len(groups))) % count


def ranks_within(sizes: IntArray) -> IntArray:
    """0, 1, ... within each group in turn, for groups of these sizes (g,) that follow each other: (sum of sizes,)."""
    # Position minus the start of its group.
    return np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
