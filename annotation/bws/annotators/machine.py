"""How a machine that judges tuples compares with the people who judged the same ones."""

from dataclasses import dataclass, replace

import numpy as np
import scipy

from annotation.bws.annotators.gold_gate import TWO_SIDED, share_bounds
from annotation.bws.annotators.pairwise import (
    RESAMPLES,
    Draws,
    choices_alike,
    pairs_of_people,
    ratio,
    times_drawn,
    widest,
)
from annotation.bws.annotators.position_bias import PositionBias, position_bias
from annotation.bws.judgements import FloatArray, IntArray
from curation.results.estimates import Estimate

FEWEST_TUPLES = 30  # that an annotator shares with others, for the t-test of the alternative annotator test
COST_BENEFIT = (
    0.15  # epsilon of Calderon and others (2025) for trained annotators; .2 for experts, .1 for crowds
)
SIGNIFICANCE = 0.05


@dataclass(frozen=True, eq=False)
class BlockAnswers:
    """What people and one machine answered to the same T tuples of k items.

    tuples, people, best, worst: (n,) of the judgements of people: the tuple's number from 0, the annotator's number,
    and the slots of the design, -1 for a tie. machine_best, machine_worst: (T, 2) slots that the machine chose when a
    tuple was put to it in one order and in the reversed one; -1 where it gave no answer. first_order: (T, k) the slots
    in the order of the first. sizes: (T,) items of each tuple.
    """

    tuples: IntArray
    people: IntArray
    best: IntArray
    worst: IntArray
    machine_best: IntArray
    machine_worst: IntArray
    first_order: IntArray
    sizes: IntArray


@dataclass(frozen=True)
class LeftOut:
    """One annotator against the machine: who agrees at least as well with the others, tuple by tuple.

    tuples: that others judged too. machine, person: the shares of them in which the machine, or the annotator, agreed
    with the others at least as well as the other of the two. p: of the test that the machine's share is below the
    annotator's by the cost-benefit penalty or more; NaN with fewer than FEWEST_TUPLES. won: whether that is rejected.
    """

    annotator: int
    tuples: int
    machine: float
    person: float
    p: float
    won: bool

    @property
    def tested(self) -> bool:
        return not np.isnan(self.p)


@dataclass(frozen=True)
class AlternativeTest:
    """The alternative annotator test. tested: annotators with enough tuples. winning_rate: the share of them that the
    machine may replace, with an exact interval over annotators. advantage: the mean of their `machine` shares, with an
    interval over tuples. passed: whether the machine may replace half of them or more.
    """

    left_out: tuple[LeftOut, ...]
    tested: int
    winning_rate: Estimate | None
    advantage: Estimate | None
    passed: bool
    cost_benefit: float


@dataclass(frozen=True)
class MachineComparison:
    """tuples: that at least one person judged. unanswered: questions (two a tuple) without an answer.

    agreement: share of the best and worst choices of people that the machine's answer to the first order repeats;
    among_people: that one person's choices repeat another's; difference: the first less the second, on the tuples that
    two people or more judged. chance: what guessing reaches. consistency: share of best and worst choices that the
    machine repeats when the order is reversed. best_positions, worst_positions: of the first order, which was drawn.
    """

    tuples: int
    judgements: int
    unanswered: int
    chance: float
    agreement: Estimate | None
    among_people: Estimate | None
    difference: Estimate | None
    consistency: Estimate | None
    best_positions: PositionBias
    worst_positions: PositionBias
    alternative: AlternativeTest


def compare_machine(
    answers: BlockAnswers, *, cost_benefit: float = COST_BENEFIT, resamples: int = RESAMPLES, seed: int = 1234
) -> MachineComparison:
    """Compare a machine with people.

    Two answers to one tuple agree in 0, 1/2 or 1 of their choices, best and worst. A question without an answer agrees
    with nobody; ties of people are left out. Intervals are percentiles of resamples (Efron 1979) of tuples and, if at
    least three people judged, of people: the wider of the two.
    """
    rng = np.random.default_rng(seed)
    decided = answers.best >= 0
    tuples, people = answers.tuples[decided], answers.people[decided]
    best, worst = answers.best[decided], answers.worst[decided]
    # Agreement of each judgement (n,) with the machine's answer to the first order: 0, 1/2 or 1.
    with_machine = choices_alike(
        best, worst, answers.machine_best[tuples, 0], answers.machine_worst[tuples, 0]
    )
    one, two = pairs_of_people(tuples)  # (q,), (q,)
    with_each_other = choices_alike(best[one], worst[one], best[two], worst[two])
    draws = Draws(tuples, people, resamples, rng)
    each = np.arange(len(tuples))
    agreement = draws.estimate(with_machine, each, each)
    among = draws.estimate(with_each_other, one, two)
    difference = draws.difference(with_machine, with_each_other, one, two)
    # Consistency: how often the machine's answers to both orders of a tuple agree.
    consistency = None
    if (both := (answers.machine_best >= 0).all(axis=1)).any():
        best, worst = answers.machine_best[both], answers.machine_worst[both]
        alike = choices_alike(best[:, 0], worst[:, 0], best[:, 1], worst[:, 1])
        # Tuples drawn with replacement: (resamples, tuples).
        drawn = alike[rng.integers(0, len(alike), size=(resamples, len(alike)))].mean(axis=1)
        consistency = widest(float(alike.mean()), [drawn])
    return MachineComparison(
        tuples=len(np.unique(tuples)),
        judgements=len(tuples),
        unanswered=int((answers.machine_best < 0).sum()),
        # A guess repeats a choice among k items with the chance 1 / k, the best as the worst.
        chance=float((1 / answers.sizes[tuples]).mean()) if len(tuples) else float("nan"),
        agreement=agreement,
        among_people=among,
        difference=difference,
        consistency=consistency,
        best_positions=_positions(answers, answers.machine_best[:, 0]),
        worst_positions=_positions(answers, answers.machine_worst[:, 0]),
        alternative=alternative_annotator_test(
            AlignedJudgements(tuples, people, with_machine, one, two, with_each_other),
            cost_benefit=cost_benefit,
            resamples=resamples,
            rng=rng,
        ),
    )


