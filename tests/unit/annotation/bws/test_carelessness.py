"""Signs of carelessness: what careless people show, and how seldom careful ones show it by chance."""

import numpy as np
import pytest

from annotation.bws.annotators.agreement import leave_one_out_agreement
from annotation.bws.annotators.carelessness import (
    Answers,
    SignKind,
    agreement_signs,
    carelessness_signs,
    reading_letters,
)
from annotation.bws.designs.design import design_tuples
from annotation.bws.studies.simulation import SimulatedAnnotator, differing_annotators, simulated_judgements

LETTERS = 440  # four pairs of two sentences of 55 letters, as of the STS benchmark


def answers_of(
    rng: np.random.Generator, number: int, *, median: float = 14.0, spread: float = 0.4, size: int = 4
) -> Answers:
    """A careful person: cards in random order, log-normal times."""
    best = rng.integers(0, size, number)
    return Answers(
        best=best,
        worst=(best + rng.integers(1, size, number)) % size,
        sizes=np.full(number, size),
        seconds=median * np.exp(spread * rng.standard_normal(number)),
        letters=np.full(number, LETTERS),
    )


def changed(answers: Answers, **arrays) -> Answers:
    return Answers(**({name: getattr(answers, name) for name in Answers.__dataclass_fields__} | arrays))


def kinds(answers: Answers) -> set[SignKind]:
    return {sign.kind for sign in carelessness_signs(answers)}


def test_a_careful_person_shows_no_sign() -> None:
    assert carelessness_signs(answers_of(np.random.default_rng(0), 60)) == []


def test_a_script_that_answers_every_third_of_a_second_is_fast_and_even() -> None:
    answers = changed(answers_of(np.random.default_rng(1), 12), seconds=np.full(12, 0.3))

    speed, rhythm = carelessness_signs(answers)

    # 440 letters at 238 words of six letters a minute, three times as fast: 440 / 71.4 = 6.16 s.
    assert (speed.kind, speed.value, speed.count, speed.share) == (SignKind.SPEED, 0.3, 12, 1.0)
    assert (speed.role, speed.position) == ("", 0)  # of no place
    assert speed.expected == pytest.approx(440 / 71.4)
    assert (rhythm.kind, rhythm.value) == (SignKind.RHYTHM, 0.0)


def test_nine_fast_answers_are_too_few_to_say_anything() -> None:
    assert carelessness_signs(changed(answers_of(np.random.default_rng(2), 9), seconds=np.full(9, 0.3))) == []


def test_somebody_who_grows_careless_is_seen_by_the_latest_answers() -> None:
    answers = answers_of(np.random.default_rng(3), 400)
    seconds = answers.seconds.copy()
    seconds[-50:] = 1.0 + np.random.default_rng(4).random(50)

    assert kinds(changed(answers, seconds=seconds)) == {SignKind.SPEED}


def test_one_position_every_time_is_a_habit() -> None:
    answers = answers_of(np.random.default_rng(5), 20)

    (sign,) = carelessness_signs(changed(answers, best=np.zeros(20, dtype=np.int64)))

    assert (sign.kind, sign.role, sign.position, sign.value, sign.expected) == (
        SignKind.POSITION,
        "best",
        1,
        1.0,
        0.25,
    )


@pytest.mark.parametrize(("number", "signs"), [(15, set()), (16, {SignKind.POSITION})])
def test_fewer_than_sixteen_answers_say_nothing_of_positions(number, signs) -> None:
    answers = answers_of(np.random.default_rng(5), number)

    assert kinds(changed(answers, best=np.zeros(number, dtype=np.int64))) == signs


def test_a_slight_habit_over_many_answers_is_no_sign() -> None:
    rng = np.random.default_rng(6)
    best = rng.choice(4, size=2000, p=[0.33, 0.23, 0.22, 0.22])

    assert carelessness_signs(changed(answers_of(rng, 2000), best=best)) == []


def test_going_round_the_positions_is_too_regular() -> None:
    answers = answers_of(np.random.default_rng(7), 24)

    (sign,) = carelessness_signs(changed(answers, best=np.arange(24) % 4))

    assert (sign.kind, sign.role, sign.count, sign.value) == (SignKind.ORDER, "best", 23, 1.0)


