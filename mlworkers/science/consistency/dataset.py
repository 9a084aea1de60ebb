"""What the classifiers of label consistency are trained and evaluated on, and in which folds."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from curation.pairs.text import near_copy_key
from mlworkers.science.realism.dataset import Integers, Link, Marks, assign_folds, group_sentences

UNKNOWN = -1  # the label of a pair that has none
MOST_LABELS = 20
_DIGITS = 9  # values that differ less are equal
Floats = NDArray[np.float64]
FEWEST_OF_A_LABEL = 10  # with fewer, a class is a handful of points


class ConsistencyError(ValueError):
    """The pairs cannot be classified, or not scored. The text is one sentence: what is wrong, and what to do."""


@dataclass(frozen=True)
class LabelledPairs:
    """n pairs in their folds.

    label: the place of each pair's label among the labels, (n,), UNKNOWN where the classifiers do not learn from it.
    sentences: the two numbers of its sentences, equal for near copies, (n, 2).
    group, fold: (n,).
    links_cut: how many links between pairs with a common sentence were cut to make the folds.
    """

    first: Sequence[str]
    second: Sequence[str]
    label: Integers
    labels: int
    sentences: Integers
    group: Integers
    fold: Integers
    folds: int
    links_cut: int

    @property
    def learned(self) -> Marks:
        known: Marks = self.label != UNKNOWN
        return known

    def seen_by(self, fold: int) -> Marks:
        """What the classifier of a fold is trained on: pairs with a label of the other folds, (n,).

        Pairs that hold a sentence of the fold, or a near copy of one, are left out, because folds cannot always keep
        all pairs of a sentence together.
        """
        own = self.fold == fold  # (n,)
        tied = np.isin(self.sentences, self.sentences[own]).any(axis=1)  # (n,): either sentence
        seen: Marks = self.learned & ~own & ~tied
        return seen


def labelled_pairs(
    first: Sequence[str], second: Sequence[str], label: ArrayLike, *, labels: int, folds: int, seed: int
) -> LabelledPairs:
    """Cut the folds of n pairs: pairs that share a sentence or a near copy of one stay together as far as folds of like
    size allow (`realism.dataset.group_sentences`).

    label: of each pair a place in 0..labels-1, or UNKNOWN, (n,). Raises ConsistencyError where a label has too few
    pairs, or where the classifier of a fold would see none of a label.
    """
    places = np.asarray(label, dtype=np.int64)
    if not 2 <= labels <= MOST_LABELS:
        raise ConsistencyError(f"The target similarities make {labels} labels; p_y needs 2 to {MOST_LABELS}.")
    counts = np.bincount(places[places != UNKNOWN], minlength=labels)
    if counts.min() < FEWEST_OF_A_LABEL:
        raise ConsistencyError(
            f"Label {int(counts.argmin()) + 1} of {labels} has {counts.min()} pairs to learn from; p_y needs "
            f"{FEWEST_OF_A_LABEL} or more of each label."
        )
    keys = [(near_copy_key(a), near_copy_key(b)) for a, b in zip(first, second, strict=True)]
    number: dict[str, int] = {}
    # (n, 2): near copies have one number.
    sentences = np.array(
        [[number.setdefault(key, len(number)) for key in pair] for pair in keys], dtype=np.int64
    )
    # A quarter of a fold: larger groups would leave folds of unlike size.
    group, cut = group_sentences(
        # Doubles are pairs of equal sentences in either order.
        ["\x1f".join(sorted(pair)) for pair in keys],
        _links(sentences),
        largest=max(2, len(keys) // (4 * folds)),
    )
    fold = assign_folds(group, places != UNKNOWN, folds=folds, seed=seed)
    pairs = LabelledPairs(first, second, places, labels, sentences, group, fold, folds, cut)
    for each in range(folds):
        found = np.unique(places[pairs.seen_by(each)]).size
        if found < labels:
            raise ConsistencyError(
                f"The pairs are connected by shared sentences, so the classifier of fold {each + 1} would learn only "
                f"{found} of {labels} labels; use other folds, or more pairs."
            )
    return pairs


def _links(sentences: Integers) -> Iterator[Link]:
    """Twos of pairs with a common sentence, each once. Those that share the first sentence come first: a source and
    what was written for it belong together before partners that were drawn at random.
    """
    # Each pair is linked to the previous one of its sentence: n - 1 links connect n pairs, not n(n - 1)/2.
    given: set[Link] = set()
    for sides in ((0,), (0, 1)):
        last: dict[int, int] = {}
        for place, pair in enumerate(sentences.tolist()):
            for side in sides:
                link = (last.get(pair[side], place), place)
                if link[0] != place and link not in given:
                    given.add(link)
                    yield link
                last[pair[side]] = place


def labels_of(values: ArrayLike, *, within: float) -> Floats:
    """The labels of some target similarities, in rising order: their distinct values, of which those at most `within`
    above the lowest of a group are one label, the mean of the group's distinct values.
    """
    groups: list[list[float]] = []
    for value in np.unique(np.round(np.asarray(values, dtype=np.float64), _DIGITS)).tolist():
        # From the group's lowest: groups cannot grow in a chain.
        if groups and value - groups[-1][0] <= within + 10.0**-_DIGITS:
            groups[-1].append(value)
        else:
            groups.append([value])
    return np.array([sum(group) / len(group) for group in groups])


def nearest_label(values: ArrayLike, labels: ArrayLike) -> Integers:
    """The place of the nearest of some labels in rising order, for each of n values: (n,). In the middle between two
    labels, the lower one.
    """
    # (n, labels).
    distance = np.abs(np.asarray(values, dtype=np.float64)[:, None] - np.asarray(labels, dtype=np.float64))
    places: Integers = distance.argmin(axis=1)  # (n, labels) -> (n,); the first of equals
    return places


def planted_labels(label: Integers, *, labels: int, share: float, seed: int) -> tuple[Integers, Marks]:
    """A copy of n labels in which `share` of the known ones are replaced by another label at random; and which were.

    The number replaced is rounded, and at least 1. UNKNOWN stays.
    """
    rng = np.random.default_rng([seed, 19])  # apart from the stream of the folds, which is of `seed` alone
    known = np.flatnonzero(label != UNKNOWN)
    chosen = rng.permutation(known)[: max(1, round(share * known.size))]
    planted = label.copy()
    # Label + (1 to labels - 1), modulo labels: each other label is as likely, the same one impossible.
    planted[chosen] = (label[chosen] + rng.integers(1, labels, chosen.size)) % labels
    marks = np.zeros(label.size, dtype=bool)
    marks[chosen] = True
    return planted, marks


def label_error_counts(chances: Floats, label: Integers) -> Integers:
    """How many pairs of each given label seem to have another one, by confident learning: (labels, labels), the row the
    given label, the column the other.

    chances (n, labels), out of fold; label (n,). A pair counts for label j where its chance of j is at least the mean
    chance of j among the pairs with the given label j; of several such labels, for the one of the largest chance
    (Northcutt, Jiang & Chuang 2021, equation 1 and its treatment of collisions).
    """
    labels = chances.shape[1]
    # (labels,): mean self-confidence.
    thresholds = np.array([chances[label == each, each].mean() for each in range(labels)])
    above = np.where(chances >= thresholds, chances, -1.0)  # (n, labels)
    confident = above.max(axis=1) >= 0
    counts = np.zeros((labels, labels), dtype=np.int64)
    # The joint count C[given, suspected]; add.at adds up repeated places.
    np.add.at(counts, (label[confident], above.argmax(axis=1)[confident]), 1)
    return counts
