"""Synthetic data identification (SDI): what its classifiers are trained and measured on, and in which folds."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mlworkers.realism.grouping import Integers, Link, Marks, assign_folds, group_sentences
from mlworkers.realism.text import alike, double_key

FEWEST = 20  # sentences of a class: with fewer, an AUC's interval is most of 0..1


class RealismError(ValueError):
    """The sentences cannot be told apart, or not scored. The text is one sentence: what is wrong, and what to do."""


@dataclass(frozen=True)
class Drawn:
    """Sentences as they were drawn, n of them.

    usable: may be trained and measured on; the others are only scored (a machine's sentence that a person wrote
    too, for example). links: twos of places that should share a fold, the most important first.
    """

    texts: Sequence[str]
    human: Marks
    usable: Marks
    links: Sequence[Link] = ()


@dataclass(frozen=True)
class LeftOut:
    """Sentences that are scored and not learnt from.

    unusable: as drawn. identical: machine sentences whose words a person wrote too. repeated: doubles within a class,
    beyond the first. longer: human sentences with more words than any machine sentence, which ends at a token limit.
    """

    unusable: int
    identical: int
    repeated: int
    longer: int


@dataclass(frozen=True)
class SdiData:
    """n sentences in the dress of `text.alike`. learnt: those trained and measured on. fold: in 0..folds-1."""

    texts: Sequence[str]
    human: Marks
    learnt: Marks
    group: Integers
    fold: Integers
    folds: int
    links_cut: int
    left_out: LeftOut

    def seen_by(self, fold: int) -> Marks:
        """What the classifier of a fold may learn from: the sentences of the other folds, (n,)."""
        seen: Marks = self.learnt & (self.fold != fold)
        return seen

    def inner(self, fold: int) -> Marks:
        """Those of them by which it is chosen: the next fold, (n,)."""
        inner: Marks = self.learnt & (self.fold == (fold + 1) % self.folds)
        return inner


def sdi_data(drawn: Drawn, *, folds: int, seed: int) -> SdiData:
    """Dress the sentences, leave out what gives a class away, and cut folds that keep doubles and links together.

    Raises RealismError where a class has too few sentences, or hangs together so that it cannot be cut.
    """
    texts = [alike(text) for text in drawn.texts]
    keys = [double_key(text) for text in texts]
    learnt, left_out = _learnt(drawn, keys)
    _require_enough(drawn.human, learnt)
    # A quarter of a fold: larger groups would leave folds of unlike size, or of one class.
    grouping = group_sentences(keys, drawn.links, largest=max(2, len(texts) // (4 * folds)))
    # What is only scored may go anywhere; the folds' shares are those of what is learnt from.
    human, group = drawn.human, grouping.groups
    fold = _folds(group, human, learnt, folds, seed)
    data = SdiData(texts, human, learnt, group, fold, folds, grouping.cut, left_out)
    _require_both_everywhere(data)
    return data


def _learnt(drawn: Drawn, keys: Sequence[str]) -> tuple[Marks, LeftOut]:
    by_people = {key for key, human in zip(keys, drawn.human, strict=True) if human}
    identical = drawn.usable & ~drawn.human & np.array([key in by_people for key in keys], dtype=bool)
    learnt = drawn.usable & ~identical
    repeated = learnt & ~_first_of_each(keys, drawn.human, learnt)
    learnt &= ~repeated
    words = np.array([key.count(" ") + 1 for key in keys])
    machine = learnt & ~drawn.human
    longer = learnt & drawn.human & (words > words[machine].max(initial=0)) if machine.any() else machine
    counts = (~drawn.usable, identical, repeated, longer)
    return learnt & ~longer, LeftOut(*(int(marks.sum()) for marks in counts))


def _first_of_each(keys: Sequence[str], human: Marks, learnt: Marks) -> Marks:
    first: dict[tuple[str, bool], int] = {}
    for place in np.flatnonzero(learnt).tolist():
        first.setdefault((keys[place], bool(human[place])), place)
    marks = np.zeros(len(keys), dtype=bool)
    marks[list(first.values())] = True
    return marks


def _require_enough(human: Marks, learnt: Marks) -> None:
    if not human.any():
        raise RealismError(
            "The dataset has no human sentences outside dev and test; import pairs that people wrote."
        )
    people, machines = int((learnt & human).sum()), int((learnt & ~human).sum())
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


def _folds(group: Integers, human: Marks, learnt: Marks, folds: int, seed: int) -> Integers:
    """Shares are those of the sentences that are learnt from; the rest follows its group, or goes to fold 0."""
    fold_of = np.zeros(int(group.max()) + 1, dtype=np.int64)
    _, compact = np.unique(group[learnt], return_inverse=True)
    fold_of[group[learnt]] = assign_folds(compact, human[learnt], folds=folds, seed=seed)
    return fold_of[group]


def _require_both_everywhere(data: SdiData) -> None:
    for kind, name in ((True, "human"), (False, "machine")):
        held = np.unique(data.fold[data.learnt & (data.human == kind)])
        # A fold's classifier learns from the others but for one, by which it is chosen.
        if held.size < data.folds:
            raise RealismError(
                f"The {name} sentences hang together in {held.size} groups, too few for {data.folds} folds; use fewer "
                "folds, or generate from more source sentences."
            )