def _positions(answers: BlockAnswers, slots: IntArray) -> PositionBias:
    """The screen positions of what the machine chose in the first order."""
    answered = np.flatnonzero(slots >= 0)
    # (answered,): where the chosen slot was shown.
    place = (answers.first_order[answered] == slots[answered, None]).argmax(axis=1)
    return position_bias(place, answers.sizes[answered])


@dataclass(frozen=True, eq=False)
class AlignedJudgements:
    """tuples, people, with_machine: (n,) of judgements: which tuple, whose, and its agreement with the machine.

    one, two, alike: (q,) of every two judgements of a tuple: their places among the n, and their agreement.
    """

    tuples: IntArray
    people: IntArray
    with_machine: FloatArray
    one: IntArray
    two: IntArray
    alike: FloatArray


def alternative_annotator_test(
    judged: AlignedJudgements, *, cost_benefit: float, resamples: int, rng: np.random.Generator
) -> AlternativeTest:
    """The alternative annotator test of Calderon, Reichart and Dror (2025): may the machine replace an annotator?

    Each annotator is left out in turn. On every tuple that others judged too, the machine and the annotator are
    compared by their mean agreement with these others; equal ones both win. d is the annotator's win less the machine's
    (0 or 1 each). H0: the mean of d is at least the cost-benefit penalty, by a one-sided t-test; the p values of all
    annotators by Benjamini and Yekutieli (2001) at 5 %. The winning rate is the share of rejected H0; the machine
    passes with one half or more.
    """
    tuples, people, with_machine = judged.tuples, judged.people, judged.with_machine
    one, two, alike = judged.one, judged.two, judged.alike
    n = len(tuples)
    others = np.bincount(np.concatenate([one, two]), minlength=n)  # judgements beside this one, of its tuple
    # Sum of the agreements with the others (n,).
    own = np.bincount(np.concatenate([one, two]), weights=np.concatenate([alike, alike]), minlength=n)
    # The machine's agreement with the others: that with everybody of the tuple less that with the annotator.
    # Sum of the machine's agreements with all of the tuple (T,).
    everybody = np.bincount(tuples, weights=with_machine, minlength=int(tuples.max(initial=-1)) + 1)
    machine = everybody[tuples] - with_machine
    # Sums of the same number of halves compare as their means do, and exactly.
    machine_wins, person_wins = (each.astype(np.float64) for each in (machine >= own, own >= machine))
    left_out, tested = [], []
    for annotator in np.unique(people).tolist():
        rows = np.flatnonzero((people == annotator) & (others > 0))
        p = float("nan")
        if len(rows) >= FEWEST_TUPLES:
            # d = 1, 0 or -1 of each tuple (without ties in both, which are 0).
            differences = person_wins[rows] - machine_wins[rows]
            if differences.std() == 0:  # without any spread the mean itself decides
                # With sd = 0, t is infinite: the mean is below epsilon or it is not.
                p = 0.0 if differences[0] < cost_benefit else 1.0
            else:
                # t = (mean d - epsilon) / SE, lower tail.
                p = float(scipy.stats.ttest_1samp(differences, cost_benefit, alternative="less").pvalue)
            tested.append(rows)
        if len(rows):
            shares = float(machine_wins[rows].mean()), float(person_wins[rows].mean())
            left_out.append(LeftOut(annotator, len(rows), *shares, p, won=False))
    ps = [each.p for each in left_out if each.tested]
    # p values of different annotators depend on each other through shared tuples, which the method BY allows.
    adjusted = iter(scipy.stats.false_discovery_control(ps, method="by").tolist() if ps else [])
    decided = tuple(
        replace(each, won=next(adjusted) <= SIGNIFICANCE) if each.tested else each for each in left_out
    )
    won = sum(each.won for each in decided)
    return AlternativeTest(
        left_out=decided,
        tested=len(ps),
        winning_rate=Estimate(won / len(ps), *share_bounds(won, len(ps), TWO_SIDED)) if ps else None,
        advantage=_advantage(tuples, machine_wins, tested, resamples, rng) if ps else None,
        passed=bool(ps) and won >= len(ps) / 2,
        cost_benefit=cost_benefit,
    )


def _advantage(
    tuples: IntArray, wins: FloatArray, tested: list[IntArray], resamples: int, rng: np.random.Generator
) -> Estimate:
    """The mean over annotators of the share that the machine wins, over resamples of tuples."""
    times = times_drawn(int(tuples.max()) + 1, resamples, rng)
    # A row of `times` (T, resamples) says how often a tuple was drawn: weighted means without copying.
    drawn = np.array(
        # rho_j of each tested annotator j in each resample (annotators, resamples).
        [ratio(wins[rows] @ times[tuples[rows]], times[tuples[rows]].sum(axis=0)) for rows in tested]
    )
    # Mean over annotators of the share in which the machine wins.
    value = float(np.mean([wins[rows].mean() for rows in tested]))
    return widest(value, [np.nanmean(drawn, axis=0)])
