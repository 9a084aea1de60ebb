"""Which pairs make an attention check: by scores, by words, and between two that were chosen."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.bws.annotators.gold_choice import (
    BY_SCORES,
    BY_WORDS,
    clear_tuples,
    heights_within,
    margin_of,
    pairs_between,
    word_overlaps,
)


def words(*texts: str) -> list[tuple[frozenset[str], frozenset[str]]]:
    return [tuple(frozenset(side.split()) for side in text.split("|")) for text in texts]


def own_sentences(number: int) -> np.ndarray:
    return np.arange(2 * number).reshape(-1, 2)


def test_equal_sentences_overlap_wholly_and_strangers_not_at_all() -> None:
    assert word_overlaps(words("a dog|a dog", "a cat|trains leave")).tolist() == [1.0, 0.0]


def test_a_word_of_every_sentence_weighs_nothing() -> None:
    overlaps = word_overlaps(words("the dog|the cat", "the bird|the bird"))

    assert overlaps.tolist() == [0.0, 1.0]


def test_the_weights_are_those_of_a_table_worked_by_hand() -> None:
    """Four sentences: x is in two of them (log 2), the others in one (log 4)."""
    shared, alone = np.log(2), np.log(4)

    overlaps = word_overlaps(words("x y|x z", "u|v"))

    assert overlaps[0] == pytest.approx(2 * shared / (2 * shared + 2 * alone))


def test_sentences_without_words_overlap_not_at_all() -> None:
    assert word_overlaps(words("|", "a|a")).tolist() == [0.0, 1.0]


@given(
    values=st.lists(st.floats(0, 1), max_size=60),
    size=st.integers(2, 6),
    seed=st.integers(0, 5),
    bands=st.sampled_from([BY_SCORES, BY_WORDS]),
)
def test_a_drawn_tuple_is_clear_and_no_pair_is_drawn_twice(values, size, seed, bands) -> None:
    values = np.array(values)
    found = list(
        clear_tuples(
            values, values, own_sentences(len(values)), size, np.random.default_rng(seed), bands=bands
        )
    )

    drawn = [place for items in found for place in items.tolist()]
    assert len(set(drawn)) == len(drawn)
    for items in found:
        assert len(items) == size
        assert values[items[0]] >= bands.best
        assert values[items[1]] <= bands.worst
        assert margin_of(values[items]) >= bands.margin


def test_a_sentence_is_not_twice_in_a_tuple() -> None:
    values = np.array([1.0, 0.0, 0.5, 0.5])
    shared = np.array([[0, 1], [1, 2], [3, 4], [5, 6]])

    assert not list(clear_tuples(values, values, shared, 4, np.random.default_rng(0), bands=BY_SCORES))


@given(st.lists(st.floats(-5, 5), max_size=20))
def test_heights_lie_between_the_lowest_and_the_highest(values) -> None:
    heights = heights_within(np.array(values))

    assert ((heights >= 0) & (heights <= 1)).all()


def test_the_others_lie_half_way_between_the_chosen_two() -> None:
    values = np.array([0.0, 1.0, *[0.5] * 30, *[0.05] * 30, *[0.95] * 30])

    found = pairs_between(values, own_sentences(len(values)), [1, 0], 2, np.random.default_rng(1))

    assert len(set(found)) == 2
    assert values[found].tolist() == [0.5, 0.5]


@pytest.mark.parametrize("seed", range(20))
def test_where_few_pairs_lie_between_none_as_low_as_the_worst_is_drawn(seed) -> None:
    values = np.array([0.0] * 4 + [2.5] * 4 + [5.0] * 4)

    found = pairs_between(values, own_sentences(len(values)), [11, 0], 2, np.random.default_rng(seed))

    assert values[found].tolist() == [2.5, 2.5]


def test_without_pairs_between_the_nearest_follow() -> None:
    values = np.array([0.0, 1.0, 0.1, 0.8, 0.02])

    found = pairs_between(values, own_sentences(len(values)), [1, 0], 2, np.random.default_rng(0))

    assert values[found].tolist() == [0.8, 0.1]


@given(
    sentences=st.lists(st.tuples(st.integers(0, 12), st.integers(13, 25)), min_size=4, max_size=30),
    number=st.integers(0, 4),
    seed=st.integers(0, 3),
)
def test_no_sentence_is_in_two_of_the_others_or_in_a_chosen_pair(sentences, number, seed) -> None:
    numbers = np.array(sentences)

    found = pairs_between(
        np.linspace(0, 1, len(numbers)), numbers, [0, 1], number, np.random.default_rng(seed)
    )

    used = [one for place in found for one in numbers[place].tolist()]
    assert len(found) <= number
    assert len(set(used)) == len(used)
    assert not set(used) & set(numbers[:2].ravel().tolist())


def test_of_a_chosen_tuple_the_best_and_the_worst_say_where_the_others_lie() -> None:
    values = np.array([0.0, 1.0, 0.9, *[0.5] * 5, *[0.95] * 5])

    found = pairs_between(values, own_sentences(len(values)), [1, 0, 2], 2, np.random.default_rng(1))

    assert values[found].tolist() == [0.5, 0.5]
