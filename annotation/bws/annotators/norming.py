"""Agreement in a norming session: before the discussion, after it, and by how much it changed."""

from dataclasses import dataclass

import numpy as np

from annotation.bws.annotators.pairwise import RESAMPLES, Draws, choices_alike, pairs_of_people
from annotation.bws.judgements import IntArray
from curation.results.estimates import Estimate


@dataclass(frozen=True, eq=False)
class NormingAnswers:
    """What people answered to the same tuples, alone and again after the discussion.

    tuples, people: (n,) the tuple's number from 0 and the annotator's. first, second: (n, 2) slots of best and worst in
    each round; -1 for a tie, and where there is no answer. sizes: (n,) items of the tuple.
    """

    tuples: IntArray
    people: IntArray
    first: IntArray
    second: IntArray
    sizes: IntArray


@dataclass(frozen=True)
class NormingAgreement:
    """Shares of best and worst choices that two people have in common, over every two people and every tuple.

    alone: of all first answers, of `people` people. before, after: of the answers that were given in both rounds, by
    `again` people, so that the two compare the same people and tuples; change: after less before. None where no two
    people answered a tuple. chance: what guessing reaches, None without answers.
    """

    people: int
    alone: Estimate | None
    again: int
    before: Estimate | None
    after: Estimate | None
    change: Estimate | None
    chance: float | None


def norming_agreement(
    answers: NormingAnswers, *, resamples: int = RESAMPLES, seed: int = 1234
) -> NormingAgreement:
    """Two answers to a tuple agree in 0, 1/2 or 1 of their choices; ties are left out.

    Intervals are percentiles of resamples (Efron 1979) of tuples and, with at least three people, of people: the wider
    of the two. Both rounds have the same resamples, so the interval of the change is one of paired differences.
    """
    decided = answers.first[:, 0] >= 0
    # A pair of people is compared in the second round only if both answered the tuple in both rounds.
    both = decided & (answers.second[:, 0] >= 0)
    alone = _agreements(answers, decided, resamples, seed)
    before, after, change = _agreements(answers, both, resamples, seed)
    # A guess repeats a choice among k items with the chance 1 / k.
    return NormingAgreement(
        people=len(np.unique(answers.people[decided])),
        alone=alone[0],
        again=len(np.unique(answers.people[both])),
        before=before,
        after=after,
        change=change,
        chance=float((1 / answers.sizes[decided]).mean()) if decided.any() else None,
    )


def _agreements(
    answers: NormingAnswers, kept: np.ndarray, resamples: int, seed: int
) -> tuple[Estimate | None, Estimate | None, Estimate | None]:
    """Of the first answers, of the second, and the second less the first."""
    tuples, people = answers.tuples[kept], answers.people[kept]
    first, second = answers.first[kept], answers.second[kept]
    one, two = pairs_of_people(tuples)  # every two people of a tuple (q,)
    before = choices_alike(first[one, 0], first[one, 1], first[two, 0], first[two, 1])  # (q,)
    after = choices_alike(second[one, 0], second[one, 1], second[two, 0], second[two, 1])
    # One set of resamples for all three figures, so that the change is a paired difference.
    draws = Draws(tuples, people, resamples, np.random.default_rng(seed))
    found = [draws.estimate(alike, one, two) for alike in (before, after, after - before)]
    return found[0], found[1], found[2]
