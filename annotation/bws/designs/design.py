"""Designs: which items are judged together.

Items are dealt from shuffled blocks into tuples, as Kiritchenko and Mohammad do: every item appears equally often, or
once more or less, and every stretch of m slots (a block) holds every item once, so a campaign that stops early is
still balanced. Swaps then remove what dealing left to chance: repeated meetings, and items that must not meet.
"""

import math
import re
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from annotation.bws.designs.balancing import balanced_positions
from annotation.bws.designs.certificate import Certificate, certify, clashing_meetings, duplicate_tuples
from annotation.bws.designs.swapping import Report, SwapPools, SwapSearch, connect, unreported
from annotation.bws.judgements import IntArray

ALGORITHM = "decks and swaps, 2"  # in certificates; another algorithm needs another name
MOST_SLOTS = 100_000_000  # about ten gigabytes of work
MOST_FACTOR = 1e12


class DesignError(ValueError):
    """A design that cannot be made; `items` are the item numbers, from 0, that prevent it."""

    def __init__(self, message: str, items: tuple[int, ...] = ()) -> None:
        super().__init__(message)
        self.items = items

    @property
    def for_page(self) -> str:
        """The sentence for a page, on which the items are pairs."""
        return re.sub(r"\bitem(s?)\b", r"pair\1", str(self))


@dataclass(frozen=True, eq=False)
class Design:
    """tuples: (T, k) item numbers from 0, most urgent first; and what they guarantee."""

    tuples: IntArray
    certificate: Certificate


def tuple_count(item_count: int, factor: float) -> int:
    """How many tuples there are with `factor` tuples per item, halves rounded up."""
    if not 0 < factor <= MOST_FACTOR:
        raise DesignError(
            f"Tuples per item must be a number above 0 and at most {MOST_FACTOR:g}, not {factor:g}."
        )
    # Not round(x), which rounds halves to even numbers.
    return math.floor(0.5 + factor * item_count)


def design_tuples(
    item_count: int,
    *,
    size: int = 4,
    factor: float = 2.0,
    seed: int = 1234,
    sentences: IntArray | None = None,
    strata: IntArray | None = None,
    report: Report = unreported,
) -> Design:
    """Design tuples of `size` for item_count items, m: factor * m of them.

    Every item appears equally often, and at each position equally often (one more or less). No item is in a tuple
    twice, no tuple is there twice, as few pairs of items as possible meet twice, and comparisons join all items that
    they can.

    sentences: (m, s) ids; items that share one never meet (so no mirrored pair either).
    strata: (m,) numbers, for example of imported and generated items: each tuple gets an even mix of them.
    report: called after every round of the search; an exception that it raises ends the search.

    The same arguments give the same design. Raises DesignError if no such design was found.
    """
    count = tuple_count(item_count, factor)

    if size < 2:
        raise DesignError(f"A tuple needs at least 2 items, not {size}.")
    if item_count < size:
        raise DesignError(f"Tuples of {size} need at least {size} items, and there are {item_count}.")
    if count < 1:
        raise DesignError(
            f"With {factor:g} tuples per item, {item_count} items make no tuple; ask for more tuples per item."
        )
    if count * size > MOST_SLOTS:
        raise DesignError(
            f"{factor:g} tuples per item are {count:.3g} tuples of {size}, and at most {MOST_SLOTS // size:,} can be "
            f"designed at once; ask for fewer tuples per item."
        )
    # C(m, k) sets of k items are possible, and no set may be there twice.
    if count > math.comb(item_count, size):
        raise DesignError(
            f"{item_count} items make only {math.comb(item_count, size):,} different tuples of {size}, and "
            f"{factor:g} tuples per item are {count:,}; ask for fewer tuples per item or add items."
        )

    if sentences is not None:
        _check_sentences(sentences, size, count)
    stratum = np.unique(np.zeros(item_count) if strata is None else strata, return_inverse=True)[1]
    tuples = _arranged(stratum, size, count, sentences, np.random.default_rng(seed), report=report)
    # Swaps decide which items meet; positions are balanced last, since swaps would unbalance them.
    tuples = balanced_positions(tuples, item_count)
    facts = certify(tuples, item_count, factor=factor, seed=seed, algorithm=ALGORITHM, sentences=sentences)
    return Design(tuples, facts)


def _check_sentences(sentences: IntArray, size: int, count: int) -> None:
    """Items that share a sentence must be in different tuples: there must be enough tuples for that."""
    ids, holders, sharing = _sentence_holders(sentences)
    appearances = count * size // len(sentences)  # r, at least: no item appears less often
    # Items of one sentence fill r tuples each, all different: h r <= T.
    if holders.max() * appearances > count:
        crowd = tuple(int(item) for item in sharing[sharing[:, 0] == ids[holders.argmax()], 1])
        # At most floor(T / r) of them fit.
        raise DesignError(
            f"{len(crowd)} of {len(sentences)} items share one sentence, item {crowd[0] + 1} among them, "
            f"and tuples of {size} can keep at most {count // appearances} of them apart; leave some out.",
            crowd,
        )


