"""Ratings on a scale, and the comparison of two methods in the same time."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy.stats import sem, spearmanr, zscore

from annotation.bws.judgements import Judgements
from annotation.bws.reliability.ratings import HalfMeans, Ratings, halves_of_ratings, rating_scores
from annotation.bws.reliability.split_half import TooFewJudgements
from annotation.bws.studies.methods import MethodsPoint, Timed, methods_compared
from curation.statistics.influence import spearman_by_pair

MINUTE = 60.0


def ratings_of(rows: list[tuple[int, int, float]], items: int = 3) -> Ratings:
    """rows: item, person, value."""
    item, person, value = zip(*rows, strict=True)
    return Ratings(np.array(item), np.array(person), np.array(value, dtype=float), items)


def test_the_score_of_an_item_is_the_mean_of_its_ratings() -> None:
    scores = rating_scores(ratings_of([(0, 0, 10), (0, 1, 30), (2, 1, 70)]))

    assert scores[[0, 2]].tolist() == [20, 70]
    assert np.isnan(scores[1])


def test_standardised_values_are_the_z_scores_of_each_person() -> None:
    ratings = ratings_of([(0, 0, 10), (0, 1, 3), (1, 0, 20), (1, 1, 3), (2, 0, 60), (2, 1, 3)])
    values = ratings.standardised().values

    assert values[0::2] == pytest.approx(zscore([10, 20, 60], ddof=1))
    assert values[1::2].tolist() == [0, 0, 0]  # always the same value says nothing


def test_before_anybody_has_rated_there_is_nothing_to_standardise() -> None:
    nobody = np.zeros(0, dtype=int)

    assert len(Ratings(nobody, nobody, np.zeros(0), 3).standardised()) == 0


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ([(0, 0, 1), (0, 0, 2)], "twice"),
        ([(3, 0, 1)], "between 0 and 2"),
        ([(0, 0, 1), (-1, 0, 1)], "between 0 and 2"),
    ],
)
def test_what_is_no_set_of_ratings_is_refused(rows, sentence) -> None:
    with pytest.raises(ValueError, match=sentence):
        ratings_of(rows)


def test_halves_share_the_ratings_of_each_item_and_the_odd_one_goes_to_either() -> None:
    ratings = ratings_of([(item, person, 0) for item in range(3) for person in range(3 + item)])
    halves = halves_of_ratings(ratings, 200, np.random.default_rng(1))
    firsts = np.array([halves.first[ratings.items == item].sum(axis=0) for item in range(3)])  # (3, 200)

    assert [set(each) for each in firsts.tolist()] == [{1, 2}, {2}, {2, 3}]
    assert halves.first.mean(axis=1) == pytest.approx(0.5, abs=0.1)


def test_a_smaller_half_keeps_one_rating_of_each_item_before_a_second() -> None:
    ratings = ratings_of([(item, person, 0) for item in range(3) for person in range(4)])
    halves = halves_of_ratings(ratings, 50, np.random.default_rng(1))
    kept = halves.smaller(3)

    for half in (halves.first, ~halves.first):
        for item in range(3):
            assert set((kept & half)[ratings.items == item].sum(axis=0)) == {1}
    assert halves.smaller(99).all()


def test_means_of_halves_by_hand_and_an_item_without_a_rating_gets_the_middle() -> None:
    ratings = ratings_of([(0, 0, 10), (0, 1, 30), (1, 0, 50), (2, 1, 80)])
    first = np.array([[True], [False], [True], [False]])
    weights = np.array([[1], [1], [2], [1]])
    one, two = HalfMeans(ratings).count(first, weights)

    assert one.tolist() == [[10, 50, 30]]
    assert two.tolist() == [[30, 55, 80]]


def test_an_answer_lasts_since_the_last_one_and_a_pause_is_no_work() -> None:
    timed = Timed(
        people=np.array([1, 2, 1, 1, 1, 2, 3]),
        shown=np.array([0, np.nan, 12, 4000, 4030, 30, 20.5]),
        given=np.array([10.0, 20, 25, 4020, 4050, 45, 20]),
    )

    # Person 1: 10 s, 15 s, then a pause (20 s since it was shown), 30 s. Person 2: unknown, then 25 s. Person 3: shown
    # after it was given, by another clock.
    expected = [10, np.nan, 15, 20, 30, 25, np.nan]
    assert timed.seconds() == pytest.approx(expected, nan_ok=True)


def test_an_answer_may_come_a_whole_pause_after_the_last_one_and_no_longer() -> None:
    timed = Timed(
        people=np.zeros(3, dtype=int), shown=np.array([0.0, 65, 130]), given=np.array([5.0, 65, 126])
    )

    # 60 s after the one before is a pause at most; 61 s are longer, and the third was shown after it was given.
    assert timed.seconds(pause=60) == pytest.approx([5, 60, np.nan], nan_ok=True)


def world(
    *, judge_noise: float, rate_noise: float, seed: int = 1, items: int = 60, each: int = 4
) -> tuple[Judgements, Ratings]:
    """Judges see 2 tuples of 4 for each item, each judged by 4 people; `each` other people rate all items."""
    rng = np.random.default_rng(seed)
    latent = rng.normal(size=items)
    deck = np.concatenate([rng.permutation(items).reshape(-1, 4) for _ in range(8)])
    tuples = np.repeat(deck, 2, axis=0)
    seen = latent[tuples] + judge_noise * rng.normal(size=tuples.shape)
    judgements = Judgements.from_slots(
        tuples,
        seen.argmax(axis=1),
        seen.argmin(axis=1),
        item_count=items,
        annotators=np.arange(len(tuples)) % 5,
    )
    values = latent[:, None] + rate_noise * rng.normal(size=(items, each))
    ratings = Ratings(
        np.repeat(np.arange(items), each), np.tile(np.arange(each), items), values.ravel(), items
    )
    return judgements, ratings


def test_two_raters_halves_are_the_two_raters() -> None:
    judgements, ratings = world(judge_noise=0.3, rate_noise=0.5, each=2)
    compared = methods_compared(judgements, ratings, judgement_seconds=1, rating_seconds=2, trials=50)
    table = ratings.values.reshape(-1, 2)
    rng = np.random.default_rng(9)
    swapped = [
        table[np.arange(len(table))[:, None], rng.permuted([[0, 1]] * len(table), axis=1)] for _ in range(400)
    ]

    expected = np.mean([spearmanr(each[:, 0], each[:, 1])[0] for each in swapped])
    assert compared.last.slider.value == pytest.approx(expected, abs=0.01)
    assert compared.last.ratings == 60


def test_the_same_time_for_each_pair_is_turned_into_numbers_of_answers() -> None:
    judgements, ratings = world(judge_noise=0.3, rate_noise=0.5, each=6)
    slow = methods_compared(judgements, ratings, judgement_seconds=20, rating_seconds=10, trials=10)
    quick = methods_compared(judgements, ratings, judgement_seconds=20, rating_seconds=5, trials=10)

    # 240 judgements of 20 s are 80 s for each of 60 pairs, so a half has 40 s: 120 judgements; 6 ratings of 10 s are
    # 30 s in a half, of 5 s 15 s.
    assert [(p.seconds, p.judgements, p.ratings) for p in (slow.last, quick.last)] == [
        (30, 90, 180),
        (15, 45, 180),
    ]
    assert [point.ratings for point in slow.points] == [60, 90, 120, 150, 180]


def test_the_curve_begins_where_every_pair_was_in_one_judgement_and_has_one_rating() -> None:
    judgements, ratings = world(judge_noise=0.3, rate_noise=0.5, each=6)

    found = methods_compared(judgements, ratings, judgement_seconds=20, rating_seconds=3, trials=10)

    # A judgement of four pairs takes 5 s of each pair's time, more than a rating; a half has 3 ratings of 3 s at most.
    assert [point.seconds for point in found.points] == [5, 6, 7, 8, 9]
    assert found.points[0].judgements == 15


def test_three_pairs_can_be_compared_and_two_cannot() -> None:
    judgements, ratings = world(judge_noise=0.3, rate_noise=0.5)
    three, two = (
        Ratings(ratings.items[some], ratings.people[some], ratings.values[some], 60)
        for some in (ratings.items < 3, ratings.items < 2)
    )

    assert methods_compared(judgements, three, judgement_seconds=5, rating_seconds=10, trials=20).pairs == 3
    with pytest.raises(TooFewJudgements, match="ratings of three pairs"):
        methods_compared(judgements, two, judgement_seconds=5, rating_seconds=10)


def test_the_less_noisy_method_is_found_and_equal_ones_are_not_distinguished() -> None:
    judgements, ratings = world(judge_noise=0.2, rate_noise=2.0)
    first = methods_compared(judgements, ratings, judgement_seconds=5, rating_seconds=10, trials=40).last
    judgements, ratings = world(judge_noise=2.0, rate_noise=0.2)
    second = methods_compared(judgements, ratings, judgement_seconds=5, rating_seconds=10, trials=40).last

    assert first.difference.low > 0
    assert second.difference.high < 0
    assert first.difference.value == pytest.approx(first.best_worst.value - first.slider.value)
    middle = (first.difference.low + first.difference.high) / 2
    assert middle == pytest.approx(first.difference.value)


def test_people_who_are_alike_leave_the_intervals_as_other_pairs_make_them() -> None:
    judgements, ratings = world(judge_noise=0.5, rate_noise=0.7, each=6)
    named, unnamed = (
        methods_compared(each, ratings, judgement_seconds=5, rating_seconds=10, trials=20).last.best_worst
        for each in (judgements, replace(judgements, annotators=None))
    )

    assert named.high - named.low < 1.2 * (unnamed.high - unnamed.low)


def test_intervals_do_not_depend_on_the_numbers_that_people_have() -> None:
    judgements, ratings = world(judge_noise=0.5, rate_noise=0.3, each=3, items=24)
    guessed = np.random.default_rng(7).permutation(ratings.values[ratings.people == 0])
    values = ratings.values.copy()
    values[ratings.people == 0] = 5 * guessed  # one of three people answers at random

    first, second, third = (
        methods_compared(
            judgements,
            Ratings(ratings.items, (ratings.people + shift) % 3, values, 24),
            judgement_seconds=5,
            rating_seconds=10,
            trials=20,
        ).last.slider
        for shift in range(3)
    )

    assert tuple(second) == pytest.approx(tuple(first))
    assert tuple(third) == pytest.approx(tuple(first))


def test_the_interval_is_that_of_the_pairs_pseudo_values_over_all_splits() -> None:
    judgements, _ = world(judge_noise=0.3, rate_noise=0.3, items=8)
    table = np.array([[1, 3], [2, 5], [4, 7], [8, 6]])
    ratings = ratings_of([(item, person, table[item, person]) for item in range(4) for person in range(2)], 8)
    compared = methods_compared(judgements, ratings, judgement_seconds=1, rating_seconds=2, trials=500)

    splits = [
        spearman_by_pair(table[range(4), left], table[range(4), 1 - np.array(left)])
        for left in product([0, 1], repeat=4)
    ]
    found = compared.last.slider
    to_either_side = (np.arctanh(found.high) - np.arctanh(found.low)) / 2 * (1 - found.value**2)
    assert found.value == pytest.approx(np.mean(splits), abs=0.03)
    assert to_either_side == pytest.approx(1.96 * sem(np.mean(splits, axis=0)), rel=0.06)


def test_scores_without_noise_correlate_and_have_no_interval() -> None:
    judgements, ratings = world(judge_noise=0.0, rate_noise=0.0)
    compared = methods_compared(judgements, ratings, judgement_seconds=5, rating_seconds=10, trials=20)

    assert tuple(compared.last.slider) == (1, 1, 1)
    assert compared.correlation.value > 0.9
    assert compared.people


def test_some_of_the_pairs_may_be_rated_and_few_people_are_not_resampled() -> None:
    judgements, ratings = world(judge_noise=0.3, rate_noise=0.3, each=2)
    some = ratings.items < 20
    part = Ratings(ratings.items[some], ratings.people[some], ratings.values[some], 60)
    compared = methods_compared(judgements, part, judgement_seconds=5, rating_seconds=10, trials=20)

    assert (compared.pairs, compared.people) == (20, False)
    assert compared.last.ratings == 20
    assert compared.last.judgements == 120  # the time of judgements is shared by all 60 pairs


def test_too_little_is_said_and_not_compared() -> None:
    judgements, ratings = world(judge_noise=0.3, rate_noise=0.3, each=2)
    once = ratings.people == 0
    alone = Ratings(ratings.items[once], ratings.people[once], ratings.values[once], 60)

    with pytest.raises(TooFewJudgements, match="too little yet"):
        methods_compared(judgements, alone, judgement_seconds=5, rating_seconds=10)


def test_a_rating_scale_has_no_part_in_it() -> None:
    judgements, ratings = world(judge_noise=0.3, rate_noise=0.5)
    wide = replace(ratings, values=50 + 20 * ratings.values)
    one, other = (
        methods_compared(judgements, each, judgement_seconds=5, rating_seconds=10, trials=20)
        for each in (ratings, wide)
    )

    assert one.last.slider.value == pytest.approx(other.last.slider.value, abs=1e-9)


def test_with_very_many_answers_twenty_random_halves_are_still_drawn(monkeypatch) -> None:
    judgements, ratings = world(judge_noise=0.5, rate_noise=0.7, items=24)

    def compared(trials: int) -> MethodsPoint:
        return methods_compared(
            judgements, ratings, judgement_seconds=5, rating_seconds=10, trials=trials
        ).last

    twenty = compared(20)
    monkeypatch.setattr("annotation.bws.studies.methods.CELLS", len(judgements) + len(ratings))

    assert compared(100) == twenty
