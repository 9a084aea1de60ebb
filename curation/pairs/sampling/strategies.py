"""The strategies that choose pairs among sentences or existing pairs, with the STR paper's parameters (appendix A).

Sentences have the numbers 0 to n - 1. Each strategy is a function of its arguments and a seed, respects a cap on how
often a sentence is used, and says how many pairs of each stratum it could not find.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from curation.pairs.sampling.allocation import exponential_weights
from curation.pairs.sampling.sample import (
    Sample,
    Stratum,
    bin_names,
    bins_of,
    percentile_edges,
    stratified_sample,
)
from curation.pairs.sampling.searching import PartnerSearch, Window
from curation.pairs.sampling.uses import Uses
from curation.pairs.word_tables import Integers, Reals, WordTable

Combination = tuple[str, str]


def within_lengths(table: WordTable, *, shortest: int = 5, longest: int = 25) -> Integers:
    """The sentences with so many words (repeats count), both bounds included. The bounds are those of the paper."""
    return np.flatnonzero((table.lengths >= shortest) & (table.lengths <= longest))


def pairs_within_window(table: WordTable, *, pairs: int, window: Window, uses: Uses, seed: int) -> Sample:
    """First sentences in random order, each with the first partner in random order within the window.

    The paper's SNLI subset (with synonyms in the table), Wiki_r, ParaNMT_r and Formality_r. The paper reads all
    partners in one order, so that early sentences are used often; here each search begins at another place.
    Expected number of comparisons: pairs / (share of sentences that are within the window of another one).
    """
    search = PartnerSearch(table, window, seed=seed)
    rng = np.random.default_rng([seed, 3])  # stream 3: first sentences, and where each search begins
    drawn: list[tuple[int, int]] = []
    for first in rng.permutation(len(table)):
        if len(drawn) == pairs:
            break
        if not uses.is_free(int(first)):
            continue
        second = search.partner(int(first), start=int(rng.integers(len(table))), uses=uses)
        if second is not None and uses.take(int(first), second):
            drawn.append((int(first), second))
    name = f"overlap from {window.low:g} to below {window.high:g}"
    return Sample(_as_array(drawn), [Stratum(name, pairs, None, len(drawn))])


def random_candidates(sentences: int, *, pairs: int, seed: int) -> Integers:
    """Different pairs of different sentences, drawn evenly from all, (p, 2) with p at most `pairs`.

    The paper examines random pairs and states no number of them.
    """
    if sentences < 2:
        return np.zeros((0, 2), dtype=np.int64)
    rng = np.random.default_rng([seed, 4])  # stream 4: candidates, which stream 2 then puts in order
    first = rng.integers(sentences, size=pairs)
    # The second from the n - 1 others: numbers from `first` on move up by one.
    second = rng.integers(sentences - 1, size=pairs)
    second += second >= first
    low, high = np.minimum(first, second), np.maximum(first, second)
    # Each unordered pair once: low * n + high; of repeats the first is kept, in the order of drawing.
    _, kept = np.unique(low * sentences + high, return_index=True)
    kept.sort()
    return np.stack([first[kept], second[kept]], axis=1)


def pairs_by_percentiles(
    candidates: Integers,
    values: Reals,
    *,
    pairs: int,
    buckets: int,
    growth: float = 1.0,
    uses: Uses,
    seed: int,
) -> Sample:
    """Draw from buckets of equally many candidates, by a value such as their Dice coefficient.

    growth: how many times as many pairs a bucket gives as the one below it. 1 is uniform: ParaNMT_pp (100 buckets,
    450 pairs), Formality_pp (50 buckets, 300 pairs). Above 1 it is the exponential draw of the Goodreads subset
    (50 buckets, 1,000 pairs, IDF-weighted Dice).
    """
    edges = percentile_edges(values, buckets)
    return stratified_sample(
        candidates,
        bins_of(values, edges),
        names=bin_names(edges),
        # growth^i for bucket i, from low to high values.
        weights=exponential_weights(len(edges) - 1, growth),
        total=pairs,
        uses=uses,
        seed=seed,
    )


def pairs_by_score(
    candidates: Integers, scores: Reals, *, edges: Sequence[float], pairs: int, uses: Uses, seed: int
) -> Sample:
    """Draw equally many existing pairs of each bin of a score: the STS subset has 50 of each of [0, 1), …, [4, 5].

    candidates: the numbers of both sentences of each pair, (n, 2). scores: (n,).
    edges: the bounds of the bins, ascending, in units of the score: one more than there are bins.
    """
    names = bin_names(edges)
    return stratified_sample(
        candidates,
        bins_of(scores, edges),
        names=names,
        weights=np.ones(len(names)),
        total=pairs,
        uses=uses,
        seed=seed,
    )


def pairs_by_labels(
    shared: Sequence[str],
    crossed: Sequence[str],
    *,
    quotas: Mapping[Combination, int],
    uses: Uses,
    seed: int,
) -> Sample:
    """Pairs whose sentences have one label in common (a target), and a given combination of another (a stance).

    shared, crossed: the labels of each sentence, "" for none. quotas: how many pairs of each combination; the Stance
    subset has 250 for-for, 250 against-against and 250 for-against, of the same target, with no condition on overlap.
    The pairs of a combination come evenly from all possible ones: a target with more of them gives more. The
    combinations draw in turn, the one with the fewest possible pairs first: where the cap leaves too few sentences for
    all quotas, each combination gets its share of them.
    """
    rng = np.random.default_rng([seed, 5])  # stream 5: targets, then pairs of each
    # Sorted: the same draws whatever the order of a set.
    targets = sorted({label for label in shared if label})
    members: dict[tuple[str, str], list[int]] = {}
    for number, labels in enumerate(zip(shared, crossed, strict=True)):
        # Of each combination and target: the sentences of either side.
        members.setdefault(labels, []).append(number)
    sides = {
        (one, other): [
            (members.get((target, one), []), members.get((target, other), [])) for target in targets
        ]
        for one, other in quotas
    }
    # Pairs of each combination and target (targets,): a b. Sides with one label are the same a sentences, of which
    # a (a - 1) / 2 unordered pairs are two different ones.
    possible = {
        (one, other): np.array(
            [len(a) * (len(a) - 1) // 2 if one == other else len(a) * len(b) for a, b in of]
        )
        for (one, other), of in sides.items()
    }
    drawn: dict[Combination, list[tuple[int, int]]] = {combination: [] for combination in quotas}
    draws = {
        combination: _draws_evenly(sides[combination], possible[combination], TRIES * quota, uses, rng)
        for combination, quota in quotas.items()
    }
    waiting = sorted(quotas, key=lambda combination: possible[combination].sum())
    while waiting:
        for combination in list(waiting):
            pair = next(draws[combination], None) if len(drawn[combination]) < quotas[combination] else None
            if pair is None:
                waiting.remove(combination)
            else:
                drawn[combination].append(pair)
    strata = [
        Stratum(f"{one}–{other}", quota, int(possible[one, other].sum()), len(drawn[one, other]))
        for (one, other), quota in quotas.items()
    ]
    return Sample(_as_array([pair for pairs in drawn.values() for pair in pairs]), strata)


TRIES = 50  # draws for each pair that is wanted, before all possible pairs are listed
LISTED = 2_000_000  # possible pairs that are listed at most
_TOGETHER = 1_000  # draws of a target


def _draws_evenly(
    sides: Sequence[tuple[Sequence[int], Sequence[int]]],
    possible: Integers,
    tries: int,
    uses: Uses,
    rng: np.random.Generator,
) -> Iterator[tuple[int, int]]:
    """Draw a target in proportion to its possible pairs, then one of its pairs; take each pair that may be used.

    Where caps leave few free pairs, draws fail; after `tries` of them all pairs that are possible are tried in random
    order.
    """
    total = int(possible.sum())
    for start in range(0, tries if total else 0, _TOGETHER):
        # P(target) in proportion to its pairs, then each side evenly: every pair of the combination is equally likely.
        for target in rng.choice(len(sides), size=min(_TOGETHER, tries - start), p=possible / total):
            first, second = sides[target]
            place, other = int(rng.integers(len(first))), int(rng.integers(len(second) - (first is second)))
            # Of one label, the second sentence is one of the others: twice the same would cost small targets more.
            pair = first[place], second[other + (first is second and other >= place)]
            if uses.take(*pair):
                yield pair
    # Listing all pairs costs memory; of more pairs than LISTED, the draws above are all.
    if total <= LISTED:
        everything = [(a, b) for first, second in sides for a in first for b in second]
        for place in rng.permutation(len(everything)):
            if uses.take(*everything[place]):
                yield everything[place]


def _as_array(pairs: Sequence[tuple[int, int]]) -> Integers:
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)
