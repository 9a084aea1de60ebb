"""The greedy choice of contexts, worked by hand."""

from typing import Any

import pytest

from mlworkers.science.contexts.diversity import WITHOUT, diverse_chosen

SCORES = [-1.0, -2.0, -3.0, -4.0, -5.0]
CHUNKS = [7, 7, 8, 9, 10]
BEFORE = [{"the", "dog", "ran"}, {"rain", "fell"}, {"the", "dog", "sat"}, {"she", "slept"}, {"a", "dog"}]


@pytest.mark.parametrize(
    ("choice", "chosen"),
    [
        ({}, [0, 3, 4]),  # 1: the chunk of 0; 2: its index with 0 is exactly .5
        ({"below": 0.6}, [0, 2, 3, 4]),
        ({"below": 0.2}, [0, 3]),
        ({"one_of_chunk": False}, [0, 1, 3, 4]),
        ({"one_of_chunk": False, "below": WITHOUT}, [0, 1, 2, 3, 4]),
    ],
)
def test_a_candidate_is_passed_over_for_its_chunk_or_for_the_words_before_it(
    choice: Any, chosen: list[int]
) -> None:
    assert diverse_chosen(SCORES, CHUNKS, BEFORE, most=9, **choice) == chosen


def test_the_best_come_first_equal_ones_in_their_order_and_no_more_than_asked_for() -> None:
    assert diverse_chosen([-3, -1, -1, -2], [1, 2, 3, 4], [{"a"}, {"b"}, {"c"}, {"d"}], most=3) == [1, 2, 3]
