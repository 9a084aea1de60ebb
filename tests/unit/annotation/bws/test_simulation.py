"""Simulated annotators do what they are told to: see through noise, or guess."""

from collections import Counter

import numpy as np
import pytest

from annotation.bws.studies.simulation import (
    SimulatedAnnotator,
    differing_annotators,
    simulated_choices,
    simulated_judgements,
)


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def test_without_noise_the_best_and_the_worst_are_found() -> None:
    values = rng().standard_normal((200, 4))

    best, worst = simulated_choices(values, SimulatedAnnotator(noise=0), rng())

    assert np.array_equal(best, values.argmax(axis=1))
    assert np.array_equal(worst, values.argmin(axis=1))


def test_a_careless_annotator_gives_every_answer_equally_often() -> None:
    values = np.tile([5.0, 1.0, 0.0, -5.0], (12_000, 1))

    best, worst = simulated_choices(values, SimulatedAnnotator(noise=0, careless=1), rng())

    answers = Counter(zip(best.tolist(), worst.tolist(), strict=True))
    assert len(answers) == 12
    assert all(times == pytest.approx(1000, abs=130) for times in answers.values())


def test_best_is_never_worst_even_among_equal_items() -> None:
    best, worst = simulated_choices(np.zeros((500, 2)), SimulatedAnnotator(noise=0), rng())

    assert (best != worst).all()


def test_more_noise_finds_the_best_less_often() -> None:
    values = rng().standard_normal((4000, 4))

    right = [
        (simulated_choices(values, SimulatedAnnotator(noise), rng())[0] == values.argmax(axis=1)).mean()
        for noise in (0.2, 0.7, 2.0)
    ]

    assert right == sorted(right, reverse=True)
    assert right[0] > right[2] + 0.3


def test_every_tuple_is_judged_by_different_people_and_the_work_is_even() -> None:
    tuples = np.array([[i, i + 1, i + 2] for i in range(50)])

    judgements = simulated_judgements(
        tuples, np.arange(52.0), annotators=[SimulatedAnnotator()] * 7, judgements_per_tuple=3, seed=1
    )

    assert judgements.annotators is not None
    judged = Counter(zip(judgements.items[:, 0].tolist(), judgements.annotators.tolist(), strict=True))
    work = Counter(judgements.annotators.tolist())
    assert len(judgements) == 150
    assert max(judged.values()) == 1
    assert max(work.values()) - min(work.values()) <= 4


def test_different_people_come_together_in_different_tuples() -> None:
    tuples = np.array([[i, i + 1] for i in range(200)])

    judgements = simulated_judgements(
        tuples, np.arange(201.0), annotators=[SimulatedAnnotator()] * 4, judgements_per_tuple=2, seed=1
    )

    assert judgements.annotators is not None
    people: dict[int, set[int]] = {}
    for first, person in zip(judgements.items[:, 0].tolist(), judgements.annotators.tolist(), strict=True):
        people.setdefault(first, set()).add(person)
    assert len({frozenset(pair) for pair in people.values()}) == 6


def test_the_same_seed_gives_the_same_judgements() -> None:
    tuples = np.array([[0, 1, 2], [2, 1, 3]])
    latent = np.array([0.0, 1.0, 2.0, 3.0])

    first, again = (
        simulated_judgements(
            tuples, latent, annotators=[SimulatedAnnotator()] * 3, judgements_per_tuple=2, seed=5
        )
        for _ in range(2)
    )

    assert np.array_equal(first.items, again.items)
    assert np.array_equal(first.best, again.best)


def test_more_judgements_than_annotators_are_refused() -> None:
    with pytest.raises(ValueError, match="3 judgements per tuple need as many annotators, not 2"):
        simulated_judgements(
            np.array([[0, 1]]),
            np.zeros(2),
            annotators=[SimulatedAnnotator()] * 2,
            judgements_per_tuple=3,
            seed=0,
        )


def test_a_position_without_an_item_is_never_chosen() -> None:
    values = np.array([[3.0, 1.0, 2.0, np.nan], [0.0, 9.0, np.nan, np.nan]])

    best, worst = simulated_choices(values, SimulatedAnnotator(noise=0), rng())
    guessed, _ = simulated_choices(np.tile(values, (300, 1)), SimulatedAnnotator(careless=1), rng())

    assert (best.tolist(), worst.tolist()) == ([0, 1], [1, 0])
    assert (guessed[0::2].max(), guessed[1::2].max()) == (2, 1)


def test_the_noise_of_people_who_differ_is_log_normal_around_its_median() -> None:
    people = differing_annotators(4000, noise=0.7, spread=0.35, careless=0.1, rng=rng())

    logs = np.log([person.noise for person in people])
    assert np.median(logs) == pytest.approx(np.log(0.7), abs=0.02)
    assert logs.std() == pytest.approx(0.35, abs=0.015)
    assert {person.careless for person in people} == {0.1}


def test_somebody_who_is_not_described_sees_through_a_noise_of_one_half_and_never_guesses() -> None:
    values = np.tile([1.0, 0.5, 0.0, -0.5], (50, 1))

    one, other = (
        simulated_choices(values, annotator, rng())
        for annotator in (SimulatedAnnotator(), SimulatedAnnotator(noise=0.5, careless=0.0))
    )

    assert np.array_equal(one, other)