def _sentence_holders(sentences: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """The ids of the sentences, the number of items that hold each, and the rows (id, item), each once."""
    items = np.repeat(np.arange(len(sentences)), sentences.shape[1])
    sharing = np.unique(np.column_stack([sentences.ravel(), items]), axis=0)
    return *np.unique(sharing[:, 0], return_counts=True), sharing


def _arranged(
    strata: IntArray,
    size: int,
    count: int,
    sentences: IntArray | None,
    rng: np.random.Generator,
    *,
    report: Report,
) -> IntArray:
    """Deal the items into tuples (T, k) and swap until the rules hold; DesignError if they do not.

    A design can also be described by what it leaves out. If few other tuples are possible, swaps hardly find one that
    is not there already, and what is left out has room. Items that are balanced in the one are balanced in the other.
    """
    items = len(strata)
    shared = sentences is not None and bool((_sentence_holders(sentences)[1] > 1).any())
    # If k > m / 2, the m - k items that a tuple leaves out are fewer, and m - k <= 1 leaves nothing to search.
    if 2 * size > items and not shared:
        # More than half of the items are in each tuple: design those that each leaves out, perhaps one or none.
        few = items - size
        if few > 1:
            left_out = _arranged(strata, few, count, None, rng, report=report)
        else:
            left_out = _dealt(strata, few * count, rng)[0].reshape(count, few)
        # Row t of `inside` (T, m) is true but for what tuple t leaves out; its k true cells are the tuple.
        inside = np.ones((count, items), dtype=np.bool_)
        np.put_along_axis(inside, left_out, values=False, axis=1)
        return np.nonzero(inside)[1].reshape(count, size)
    slots, blocks = _dealt(strata, size * count, rng)
    marks = np.arange(items)[:, None] if sentences is None else sentences
    # Without sentences every item has its own mark, which keeps it out of tuples that hold it already.
    search = SwapSearch(slots.reshape(count, size), marks, rng, report)
    # Swaps within a block keep every stretch of m slots balanced. If they are not enough, swap within strata.
    within_blocks = SwapPools(blocks)
    if not search.improve(within_blocks):
        within_strata = SwapPools(strata[search.slots])
        search.improve(within_strata)
        search.repair(within_strata)
    connect(search, within_blocks)
    possible = math.comb(items, size)
    if 2 * count > possible and search.broken_rules() and not strata.any() and not shared:
        # More than half of all possible tuples are asked for: design the tuples that are left out.
        left_out = np.empty((0, size), dtype=np.int64)
        if possible > count:
            left_out = _arranged(strata, size, possible - count, None, rng, report=report)
        asked = set(map(tuple, np.sort(left_out, axis=1).tolist()))
        others = [row for row in combinations(range(items), size) if row not in asked]
        return rng.permutation(np.array(others, dtype=np.int64))
    _check_rules(search)
    return search.tuples


def _dealt(strata: IntArray, slots: int, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    """Deal `slots` items from shuffled blocks of each stratum, the strata mixed evenly.

    Returns the items (slots,) and the number of the block that each came from (slots,).
    """
    sizes = np.bincount(strata)
    # Shares of the slots so that no item can get two more than another.
    # Each item gets `each` or `each` + 1 slots; a stratum of n_s items gets its share more n_s / m of the rest.
    each, more = divmod(slots, len(strata))
    exact = more * sizes / len(strata)
    shares = each * sizes + exact.astype(np.int64)
    # Largest remainders first: the strata whose exact share lost most by rounding down.
    most_short = np.argsort(np.floor(exact) - exact, kind="stable")
    shares[most_short[: slots - shares.sum()]] += 1
    items, blocks, positions = [], [], []
    for stratum, share in enumerate(shares.tolist()):
        members = np.flatnonzero(strata == stratum)
        # ceil(share / n_s) shuffles of the stratum's n_s items.
        shuffled = [rng.permutation(members) for _ in range(-(-share // len(members)))]
        items.append(np.concatenate([*shuffled, members[:0]])[:share])
        # Shuffle j of stratum i has the number j * strata + i.
        blocks.append(np.arange(share) // sizes[stratum] * len(sizes) + stratum)
        # The i-th of a stratum's n slots belongs at (i + 1/2) / n of the way.
        positions.append((np.arange(share) + 0.5) / max(1, share))
    # Sorted by position, strata alternate in proportion to their shares.
    order = np.argsort(np.concatenate(positions), kind="stable")
    return np.concatenate(items)[order], np.concatenate(blocks)[order]


def _check_rules(search: SwapSearch) -> None:
    clashes = np.argwhere(clashing_meetings(search.tuples, search.marks))  # columns of (k (k - 1) / 2, T)
    if len(clashes):
        meeting, number = clashes[0]
        columns = list(combinations(range(search.size), 2))[meeting]
        items = tuple(sorted(search.tuples[number, columns].tolist()))
        if items[0] == items[1]:
            raise DesignError(
                f"No design was found in which no item is in a tuple twice: item {items[0] + 1} would be. "
                f"Ask for fewer tuples per item.",
                items[:1],
            )
        raise DesignError(
            f"No design was found in which items that share a sentence never meet: items {items[0] + 1} and "
            f"{items[1] + 1} would. Ask for fewer tuples per item or leave one of them out.",
            items,
        )
    if duplicate_tuples(search.tuples):
        raise DesignError(
            f"No {search.count} tuples of {search.size} out of {len(search.marks)} items were found that all differ "
            f"and keep the rules; ask for fewer tuples per item or add items."
        )
