"""A machine against people: hand-worked agreements, the test of an alternative annotator, and simulated machines."""

import numpy as np
import pytest
from scipy.stats import false_discovery_control, ttest_1samp

from annotation.bws.annotators.machine import BlockAnswers, MachineComparison, compare_machine
from annotation.bws.studies.simulation import SimulatedAnnotator, simulated_choices
from curation.results.estimates import Estimate


def answers(
    people: list[tuple[int, int, int, int]], machine: list[tuple[int, int, int, int]], **more
) -> BlockAnswers:
    """people: (tuple, person, best, worst) of each judgement; machine: best and worst in the first order, then in the
    reversed one. Tuples of four.
    """
    rows = np.array(people, dtype=np.int64).reshape(-1, 4)
    given = np.array(machine).reshape(-1, 2, 2)
    order = more.get("order", np.tile(np.arange(4), (len(machine), 1)))
    return BlockAnswers(*rows.T, given[:, :, 0], given[:, :, 1], np.asarray(order), np.full(len(machine), 4))


def value(estimate: Estimate | None) -> float:
    assert estimate is not None
    return estimate.value


def simulated(
    noise: float, *, tuples: int = 120, people: int = 5, machine_noise: float, seed: int = 3
) -> BlockAnswers:
    """Everybody judges every tuple; the machine has a noise of its own, or guesses where that is infinite."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(tuples, 4))
    chosen = [simulated_choices(values, SimulatedAnnotator(noise=noise), rng) for _ in range(people)]
    manner = (
        SimulatedAnnotator(careless=1.0)
        if np.isinf(machine_noise)
        else SimulatedAnnotator(noise=machine_noise)
    )
    machine = [simulated_choices(values, manner, rng) for _ in range(2)]
    order = rng.permuted(np.tile(np.arange(4), (tuples, 1)), axis=1)
    numbers = np.tile(np.arange(tuples), people)
    best, worst = (np.concatenate([pair[side] for pair in chosen]) for side in (0, 1))
    return BlockAnswers(
        numbers,
        np.repeat(np.arange(people), tuples),
        best,
        worst,
        np.stack([pair[0] for pair in machine], axis=1),
        np.stack([pair[1] for pair in machine], axis=1),
        order,
        np.full(tuples, 4),
    )


def test_agreements_are_shares_of_choices_that_are_alike() -> None:
    judged = answers(
        [(0, 1, 0, 3), (0, 2, 0, 2), (1, 1, 1, 2), (1, 2, 1, 2), (2, 1, 3, 0)],
        [(0, 3, 0, 3), (1, 0, 2, 0), (0, 3, 3, 0)],
    )

    found = compare_machine(judged, resamples=50)

    assert (found.tuples, found.judgements, found.unanswered, found.chance) == (3, 5, 0, 0.25)
    # With people: 1, 1/2, 1/2, 1/2 and 0. Two people: 1/2 in the first tuple, 1 in the second.
    assert value(found.agreement) == pytest.approx(2.5 / 5)
    assert value(found.among_people) == pytest.approx(0.75)
    assert value(found.difference) == pytest.approx(2.5 / 4 - 0.75)
    # Both orders: alike, best differs, both differ.
    assert value(found.consistency) == pytest.approx((1 + 0.5 + 0) / 3)


def test_what_the_machine_did_not_answer_agrees_with_nobody_and_ties_of_people_are_left_out() -> None:
    judged = answers([(0, 1, 0, 3), (0, 2, -1, -1), (1, 1, 1, 2)], [(-1, -1, 0, 3), (1, 2, 1, 2)])

    found = compare_machine(judged, resamples=50)

    assert (found.judgements, found.unanswered) == (2, 1)
    assert value(found.agreement) == 0.5
    assert found.among_people is None
    assert value(found.consistency) == 1


@pytest.mark.parametrize(("people", "resampled"), [(4, True), (2, False)])
def test_people_who_differ_widen_the_interval_where_there_are_enough_of_them(people, resampled) -> None:
    # Every second person always agrees with the machine and the others never, so all tuples are alike.
    chosen = [(0, 3), (1, 2)]
    judged = [(number, person, *chosen[person % 2]) for number in range(20) for person in range(people)]

    found = compare_machine(answers(judged, [(0, 3, 0, 3)] * 20), resamples=50).agreement

    assert value(found) == 0.5
    assert (found.low < 0.4, found.high > 0.6) == (resampled, resampled)


def test_positions_are_those_of_the_first_order() -> None:
    order = [[3, 2, 1, 0], [1, 0, 2, 3]]
    judged = answers([(0, 1, 0, 3)], [(3, 0, 3, 0), (1, 3, 1, 3)], order=order)

    found = compare_machine(judged, resamples=50)

    assert found.best_positions.counts == (2, 0, 0, 0)
    assert found.worst_positions.counts == (0, 0, 0, 2)


def test_the_alternative_annotator_test_is_that_of_scipy_on_hand_counted_wins() -> None:
    judged = simulated(0.8, machine_noise=0.8, people=3, tuples=40)
    found = compare_machine(judged, resamples=50)

    ps = []
    for person in range(3):
        wins = []
        for number in range(40):
            others = [
                (judged.best[row], judged.worst[row])
                for row in np.flatnonzero((judged.tuples == number) & (judged.people != person))
            ]
            own = np.flatnonzero((judged.tuples == number) & (judged.people == person))[0]
            with_others = [
                sum(int(best == b) + int(worst == w) for b, w in others)
                for best, worst in (
                    (judged.machine_best[number, 0], judged.machine_worst[number, 0]),
                    (judged.best[own], judged.worst[own]),
                )
            ]
            wins.append((with_others[0] >= with_others[1], with_others[1] >= with_others[0]))
        machine, own_wins = np.array(wins, dtype=float).T
        left_out = found.alternative.left_out[person]
        assert (left_out.machine, left_out.person) == (machine.mean(), own_wins.mean())
        ps.append(ttest_1samp(own_wins - machine, 0.15, alternative="less").pvalue)
    assert [each.p for each in found.alternative.left_out] == pytest.approx(ps)
    rejected = false_discovery_control(ps, method="by") <= 0.05
    assert [each.won for each in found.alternative.left_out] == rejected.tolist()
    assert found.alternative.winning_rate is not None
    assert found.alternative.winning_rate.value == rejected.mean()


@pytest.mark.parametrize(("machine", "p", "won"), [((0, 3), 0.0, True), ((1, 2), 1.0, False)])
def test_a_machine_that_always_or_never_agrees_needs_no_t_test(machine, p, won) -> None:
    people = [(number, person, 0, 3) for number in range(30) for person in range(3)]

    found = compare_machine(answers(people, [(*machine, *machine)] * 30), resamples=50).alternative

    assert [(each.p, each.won) for each in found.left_out] == [(p, won)] * 3
    assert found.passed == won


def passes(machine_noise: float, seed: int) -> MachineComparison:
    return compare_machine(simulated(0.6, machine_noise=machine_noise, seed=seed), resamples=200)


def test_a_machine_as_good_as_people_passes_and_one_that_guesses_does_not() -> None:
    as_good = [passes(0.4, seed) for seed in range(10)]
    guessing = [passes(np.inf, seed) for seed in range(10)]

    assert sum(each.alternative.passed for each in as_good) >= 9
    assert not any(each.alternative.passed for each in guessing)
    figures = [(each.agreement, each.difference, each.chance) for each in guessing]
    assert all(difference is not None and difference.high < 0 for _agreement, difference, _chance in figures)
    held = [
        agreement is not None and agreement.low <= chance <= agreement.high
        for agreement, _, chance in figures
    ]
    assert sum(held) >= 8


@pytest.mark.exhaustive
def test_intervals_contain_the_agreement_of_many_tuples() -> None:
    truth = compare_machine(simulated(0.6, machine_noise=0.6, tuples=8000, people=3), resamples=10).agreement
    assert truth is not None
    found = [
        compare_machine(
            simulated(0.6, machine_noise=0.6, tuples=60, people=4, seed=seed), resamples=200
        ).agreement
        for seed in range(60)
    ]

    held = sum(each.low <= truth.value <= each.high for each in found if each is not None)
    assert held / 60 >= 0.85


def test_few_tuples_are_not_tested() -> None:
    found = compare_machine(simulated(0.6, machine_noise=0.6, tuples=29), resamples=50).alternative

    assert (found.tested, found.winning_rate, found.passed) == (0, None, False)
    assert len(found.left_out) == 5


def test_without_any_judgement_there_are_no_figures() -> None:
    found = compare_machine(answers([], [(0, 1, 0, 1)]), resamples=50)

    assert (found.agreement, found.among_people, found.difference) == (None, None, None)
