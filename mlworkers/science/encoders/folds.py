"""Dividing pairs into folds, each tested once by what was trained on the others, and how much of a fold leaks.

Three protocols. `random` is that of the STR paper (section 6): pairs are drawn singly, so that a test pair may share a
sentence with training. `components` keeps pairs that are connected by shared sentences in one fold. `sources` tests
each source by what was trained on the others. Sentences are the same where they are near copies of each other.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from curation.pairs.splitting import pair_components, splits_drawn
from curation.pairs.text import near_copy_key
from mlworkers.science.encoders.seen import ALL, UNSEEN

Integers = NDArray[np.int64]
FEWEST_IN_FOLD = 10  # pairs; the standard error of a correlation near 0 is 1 / √9 = .33 there
NO_SOURCE = "no source"
UNTESTED = -1


class Protocol(StrEnum):
    RANDOM = "random"  # STR paper, section 6: five-fold cross-validation
    COMPONENTS = "components"  # of the graph whose edges are the pairs; no test sentence is trained on
    SOURCES = "sources"  # STR paper, table 6: leave-one-out (LOOut)


_CITED_FIRST = (Protocol.COMPONENTS, Protocol.SOURCES, Protocol.RANDOM)  # the fewest shared sentences first


class FoldsError(ValueError):
    """The pairs cannot be divided so. One sentence."""


@dataclass(frozen=True)
class Folds:
    """Which fold tests each of n pairs.

    fold: the number of that fold, (n,); UNTESTED for pairs that train every fold.
    names: of the folds.
    leaking: which pairs share a sentence with a pair of another fold, (n,) bool.
    untested: sources with too few pairs for a fold, with their number of pairs.
    """

    protocol: Protocol
    fold: Integers
    names: Sequence[str]
    leaking: NDArray[np.bool_]
    untested: Sequence[tuple[str, int]] = ()

    @property
    def tested(self) -> NDArray[np.bool_]:
        """Which pairs a fold tests, (n,)."""
        tested: NDArray[np.bool_] = self.fold != UNTESTED
        return tested

    def __len__(self) -> int:
        return len(self.names)

    @property
    def leakage(self) -> list[float]:
        """Of each fold, the share of its pairs that share a sentence with training, 0..1."""
        # Of the pairs of each fold.
        return [float(self.leaking[self.fold == number].mean()) for number in range(len(self))]


def sentence_numbers(first: Sequence[str], second: Sequence[str]) -> tuple[Integers, Integers]:
    """Numbers of the sentences of n pairs, (n,) twice; near copies have one number."""
    keys = [near_copy_key(text) for text in (*first, *second)]
    # (2n,): first, then second sentences.
    numbers = np.unique(np.array(keys), return_inverse=True)[1].astype(np.int64)
    return numbers[: len(first)], numbers[len(first) :]


def folds_drawn(
    protocol: Protocol,
    a: Integers,
    b: Integers,
    sources: Sequence[str],
    *,
    count: int,
    seed: int,
) -> Folds:
    """The folds of n pairs. a, b: their sentences, as `sentence_numbers` gives them. count: of folds; sources make as
    many as there are with ten pairs or more, and the pairs of the others train each of these. Raises FoldsError where
    there would be fewer than two folds, or one of fewer than ten pairs.
    """
    pairs = len(a)
    if protocol is Protocol.SOURCES:
        every, source = np.unique(np.array([name or NO_SOURCE for name in sources]), return_inverse=True)
        sizes = np.bincount(source, minlength=len(every))  # pairs of each source
        if len(every) < 2:
            raise FoldsError(f"All {len(a):,} pairs have one source, so no source can be left out.")
        large = np.flatnonzero(sizes >= FEWEST_IN_FOLD)  # sources that are tested
        if large.size < 2:
            raise FoldsError(f"Fewer than two sources have {FEWEST_IN_FOLD} pairs, which a fold needs.")
        number_of = np.full(len(every), UNTESTED, dtype=np.int64)  # source -> fold
        number_of[large] = np.arange(large.size)
        fold = number_of[source]
        small = [(str(every[one]), int(sizes[one])) for one in np.flatnonzero(sizes < FEWEST_IN_FOLD)]
        return Folds(Protocol.SOURCES, fold, every[large].tolist(), leaking_pairs(a, b, fold), small)
    names = np.array([str(number + 1) for number in range(count)])
    if protocol is Protocol.RANDOM:
        # A permutation modulo the count: random folds whose sizes differ by 1 at most.
        fold = np.random.default_rng([seed, 7]).permutation(pairs) % count
    else:
        shares = dict.fromkeys(names.tolist(), 1 / count)  # whole components: sizes are nearly equal
        # Names of equal length, so that their order is that of the pairs.
        # (n,): names of folds.
        drawn = splits_drawn(pair_components(a, b), [f"{n:09d}" for n in range(pairs)], shares, seed=seed)
        fold = np.searchsorted(names, np.array(drawn))
    sizes = np.bincount(fold, minlength=len(names))
    if sizes.min() < FEWEST_IN_FOLD:
        has = "1 pair" if sizes.min() == 1 else f"{sizes.min()} pairs"
        raise FoldsError(
            f"The fold “{names[sizes.argmin()]}” would have {has}, and each needs {FEWEST_IN_FOLD}."
        )
    numbers = fold.astype(np.int64)
    return Folds(protocol, numbers, names.tolist(), leaking_pairs(a, b, numbers))


def leaking_pairs(a: Integers, b: Integers, fold: Integers) -> NDArray[np.bool_]:
    """Which pairs share a sentence with a pair of another fold, (n,) bool: those that are in training then."""
    sentences = np.concatenate([a, b])
    twice = np.concatenate([fold, fold])
    size = int(sentences.max()) + 1
    # A sentence is in several folds exactly if the lowest and the highest fold of its pairs differ: two
    # passes, without a set for each sentence. UNTESTED counts as a fold, because its pairs train every fold.
    lowest, highest = np.full(size, np.iinfo(np.int64).max), np.full(size, -1)
    np.minimum.at(lowest, sentences, twice)
    np.maximum.at(highest, sentences, twice)
    crosses = lowest != highest
    leaking: NDArray[np.bool_] = crosses[a] | crosses[b]  # one crossing sentence is enough
    return leaking


def part_to_cite(seen: Mapping[Protocol, bool]) -> tuple[Protocol, str]:
    """The protocol, and the part of its pairs, whose figures say how a method does on sentences that are new to it.

    seen: of each protocol, whether some of its test pairs hold a sentence that was trained on.
    """
    protocol = next(one for one in _CITED_FIRST if one in seen)
    return protocol, UNSEEN if seen[protocol] else ALL
