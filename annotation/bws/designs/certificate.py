"""Which items of a design meet in a tuple and how often, and what a finished design guarantees."""

from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

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
    """Count what tuples (T, k) of item_count items, m, guarantee; sentences: (m, s) ids, or None.

    A tuple of fewer than k items, as imported ones may be, has -1 after its last item.
    """
    size = tuples.shape[1]
    present = tuples >= 0
    appearances = np.bincount(tuples[present], minlength=item_count)  # (m,)
    # (m k,): cell item * k + position counts how often the item has the position.
    places = np.bincount((tuples * size + np.arange(size))[present], minlength=item_count * size)
    keys = meeting_keys(tuples, item_count)  # (k (k - 1) / 2, T)
    sizes = present.sum(axis=1)  # k of each tuple (T,)
    # An item meets k - 1 others in each of its tuples.
    met = np.bincount(tuples[present], weights=np.repeat(sizes - 1, sizes), minlength=item_count)  # (m,)
    if not present.all():
        keys = keys[keys >= 0]  # a position without an item meets nobody
    times = repeated_keys(keys)[1]  # of each pair of items that meets more than once
    # A pair that meets c times is c keys; keys less the c - 1 further ones of each pair are the pairs that met.
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
        fewest_repeated_meetings=fewest_repeated_meetings(met.astype(np.int64)),
        # Of the m (m - 1) / 2 pairs: those that never met, that met once, and that met c > 1 times.
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
    counts = zip(*np.unique(times, return_counts=True), strict=True)
    return {str(value): int(count) for value, count in counts}


def meeting_keys(tuples: IntArray, item_count: int) -> IntArray:
    """One number for every two items of a tuple: (T, k) -> (k (k - 1) / 2, T).

    The number is lower item * item_count + higher item, so equal numbers are repeated meetings.
    """
    # For m items, keys are below m^2, which int64 holds up to 3e9 items.
    columns = combinations(tuples.T, 2)
    return np.stack([np.minimum(a, b) * item_count + np.maximum(a, b) for a, b in columns])


def repeated_keys(keys: IntArray) -> tuple[IntArray, IntArray]:
    """The keys that occur more than once, ascending, and how often each does: (r,) and (r,), at least 2.

    keys: integers of any shape, such as those of `meeting_keys`.
    """
    # Sorting T k (k - 1) / 2 numbers needs far less memory than a table of m^2 pairs.
    ordered = np.sort(keys, axis=None)
    again = ordered[1:] == ordered[:-1]
    repeated, extra = np.unique(ordered[1:][again], return_counts=True)
    return repeated, extra + 1  # c = 1 + its further occurrences


def repeated(keys: IntArray) -> NDArray[np.bool_]:
    """Whether each of the keys is one that occurs more than once: an array of their shape."""
    again = repeated_keys(keys)[0]
    if len(again) == 0:
        return np.zeros(keys.shape, dtype=np.bool_)
    # The last bits alone exclude most keys, so only the others are searched for.
    # A table of 65,536 cells stays in the cache, while a binary search reads all over `again`.
    ends = np.zeros(1 << 16, dtype=np.bool_)
    ends[again & 0xFFFF] = True
    is_repeated: NDArray[np.bool_] = ends[keys & 0xFFFF]
    likely = keys[is_repeated]
    # Of those that are left, the place where a key would be inserted must hold the key itself.
    is_repeated[is_repeated] = again[np.minimum(np.searchsorted(again, likely), len(again) - 1)] == likely
    return is_repeated


def meeting_excess(tuples: IntArray, item_count: int) -> int:
    """The sum of c (c - 1) / 2 over all pairs of items, c their meetings.

    Of all ways to spread the same number of meetings over the pairs, the most even one has the least sum.
    """
    times = repeated_keys(meeting_keys(tuples, item_count))[1]
    return int((times * (times - 1) // 2).sum())


def least_excess(meetings: int, pairs: int) -> int:
    """What `meeting_excess` cannot go below: `meetings` spread over `pairs` of items as evenly as can be."""
    # `more` pairs meet each + 1 times and the others `each` times: (each + 1) each / 2 is each (each - 1) / 2 + each.
    each, more = divmod(meetings, pairs)
    return pairs * each * (each - 1) // 2 + more * each


def fewest_repeated_meetings(met: IntArray) -> int:
    """A lower bound on meetings beyond the first of each pair of items.

    met: (m,) how many items each one meets in all, r (k - 1) if it is in r tuples of k; there are only m - 1 others.
    """
    # By the pigeonhole principle, an item that meets more than m - 1 others meets some of them again.
    beyond = met - (len(met) - 1)
    # Every repeated meeting is counted from both of its items.
    return int(-(-np.maximum(beyond, 0).sum() // 2))  # half of them, rounded up


def duplicate_tuples(tuples: IntArray) -> int:
    """How many tuples hold the same items as an earlier one."""
    return len(tuples) - len(np.unique(np.sort(tuples, axis=1), axis=0))


def comparison_components(tuples: IntArray, item_count: int) -> tuple[int, IntArray]:
    """The parts into which the design falls: items are joined if they are in one tuple.

    Returns the number of parts and the part of each item (m,). Items of different parts cannot be compared.
    """
    count, present = len(tuples), tuples >= 0
    # CSR row pointers: rows of items are empty (all starts are 0), and each tuple's row holds its items.
    rows = np.concatenate([[0], np.cumsum(present.sum(axis=1))])
    nodes = item_count + count
    # Each tuple is a node beside the items: k edges instead of k (k - 1) / 2.
    starts = np.concatenate([np.zeros(item_count, dtype=np.int64), rows])
    items = tuples[present]
    edges = scipy.sparse.csr_array((np.ones(len(items), dtype=np.int8), items, starts), shape=(nodes, nodes))
    parts, labels = scipy.sparse.csgraph.connected_components(edges, directed=False)
    return int(parts), labels[:item_count].astype(np.int64)


def clashing_meetings(tuples: IntArray, marks: IntArray) -> NDArray[np.bool_]:
    """Where two items of a tuple (T, k) share a mark (m, s): (k (k - 1) / 2, T) as in `meeting_keys`."""
    columns = combinations(tuples.T, 2)
    return np.stack([(marks[a][:, :, None] == marks[b][:, None, :]).any(axis=(1, 2)) for a, b in columns])
