"""Synthetic data identification (SDI): what its classifiers are trained and evaluated on, and in which folds."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from curation.pairs.text import near_copy_key, words
from mlworkers.science.realism.text import alike

Integers = NDArray[np.int64]
Marks = NDArray[np.bool_]
Floats = NDArray[np.float64]
Link = tuple[int, int]


class Grouping(NamedTuple):
    """The group of each sentence, (n,), numbered from 0 in order of appearance; and how many links were cut."""

    groups: Integers
    cut: int


def group_sentences(keys: Sequence[str], links: Iterable[Link], *, largest: int) -> Grouping:
    """Put sentences of one key into one group, always; and linked ones, while a group stays within `largest`.

    keys: of n sentences, equal for doubles. links: twos of places, the most important first. Where everything
    is connected, one group would leave nothing to train on; so links are cut then, and counted.
    """
    sets = scipy.cluster.hierarchy.DisjointSet(range(len(keys)))
    first: dict[str, int] = {}
    for index, key in enumerate(keys):
        sets.merge(first.setdefault(key, index), index)  # n merges take about O(n)
    cut = 0
    for left, right in links:
        # Greedy: a link is cut if the union of its two groups, as they are by now, would be too large.
        if sets.connected(left, right) or sets.subset_size(left) + sets.subset_size(right) <= largest:
            sets.merge(left, right)
        else:
            cut += 1
    roots = [sets[index] for index in range(len(keys))]
    number = {root: index for index, root in enumerate(dict.fromkeys(roots))}
    return Grouping(np.array([number[root] for root in roots], dtype=np.int64), cut)


def assign_folds(groups: Integers, human: Marks, *, folds: int, seed: int) -> Integers:
    """A fold for each sentence, (n,) in 0..folds-1: groups stay whole, and each fold gets its share of both classes.

    Groups go, the largest first and equal ones in a drawn order, to the fold that is emptiest of what they hold.
    """
    count = int(groups.max()) + 1
    # (groups, 2): how many machine and how many human sentences each group has.
    sizes = np.stack([np.bincount(groups[human == kind], minlength=count) for kind in (False, True)], axis=1)
    # Shares of all machine and of all human sentences, so that the rarer class counts as much as the other.
    shares = sizes / np.maximum(sizes.sum(axis=0), 1)  # (groups, 2)
    drawn = np.random.default_rng(seed).permutation(count)
    # Stable: groups of equal size stay in the drawn order.
    order = drawn[np.argsort(-shares[drawn].sum(axis=1), kind="stable")]
    held = np.zeros((folds, 2))  # of both classes, the share that each fold holds so far
    fold_of = np.empty(count, dtype=np.int64)
    for group in order:
        # Per fold Σ over classes of (share held) · (share of the group), 0 for a class that the group lacks.
        fold = int(np.argmin(held @ shares[group])) if shares[group].any() else 0
        fold_of[group] = fold
        held[fold] += shares[group]
    return fold_of[groups]


FEWEST = 20  # sentences of a class: with fewer, an AUC's interval is most of 0..1


class RealismError(ValueError):
    """The sentences cannot be classified, or not scored. The text is one sentence: what is wrong, and what to do."""


@dataclass(frozen=True)
class SdiData:
    """n sentences, normalised by `text.alike`. learned: those trained and measured on. fold: in 0..folds-1.

    left_out: how many sentences are scored and not learned from, by reason. unusable: as drawn. identical: machine
    sentences whose words a person wrote too. repeated: doubles within a class, beyond the first. longer: human
    sentences with more words than any machine sentence, which ends at a token limit. label: the class that a sentence
    is learned as, True for human, and count: how many sentences it counts for within that class; (n,) each.
    """

    texts: Sequence[str]
    human: Marks
    learned: Marks
    group: Integers
    fold: Integers
    folds: int
    links_cut: int
    left_out: dict[str, int]
    label: Marks
    count: Floats

    def with_verdicts(self, kept: Marks, rejected: Marks, *, count: float) -> "SdiData":
        """The same sentences in the same folds, learned from with the verdicts of people.

        kept, rejected: marks (n,) of machine sentences. A kept one is learned as if a person had written it, a
        rejected one as a machine's, and each counts for `count` sentences.
        """
        # A verdict on a human sentence changes nothing.
        judged = (kept | rejected) & self.learned & ~self.human
        return replace(self, label=self.human | (judged & kept), count=np.where(judged, count, 1.0))

    def without_verdicts(self) -> "SdiData":
        """The same sentences in the same folds, each learned as the class it is of."""
        return replace(self, label=self.human, count=np.ones(len(self.texts)))

    def seen_by(self, fold: int) -> Marks:
        """What the classifier of a fold may learn from: the sentences of the other folds, (n,)."""
        seen: Marks = self.learned & (self.fold != fold)
        return seen

    def inner(self, fold: int) -> Marks:
        """Those of them by which it is chosen: the next fold, (n,)."""
        # In a ring: the last fold has fold 0 as its inner fold.
        inner: Marks = self.learned & (self.fold == (fold + 1) % self.folds)
        return inner


def sdi_data(
    drawn: Sequence[str], human: Marks, usable: Marks, links: Sequence[Link] = (), *, folds: int, seed: int
) -> SdiData:
    """Dress n drawn sentences, leave out what gives a class away, and cut folds that keep doubles and links together.

    usable: may be trained and measured on, (n,); the others are only scored (a machine's sentence that a person wrote
    too, for example). links: twos of places that should share a fold, the most important first. Raises RealismError
    where a class has too few sentences, or is connected so that it cannot be cut.
    """
    texts = [alike(text) for text in drawn]
    keys = [near_copy_key(text) for text in texts]
    learned, left_out = _learned(texts, keys, human, usable)

    if not human.any():
        raise RealismError(
            "The dataset has no human sentences outside dev and test; import pairs that people wrote."
        )
    people, machines = int((learned & human).sum()), int((learned & ~human).sum())
    if machines < FEWEST:
        raise RealismError(
            f"{machines} distinct machine sentences that no person wrote are too few to learn from; generate at "
            f"least {FEWEST}."
        )
    if people < FEWEST:
        raise RealismError(
            f"{people} human sentences outside dev and test, no longer than the longest machine sentence, are too "
            f"few to learn from; import at least {FEWEST}."
        )

    # A quarter of a fold: larger groups would leave folds of unlike size, or of one class.
    group, links_cut = group_sentences(keys, links, largest=max(2, len(texts) // (4 * folds)))
    # Shares are those of the sentences that are learned from; the rest follows its group, or goes to fold 0.
    fold_of = np.zeros(int(group.max()) + 1, dtype=np.int64)
    _, compact = np.unique(group[learned], return_inverse=True)
    fold_of[group[learned]] = assign_folds(compact, human[learned], folds=folds, seed=seed)
    data = SdiData(
        texts, human, learned, group, fold_of[group], folds, links_cut, left_out, human, np.ones(len(texts))
    )
    for kind, name in ((True, "human"), (False, "machine")):
        held = np.unique(data.fold[learned & (human == kind)])
        # A fold's classifier learns from the others but for one, by which it is chosen.
        if held.size < folds:
            raise RealismError(
                f"The {name} sentences are connected in {held.size} groups, too few for {folds} folds; use fewer "
                "folds, or generate from more source sentences."
            )
    return data


def _learned(
    texts: Sequence[str], keys: Sequence[str], human: Marks, usable: Marks
) -> tuple[Marks, dict[str, int]]:
    """Which sentences are learned from, and how many are not, by reason."""
    by_people = {key for key, person in zip(keys, human, strict=True) if person}
    identical = usable & ~human & np.array([key in by_people for key in keys], dtype=bool)
    learned = usable & ~identical
    first: dict[tuple[str, bool], int] = {}
    for index in np.flatnonzero(learned).tolist():
        first.setdefault((keys[index], bool(human[index])), index)
    repeated = learned.copy()  # doubles share a fold; each text counts once
    repeated[list(first.values())] = False
    learned &= ~repeated
    lengths = np.array([len(words(text)) for text in texts])  # (n,), in words
    machine = learned & ~human
    longer = learned & human & (lengths > lengths[machine].max(initial=0)) if machine.any() else machine
    left_out = {"unusable": ~usable, "identical": identical, "repeated": repeated, "longer": longer}
    return learned & ~longer, {reason: int(marks.sum()) for reason, marks in left_out.items()}