def test_a_step_to_or_from_a_tie_is_no_step() -> None:
    best = np.arange(40) % 4
    best[[5, 14, 23, 32]] = -1

    (sign,) = carelessness_signs(changed(answers_of(np.random.default_rng(7), 40), best=best))

    # 39 steps between 40 answers, less the two beside each of four ties.
    assert (sign.kind, sign.role, sign.count, sign.value) == (SignKind.ORDER, "best", 31, 1.0)


def test_what_nobody_timed_is_neither_fast_nor_even() -> None:
    assert (
        carelessness_signs(changed(answers_of(np.random.default_rng(8), 40), seconds=np.full(40, np.nan)))
        == []
    )


def test_ties_choose_no_position() -> None:
    answers = changed(answers_of(np.random.default_rng(9), 30), best=np.full(30, -1), worst=np.full(30, -1))

    assert carelessness_signs(answers) == []


def test_a_chinese_character_takes_as_long_as_three_letters() -> None:
    assert reading_letters("two dogs") == 8
    assert reading_letters("两只狗") == 9


@pytest.mark.parametrize(("median", "size"), [(14.0, 4), (9.0, 4), (14.0, 2)])
def test_careful_people_who_are_looked_at_after_each_answer_are_hardly_ever_signed(median, size) -> None:
    """`docs/experiments/carelessness.py` has the rates of the guide, of many more people and looks."""
    rng = np.random.default_rng([10, int(median), size])
    people, number = 60, 120
    signed = 0
    for _person in range(people):
        whole = answers_of(rng, number, median=median, size=size)
        arrays = [getattr(whole, name) for name in Answers.__dataclass_fields__]
        signed += any(
            carelessness_signs(Answers(*(array[:seen] for array in arrays)))
            for seen in range(20, number + 1, 20)
        )

    assert signed <= 1


def signed_in_a_campaign(people: list[SimulatedAnnotator], seed: int) -> set[int]:
    latent = np.random.default_rng(seed).standard_normal(60)
    judgements = simulated_judgements(
        design_tuples(60, seed=seed).tuples, latent, annotators=people, judgements_per_tuple=4, seed=seed
    )
    found = leave_one_out_agreement(judgements)
    rows = zip(found.shares.tolist(), found.errors.tolist(), found.judgements.tolist(), strict=True)
    return set(agreement_signs(dict(zip(found.annotators.tolist(), rows, strict=True))))


def test_those_who_answer_at_random_agree_too_little() -> None:
    people = [SimulatedAnnotator(noise=0.5)] * 6 + [SimulatedAnnotator(careless=1.0)] * 2

    found = [signed_in_a_campaign(people, seed) for seed in range(4)]

    assert sum(len(signed & {6, 7}) for signed in found) >= 7
    assert not any(signed & set(range(6)) for signed in found)


@pytest.mark.exhaustive
def test_people_of_different_noise_are_hardly_ever_signed() -> None:
    rng = np.random.default_rng(11)

    found = [
        signed_in_a_campaign(differing_annotators(8, noise=0.6, spread=0.3, careless=0.0, rng=rng), seed)
        for seed in range(12)
    ]

    assert sum(map(len, found)) <= 1


def test_two_people_are_too_few_to_say_who_disagrees() -> None:
    assert agreement_signs({1: (0.9, 0.01, 50), 2: (0.5, 0.02, 50), 3: (0.9, 0.01, 50)}) == {}


@pytest.mark.parametrize(("number", "signed"), [(9, []), (10, [7]), (11, [7])])
def test_nobody_is_signed_for_the_agreement_of_fewer_than_ten_judgements(number, signed) -> None:
    careful = dict.fromkeys(range(4), (0.9, 0.01, 50))

    assert list(agreement_signs(careful | {7: (0.5, 0.02, number)})) == signed


def test_where_hardly_anybody_agrees_nobody_is_signed() -> None:
    shares = dict.fromkeys(range(5), (0.55, 0.01, 100)) | {9: (0.45, 0.01, 100)}

    assert agreement_signs(shares) == {}
