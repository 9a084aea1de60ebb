"""Local search: swap items between tuples until no two items meet more often than they must.

A swap does not change how often each item appears, which is exact from the start. Its gain is how much less often the
two items meet the others of their new tuples elsewhere, which needs only the tuples in which the two items are. So the
search needs no table of pairs, and works in the same way for ten items and for a million.
Swaps also join the parts of a design, so that every item can be compared with every other.
"""

import math
from collections.abc import Callable

import numpy as np

from annotation.bws.designs.certificate import (
    clashing_meetings,
    comparison_components,
    duplicate_tuples,
    least_excess,
    meeting_excess,
    meeting_keys,
    repeated,
)
from annotation.bws.judgements import IntArray, grouped_order, ranks_within

# The price of two items that must not meet, or of a tuple that is there twice. A repeated meeting costs 1.
BROKEN = 50
# How readily a swap is made that repeats one meeting more. Of .1, .15, .2 and .3, .15 did best with 25 to 40 items,
# where designs without a repeat are hardest to find.
TEMPERATURE = 0.15
ROUNDS_BETWEEN_LOOKS = 25
LOOKS_WITHOUT_GAIN = 20
MOST_ROUNDS = 4000
# What one search may cost, counted in comparisons of two item numbers: a few seconds.
EFFORT = 1_000_000_000
START = 3000  # what starting a comparison of many numbers costs, in the same unit
CONNECTING_ROUNDS = 300
REPAIRING_ROUNDS = 100

# Called after every round with the rounds done and their number. An exception that it raises ends the search.
Report = Callable[[int, int], object]


def unreported(done: int, total: int) -> None:
    """Report to nobody."""


class SwapPools:
    """Which slots may swap their items: those of one pool.

    pool: (slots,) the number of each slot's pool, from 0.
    """

    def __init__(self, pool: IntArray) -> None:
        self.pool, self.sizes = pool, np.bincount(pool)
        # A pool's slots lie side by side in `order`, so one random rank within the pool draws a slot in constant time.
        self.order = grouped_order(pool)  # the slots of pool 0, then those of pool 1, ...
        self.starts = np.cumsum(self.sizes) - self.sizes

    def draw(self, slots: IntArray, rng: np.random.Generator) -> IntArray:
        """Draw for each of the slots (P,) another one of its pool, or itself."""
        pool = self.pool[slots]
        # floor(U n), with U uniform on 0..1, is uniform on 0 .. n - 1.
        ranks = (rng.random(len(slots)) * self.sizes[pool]).astype(np.int64)
        partners: IntArray = self.order[self.starts[pool] + ranks]
        return partners


