"""Designs: which items are judged together.

Items are dealt from shuffled decks into tuples, as Kiritchenko and Mohammad do: every item appears equally
often, give or take one, and every stretch of m slots holds every item once, so a campaign that stops
early is still balanced. Swaps then remove what dealing left to chance: repeated meetings, and items that
may not meet.
"""

import math
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from annotation.bws.designs.balancing import balanced_places
from annotation.bws.designs.certificate import Certificate, certify
from annotation.bws.designs.meetings import clashing_meetings, duplicate_tuples
from annotation.bws.designs.swapping import Circles, Report, SwapSearch, connect, unreported
from annotation.bws.judgements import IntArray

ALGORITHM = "decks and swaps, 2"
# About ten gigabytes of work.
MOST_SLOTS = 100_000_000
MOST_FACTOR = 1e12


class DesignError(ValueError):
    """A design that cannot be made; `items` are the item numbers, from 0, that stand in its way."""

    def __init__(self, message: str, items: tuple[int, ...] = ()) -> None:
        super().__init__(message)
        self.items = items


@dataclass(frozen=True, eq=False)
class Design:
    """tuples: (T, k) item numbers from 0, most urgent first; and what they guarantee."""

    tuples: IntArray
    certificate: Certificate


def tuple_count(item_count: int, factor: float) -> int:
    """How many tuples a factor means: factor times the items, halves rounded up."""
    if not 0 < factor <= MOST_FACTOR:
        raise DesignError(f"A factor must be a number above 0, not {factor:g}, and at most {MOST_FACTOR:g}.")
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

    Every item appears equally often and at each place equally often (one more or less); no item stands
    twice in a tuple and no tuple twice; as few pairs of items as found meet twice; all items are joined
    by comparisons where the tuples are enough to join them.
    sentences: (m, s) ids; items that share one are never judged together (so no mirrored pair either).
    strata: (m,) numbers, as of imported and generated items: each tuple gets an even mix of them.
    report: told after every round how far the search is; what it raises ends the search.
    The same arguments give the same design. Raises DesignError where no such design was found.
    """
    count = tuple_count(item_count, factor)
    _check_numbers(item_count, size, count, factor)
    if sentences is not None:
        _check_sentences(sentences, size, count)
    rng = np.random.default_rng(seed)
    strata = (
        np.zeros(item_count, dtype=np.int64) if strata is None else np.unique(strata, return_inverse=True)[1]
    )
    tuples = _arranged(strata, size, count, sentences, rng, report=report)
    tuples = balanced_places(tuples, item_count)
    certificate = certify(
        tuples, item_count, factor=factor, seed=seed, algorithm=ALGORITHM, sentences=sentences
    )
    return Design(tuples, certificate)


def _check_numbers(item_count: int, size: int, count: int, factor: float) -> None:
    if size < 2:
        raise DesignError(f"A tuple needs at least 2 items, not {size}.")
    if item_count < size:
        raise DesignError(f"Tuples of {size} need at least {size} items, and there are {item_count}.")
    if count < 1:
        raise DesignError(f"A factor of {factor:g} makes no tuple out of {item_count} items; raise it.")
    if count * size > MOST_SLOTS:
        raise DesignError(
            f"A factor of {factor:g} asks for {count:.3g} tuples of {size}, and at most "
            f"{MOST_SLOTS // size:,} can be designed at once; lower it."
        )
    if count > math.comb(item_count, size):
        raise DesignError(
            f"{item_count} items make only {math.comb(item_count, size):,} different tuples of {size}, "
            f"and a factor of {factor:g} asks for {count:,}; lower it or add items."
        )


def _check_sentences(sentences: IntArray, size: int, count: int) -> None:
    """Items that share a sentence must stand in different tuples: there must be enough tuples for that."""
    items = np.repeat(np.arange(len(sentences)), sentences.shape[1])
    sharing = np.unique(np.column_stack([sentences.ravel(), items]), axis=0)
    ids, holders = np.unique(sharing[:, 0], return_counts=True)
    appearances = count * size // len(sentences)
    if holders.max() * appearances > count:
        crowd = tuple(int(item) for item in sharing[sharing[:, 0] == ids[holders.argmax()], 1])
        raise DesignError(
            f"{len(crowd)} of {len(sentences)} items share one sentence, item {crowd[0] + 1} among them, "
            f"and tuples of {size} can keep at most {count // appearances} of them apart; leave some out.",
            crowd,
        )


def _arranged(
    strata: IntArray,
    size: int,
    count: int,
    sentences: IntArray | None,
    rng: np.random.Generator,
    *,
    report: Report,
) -> IntArray:
    """Deal the items into tuples (T, k) and swap until the rules hold; DesignError where they do not."""
    items = len(strata)
    if 2 * size > items and not _any_shared(sentences):
        return items_left_out(_small_tuples(strata, items - size, count, rng, report), items)
    slots, decks = _dealt(strata, size * count, rng)
    own = np.arange(len(strata))[:, None]
    search = SwapSearch(slots.reshape(count, size), own if sentences is None else sentences, rng, report)
    within_decks = Circles(decks)
    if not search.improve(within_decks):
        search.improve(Circles(strata[search.slots]))
    connect(search, within_decks)
    possible = math.comb(items, size)
    if 2 * count > possible and search.broken_rules() and not strata.any() and not _any_shared(sentences):
        return rng.permutation(_all_but_few(items, size, possible - count, rng, report))
    _check_rules(search)
    return search.tuples


def _small_tuples(
    strata: IntArray, size: int, count: int, rng: np.random.Generator, report: Report
) -> IntArray:
    """As `_arranged`; a tuple may also hold one item, or none."""
    if size > 1:
        return _arranged(strata, size, count, None, rng, report=report)
    return _dealt(strata, size * count, rng)[0].reshape(count, size)


def _all_but_few(items: int, size: int, others: int, rng: np.random.Generator, report: Report) -> IntArray:
    """All tuples of `size` but so many `others`, which are balanced themselves."""
    few = np.empty((0, size), dtype=np.int64)
    if others:
        few = _arranged(np.zeros(items, dtype=np.int64), size, others, None, rng, report=report)
    return tuples_left_out(few, items)


def _dealt(strata: IntArray, slots: int, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    """Deal `slots` items from shuffled decks of each stratum, the strata mixed evenly.

    Returns the items (slots,) and the number of the deck each came from (slots,).
    """
    sizes = np.bincount(strata)
    items, decks, wanted = [], [], []
    for stratum, share in enumerate(_shares(slots, sizes)):
        items.append(_shuffled(np.flatnonzero(strata == stratum), share, rng))
        decks.append(np.arange(share) // sizes[stratum] * len(sizes) + stratum)
        # The i-th of a stratum's n slots belongs at (i + 1/2) / n of the way.
        wanted.append((np.arange(share) + 0.5) / max(1, share))
    order = np.argsort(np.concatenate(wanted), kind="stable")
    return np.concatenate(items)[order], np.concatenate(decks)[order]


def _shares(slots: int, sizes: IntArray) -> list[int]:
    """Share out slots among strata of `sizes` items, so that no item can get two more than another."""
    each, more = divmod(slots, int(sizes.sum()))
    exact = more * sizes / sizes.sum()
    shares = each * sizes + exact.astype(np.int64)
    most_short = np.argsort(np.floor(exact) - exact, kind="stable")
    shares[most_short[: slots - shares.sum()]] += 1
    return [int(share) for share in shares]


def _shuffled(items: IntArray, share: int, rng: np.random.Generator) -> IntArray:
    decks = [rng.permutation(items) for _ in range(-(-share // len(items)))]
    return np.concatenate([*decks, items[:0]])[:share]


def _any_shared(sentences: IntArray | None) -> bool:
    """Whether two items share a sentence."""
    if sentences is None:
        return False
    items = np.repeat(np.arange(len(sentences)), sentences.shape[1])
    holders = np.unique(np.column_stack([sentences.ravel(), items]), axis=0)
    return len(np.unique(holders[:, 0])) < len(holders)


def _check_rules(search: SwapSearch) -> None:
    clashes = clashing_meetings(search.tuples, search.marks)  # (k (k - 1) / 2, T)
    if clashes.any():
        place, number = (int(found[0]) for found in np.nonzero(clashes))
        columns = list(combinations(range(search.size), 2))[place]
        items = tuple(sorted(int(search.tuples[number, column]) for column in columns))
        raise DesignError(
            f"No design was found in which items that share a sentence never meet: items {items[0] + 1} and "
            f"{items[1] + 1} would. Lower the factor or leave one of them out.",
            items,
        )
    if duplicate_tuples(search.tuples):
        raise _none_found(search.count, search.size, len(search.marks))


def _none_found(count: int, size: int, items: int) -> DesignError:
    return DesignError(
        f"No {count} tuples of {size} out of {items} items were found that all differ and keep the rules; "
        f"lower the factor or add items."
    )


def items_left_out(tuples: IntArray, item_count: int) -> IntArray:
    """The items that each tuple (T, k) does not hold: (T, m - k)."""
    outside = np.ones((len(tuples), item_count), dtype=np.bool_)
    np.put_along_axis(outside, tuples, values=False, axis=1)
    return np.nonzero(outside)[1].reshape(len(tuples), -1).astype(np.int64)


def tuples_left_out(tuples: IntArray, item_count: int) -> IntArray:
    """All tuples of k of m items that are not among tuples (T, k): (m over k - T, k)."""
    asked = {tuple(row) for row in np.sort(tuples, axis=1).tolist()}
    every = combinations(range(item_count), tuples.shape[1])
    return np.array([row for row in every if row not in asked], dtype=np.int64)
