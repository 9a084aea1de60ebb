"""A blind sample of candidates, and the means of what people rated."""

import pytest
from scipy.stats import ttest_1samp

from mlworkers.science.paraphrasing.ratings import Rating, order_of_person, sample_drawn, settings_rated

CANDIDATES = {"one": list(range(1, 41)), "two": list(range(30, 70)), "three": [71, 72]}


def test_each_setting_gives_so_many_and_a_scarce_one_all_that_it_has() -> None:
    drawn = sample_drawn(CANDIDATES, most=10, seed=3)

    assert {name: sum(one == name for one, _number in drawn) for name in CANDIDATES} == {
        "one": 10, "two": 10, "three": 2,
    }  # fmt: skip
    assert all(number in CANDIDATES[name] for name, number in drawn)


def test_a_text_that_two_settings_wrote_is_drawn_once() -> None:
    drawn = sample_drawn({"one": [1, 2, 3], "two": [1, 2, 3]}, most=2, seed=3)

    numbers = [number for _name, number in drawn]
    assert len(numbers) == len(set(numbers)) == 3


def test_a_draw_follows_from_its_seed_and_does_not_follow_the_settings() -> None:
    drawn = sample_drawn(CANDIDATES, most=10, seed=3)

    assert drawn == sample_drawn(CANDIDATES, most=10, seed=3) != sample_drawn(CANDIDATES, most=10, seed=4)
    names = [name for name, _number in drawn]
    assert names != sorted(names, key=list(CANDIDATES).index)


def test_each_person_has_an_order_of_their_own() -> None:
    first, second = (order_of_person(30, seed=1, person=person) for person in (1, 2))

    assert sorted(first) == sorted(second) == list(range(30))
    assert first != second


def test_ratings_of_one_candidate_are_averaged_before_the_mean() -> None:
    ratings = [
        Rating(1, "one", (5, 4, 1)), Rating(1, "one", (3, 4, 1)), Rating(1, "one", (1, 4, 1)),
        Rating(2, "one", (5, 2, 2)), Rating(3, "one", (4, 3, 3)), Rating(4, "two", (2, 2, 2)),
    ]  # fmt: skip

    one, two, three = settings_rated(["one", "two", "three"], ratings)

    assert (one.candidates, one.ratings) == (3, 5)
    # Fluency by candidate: 3, 5 and 4.
    interval = ttest_1samp([3, 5, 4], 0).confidence_interval(0.95)
    fluency = one.means[0]
    assert fluency.value == pytest.approx(4)
    assert fluency.low == pytest.approx(interval.low)
    assert fluency.high == 5  # the end of the scale, before the end of the interval
    assert [mean.value for mean in one.means[1:]] == pytest.approx([3, 2])
    assert (two.means[0].value, two.means[0].low) == (2, None)
    assert (three.candidates, three.labelled) == (0, [])