class SwapSearch:
    """The tuples of a design on their way to a better one.

    tuples: (T, k) item numbers; the search works on a copy. marks: (m, s); items that share a mark must not be in one
    tuple. Every item needs its own mark or a shared one, so that it cannot meet itself.

    Shapes: T tuples of k positions make T * k slots; slot s is position s % k of tuple s // k. m items appear at most r
    times each. P swaps are proposed at once.
    """

    def __init__(
        self, tuples: IntArray, marks: IntArray, rng: np.random.Generator, report: Report = unreported
    ) -> None:
        self.tuples, self.marks, self.rng, self.report = tuples.copy(), marks, rng, report
        self.count, self.size = tuples.shape
        self.slots = self.tuples.reshape(-1)  # (T k,) a view: the item at each slot
        self.homes = _slots_of_items(self.slots, len(marks))  # (m, r): the slots of each item, -1 for none
        # (k, k - 1): the other positions of a tuple, for each position.
        self.beside = np.array([[o for o in range(self.size) if o != own] for own in range(self.size)])
        # So many swaps at once that the arrays of one round fit into a processor's cache.
        self.proposals = max(64, min(1024, self.slots.size // 20, 20_000 // self.homes.shape[1]))
        # T k (k - 1) / 2 meetings, spread over m (m - 1) / 2 pairs.
        pairs = len(marks) * (len(marks) - 1) // 2
        self.goal = least_excess(self.count * self.size * (self.size - 1) // 2, pairs)

    def improve(self, pools: SwapPools) -> bool:
        """Swap within pools until the design is as even as possible; return whether it is.

        If it is not, the search ends with the best design that it saw.
        """
        # The slots of all meetings that are repeated or break a rule.
        wrong = repeated(meeting_keys(self.tuples, len(self.marks)))  # (k (k - 1) / 2, T)
        wrong |= clashing_meetings(self.tuples, self.marks)
        suspects = self._slots_of(np.flatnonzero(wrong.any(axis=0)))
        # A round asks for five prices, or eight if there are many suspects.
        # Numbers compared in a round: 8 prices, each of k others against k members of r tuples, for P swaps.
        compared = 8 * self.size**2 * (self.proposals * self.homes.shape[1] + START)
        rounds = int(min(MOST_ROUNDS, max(2 * ROUNDS_BETWEEN_LOOKS, EFFORT // compared)))
        least, best_slots, looks_since = math.inf, self.slots, 0
        for number in range(1, rounds + 1):
            if len(suspects) == 0:
                return True
            # Propose swaps for some of the suspects and make the good ones.
            many = len(suspects) > 4 * self.proposals
            seen = np.unique(self.rng.choice(suspects, 4 * self.proposals)) if many else suspects
            # Earlier swaps may have put a suspect right.
            still_wrong = self._price(self.slots[seen], seen, seen // self.size) > 0
            suspects = np.setdiff1d(suspects, seen[~still_wrong], assume_unique=True)
            if still_wrong.any():
                ours = self.rng.choice(seen[still_wrong], self.proposals)
                theirs = pools.draw(ours, self.rng)
                # Swaps that help are made, and now and then one that does not (Metropolis).
                # P(made) = exp(-loss / TEMPERATURE): one repeated meeting more is made with e^(-1 / .15) = .0013.
                losses = np.maximum(0, -self.gain(ours, theirs))
                made = self.rng.random(len(ours)) < np.exp(-losses / TEMPERATURE)
                ours, theirs = self.independent(ours[made], theirs[made])
                self.swap(ours, theirs)
                touched = self._slots_of(np.concatenate([ours, theirs]) // self.size)
                suspects = np.union1d(suspects, touched)
            self.report(number, rounds)
            if number % ROUNDS_BETWEEN_LOOKS and number < rounds:
                continue
            energy, looks_since = self.energy(), looks_since + 1
            if energy < least:
                least, best_slots, looks_since = energy, self.slots.copy(), 0
            if least <= self.goal or looks_since > LOOKS_WITHOUT_GAIN:
                break
        self.slots[:] = best_slots
        self.homes = _slots_of_items(self.slots, len(self.marks))
        return least <= self.goal

    def repair(self, pools: SwapPools) -> None:
        """Swap items of tuples that hold two items that must not meet, until none does or it has failed often enough.

        `improve` looks at every meeting that is repeated. If most are, it seldom comes to the few that must not be.
        """
        for _ in range(REPAIRING_ROUNDS):
            clashing = clashing_meetings(self.tuples, self.marks).any(axis=0)  # (T,)
            if not clashing.any():
                return
            ours = self.rng.choice(self._slots_of(np.flatnonzero(clashing)), self.proposals)
            theirs = pools.draw(ours, self.rng)
            helps = self.gain(ours, theirs) > 0
            self.swap(*self.independent(ours[helps], theirs[helps]))

    def energy(self) -> int:
        """How unevenly items meet, and the price of broken rules: least for the best design."""
        return meeting_excess(self.tuples, len(self.marks)) + BROKEN * self.broken_rules()

    def broken_rules(self) -> int:
        """How many meetings must not be, and how many tuples equal an earlier one."""
        return int(clashing_meetings(self.tuples, self.marks).sum()) + duplicate_tuples(self.tuples)

    def gain(self, ours: IntArray, theirs: IntArray) -> IntArray:
        """What swapping the items of slots `ours` and `theirs` (P,) would save, each swap by itself: (P,)."""
        our_tuple, their_tuple = ours // self.size, theirs // self.size
        our_item, their_item = self.slots[ours], self.slots[theirs]
        # An item's price is the decrease in sum of c (c - 1) / 2 over its meetings if it left: sum of c - 1 (`_price`).
        # The two items at their own slots, then each at the slot of the other. All four are priced at once, because for
        # small designs the calls cost more than what they compute.
        our_before, their_before, their_after, our_after = self._price(
            np.concatenate([our_item, their_item, their_item, our_item]),
            np.concatenate([ours, theirs, ours, theirs]),
            np.concatenate([their_tuple, our_tuple, their_tuple, our_tuple]),
        ).reshape(4, -1)
        # Prices before less prices after; each leaves out the tuple that the other item leaves.
        return our_before + their_before - their_after - our_after

    def swap(self, ours: IntArray, theirs: IntArray) -> None:
        """Swap the items of slots `ours` and `theirs` (P,); no item may be moved twice."""
        our_items, their_items = self.slots[ours], self.slots[theirs]
        self.slots[ours], self.slots[theirs] = their_items, our_items
        for items, left, taken in ((our_items, ours, theirs), (their_items, theirs, ours)):
            homes = self.homes[items]
            self.homes[items] = np.where(homes == left[:, None], taken[:, None], homes)

    def independent(self, ours: IntArray, theirs: IntArray) -> tuple[IntArray, IntArray]:
        """Choose from swaps (P,) those that touch no tuple and no item in common, so that their gains add up."""
        items = np.hstack([self.tuples[ours // self.size], self.tuples[theirs // self.size]])  # (P, 2 k)
        numbers = np.arange(len(ours))[:, None]
        # Every item goes to the first swap that touches its tuple; a swap is chosen if it has all of its items.
        first_claim = np.full(len(self.marks), len(ours))  # (m,)
        np.minimum.at(first_claim, items, numbers)
        chosen = (first_claim[items] == numbers).all(axis=1)
        chosen &= (self.slots[ours] != self.slots[theirs]) & (ours // self.size != theirs // self.size)
        return ours[chosen], theirs[chosen]

    def _price(self, items: IntArray, slots: IntArray, without: IntArray) -> IntArray:
        """The price of `items` (P,) at `slots` (P,): their meetings with the others of those tuples.

        Meetings in the slots' own tuples and in the tuples `without` (P,) are left out.
        """
        own = slots // self.size  # (P,) tuples
        others = self.slots[(own * self.size)[:, None] + self.beside[slots % self.size]]  # (P, k - 1)
        homes = self.homes[items]  # (P, r)
        tuples = homes // self.size  # (P, r): all tuples of each item
        # met (P, r): how many of the others are in each of these tuples. Positions come first in `members`
        # (k, P, r), because few long rows are compared many times faster than many short ones.
        met = np.zeros(tuples.shape, dtype=np.int16)
        members = self.tuples.T[:, tuples]
        for other in others.T:
            met += (members == other[:, None]).any(axis=0)
        met *= (homes >= 0) & (tuples != own[:, None]) & (tuples != without[:, None])
        # (P, 1, s, 1) against (P, k - 1, 1, s): which of the others share a mark with the item.
        clashes = (self.marks[items][:, None, :, None] == self.marks[others][:, :, None, :]).any(axis=(2, 3))
        # A tuple that holds the item and all of the others would be there twice.
        broken = (met == self.size - 1).sum(axis=1) + clashes.sum(axis=1)
        prices: IntArray = met.sum(axis=1, dtype=np.int64) + BROKEN * broken
        return prices  # (P,)

    def _slots_of(self, tuples: IntArray) -> IntArray:
        slots: IntArray = (tuples[:, None] * self.size + np.arange(self.size)).ravel()
        return slots


def _slots_of_items(slots: IntArray, item_count: int) -> IntArray:
    """The slots of each item (m, r), filled up with -1 if an item has fewer than the most, r."""
    order = grouped_order(slots)
    appearances = np.bincount(slots, minlength=item_count)
    homes = np.full((item_count, appearances.max()), -1)
    homes[slots[order], ranks_within(appearances)] = order
    return homes


def connect(search: SwapSearch, pools: SwapPools) -> None:
    """Swap items between the parts of a design until it is one, or until that has failed often enough.

    If a part holds a cycle, an item can leave one of its tuples and stay in the part: swapped with an item of another
    part it joins the two. A design whose tuples are too few to join all items is left as it is.
    """
    items = len(search.marks)
    if search.count * (search.size - 1) < items - 1:
        return
    parts, part_of_item = comparison_components(search.tuples, items)
    for _ in range(CONNECTING_ROUNDS):
        if parts == 1:
            return
        # Draw a swap between every other part and the part with most slots to spare.
        part_of_slot = part_of_item[search.slots]
        # A part is a graph of items and tuples with an edge for each slot: the edges beyond those of a tree are spare.
        # A tree on n nodes has n - 1 edges, so spare = slots - items - tuples + 1; the 1 is the same for all parts.
        spare = np.bincount(part_of_slot, minlength=parts) - np.bincount(part_of_item, minlength=parts)
        spare = spare - np.bincount(part_of_item[search.tuples[:, 0]], minlength=parts)
        shuffled = search.rng.permutation(search.slots.size)
        firsts = np.unique(part_of_slot[shuffled], return_index=True)[1]  # a random slot of each part
        ours = np.delete(shuffled[firsts], spare.argmax())
        theirs = pools.draw(ours, search.rng)
        useful = (part_of_slot[theirs] == spare.argmax()) & (search.gain(ours, theirs) >= 0)
        ours, theirs = search.independent(ours[useful], theirs[useful])
        search.swap(ours, theirs)
        joined, part_of_joined = comparison_components(search.tuples, items)
        if joined < parts:
            parts, part_of_item = joined, part_of_joined
        else:
            search.swap(ours, theirs)  # back again
