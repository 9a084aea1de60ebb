"""Judgements as arrays: what they refuse, and which of them are of one tuple."""

import numpy as np
import pytest

from annotation.bws.judgements import Judgements, tuple_numbers


def test_slots_name_the_items_that_stand_there() -> None:
    judgements = Judgements.from_slots(
        np.array([[4, 2, 0], [1, 3, 2]]), np.array([0, 2]), np.array([2, 1]), item_count=5
    )

    assert judgements.best.tolist() == [4, 2]
    assert judgements.worst.tolist() == [0, 3]


def test_a_best_item_from_elsewhere_is_refused() -> None:
    with pytest.raises(ValueError, match="the best of judgement 2 is not among its items"):
        Judgements(np.array([[0, 1], [2, 3]]), np.array([0, 0]), np.array([1, 2]), 4)


def test_an_item_number_beyond_the_items_is_refused() -> None:
    with pytest.raises(ValueError, match="between 0 and 2"):
        Judgements(np.array([[0, 3]]), np.array([0]), np.array([3]), 3)


def test_a_slot_beyond_the_tuple_is_refused() -> None:
    with pytest.raises(ValueError, match="worst positions must lie between 0 and 1"):
        Judgements.from_slots(np.array([[0, 1]]), np.array([0]), np.array([2]), item_count=2)


def test_annotators_must_be_as_many_as_judgements() -> None:
    with pytest.raises(ValueError, match="1 judgements need as many annotators"):
        Judgements(np.array([[0, 1]]), np.array([0]), np.array([1]), 2, np.array([0, 1]))


def test_the_same_items_in_another_order_are_one_tuple() -> None:
    numbers = tuple_numbers(np.array([[3, 1, 2], [0, 1, 2], [2, 3, 1]]))

    assert numbers[0] == numbers[2] != numbers[1]


def test_an_item_that_stands_twice_counts_once_in_the_name_of_a_tuple() -> None:
    numbers = tuple_numbers(np.array([[0, 0, 1], [1, 0, 1], [0, 1, 2]]))

    assert numbers[0] == numbers[1] != numbers[2]


def test_tuples_are_told_apart_as_python_sets_are() -> None:
    rows = np.random.default_rng(0).integers(0, 5, size=(400, 4))

    numbers = tuple_numbers(rows)

    groups = {number: {frozenset(row) for row in rows[numbers == number].tolist()} for number in set(numbers)}
    assert all(len(group) == 1 for group in groups.values())
    assert len(groups) == len({frozenset(row) for row in rows.tolist()})


def test_choosing_judgements_keeps_item_numbers_and_annotators() -> None:
    judgements = Judgements(
        np.array([[0, 1], [2, 1], [1, 0]]), np.array([0, 2, 0]), np.array([1, 1, 1]), 3, np.array([7, 8, 9])
    )

    chosen = judgements.only(np.array([True, False, True]))

    assert chosen.items.tolist() == [[0, 1], [1, 0]]
    assert chosen.annotators is not None
    assert chosen.annotators.tolist() == [7, 9]
    assert chosen.item_count == 3
